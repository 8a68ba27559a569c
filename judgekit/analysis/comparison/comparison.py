"""The result of a comparison."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from judgekit.analysis.comparison.table import Per
from judgekit.core.arguments import checked
from judgekit.core.display.parts import DisplayPart, answer_text
from judgekit.core.distribution import Label
from judgekit.core.errors import ConfigError
from judgekit.core.value import Displayed, Value, sparse
from judgekit.report.corrected import NO_LABELS, LabelFigure
from judgekit.report.manifest import ANSWERED_BY
from judgekit.stats.intervals import Coefficient

if TYPE_CHECKING:
    import pandas
    import polars

Verdict = Literal["worse", "better", "judged lower", "judged higher", "unclear", "same", "unknown"]
"""`unclear`: not significant. `same`: no pair differs. `unknown`: nothing to test."""


class MeanDifference(Value):
    """The change of one figure, over cases with a value in both runs."""

    name: str
    """The metric or the criterion."""
    pairs: int
    base: float | None
    """Mean of the base over the pairs."""
    new: float | None
    mean: float | None
    """New minus base."""
    low: float | None
    high: float | None
    """95 % interval of the mean difference, inside the range of a difference; `None` for too few
    pairs or clusters."""
    worse: int
    """Number of pairs that got worse, by the direction of the metric."""
    better: int
    clusters: int | None = None
    standard_error: float | None = None
    """Standard error of the mean difference: sd / sqrt(n), or CR2 with clusters. `None` below two
    pairs or clusters, and if all replies are the same in both runs."""
    df: float | None = None
    """Its degrees of freedom: n - 1, or Satterthwaite's with clusters."""
    p: float | None = None
    """Two-sided p value, before the correction. Of a t test, that of mean / standard error."""
    adjusted: float | None = None
    """p value after Holm's correction."""
    test: str = ""
    """`exact McNemar`, `paired t` or `paired t by cluster`."""
    verdict: Verdict = "unknown"
    too_few: str | None = None
    """Why there is no interval."""
    detectable: float | None = None
    """The smallest true difference that this number of pairs detects with power 0.8; `None` if
    it exceeds the range of a difference."""
    wanted: float | None = None
    """The difference that `more` refers to."""
    more: int | None = None
    """Cases (or clusters) to add to detect `wanted` with power 0.8, if the standard
    deviation of differences is at the lower end of its 95 % interval; 0 if there are enough."""
    more_high: int | None = None
    """The same for the upper end of the interval; `None` above ten million."""


class Flips(Value):
    """Verdicts that changed between pass and fail."""

    threshold: float
    base_passed: int
    new_passed: int
    to_fail: int
    to_pass: int
    p: float | None
    """Exact McNemar; with clusters, a t test of passes by cluster. For a pass/fail metric it is the
    test of its mean: one hypothesis, tested once."""
    adjusted: float | None = None
    test: str = ""
    verdict: Verdict = "unknown"


class PartMove(Value):
    """The change of one criterion on one case."""

    id: str
    base: float | None
    new: float | None
    base_reason: str
    new_reason: str


class CaseMove(Value):
    """The change of one case."""

    case: str
    base: float
    new: float
    base_reason: str
    new_reason: str
    flip: Literal["pass -> fail", "fail -> pass"] | None
    same_answer: bool
    """Whether both runs scored the same answer, so only the judging changed."""
    part: PartMove | None = None
    """The criterion with the largest change in the same direction."""

    @property
    def reasons(self) -> tuple[str, str]:
        """The reasons of base and new run: for that criterion, or else for the case."""
        of = self if self.part is None else self.part
        return of.base_reason, of.new_reason


class DistributionChange(Value):
    """The probabilities of the answers to one criterion, over the cases of both runs."""

    criterion: str
    pairs: int
    labels: tuple[Label, ...]
    base: tuple[float, ...]
    """Mean probability of each label in the base."""
    new: tuple[float, ...]
    distance: float
    """Mean total variation between the two distributions of a case: 0 if all are the same, 1 if no
    answer is possible in both runs."""
    low: float | None
    high: float | None
    """95 % interval of the distance; `None` for too few pairs or clusters."""

    @property
    def line(self) -> str:
        """The change in one sentence."""
        moved = ", ".join(
            f"{'cannot tell' if label is None else answer_text(label)} {before:.0%} -> {after:.0%}"
            for label, before, after in zip(self.labels, self.base, self.new, strict=True)
        )
        distance = Coefficient(self.distance, self.low, self.high).text
        return (
            f"{self.criterion}: probabilities of the answers {moved}; those of a case differ by "
            f"{distance} on average (total variation, {self.pairs} cases)"
        )


