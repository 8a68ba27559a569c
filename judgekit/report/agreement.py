"""The parts of an agreement: figures, labellers, groups, systems, the alternative test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from judgekit.core.value import Value
from judgekit.stats.agreement import Coefficient, CountedFigure
from judgekit.stats.intervals import wilson

STATISTICS = {
    "alpha_nominal": "alpha (nominal)", "alpha_ordinal": "alpha (ordinal)",
    "alpha_interval": "alpha (interval)", "precision": "precision",
    "recall": "recall (sensitivity)", "specificity": "specificity", "f1": "F1",
    "balanced_f1": "balanced F1", "kappa": "kappa", "spearman": "Spearman's rho",
    "pearson": "Pearson's r", "kendall": "Kendall's tau-b",
    "probability": "probability of people's answers", "brier": "Brier score",
}  # fmt: skip
"""Name of a statistic -> how it is shown."""


class AgreementStatistic(Value):
    """A statistic with its 95 % interval and the answers it counts."""

    name: str
    """A key of `STATISTICS`."""
    n: int
    """What it counts: pairs of answers, cases for alpha, groups or systems."""
    value: float | None
    """`None` where it is not defined."""
    low: float | None = None
    high: float | None = None
    too_few: str | None = None
    """Why there is no interval."""

    @classmethod
    def of(cls, name: str, n: int, figure: Coefficient) -> AgreementStatistic:
        """Return a coefficient as a statistic."""
        return cls(name=name, n=n, value=figure.value, low=figure.low, high=figure.high,
                   too_few=figure.too_few)  # fmt: skip

    @property
    def text(self) -> str:
        """The value with its interval."""
        if self.value is None and self.too_few:
            return "too few"
        return Coefficient(self.value, self.low, self.high).text


def statistics_of(figures: Mapping[str, CountedFigure]) -> tuple[AgreementStatistic, ...]:
    """Return figures as statistics, in the order of `STATISTICS`."""
    return tuple(AgreementStatistic.of(name, *figures[name]) for name in STATISTICS
                 if name in figures)  # fmt: skip


class LabellerAgreement(Value):
    """One labeller against the judge and against the other labellers."""

    labeller: str
    judge: AgreementStatistic | None
    others: AgreementStatistic | None = None
    """`None` if no other person labelled one of these cases."""


class ReasonedLabel(Value):
    """The answer of one person, with the reason they wrote."""

    labeller: str
    value: str
    reason: str = ""


class Disagreement(Value):
    """A case about which the judge and people differ."""

    case: str
    judge: str
    reason: str = ""
    """Of the judge."""
    people: tuple[ReasonedLabel, ...]
    distance: float
    """Mean distance to the labels, 1 for the largest possible one."""


class GroupAgreement(Value):
    """Agreement within groups of cases, averaged over groups."""

    field: str
    groups: int
    """Groups with labels."""
    statistics: tuple[AgreementStatistic, ...]
    """Means over the groups in which a statistic is defined."""


class SystemMeans(Value):
    """The mean answers about one system."""

    system: str
    cases: int
    judge: float
    people: float


class SystemAgreement(Value):
    """Agreement about the mean scores of systems."""

    field: str | None
    """Metadata field that names the system; `None` for the model that answered."""
    systems: tuple[SystemMeans, ...]
    statistics: tuple[AgreementStatistic, ...]


class AltTestLabeller(Value):
    """The alternative test with one labeller left out."""

    labeller: str
    n: int
    """Cases shared with other labellers."""
    difference: float
    """Share of cases in which the labeller is better less that in which the judge is."""
    advantage: float
    """Share of cases in which the judge is as good or better."""
    p: float
    wins: bool
    """Whether the judge counts as no worse than the labeller."""


class AltTest(Value):
    """The alternative annotator test: whether the judge may replace a labeller."""

    epsilon: float
    by: Literal["accuracy", "negative RMSE"]
    labellers: tuple[AltTestLabeller, ...]
    short: tuple[str, ...] = ()
    """Labellers with fewer than 30 shared cases, who are not tested."""
    too_few: str | None = None
    """Why the test cannot tell."""
    winning_rate: float | None = None
    """Share of the labellers against whom the judge wins."""
    advantage: float | None = None
    """Mean of the labellers' advantage."""
    low: float | None = None
    high: float | None = None

    @property
    def passed(self) -> bool | None:
        """Whether the judge wins against at least half; `None` where the test cannot tell."""
        return None if self.winning_rate is None else self.winning_rate >= 0.5

    @property
    def verdict(self) -> str:
        """The outcome in words."""
        return {None: "cannot tell", True: "passed", False: "not passed"}[self.passed]

    @property
    def lines(self) -> list[str]:
        """The outcome, and what it means."""
        head = f"alternative test (epsilon {self.epsilon:g}, {self.by}): {self.verdict}"
        if self.too_few:
            return [f"{head}: {self.too_few}"]
        won = sum(one.wins for one in self.labellers)
        least, most = (f(one.n for one in self.labellers) for f in (min, max))
        cases = f"{least}" if least == most else f"{least} to {most}"
        rate = Coefficient(self.winning_rate, *wilson(won, len(self.labellers))).text
        share = Coefficient(self.advantage, self.low, self.high).text
        figures = (
            f"{head}; the judge wins against {won} of {len(self.labellers)} labellers, winning "
            f"rate {rate}; advantage probability {share}, {cases} cases each"
        )
        if not self.passed:
            return [figures, "not passed does not show that the judge is worse: more cases may "
                    "decide"]  # fmt: skip
        return [figures, "passed means: the judge agrees with the other labellers about as well as "
                f"at least half of them do (worse in fewer than {self.epsilon:g} more of the cases "
                "than better); it may replace one of them on cases like these"]  # fmt: skip
