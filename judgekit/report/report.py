"""The report of a run: figures, gates and results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from judgekit.core.canonical import canonical_json, digest
from judgekit.core.errors import ConfigError
from judgekit.core.value import Displayed, Value
from judgekit.report.folder import (
    AGREEMENT,
    PAGE,
    PLACES,
    REPORT,
    RESULTS,
    RUN,
    Scored,
    read_json,
    read_results,
)
from judgekit.report.gate import GateResult
from judgekit.report.manifest import mapping
from judgekit.report.summary import MetricSummary

if TYPE_CHECKING:
    import datasets
    import pandas
    import polars

    from judgekit.core.display.parts import DisplayPart as Shown
    from judgekit.report.table import Per


class Figures(Value):
    """The content of `report.json`, which depends only on the inputs."""

    manifest: dict[str, Any]
    cases: int
    dataset: str
    """Digest of all cases, in order."""
    metrics: tuple[MetricSummary, ...]
    gates: tuple[GateResult, ...] = ()
    incomplete: tuple[str, ...] = ()
    """Why the run does not count as complete; empty when it does."""


class Report(Displayed):
    """The outcome of an evaluation.

    Attributes:
        figures: manifest, summaries, gates.
        run: facts of this execution: origins of replies, spend, duration.
        folder: the run folder, if there is one.
        places: id of a case without its own id -> its place, such as `line 2 of cases.csv`.
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
        self._results = list(results) if results is not None else None

    def __repr__(self) -> str:
        means = ", ".join(
            f"{m.metric}={'none' if m.mean is None else format(m.mean, '.3f')}"
            for m in self.figures.metrics
        )
        return f"Report(cases={self.figures.cases}, {means})"

    def _parts_shown(self) -> Iterable[Shown]:
        from judgekit.report.display import report_parts

        return report_parts(self)

    def case(self, id: str) -> Scored:
        """Return a case with its rows; a notebook shows it in full.

        Raises:
            ConfigError: the run has no such case.
        """
        for scored in self.results:
            if scored.case.id == id:
                return scored
        raise ConfigError(f"the run has no case {id!r}; report.to_pandas()['case'] has all ids")

    @classmethod
    def read(cls, folder: str | Path) -> Report:
        """Read the report of a run folder.

        Raises:
            ConfigError: not a run folder, or a run that was killed before it could report.
        """
        path = Path(folder)
        data = read_json(path / REPORT)
        try:
            figures = Figures.model_validate(data)
        except ValidationError as exc:
            raise ConfigError("not a report judgekit wrote", where=str(path / REPORT)) from exc
        run = read_json(path / RUN) if (path / RUN).exists() else {}
        if not isinstance(run, dict):
            raise ConfigError("not a run judgekit wrote", where=str(path / RUN))
        places = mapping(run.pop(PLACES, None))
        texts = {id: place for id, place in places.items() if isinstance(place, str)}
        return cls(figures, run=run, folder=path, places=texts)

    def label(self, case: str) -> str:
        """Return the id of a case, with its place if the id is derived."""
        place = self.places.get(case)
        return f"{case} ({place})" if place else case

    @property
    def metrics(self) -> dict[str, MetricSummary]:
        """Summaries by metric."""
        return {summary.metric: summary for summary in self.figures.metrics}

    @property
    def results(self) -> Iterator[Scored]:
        """Every case with its rows, in input order; read from the run folder when there is one."""
        if self._results is not None:
            return iter(self._results)
        return iter(()) if self.folder is None else self._read(self.folder)

    def _read(self, folder: Path) -> Iterator[Scored]:
        """Yield the results of a run folder; raise an error if they do not belong to the report."""
        count = 0
        for count, scored in enumerate(read_results(folder), start=1):  # noqa: B007
            yield scored
        if count != self.figures.cases:
            raise ConfigError(
                f"holds {count} cases where the report has {self.figures.cases}: "
                "it was cut off or changed; run it again",
                where=str(folder / RESULTS),
            )

    @property
    def calibration(self) -> list[str]:
        """How well the judges of this run agree with people, in lines."""
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
        """Whether every gate holds and the run is complete."""
        return self.exit_code == 0

    @property
    def exit_code(self) -> int:
        """0 pass, 1 a gate missed, 3 incomplete; 3 goes before 1."""
        if self.figures.incomplete:
            return 3
        return 1 if any(not gate.passed for gate in self.figures.gates) else 0

    def to_pandas(
        self, *, per: Per = "metric", wide: bool = False, include: Sequence[str] = ()
    ) -> pandas.DataFrame:
        """Return the results as a data frame.

        `value` is the metric's own score and missing where there is none, so that its mean is the
        mean of the report; the value of a fallback is in `fallback_value`.

        Args:
            per: the unit of a row: one `metric` of a case, one `criterion` or `opinion` of one, or
                a metric of the whole `run` with its figures.
            wide: whether a row is a case, with a column for each metric or criterion.
            include: fields of the case to add as columns, such as `input`, `metadata.topic`, or all
                of `metadata`.

        Raises:
            ConfigError: no such option, or two columns of one name.
            MissingExtra: pandas is not installed.
        """
        from judgekit.datasets.dataframes.libraries import to_pandas_frame
        from judgekit.report.table import result_table

        return to_pandas_frame(result_table(self, per=per, wide=wide, include=include))

    def to_polars(
        self, *, per: Per = "metric", wide: bool = False, include: Sequence[str] = ()
    ) -> polars.DataFrame:
        """Return the results as a data frame of polars; takes and raises what `to_pandas` does."""
        from judgekit.datasets.dataframes.libraries import to_polars_frame
        from judgekit.report.table import result_table

        return to_polars_frame(result_table(self, per=per, wide=wide, include=include))

    def to_hf(
        self, *, per: Per = "metric", wide: bool = False, include: Sequence[str] = ()
    ) -> datasets.Dataset:
        """Return the results as a Hugging Face data set; takes and raises what `to_pandas` does."""
        from judgekit.datasets.dataframes.libraries import to_hf_dataset
        from judgekit.report.table import result_table

        return to_hf_dataset(result_table(self, per=per, wide=wide, include=include))

    def export(self, format: str, path: str | Path) -> Path:
        """Write the run as `junit`, `markdown`, `csv`, `parquet` or `json`, and return its path.

        Raises:
            ConfigError: no such format, or the file cannot be written.
            MissingExtra: what the format needs is not installed.
        """
        from judgekit.report.export.export import export

        return export(self, format, Path(path))

    def to_html(self, path: str | Path | None = None) -> Path:
        """Write the page, by default into the run folder, and return its path.

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
