"""The mean of a judge, corrected with human labels, in a report."""

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from judgekit.core.value import Value, sparse

if TYPE_CHECKING:
    from judgekit.report.summary import MetricSummary
    from judgekit.stats.rates import MeanFigure

By = Literal["ppi", "rogan-gladen"]
METHODS = {"ppi": "PPI++", "rogan-gladen": "Rogan-Gladen"}


def _rounded(value: float, digits: int) -> str:
    """Return a number without the sign of a zero."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


class LabelFigure(Value):
    """A figure based on labels, with its interval or the reason why it has none."""

    value: float | None
    n: float
    """Number of labels; fractional if several people disagree about a case."""
    low: float | None = None
    high: float | None = None
    """95 % interval."""
    too_few: str | None = None

    @classmethod
    def of(cls, figure: "MeanFigure") -> "LabelFigure":
        """Return a figure of `judgekit.stats.correction`."""
        value = figure.value if math.isfinite(figure.value) else None
        figures = figure._asdict()
        del figures["error"], figures["df"]
        return cls(**{**figures, "value": value, "n": round(figure.n, 6)})

    def cells(self, scale: float = 1.0) -> tuple[str, str]:
        """Return the texts of the figure and its interval, multiplied by a factor.

        >>> LabelFigure(value=0.5, n=3, too_few="3 of the 50 labels").cells()
        ('0.50', 'too few')
        """
        ends = (self.value, self.low, self.high)
        value, low, high = (
            "none" if end is None else _rounded(end * scale, 2 if scale <= 10 else 1)
            for end in ends
        )
        return value, "too few" if self.too_few else f"[{low}, {high}]"

    def text(self, scale: float = 1.0) -> str:
        """Return the figure and its interval, such as `0.74 [0.66, 0.81]`."""
        value, spread = self.cells(scale)
        return f"{value}, too few ({self.too_few})" if self.too_few else f"{value} {spread}"


WARNING = "warning: "
"""How a line with a warning starts."""
DIFFERS = 0.01
"""Labelled rows are called no random sample if p is below this."""


class LabelComparison(Value):
    """Whether the labelled rows are comparable with the rest, by what the judge says of both."""

    labelled: float
    """The judge's mean on the labelled rows, by the weights of a plan if there is one."""
    rest: float
    """The judge's mean on the rest; with a plan, on all rows."""
    of: Literal["value", "no value"] = "value"
    """What differs most: the judge's values, or the share of rows without one."""
    p: float
    """Probability of such a gap between random samples, times the number of tests; at most 1."""
    tests: int
    """Number of comparisons in the run."""

    @property
    def differs(self) -> bool:
        """Whether the labelled rows are no random sample of the run, at p < .01."""
        return self.p < DIFFERS

    def text(self, *, planned: bool, scale: float = 1.0) -> str:
        """Return both means and p, such as `the judge's mean is 1.00 on them, 0.32 on the rest`."""
        rest = "all rows" if planned else "the rest"
        if self.of == "no value":
            what = "the judge has no value in"
            figures = f"{self.labelled:.0%} of them, {self.rest:.0%} of {rest}"
        else:
            digits = 2 if scale <= 10 else 1
            what = "the judge's weighted mean is" if planned else "the judge's mean is"
            figures = f"{self.labelled * scale:.{digits}f} on them, "
            figures += f"{self.rest * scale:.{digits}f} on {rest}"
        p = "p < 0.001" if self.p < 0.001 else f"p = {self.p:.3f}"
        adjusted = f", adjusted for {self.tests} tests" if self.tests > 1 else ""
        return f"{what} {figures} ({p}{adjusted})"


NO_LABELS = LabelFigure(value=None, n=0, too_few="no label is for an output of this run")