class CriteriaAgreement(Value):
    """How far two runs agree on the criteria that cases have themselves, over all cases."""

    pairs: int
    """Number of criteria whose share is 0 or 1 in both runs, as that of yes/no criteria."""
    rose: int
    fell: int
    kappa: float | None
    """Cohen's kappa; `None` if all shares are the same."""
    low: float | None
    high: float | None
    """95 % interval, clustered by case; `None` for too few cases."""

    @property
    def line(self) -> str:
        """The agreement in one sentence."""
        alike = self.pairs - self.rose - self.fell
        kappa = Coefficient(self.kappa, self.low, self.high).text
        return (
            f"{alike:,} of {self.pairs:,} criteria with a share of 0 or 1 have the same in both "
            f"runs ({alike / self.pairs:.1%}, kappa {kappa}); {self.rose:,} rose, "
            f"{self.fell:,} fell"
        )


class CorrectedDifference(Value):
    """The difference of two means, each corrected with the labels of its own run.

    A judge makes different errors on the answers of another system, and a shared correction can
    reverse the sign of a difference (arXiv 2605.06939). The runs are assumed to be independent.
    """

    base: LabelFigure = NO_LABELS
    new: LabelFigure = NO_LABELS
    mean: float | None = None
    """New minus base."""
    low: float | None = None
    high: float | None = None
    """95 % interval; `None` for too few labels."""
    too_few: str | None = None
    """Why there is no interval, or no difference."""

    @property
    def spread(self) -> str:
        """The interval as text."""
        return "too few" if self.low is None else f"[{self.low:+.3f}, {self.high:+.3f}]"

    @property
    def line(self) -> str:
        """The difference and its assumptions, as text."""
        if self.mean is None:
            return f"no corrected difference: {self.too_few}"
        return (
            f"corrected by people: {self.base.text()}, then {self.new.text()}: {self.mean:+.3f} "
            f"{self.spread}. Assumes that the labels of each run are a random sample of its own "
            "cases, or of its plan, and takes the runs as independent, which makes the interval "
            "of runs over the same cases too wide rather than too narrow."
        )


class MetricComparison(Value):
    """One metric in two runs."""

    metric: str
    higher_is_better: bool
    range: tuple[float | None, float | None]
    refused: str | None = None
    """Reason why the metric is not compared; its figures are empty then."""
    difference: MeanDifference
    flips: Flips | None = None
    criteria: tuple[MeanDifference, ...] = ()
    slices: tuple[MeanDifference, ...] = sparse(default=())
    """The difference in each slice, in order of their values; not tested."""
    over_slices: MeanDifference | None = sparse(default=None)
    """The mean over slices, each of which counts alike; not tested. `pairs` are of all slices."""
    distributions: tuple[DistributionChange, ...] = sparse(default=())
    """Changes of criteria whose answers have probabilities in both runs."""
    own_criteria: CriteriaAgreement | None = sparse(default=None)
    """Agreement on criteria that the cases have themselves; `criteria` has those that recur."""
    unpaired: dict[str, int] = Field(default_factory=dict)
    """Reason why cases have no pair of values -> number of cases."""
    worst: tuple[CaseMove, ...] = ()
    """Cases that got worse, the largest change first."""
    best: tuple[CaseMove, ...] = ()
    same_requests: int = 0
    """Number of pairs with equal requests to a judge."""
    pass_fail: bool = False
    """Whether all values are at the ends of the range, so mean and verdicts are one hypothesis."""
    corrected: CorrectedDifference | None = sparse(default=None)
    """The difference of the means corrected with labels; `None` without labels."""

    @property
    def verdict(self) -> Verdict:
        """`worse` if the mean or the verdicts got significantly worse; else `better` likewise.

        If all answers are the same in both runs, only the judging differs: `judged lower` or
        `judged higher`.
        """
        both = {self.difference.verdict, self.flips.verdict if self.flips else "unknown"}
        tested: tuple[Verdict, ...] = ("worse", "better", "judged lower", "judged higher")
        return next((word for word in tested if word in both), self.difference.verdict)


class Change(Value):
    """A setting that differs between the runs."""

    what: str
    base: str
    new: str


class PromptChange(Value):
    """The prompts about one case in both runs, as a unified diff."""

    metric: str
    case: str
    diff: str


