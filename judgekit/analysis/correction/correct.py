"""Correct the means of a judge with human labels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args

from judgekit.core.arguments import checked
from judgekit.core.canonical import canonical_json, digest
from judgekit.core.display.parts import MOST_NAME, DisplayLine, DisplayPart, DisplayTable, cut
from judgekit.core.document import Document
from judgekit.core.errors import ConfigError
from judgekit.core.value import Value
from judgekit.datasets.dataframes.framed import Framed
from judgekit.report.clusters import CaseClusters
from judgekit.report.corrected import METHODS, WARNING, By, CorrectedMean, telling_means
from judgekit.report.corrector import NO_VALUES, correctors_of
from judgekit.report.manifest import cluster_field
from judgekit.report.report import Report
from judgekit.report.run_labels import CaseLabelRule, RunLabels, check_word

_LONGEST = 600
"""Maximum length of a warning, in characters."""
HEAD = ("", "mean", "95 % interval", "n")


class CorrectedRun(Document, Framed, Value):
    """The corrected means of a run; made by `judgekit.correct_means`.

    Its data frame has a row for each metric and criterion.
    """

    judgekit: Literal["correction"] = "correction"
    version: Literal[1] = 1
    manifest: str
    """Digest of the inputs of the run's numbers."""
    labels: str
    """Digest of the labels."""
    combine: CaseLabelRule
    """How the labels of several people were combined."""
    cluster: str | None = None
    """Metadata field that clusters cases; intervals are clustered by it."""
    means: tuple[CorrectedMean, ...]

    def __repr__(self) -> str:
        return f"CorrectedRun({', '.join(one.name for one in self.means)})"

    __str__ = __repr__

    def _parts_shown(self) -> Iterator[DisplayPart]:
        for one in telling_means(self.means):
            by = f", labels by {', '.join(one.labellers)}" if one.labellers else ""
            yield DisplayLine(cut(one.name, MOST_NAME) + cut(by), "title")
            yield DisplayTable(HEAD, list(_rows(one)), numbers=(1, 2, 3))
            if one.warning is not None:
                yield DisplayLine(cut(f"{WARNING}{one.warning}.", _LONGEST), "bad")
            yield from (DisplayLine(cut(line)) for line in (*_details(one), ""))
        yield from (DisplayLine(cut(line), "note") for line in self.notes)

    @property
    def notes(self) -> list[str]:
        """The assumptions of the means, and the method of their intervals."""
        corrected = [one for one in self.means if one.corrected.value is not None]
        assumed = dict.fromkeys(one.assumes for one in corrected)
        kind = "t" if self.means[0].by == "ppi" else "Lee et al. (2025)"
        by = f", by clusters of {self.cluster}" if self.cluster else ""
        last = f"Intervals: 95 %, {kind}{by}. Several people about a case: their {self.combine}."
        return [*assumed, last]

    def _frame_rows(self) -> Iterator[dict[str, Any]]:
        for one in self.means:
            row = one.model_dump(exclude={"labellers", "left_out", "unscored"})
            yield {**row, "factor": one.factor, "assumes": one.assumes, "warning": one.warning}


def _rows(one: CorrectedMean) -> Iterator[tuple[str, ...]]:
    """Yield the means of a metric or criterion: name, value, interval and n of each."""
    figures = {"judge": one.judge, "labels alone": one.labels, METHODS[one.by]: one.corrected}
    for name, figure in figures.items():
        yield name, *figure.cells(), f"{figure.n or one.labels.n:g}"