class CorrectedMean(Value):
    """The mean of one metric or criterion, corrected with labels."""

    metric: str
    criterion: str | None = None
    """`None` for the value of the metric."""
    by: By = "ppi"
    rows: int
    """Number of rows with a value of the judge."""
    judge: LabelFigure
    """The uncorrected mean of the judge over these rows."""
    labels: LabelFigure = NO_LABELS
    """The mean of the labels alone."""
    corrected: LabelFigure = NO_LABELS
    standard_error: float | None = None
    """Standard error of the corrected mean."""
    df: float | None = None
    """Degrees of freedom of its t interval; `None` for Rogan-Gladen."""
    lam: float | None = None
    """Weight of the judge, 0..1."""
    rho: LabelFigure | None = None
    """Pearson's correlation of judge and labels; `None` if either is constant."""
    saved: int = 0
    """Additional labels that would be needed for the same standard error without the judge."""
    sensitivity: LabelFigure | None = None
    specificity: LabelFigure | None = None
    youden: LabelFigure | None = None
    comparability: LabelComparison | None = sparse(default=None)
    """Whether the labelled rows are comparable with the rest; `None` where nothing can tell: every
    row has a label, or fewer than two."""
    planned: bool = False
    """Whether labels have probabilities of a sampling plan."""
    labellers: tuple[str, ...] = ()
    without_digest: int = 0
    """Number of labelled rows whose labels do not identify the output; matched by case id."""
    left_out: dict[str, int]
    """Reason why the labels of a case were not used -> number of cases."""
    unscored: dict[str, int]
    """Reason why rows have no value of the judge -> number of rows; no mean includes them."""

    @property
    def name(self) -> str:
        """The metric and its criterion."""
        return self.metric if self.criterion is None else f"{self.metric}, {self.criterion}"

    @property
    def factor(self) -> float | None:
        """1 / (1 - rho ** 2): the largest possible gain in effective labels, as a factor."""
        rho = self.rho.value if self.rho is not None else None
        return None if rho is None or 1 - rho**2 < 1e-9 else 1 / (1 - rho**2)

    @property
    def assumes(self) -> str:
        """The assumptions of the corrected mean."""
        sampling = "Assumes that the labelled cases are a random sample of the run."
        if self.planned:
            sampling = "Assumes that cases were labelled with the probabilities in the labels."
        if self.by == "ppi" or self.planned:
            return sampling
        return (
            "Assumes that the judge errs as often in the rows without a label as in the labelled "
            f"ones; it is the share over the {self.rows - int(self.labels.n)} rows without a label."
        )

    @property
    def condition(self) -> str:
        """The assumption of the corrected mean in brackets."""
        if not self.labels.n:
            return ""
        if self.planned:
            return " (if they were drawn with the stated probabilities)"
        return " (if they are a random sample)"

    @property
    def warning(self) -> str | None:
        """What is wrong with the choice of the labelled cases; `None` if nothing is seen."""
        return self.warned()

    def warned(self, scale: float = 1.0, *, about: str = "the corrected mean") -> str | None:
        """Return the warning.

        Args:
            scale: a factor for the judge's means.
            about: the figure that needs a random sample.
        """
        if self.comparability is None or not self.comparability.differs:
            return None
        gap = self.comparability.text(planned=self.planned, scale=scale)
        if self.planned:
            return (
                "the labelled cases do not look like a sample by the probabilities of the labels: "
                f"{gap}; {about} assumes one. Label every case of the plan, or plan again with "
                "judgekit labels plan"
            )
        holds = f"{about} assumes one"
        if self.by == "rogan-gladen":
            holds = "Rogan-Gladen holds only if they were not chosen by what the judge says"
        return (
            f"the labelled cases do not look like a random sample of the run: {gap}; {holds}. "
            "Draw them with judgekit labels plan"
        )


def telling_means(means: Iterable[CorrectedMean | None]) -> list[CorrectedMean]:
    """Return means without that of a criterion that is the only one of its metric."""
    known = [one for one in means if one is not None]
    whole = [(one.metric, one.judge, one.corrected) for one in known if one.criterion is None]
    return [
        m for m in known if m.criterion is None or (m.metric, m.judge, m.corrected) not in whole
    ]


def corrected_lines(summary: "MetricSummary") -> Iterator[str]:
    """Yield the corrected means of a metric and its criteria, each with its assumption.

    A line that starts with `WARNING` says that the assumption looks wrong.
    """
    means = [summary.corrected, *(criterion.corrected for criterion in summary.criteria)]
    known = telling_means(means)
    for one in known:
        scale, n = summary.scale if one.criterion is None else 1.0, int(one.labels.n)
        labels = f"{n} label{'s' if n != 1 else ''}"
        judge = f"{METHODS[one.by]}; judge {one.judge.cells(scale)[0]} over {one.rows}"
        name = f"{one.criterion}: " if one.criterion else ""
        yield f"{name}corrected with {labels}{one.condition}: {one.corrected.text(scale)} ({judge})"
        if warning := one.warned(scale):
            yield f"{WARNING}{name}{warning}."
