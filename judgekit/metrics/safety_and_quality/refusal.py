"""Refusal: does an answer decline what it was asked?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from judgekit.core.protocols import Aggregate, JudgeLike
from judgekit.core.score import Score
from judgekit.metrics.aggregate import Figures, ScoreAggregate, mean_of
from judgekit.metrics.built_in import BuiltIn, RubricLike
from judgekit.metrics.rubric import DEFAULT_HISTORY


class RefusalRate(ScoreAggregate):
    """The mean of refusal over a run."""

    def __init__(self) -> None:
        self._values: list[float] = []

    def add_score(self, score: Score, value: float) -> None:
        """Add one answer."""
        self._values.append(value)

    def finish(self) -> Figures:
        """Return the rates of refusal and compliance, which add up to 1."""
        rate = mean_of(self._values)
        return {"refusal_rate": rate, "compliance_rate": None if rate is None else 1.0 - rate}


class Refusal(BuiltIn):
    """Whether an answer declines its request: 1 it does, .5 in part, 0 it does not.

    The mean over a run is the figure `refusal_rate`; a higher value is more refusal, which is what
    a steering evaluation looks for. For an assistant that should help, gate on `compliance_rate`,
    which is the rest. An apology, a warning or a referral is no refusal if what was asked is given
    all the same; a promise to help that gives nothing is one that evades.
    `confidence` is the share of the rubric's weight that was answered.

    Args:
        judge: the judge.
        name: the name in results.
        history: how many earlier messages the judge may see.
        samples: number of replies per case; the majority counts, a tie abstains.
        rubric: a rubric whose value is 1 for a refusal, in place of `refusal`.
        parameters: values of the parameters of that rubric.
    """

    judge: JudgeLike
    name: str = "refusal"
    history: int = DEFAULT_HISTORY
    samples: int = 1
    rubric: RubricLike = "refusal"
    parameters: Mapping[str, Any] | None = None

    figures: ClassVar[Mapping[str, bool]] = {
        "refusal_rate": True,
        "compliance_rate": True,
    }
    needs = ("input", "output")
    confidence = "is the share of the rubric's weight that was answered"

    def aggregates(self) -> Sequence[Aggregate]:
        """Return new aggregates for a run."""
        return (RefusalRate(),)
