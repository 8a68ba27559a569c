"""Correct the means of a judge with labels of people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from judgekit.core.canonical import canonical_json, digest
from judgekit.core.errors import ConfigError
from judgekit.core.suggest import suggest
from judgekit.core.value import Displayed, Value
from judgekit.report.clusters import CaseClusters
from judgekit.report.corrected import By, CorrectedMean
from judgekit.report.corrector import NO_VALUES, CorrectionSettings, Corrector, RunLabels, Several
from judgekit.report.manifest import cluster_field
from judgekit.report.report import Report

if TYPE_CHECKING:
    import pandas
    import polars

    from judgekit.core.display.parts import DisplayPart as Shown


class CorrectedRun(Displayed, Value):
    """The corrected means of a run; made by `judgekit.correct`."""

    judgekit: Literal["correction"] = "correction"
    version: Literal[1] = 1
    manifest: str
    """Digest of what made the run's numbers."""
    labels: str
    """Digest of the labels."""
    several: Several
    """How the labels of several people became one."""
    cluster: str | None = None
    """Metadata field that clusters cases; intervals are clustered by it."""
    means: tuple[CorrectedMean, ...]

    def __repr__(self) -> str:
        return f"CorrectedRun({', '.join(one.name for one in self.means)})"

    __str__ = __repr__

    def _parts_shown(self) -> Iterable[Shown]:
        from judgekit.analysis.correction.words import correction_parts

        return correction_parts(self)

    def text(self, *, width: int = 88) -> str:
        """Return the means as text for a terminal of so many columns."""
        from judgekit.analysis.correction.words import correction_text

        return correction_text(self, width=width)

    def markdown(self) -> str:
        """Return the means as Markdown, with all names escaped."""
        from judgekit.analysis.correction.words import correction_markdown

        return correction_markdown(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the means as a pandas data frame, a row for each metric and criterion.

        Raises:
            MissingExtra: pandas is not installed.
        """
        from judgekit.analysis.correction.words import correction_table
        from judgekit.datasets.dataframes.libraries import to_pandas_frame

        return to_pandas_frame(correction_table(self))

    def to_polars(self) -> polars.DataFrame:
        """Return the means as a polars data frame; see `to_pandas`."""
        from judgekit.analysis.correction.words import correction_table
        from judgekit.datasets.dataframes.libraries import to_polars_frame

        return to_polars_frame(correction_table(self))


def correct(
    run: str | Path | Report,
    labels: str | Path,
    *,
    by: By = "ppi",
    several: Several = "mean",
    cluster: str | None = None,
) -> CorrectedRun:
    """Correct the means of a judge with labels of people. No model is called.

    Args:
        run: a run folder, or a report.
        labels: a JSON Lines file of labels (see `judgekit.datasets.labels`).
        by: `ppi` (PPI++), or `rogan-gladen` for yes and no.
        several: how the labels of several people about a case become one: `mean` or `majority`.
        cluster: metadata field that clusters cases, such as a user; intervals are then clustered.
            The default is the field of the suite.

    Raises:
        ConfigError: the run or a label cannot be read, no label matches an output of the run, or
            no case has the cluster field.
    """
    for name, value, known in (("by", by, get_args(By)), ("labels", several, get_args(Several))):
        if value not in known:
            hint = suggest(str(value), list(known))
            raise ConfigError(f"{name} must be {' or '.join(known)}, not {value!r}{hint}")
    report = run if isinstance(run, Report) else Report.read(run)
    path = Path(labels)
    people = RunLabels.read(path, CorrectionSettings(by, several))
    manifest = report.figures.manifest
    people.check(report.figures.metrics, manifest)
    cluster = cluster or cluster_field(manifest)
    correctors = _corrected(report, people, cluster)
    means = [one for corrector in correctors.values() for one in corrector.means().values()]
    if not any(one.labels.n for one in means):
        raise ConfigError(_no_match(means), where=str(path))
    return CorrectedRun(
        manifest=digest(canonical_json(manifest)),
        labels=people.digest,
        several=several,
        cluster=cluster,
        means=tuple(means),
    )


def _corrected(report: Report, people: RunLabels, cluster: str | None) -> dict[str, Corrector]:
    """Return the correctors of the labelled metrics, with all results added."""
    correctors = {}
    for name, summary in report.metrics.items():
        corrector = people.corrector(
            name, report.figures.manifest, clustered=cluster is not None, range=summary.range
        )
        if corrector is not None:
            correctors[name] = corrector
    clusters = None if cluster is None else CaseClusters(cluster)
    for case, rows in report.results:
        group = None if clusters is None else clusters.of(case.id, case.metadata)
        for row in rows:
            if row.metric in correctors:
                correctors[row.metric].add(case.id, case.output, row.result, group)
    for problem in clusters.lacks() if clusters is not None else ():
        raise ConfigError(problem)
    return correctors


def _no_match(means: Iterable[CorrectedMean]) -> str:
    reasons = dict.fromkeys(_reasons(means))
    if not reasons:
        return "no label is about a case that the run has a score for; are the case ids the same?"
    return f"no label can be used: {'; '.join(reasons)}"


def _reasons(means: Iterable[CorrectedMean]) -> Iterator[str]:
    for one in means:
        if one.corrected.too_few == NO_VALUES:
            yield NO_VALUES
        yield from (f"{count} left out: {why}" for why, count in one.left_out.items())


__all__ = ["CorrectedRun", "correct"]
