"""The statistics of criteria, as numbers and in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from judgekit.core.display.parts import MOST_NAME, DisplayLine, DisplayPart, DisplayTable, cut
from judgekit.core.value import Document, Value
from judgekit.stats.agreement import Coefficient

FEWEST = 20
"""Cases below which nothing is concluded."""
WEAK = 0.35
"""A correlation with an interval within this distance of 0 is no relation."""


class RubricFigure(Value):
    """A figure with the cases it is of, and its 95 % interval."""

    n: int
    value: float | None = None
    """`None` where it is not defined, such as a correlation with a constant."""
    low: float | None = None
    high: float | None = None
    too_few: str | None = None
    """Why there is no interval."""

    @classmethod
    def of(cls, figure: Coefficient, n: int) -> RubricFigure:
        """Return a coefficient over n cases."""
        return cls(n=n, **asdict(figure))

    @property
    def text(self) -> str:
        """The figure as it is shown.

        >>> RubricFigure(n=40, value=0.5, low=0.25, high=0.75).text
        '0.50 [0.25, 0.75], n 40'
        """
        if self.value is None and not self.n:
            return "none"
        figure = Coefficient(self.value, self.low, self.high).text
        return f"{figure}, n {self.n:,}".replace("-0.00", "0.00")

    @property
    def unrelated(self) -> bool:
        """Whether the interval contains 0 and nothing far from it."""
        if self.low is None or self.high is None:
            return False
        return -WEAK <= self.low <= 0 <= self.high <= WEAK


class CriterionStatistics(Value):
    """The statistics of one criterion in a run."""

    metric: str
    criterion: str
    n: int
    """Cases with a value; values are on 0..1."""
    constant: float | None = None
    """The value of all cases, if there is only one."""
    others: int
    """Other criteria that vary."""
    penalty: bool = False
    """Whether its weight is a penalty."""
    mean: RubricFigure
    full: RubricFigure
    """Share of cases with the full value."""
    discrimination: RubricFigure
    """Pearson's correlation with the score of the other criteria; point-biserial for yes/no."""
    redundancy: RubricFigure
    """Pearson's correlation with the closest criterion; phi for two of yes/no."""
    closest: str | None = None
    """The criterion with the strongest correlation."""
    duplicate: bool = False
    mean_change: RubricFigure
    """Change of the mean score, on 0..1, if the criterion is removed."""
    rank_correlation: RubricFigure
    """Spearman's correlation of the scores with and without the criterion."""
    coefficient: str | None = None
    """The coefficient of agreement with people, `kappa` or `Spearman`; `None` without labels."""
    people: RubricFigure | None = None
    agreement: RubricFigure | None = None
    """Pearson's correlation of the score with that of people."""
    agreement_without: RubricFigure | None = None
    """The same for the score without the criterion."""

    @property
    def findings(self) -> dict[str, str]:
        """What the figures say, by `constant`, `duplicate`, `noise`, `against` or `few`."""
        if self.n < FEWEST:
            return {"few": f"has {self.n} of the {FEWEST} cases that a conclusion needs"}
        if self.constant is not None:
            return {"constant": f"is constant: {self.constant:g} in all {self.n:,} cases"}
        said = {}
        if self.duplicate:
            said["duplicate"] = f"duplicates {self.closest}"
        people = self.people
        if self.discrimination.unrelated and people is not None and (people.low or 0.0) > 0:
            said["apart"] = "has no relation to the other criteria, and people agree with it"
        elif self.discrimination.unrelated and (self.others > 1 or people is not None):
            measured = people is not None and people.low is not None
            nor = " nor to people" if measured else ""
            said["noise"] = f"is noise: no relation to the other criteria{nor}"
        if (self.discrimination.high or 0.0) < 0 and not self.penalty:
            said["against"] = "works against the other criteria"
        return said

    def figures(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the text of each figure."""
        yield "mean", self.mean.text
        yield "full value", self.full.text
        yield "with the rest", self.discrimination.text
        closest = f"{self.closest} " if self.closest else ""
        yield "closest", f"{closest}{self.redundancy.text}"
        if self.people is not None:
            yield "people", f"{self.coefficient or ''} {self.people.text}".strip()
        yield "without it", f"mean {self.mean_change.text}"
        yield "ranks without it", self.rank_correlation.text
        if self.agreement is not None and self.agreement_without is not None:
            yield "score and people", self.agreement.text
            yield "the same without it", self.agreement_without.text


class RubricStatistics(Document, Value):
    """The statistics of the criteria of a run."""

    cluster: str | None = None
    """Metadata field that clusters cases; intervals are clustered by it."""
    unweighted: tuple[str, ...] = ()
    """Metrics with a score that is no weighted mean: all criteria count the same here."""
    random: bool = False
    """Whether the labels have no probabilities and are taken as a random sample."""
    criteria: tuple[CriterionStatistics, ...]

    @property
    def notes(self) -> list[str]:
        """What a reader has to know about the figures."""
        by = f"clusters of {self.cluster}" if self.cluster else "case"
        notes = [f"Intervals: 95 %, by {by}. Values and scores are on 0..1."]
        for metric in self.unweighted:
            notes.append(f"The score of {metric} is no weighted mean; all criteria count the same.")
        if any(one.agreement is not None and not one.agreement.n for one in self.criteria):
            notes.append("No score of people where they did not answer all criteria of a metric.")
        if self.random:
            notes.append("Assumes that the labelled cases are a random sample.")
        return notes

    def to_json(self) -> dict[str, Any]:
        """Return the statistics as JSON values, with what they say of each criterion."""
        data: dict[str, Any] = self.model_dump(mode="json")
        for one, entry in zip(self.criteria, data["criteria"], strict=True):
            entry["findings"] = one.findings
        return data

    def _parts_shown(self) -> Iterator[DisplayPart]:
        for one in self.criteria:
            yield DisplayLine(cut(f"{one.metric}, {one.criterion}", 2 * MOST_NAME), "title")
            for finding in one.findings.values():
                yield DisplayLine(f"! {cut(finding)}", "bad")
            rows = [(name, cut(text)) for name, text in one.figures() if not text.endswith("none")]
            yield DisplayTable(("figure", "value with 95 % interval"), rows)
            yield DisplayLine("")
        yield from (DisplayLine(cut(note), "note") for note in self.notes)