def _details(one: CorrectedMean) -> Iterator[str]:
    """Yield the quality of the judge, the saving of labels, and the ignored labels and rows."""
    if one.corrected.too_few is not None:
        word = "not corrected" if one.corrected.value is None else "too few"
        yield f"{word}: {one.corrected.too_few}"
    if one.rho is not None:
        times = "" if one.factor is None else f", 1/(1 - rho^2) {one.factor:.1f}"
        lam = "" if one.lam is None else f", lambda {one.lam:.2f}"
        yield f"correlation with people: rho {' '.join(one.rho.cells())}{times}{lam}"
    if one.by == "ppi" and one.labels.n:
        alone = f"labels alone would need {one.labels.n + one.saved:g} for this standard error"
        yield f"the judge saved about {one.saved} labels: {alone}"
    if one.sensitivity and one.specificity and one.youden:
        sides = ((one.sensitivity, "yes"), (one.specificity, "no"))
        rates = [f"{' '.join(rate.cells())} ({round(rate.n, 1):g} {word})" for rate, word in sides]
        youden = " ".join(one.youden.cells())
        yield f"sensitivity {rates[0]}, specificity {rates[1]}, Youden's J {youden}"
    if one.unscored:
        counts = ", ".join(f"{count} {why}" for why, count in one.unscored.items())
        labels = (
            "" if one.by != "ppi" else "; labels there count, with the judge's mean beside them"
        )
        yield f"rows without a value of the judge: {counts}{labels}"
    for why, count in one.left_out.items():
        yield f"labels of {count} case{'s' if count != 1 else ''} left out: {why}"
    if one.without_digest:
        yield f"labels of {one.without_digest} cases name no output: matched by case id alone"


def means_with_labels(
    report: Report, labels: RunLabels, cluster: str | None
) -> list[CorrectedMean]:
    """Return the means of a run's labelled metrics and criteria, corrected.

    Raises:
        ConfigError: a label is no valid answer, none is about a metric, or no case has the cluster.
    """
    ranges = {name: one.range for name, one in report.metrics.items()}
    correctors = correctors_of(
        labels, ranges, report.figures.manifest, clustered=cluster is not None
    )
    clusters = None if cluster is None else CaseClusters(cluster)
    for case, rows in report.results:
        group = None if clusters is None else clusters.of(case.id, case.metadata)
        for row in rows:
            if row.metric in correctors:
                correctors[row.metric].add(case.id, case.output, row.result, group, case)
    for problem in clusters.shortfalls() if clusters is not None else ():
        raise ConfigError(problem)
    return [one for corrector in correctors.values() for one in corrector.means().values()]


def label_warnings(report: Report, labels: RunLabels, cluster: str | None) -> list[CorrectedMean]:
    """Return the means whose labelled cases do not look like a random sample of the run.

    The result is empty if that cannot be measured.
    """
    try:
        means = means_with_labels(report, labels, cluster)
    except ConfigError:
        return []
    return [one for one in telling_means(means) if one.warning is not None]


@checked
def correct_means(
    run: str | Path | Report,
    labels: str | Path,
    *,
    by: By = "ppi",
    combine: CaseLabelRule = "mean",
    cluster: str | None = None,
) -> CorrectedRun:
    """Correct the means of a judge with human labels. No model is called.

    Args:
        run: a run folder, or a report.
        labels: a JSON Lines file of labels (see `judgekit.datasets.labels`).
        by: `ppi` (PPI++), or `rogan-gladen` for yes and no.
        combine: how to combine the labels of several people for a case: `mean` or `majority`.
        cluster: metadata field that clusters cases, such as a user, for clustered intervals. The
            default is the suite's field.

    Raises:
        ConfigError: the run or a label cannot be read, no label matches an output of the run, or
            no case has the cluster field.
    """
    check_word("by", by, get_args(By))
    check_word("labels", combine, get_args(CaseLabelRule))
    report = run if isinstance(run, Report) else Report.read(run)
    people = RunLabels.read(Path(labels), by=by, combine=combine)
    manifest = report.figures.manifest
    cluster = cluster or cluster_field(manifest)
    means = means_with_labels(report, people, cluster)
    if not any(one.labels.n for one in means):
        left = {f"labels of {n} left out: {why}" for m in means for why, n in m.left_out.items()}
        left |= {NO_VALUES for one in means if one.corrected.too_few == NO_VALUES}
        text = "no label is about a case that the run has a score for; are the case ids the same?"
        text = f"no label can be used: {'; '.join(sorted(left))}" if left else text
        raise ConfigError(text, where=str(people.path))
    return CorrectedRun(
        manifest=digest(canonical_json(manifest)),
        labels=people.digest,
        combine=combine,
        cluster=cluster,
        means=tuple(means),
    )
