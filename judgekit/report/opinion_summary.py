"""What several opinions add: how well they repeat, and how far judges agree with each other."""

from __future__ import annotations

from judgekit.core.distribution import LITTLE_MASS
from judgekit.core.value import Value
from judgekit.stats.reliability import RELIABLE


class MemberSummary(Value):
    """One judge of a jury over a run."""

    member: str
    scored: int
    failed: int
    mean: float | None
    low: float | None
    high: float | None
    """95 % interval of the mean; `None` where there are too few values."""


class PairAgreement(Value):
    """How far two judges of a jury agree; it says nothing about whether they are right."""

    members: tuple[str, str]
    criterion: str | None
    """`None` for the value of the metric."""
    cases: int
    same: float
    """Share of cases with the same answer."""
    measure: str
    """`kappa` of words and yes/no, `correlation` of numbers."""
    figure: float | None
    """`None` where it is not defined: one side always answers the same."""
    low: float | None = None
    high: float | None = None
    """95 % interval; `None` where there are too few cases."""


class RepeatSummary(Value):
    """How well several opinions on one criterion repeat."""

    criterion: str | None
    """`None` for the value of the metric."""
    over: str
    """What differs between the opinions: `samples`, `orders` (of two answers) or `judges`."""
    cases: int
    exact: float | None
    """Share of cases in which all opinions are the same."""
    kappa: float | None
    """Of words and yes/no (Fleiss)."""
    icc: float | None
    """ICC(1,1) of the values on 0..1."""
    spread: float | None
    """Standard deviation of the values within a case."""
    needed: int | None
    """Opinions that would reach a reliability of .9; `None` where they never would."""


class MassSummary(Value):
    """How much of a judge's probability was on legal answers."""

    criterion: str
    source: str
    rows: int
    mean: float
    little: int
    """Rows with less than .8."""


class OpinionSummary(Value):
    """Several opinions on the cases of a metric."""

    members: tuple[MemberSummary, ...] = ()
    pairs: tuple[PairAgreement, ...] = ()
    repeats: tuple[RepeatSummary, ...] = ()
    masses: tuple[MassSummary, ...] = ()
    unbalanced: str | None = None
    """The order that was shown once more often than its reverse."""

    @property
    def lines(self) -> list[str]:
        """The figures in sentences; of repeats, on the value or the only criterion."""
        alone = len({one.criterion for one in self.repeats}) == 1
        lines = [
            *map(_member_line, self.members),
            *(_pair_line(one) for one in self.pairs if one.criterion is None),
            *(_repeat_line(one) for one in self.repeats if alone or one.criterion is None),
            *(_mass_line(one) for one in self.masses if one.little),
        ]
        if self.unbalanced is not None:
            lines.append(
                f"The order {self.unbalanced!r} is shown once more often than its reverse; "
                "an even number of samples balances them."
            )
        return lines


def _member_line(one: MemberSummary) -> str:
    mean = "-" if one.mean is None else f"{one.mean:.2f}"
    interval = "too few for an interval" if one.low is None else f"[{one.low:.2f}, {one.high:.2f}]"
    failed = f", {one.failed} failed" if one.failed else ""
    return f"{one.member}: mean {mean} {interval}, {one.scored} scored{failed}"


def _pair_line(one: PairAgreement) -> str:
    figure = "undefined" if one.figure is None else f"{one.figure:.2f}"
    interval = "" if one.low is None else f" [{one.low:.2f}, {one.high:.2f}]"
    return (
        f"{one.members[0]} and {one.members[1]}: {one.measure} {figure}{interval}, "
        f"same in {one.same:.0%} of {one.cases}"
    )


def _repeat_line(one: RepeatSummary) -> str:
    what = one.criterion or "value"
    figures = [] if one.exact is None else [f"the same in {one.exact:.0%} of {one.cases} cases"]
    several = {"kappa": one.kappa, "ICC": one.icc, "sd": one.spread}
    figures += [f"{name} {figure:.2f}" for name, figure in several.items() if figure is not None]
    enough = "no number reaches" if one.needed is None else f"{one.needed} would reach"
    if one.kappa is not None or one.icc is not None:
        figures.append(f"{enough} {RELIABLE:g}")
    return f"{what} over {one.over}: {', '.join(figures)}"


def _mass_line(one: MassSummary) -> str:
    return (
        f"{one.criterion}: legal answers have {one.mean:.0%} of the probability on average, and "
        f"less than {LITTLE_MASS:.0%} in {one.little} of {one.rows} rows"
    )
