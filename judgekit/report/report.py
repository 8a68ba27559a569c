"""The report of a run: figures, gates and results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError

from judgekit.core.arguments import checked
from judgekit.core.canonical import canonical_json, digest
from judgekit.core.errors import ConfigError
from judgekit.core.value import Displayed, Value
from judgekit.core.wrong_name import ByName
from judgekit.report.folder import (
    AGREEMENT,
    PAGE,
    PLACES,
    REPORT,
    RUN,
    Scored,
    read_json,
)
from judgekit.report.gate import GateResult
from judgekit.report.lookup import RunResults
from judgekit.report.manifest import mapping
from judgekit.report.summary import MetricSummary

if TYPE_CHECKING:
    import datasets
    import pandas
    import polars

    from judgekit.core.display.parts import DisplayPart as Shown

Per = Literal["metric", "criterion", "opinion", "run"]
"""What a row of the table is about: a metric of a case, a criterion or an opinion of one, a metric
of the run."""


class Figures(Value):
    """The content of `report.json`; it depends only on the inputs."""

    manifest: dict[str, Any]
    cases: int
    dataset: str
    """Digest of all cases, in order."""
    metrics: tuple[MetricSummary, ...]
    gates: tuple[GateResult, ...] = ()
    incomplete: tuple[str, ...] = ()
    """Reasons why the run is incomplete; empty if it is complete."""


class Report(Displayed):
    """The outcome of an evaluation.

    Attributes:
        figures: manifest, summaries, gates.
        run: facts of this execution, as in `run.json`: `seconds` (its duration), and for judges by
            name `origins` (where replies came from: `live`, `store`, `tape` -> number), `spent`
            and `avoided` (US dollars; `None` if a price is unknown) and `missed` (requests without
            a recording that could not be sent). A run of a suite has `started`, `record` and
            further facts.
        folder: the run folder, if there is one.
        places: derived id of a case -> its location, such as `cases.csv:2`.
    """

    def __init__(
        self,
        figures: Figures,
        *,
        run: dict[str, Any] | None = None,
        results: Iterable[Scored] | None = None,
        folder: Path | None = None,
        places: Mapping[str, str] | None = None,
    ) -> None:
        self.figures = figures
        self.run = run or {}
        self.folder = folder
        self.places = dict(places or {})
        listed = list(results) if results is not None else None
        self.stored = RunResults(listed, folder=folder, cases=figures.cases)

    def __repr__(self) -> str:
        means = ", ".join(
            f"{m.metric}={'none' if m.mean is None else format(m.mean, '.3f')}"
            for m in self.figures.metrics
        )
        return f"Report(cases={self.figures.cases}, {means})"

    def _parts_shown(self) -> Iterable[Shown]:
        from judgekit.report.display import report_parts

        return report_parts(self)

    @checked
    def case(self, id: str) -> Scored:
        """Return a case with its rows; notebooks show it in full.

        Raises:
            ConfigError: the run does not have the case.
        """
        for scored in self.results:
            if scored.case.id == id:
                return scored
        raise ConfigError(f"the run has no case {id!r}; report.to_pandas()['case'] has all ids")

    @classmethod
    @checked
    def read(cls, folder: str | Path) -> Report:
        """Load the report of a run folder.

        Raises:
            ConfigError: it is not a run folder, or the run did not finish.
        """
        path = Path(folder)
        try:
            figures = Figures.model_validate(read_json(path / REPORT))
        except ValidationError as exc:
            raise ConfigError("not a report judgekit wrote", where=str(path / REPORT)) from exc
        run = read_json(path / RUN) if (path / RUN).exists() else {}
        if not isinstance(run, dict):
            raise ConfigError("not a run judgekit wrote", where=str(path / RUN))
        places = mapping(run.pop(PLACES, None))
        texts = {id: place for id, place in places.items() if isinstance(place, str)}
        return cls(figures, run=run, folder=path, places=texts)

    def label(self, case: str) -> str:
        """Return the id of a case; its file and line if the id is derived."""
        return self.places.get(case, case)

    @property
    def metrics(self) -> dict[str, MetricSummary]:
        """Summaries by metric."""
        summaries = {summary.metric: summary for summary in self.figures.metrics}
        return ByName(summaries, what="metric")

    @property
    def results(self) -> Iterator[Scored]:
        """All cases with their rows, in input order; read from the run folder if there is one."""
        return (scored for _, scored in self.stored.placed())

    @property
    def calibration(self) -> list[str]:
        """The agreement of the run's judges with people, as lines of text."""
        from judgekit.report.text import calibration_lines

        figures = self.figures
        known = None
        if self.folder is not None and (self.folder / AGREEMENT).exists():
            from judgekit.report.calibration import read_calibration

            manifest = digest(canonical_json(figures.manifest))
            known = read_calibration(self.folder, dataset=figures.dataset, manifest=manifest)
        return calibration_lines(figures.metrics, figures.manifest, known)

    @property
    def passed(self) -> bool:
        """Whether all gates pass and the run is complete."""
        return self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """0 passed, 1 a gate failed, 3 incomplete, 4 pending; the highest that applies."""
        if any(summary.pending for summary in self.figures.metrics):
            return 4
        if self.figures.incomplete:
            return 3
        return 1 if any(not gate.passed for gate in self.figures.gates) else 0

    @checked
    def to_pandas(
        self, *, per: Per = "metric", wide: bool = False, include: str | Sequence[str] = ()
    ) -> pandas.DataFrame:
        """Return the results as a data frame.

        `value` is the score of the metric itself; it is missing if there is none, so its mean is
        the mean in the report. The value of a fallback is in `fallback_value`.

        Args:
            per: the unit of a row: a `metric`, `criterion` or `opinion` of a case, or `run` for the
                figures of a metric over the whole run.
            wide: whether a row is a case, with a column for each metric or criterion.
            include: fields of the case to add as columns, such as `input`, `metadata.topic`, or
                `metadata` for all metadata.

        Raises:
            ConfigError: an option is unknown, or two columns have the same name.
            MissingExtra: pandas is not installed.
        """
        from judgekit.datasets.dataframes.libraries import to_pandas_frame
        from judgekit.report.table import result_table

        return to_pandas_frame(result_table(self, per=per, wide=wide, include=include))

    @checked
    def to_polars(
        self, *, per: Per = "metric", wide: bool = False, include: str | Sequence[str] = ()
    ) -> polars.DataFrame:
        """Return the results as a polars data frame, with the arguments of `to_pandas`."""
        from judgekit.datasets.dataframes.libraries import to_polars_frame
        from judgekit.report.table import result_table

        return to_polars_frame(result_table(self, per=per, wide=wide, include=include))

    @checked
    def to_hf(
        self, *, per: Per = "metric", wide: bool = False, include: str | Sequence[str] = ()
    ) -> datasets.Dataset:
        """Return the results as a Hugging Face data set, with the arguments of `to_pandas`."""
        from judgekit.datasets.dataframes.libraries import to_hf_dataset
        from judgekit.report.table import result_table

        return to_hf_dataset(result_table(self, per=per, wide=wide, include=include))

    @checked
    def export(self, format: str, path: str | Path) -> Path:
        """Write the run in a format of `--export`, such as `csv` or `excel`, and return its path.

        Raises:
            ConfigError: the format is unknown, or the file cannot be written.
            MissingExtra: a package for the format is not installed.
        """
        from judgekit.report.export.export import export

        return export(self, format, Path(path))

    @checked
    def to_html(self, path: str | Path | None = None) -> Path:
        """Write the page, by default to the run folder, and return its path.

        Raises:
            ConfigError: the file cannot be written.
        """
        from judgekit.core.renderers import renderer

        if path is None:
            if self.folder is None:
                raise ConfigError("say where to write the page: to_html('report.html')")
            path = self.folder / PAGE
        written: Path = renderer("run page")(self, Path(path))
        return written
