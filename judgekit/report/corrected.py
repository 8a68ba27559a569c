"""The mean of a judge, corrected with labels of people, as a report keeps it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from judgekit.core.value import Value

if TYPE_CHECKING:
    from judgekit.report.summary import MetricSummary
    from judgekit.stats.correction import MeanFigure

By = Literal["ppi", "rogan-gladen"]
METHODS = {"ppi": "PPI++", "rogan-gladen": "Rogan-Gladen"}


class LabelFigure(Value):
    """A figure that comes from labels, with its interval or the reason why it has none."""

    value: float | None
    n: float
    """Labels behind it; not whole where several people disagree about a case."""
    low: float | None = None
    high: float | None = None
    """95 % interval."""
    too_few: str | None = None

    @classmethod
    def of(cls, figure: MeanFigure) -> LabelFigure:
        """Return a figure of `judgekit.stats.correction`."""
        value = float(figure.value) if math.isfinite(figure.value) else None
        ends: dict[str, Any] = {
            name: None if (end := getattr(figure, name)) is None else float(end)
            for name in ("low", "high")
        }
        return cls(value=value, n=round(float(figure.n), 6), too_few=figure.too_few, **ends)

    def text(self, scale: float = 1.0) -> str:
        """Return the figure and its interval, such as `0.74 [0.66, 0.81]`.

        >>> LabelFigure(value=0.5, n=3, too_few="3 of the 50 labels").text()
        '0.50, too few (3 of the 50 labels)'
        """
        places = 2 if scale <= 10 else 1
        if self.value is None:
            return f"none ({self.too_few})"
        shown = f"{self.value * scale:.{places}f}"
        if self.low is None or self.high is None:
            return f"{shown}, too few ({self.too_few})"
        return f"{shown} [{self.low * scale:.{places}f}, {self.high * scale:.{places}f}]"


class CorrectedMean(Value):
    """The mean of one metric or criterion, corrected with labels."""

    metric: str
    criterion: str | None = None
    """`None` for the value of the metric."""
    by: By = "ppi"
    rows: int
    """Rows with a value of the judge."""
    judge: LabelFigure
    """The plain mean of the judge over these rows."""
    labels: LabelFigure
    """The mean of the labels alone."""
    corrected: LabelFigure
    standard_error: float | None = None
    """Of the corrected mean."""
    df: float | None = None
    """Degrees of freedom of its t interval; `None` of Rogan-Gladen."""
    lam: float | None = None
    """How much the judge counts, 0..1."""
    rho: LabelFigure | None = None
    """Pearson's correlation of judge and labels; `None` where either does not vary."""
    saved: int = 0
    """Further labels that labels alone would need for the same standard error."""
    sensitivity: LabelFigure | None = None
    specificity: LabelFigure | None = None
    youden: LabelFigure | None = None
    planned: bool = False
    """Whether labels have the probabilities of a sampling plan."""
    cluster: bool = False
    labellers: tuple[str, ...] = ()
    without_digest: int = 0
    """Labelled rows of which no label names the judged output; matched by case id."""
    left_out: dict[str, int]
    """Why labels of a case were not used -> cases."""
    unscored: dict[str, int]
    """Why rows have no value of the judge -> rows; no mean includes them."""

    @property
    def name(self) -> str:
        """The metric and its criterion."""
        return self.metric if self.criterion is None else f"{self.metric}, {self.criterion}"

    @property
    def factor(self) -> float | None:
        """1 / (1 - rho ** 2): how many times the labels could count at most."""
        rho = self.rho.value if self.rho is not None else None
        return None if rho is None or 1 - rho**2 < 1e-9 else 1 / (1 - rho**2)

    @property
    def assumes(self) -> str:
        """What the corrected mean takes for granted."""
        if self.planned:
            sampling = "the labelled cases were drawn with the probabilities in the labels"
        else:
            sampling = "the labelled cases are a random sample of the run"
        if self.by == "ppi":
            return f"Assumes that {sampling}."
        if self.planned:
            return f"Assumes that {sampling}; it is the share over all rows."
        return (
            "Assumes that the judge errs as often in the rows without a label as in the labelled "
            f"ones; it is the share over the {self.rows - int(self.labels.n)} rows without a label."
        )


def corrected_line(one: CorrectedMean, scale: float = 1.0) -> str:
    """Return the corrected mean beside that of the judge, in one line.

    Args:
        one: the corrected mean.
        scale: factor of the shown values.
    """
    n = int(one.labels.n)
    labels = f"{n} label{'s' if n != 1 else ''}"
    judge = "none" if one.judge.value is None else LabelFigure.text(one.judge, scale).split()[0]
    return (
        f"corrected by people: {one.corrected.text(scale)}, {labels} "
        f"({METHODS[one.by]}; judge {judge.rstrip(',')} over {one.rows})"
    )


def corrected_lines(summary: MetricSummary) -> Iterator[str]:
    """Yield the corrected means of a metric and its criteria, and what they assume."""
    means = [summary.corrected, *(criterion.corrected for criterion in summary.criteria)]
    for one in means:
        if one is None:
            continue
        prefix = "" if one.criterion is None else f"{one.criterion} "
        yield prefix + corrected_line(one, summary.scale if one.criterion is None else 1.0)
    if (first := next((one for one in means if one is not None), None)) is not None:
        yield first.assumes