class Comparison(Displayed, Value):
    """A run compared with a baseline, case by case; made by `judgekit.compare`."""

    base: str
    new: str
    pairs: int
    """Number of compared cases."""
    same_answers: int
    """Number of compared cases with the same answer in both runs."""
    only_base: int
    only_new: int
    other_question: int
    """Number of cases with the same id but a different question; not compared."""
    cluster: str | None
    by: str | None = sparse(default=None)
    """The metadata field of the slices."""
    across_rubrics: bool = sparse(default=False)
    """Whether scores by other rubrics and other criteria were compared, too."""
    tests: int
    """Number of tests in the correction for metrics."""
    warnings: tuple[str, ...]
    """Warnings to read before any figure."""
    metrics: tuple[MetricComparison, ...]
    """Metrics that got worse come first."""
    changes: tuple[Change, ...]
    prompts: tuple[PromptChange, ...] = ()

    @property
    def sides(self) -> tuple[str, str]:
        """Names of base and new run, with the models that answered if they differ."""
        answered = next((one for one in self.changes if one.what == ANSWERED_BY), None)
        models = (answered.base, answered.new) if answered else ("none", "none")
        base, new = (
            run if model == "none" else f"{run} ({model})"
            for run, model in zip((self.base, self.new), models, strict=True)
        )
        return base, new

    @property
    def regressions(self) -> tuple[MetricComparison, ...]:
        """Metrics that got significantly worse."""
        return tuple(metric for metric in self.metrics if metric.verdict == "worse")

    def __repr__(self) -> str:
        means = [f"{m.metric} {'refused' if m.refused else m.verdict}" for m in self.metrics]
        return f"Comparison(pairs={self.pairs}, {', '.join(means)})"

    __str__ = __repr__

    def _parts_shown(self) -> Iterable[DisplayPart]:
        from judgekit.analysis.comparison.display import MOST_SHOWN, comparison_parts

        return comparison_parts(self, most=MOST_SHOWN)

    @checked
    def text(self, *, width: int = 80, colour: bool = False, cases: int = 5) -> str:
        """Return the comparison as text for a terminal.

        Args:
            width: maximum width in columns.
            colour: whether to use ANSI colours.
            cases: maximum number of cases to show per metric.
        """
        from judgekit.analysis.comparison.display import comparison_parts
        from judgekit.core.display.text import to_text

        return to_text(comparison_parts(self, cases=cases), width=width, colour=colour) + "\n"

    @checked
    def markdown(self, *, cases: int = 5) -> str:
        """Return the comparison as Markdown, with the texts of cases escaped."""
        from judgekit.analysis.comparison.display import comparison_parts
        from judgekit.core.display.markdown import to_markdown

        return to_markdown(comparison_parts(self, cases=cases))

    @checked
    def to_pandas(self, *, per: Per = "metric") -> pandas.DataFrame:
        """Return the comparison as a pandas data frame.

        Args:
            per: the unit of a row: a `metric`, a `criterion`, a `slice`, or a changed `case` (the
                cases in `worst` and `best` of each metric).

        Raises:
            ConfigError: `per` is unknown.
            MissingExtra: pandas is not installed.
        """
        from judgekit.analysis.comparison.table import comparison_table
        from judgekit.datasets.dataframes.libraries import to_pandas_frame

        return to_pandas_frame(comparison_table(self, per=per))

    @checked
    def to_polars(self, *, per: Per = "metric") -> polars.DataFrame:
        """Return the comparison as a polars data frame; see `to_pandas`."""
        from judgekit.analysis.comparison.table import comparison_table
        from judgekit.datasets.dataframes.libraries import to_polars_frame

        return to_polars_frame(comparison_table(self, per=per))

    @checked
    def to_html(self, path: str | Path) -> Path:
        """Write the comparison as one self-contained HTML file and return its path.

        Both runs are read again.

        Raises:
            ConfigError: a run has no folder, or the file cannot be written.
        """
        from judgekit.core.renderers import renderer
        from judgekit.report.report import Report

        if not (Path(self.base).is_dir() and Path(self.new).is_dir()):
            raise ConfigError("a page needs both runs in a folder: evaluate(..., out=FOLDER)")
        write = renderer("comparison page")
        written: Path = write(Report.read(self.base), [Report.read(self.new)], [self], Path(path))
        return written

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as JSON, with the verdict of each metric."""
        data = self.model_dump(mode="json")
        for entry, metric in zip(data["metrics"], self.metrics, strict=True):
            entry["verdict"] = metric.verdict
        return data
