"""Pairwise preference: a judge sees two answers to one input in both orders, and picks one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from judgekit.core.arguments import checked
from judgekit.core.case import Case, answerer_of, is_given
from judgekit.core.errors import CaseError, ConfigError
from judgekit.core.judgment import Judgment
from judgekit.core.protocols import Aggregate, JudgeLike
from judgekit.core.score import Opinion, Score
from judgekit.core.suggest import suggest
from judgekit.core.value import Json, trusted
from judgekit.metrics.opinions.opinion import OpinionReply, combine_opinions
from judgekit.metrics.pairwise.figures import EVEN, FIGURES, PairTally, side_of
from judgekit.metrics.pairwise.orders import AnswerExchange, Rule, rule_of
from judgekit.metrics.rubric import DEFAULT_HISTORY, RubricMetric
from judgekit.rubric.fold import Outcome
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.variant import Variant

Tie = Literal["half", "abstain"]
Opponent = Literal["baseline", "reference"]
_KNOWN = {"rule": get_args(Rule), "tie": get_args(Tie), "opponent": get_args(Opponent)}


class PairwiseMetric(RubricMetric):
    """Which of two answers is better: 1 if it is the output, 0 if it is the other, .5 for a tie.

    The other answer is the `baseline` of the case, the first `reference` (`with: reference` in a
    suite), or the output of another run (`judgekit run --against RUN`). The judge sees both answers
    as Answer A and Answer B, in both orders, and the verdicts are mapped back, so that 1 always
    means that the output is better. If one of the orders fails, the row fails. In a suite,
    `pairwise: RUBRIC` uses another rubric that compares two answers. The mean is the win rate.
    Figures of a run: `positional_consistency`, `first_position_rate` with `first_position_low` and
    `first_position_high`, `disagreeing_first_rate` with `disagreeing_first_low` and
    `disagreeing_first_high`, `tie_rate`, and `length_controlled_win_rate` with
    `length_controlled_low` and `length_controlled_high`, the win rate at equal length.
    `confidence` is the share of the rubric's weight that the judge answered.

    Args:
        rubric: rubric that compares two answers; every label has a counterpart, such as 1 and 0.
        judge: the judge, or a `Jury`.
        name: the name in results.
        rule: `strict`: a tie unless both orders prefer the same answer. `vote`: the majority of all
            opinions. `mean`: the mean of the values, or of the probabilities where the judge gives
            them.
        tie: `half` gives a tie the value .5; `abstain` leaves it out of the mean.
        opponent: the other answer: `baseline`, or `reference` for the first one. In a suite, write
            `with`.
        history: maximum number of earlier messages that the judge sees.
        samples: how many times to ask the judge in each order.
        parameters: values for the parameters of that rubric.

    Raises:
        ConfigError: an option is wrong, or the rubric does not compare two answers.
    """

    needs = ("input", "output", "baseline")

    @checked
    def __init__(
        self,
        rubric: Rubric | str | Path = "preference",
        *,
        judge: JudgeLike,
        name: str | None = None,
        rule: Rule = "strict",
        tie: Tie = "half",
        opponent: Opponent = "baseline",
        history: int = DEFAULT_HISTORY,
        samples: int = 1,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            rubric, judge=judge, name=name, samples=samples, history=history, parameters=parameters
        )
        for option, value in {"rule": rule, "tie": tie, "opponent": opponent}.items():
            if value not in (known := _KNOWN[option]):
                raise ConfigError(f"{self.name}: no {option} {value!r}{suggest(str(value), known)}")
        if self.jury.readout is not None:
            raise ConfigError(
                f"{self.name}: `rule` decides between the two orders; replace "
                f"`readout: {self.jury.readout}` by `rule: mean`"
            )
        self.rule: Rule = rule
        self.tie: Tie = tie
        self.opponent: Opponent = opponent
        self.names: tuple[str, str] = ("output", opponent)
        """Names of the two answers in results, unless the case names the models that wrote them."""
        self._mirrors = (None, AnswerExchange(self.rubric, first=opponent))
        self._by = rule_of(rule)
        self._method += f" in both orders ({rule})"
        self._made_with["value"] = f"the better of two answers in both orders ({rule})"

    @property
    def options(self) -> dict[str, Json]:
        """Options that affect the requests or the value."""
        own: dict[str, Json] = {"rule": self.rule, "tie": self.tie, "opponent": self.opponent}
        return {**super().options, **own}

    # A class that defines `score` needs an event loop, unless it has `synchronous`.
    synchronous = RubricMetric.synchronous

    @property
    def figures(self) -> Mapping[str, bool]:
        """Figures of consistency, position and length, in addition to the figures of quotes."""
        return {**FIGURES, **super().figures}

    def aggregates(self) -> Sequence[Aggregate]:
        """Return new aggregates for a run."""
        quotes = super().aggregates() if super().figures else ()
        return (PairTally(), *quotes)

    def shown(self, case: Case, *, swapped: bool) -> Case:
        """Return a case in which the output is the answer that is shown first."""
        update: dict[str, Any] = {"baseline": self._other(case)}
        if swapped:
            update = {"output": update["baseline"], "baseline": case.output}
        if self.opponent == "reference":
            update["reference"] = ()  # the judge must not learn which answer is known to be right
        return case.model_copy(update=update)

    def _other(self, case: Case) -> str | None:
        if self.opponent == "baseline":
            return case.baseline
        return case.reference[0] if case.reference else None

    async def score(self, case: Case) -> Score:
        """Return the score of one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks an answer.
        """
        if not is_given(self.opponent, self._other(case)):
            whose = "" if self.names[1] == self.opponent else f" of {self.names[1]}"
            raise CaseError(
                f"the case has no answer{whose} to compare with: its {self.opponent!r} is missing"
            )
        return await super().score(case)

    def combined(
        self, variant: Variant, several: Sequence[OpinionReply]
    ) -> tuple[Judgment, Sequence[Outcome]]:
        """Return the combined answers of all opinions, and their values."""
        verdict, outcomes = combine_opinions(variant, several, self.jury, by=self._by)
        if self.tie == "abstain":
            outcomes = [("abstained", None) if one[1] == EVEN else one for one in outcomes]
        return verdict, outcomes

    def _score_of(self, case: Case, variant: Variant, several: Sequence[OpinionReply]) -> Score:
        score = super()._score_of(case, variant, several)
        a, b = names = self._names(case)
        winner = self._winner(score)
        output, other = case.output or "", self._other(case) or ""
        details: dict[str, Json] = {
            **score.details,
            "pairwise": {"a": a, "b": b, "winner": winner},
            "lengths": [len(output), len(other)],
        }
        changed: dict[str, Any] = {
            "details": details,
            "reason": f"{_summary(score.opinions, winner, names)}; {score.parts[0].reason}",
        }
        if winner == "tie" and self.tie == "abstain":
            changed |= {"status": "abstained", "value": None, "confidence": None}
        return trusted(Score, {**score.__dict__, **changed})

    def _winner(self, score: Score) -> str | None:
        if score.value is not None:
            return {1: "a", -1: "b", 0: "tie"}[side_of(score.value)]
        tied = self.tie == "abstain" and any(part.answer is not None for part in score.parts)
        return "tie" if tied else None

    def _names(self, case: Case) -> tuple[str, str]:
        """Return the models that wrote the two answers, if they differ, else `names`."""
        one, other = (answerer_of(case.metadata, side) for side in ("output", self.opponent))
        return (one, other) if one and other and one != other else self.names


def _summary(opinions: Sequence[Opinion], winner: str | None, names: tuple[str, str]) -> str:
    """Return the outcome in words, and the number of opinions that support it."""
    sides = [side_of(opinion.value) for opinion in opinions if opinion.value is not None]
    named = ((1, names[0]), (0, "a tie"), (-1, names[1]))
    what = ", ".join(f"{name} {sides.count(side)}" for side, name in named if side in sides)
    outcome = {"a": f"{names[0]} is better", "b": f"{names[1]} is better", "tie": "a tie"}
    verdict = outcome.get(winner or "", "no verdict")
    if len(set(sides)) == 1 and len(sides) == len(opinions):
        return f"{verdict} in {'both orders' if len(sides) == 2 else 'all opinions'}"
    return f"{verdict} (opinions: {what or 'none'})"
