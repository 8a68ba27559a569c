"""Perplexity: how well does a model predict a text?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from judgekit.core.case import Case
from judgekit.core.case_field import TEXT_LISTS
from judgekit.core.errors import ConfigError, InvalidReply
from judgekit.core.protocols import Aggregate, JudgeLike, Likelihood
from judgekit.core.score import Score
from judgekit.metrics._options import needed_text, needed_texts
from judgekit.metrics.aggregate import Figures, ScoreAggregate
from judgekit.metrics.benchmarks.likelihood import LikelihoodMetric
from judgekit.metrics.computed import not_applicable

Measured = Literal["output", "input", "baseline", "reference"]
Given = Literal["nothing", "input", "system"]
_MOST = 700.0
"""Maximum mean of -log p per token, in nats; a larger one is a placeholder of a server."""


class Perplexity(LikelihoodMetric):
    """exp of the mean negative log-probability of a token. Range 1 upwards, lower is better.

    1 means that the model predicted every token; 20 means that it was as uncertain as among 20
    equally likely tokens. Perplexities of models with different tokenisers are not comparable;
    `details.bits_per_byte` is. The first token of a text without a prompt has no log-probability
    and does not count (`details.first_left_out`). `confidence` is the share of tokens with a
    log-probability.

    The log-probabilities come from a completions endpoint with echo. The figure `corpus_perplexity`
    of a run gives every token the same weight; the mean gives every case the same weight.

    Args:
        judge: the model, or a `Likelihood`.
        name: the name in results.
        field: the field of the case to measure; for `reference`, the first text.
        given: text before the measured text, not counted itself: nothing, input or system.
        joint: text between the two.
        of: former name of `field`; in a suite, `of` names the parts of a combined metric.
    """

    judge: JudgeLike | Likelihood
    name: str = "perplexity"
    field: Measured = "output"
    given: Given = "nothing"
    joint: str = "\n\n"
    of: Measured | None = None

    range: ClassVar[tuple[float, float]] = (1.0, math.inf)
    higher_is_better: ClassVar[bool] = False
    figures: ClassVar[Mapping[str, bool]] = {"corpus_perplexity": False}
    needs = ("the field that `field` names", "the field that `given` names")
    confidence = "is the share of tokens with a log-probability"

    def __post_init__(self) -> None:
        self.field = self.field if self.of is None else self.of
        super().__post_init__()
        if self.given == self.field:
            raise ConfigError(f"{self.name}: field and given are both {self.field!r}")

    def aggregates(self) -> list[Aggregate]:
        """Return the aggregate for the perplexity of all texts together."""
        return [_Corpus()]

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: a text is missing.
            JudgekitError: raised by the model or the cassette.
        """
        if self.field in TEXT_LISTS:
            text = needed_texts(case, self.field)[0]
        else:
            text = needed_text(case, self.field)
        prompt = "" if self.given == "nothing" else needed_text(case, self.given) + self.joint
        if not text:
            reason = "An empty text has no token, so it has no perplexity."
            return not_applicable(reason, method=self._method, meta=self.made_with)
        (continuation,) = await self.measure(case, [(prompt, text)])
        common: dict[str, Any] = {"method": self._method, "meta": self.made_with}
        tokens = len(continuation.logprobs)
        if not tokens:
            reason = "A single token with nothing before it has no perplexity."
            return Score(status="not_applicable", reason=reason, **common)
        total = math.fsum(continuation.logprobs)
        if -total / tokens > _MOST:
            raise InvalidReply("the log-probabilities are too low to come from a model")
        value = math.exp(-total / tokens)
        return Score(
            value=value,
            confidence=tokens / (tokens + continuation.unknown),
            reason=f"The model is as unsure of a token as among {value:.4g} equally likely ones.",
            details={
                "tokens": tokens,
                "logprob": total,
                "bits_per_byte": -total / math.log(2) / len(text.encode()),
                "first_left_out": continuation.unknown,
                "shared": continuation.shared,
            },
            **common,
        )


class _Corpus(ScoreAggregate):
    """Perplexity over the tokens of all cases."""

    def __init__(self) -> None:
        self._logprobs: list[float] = []
        self._tokens = 0

    def add_score(self, score: Score, value: float) -> None:
        if "tokens" in score.details:
            self._tokens += score.details["tokens"]
            self._logprobs.append(score.details["logprob"])
            if len(self._logprobs) > 10_000:  # a sum of exact sums, in memory that does not grow
                self._logprobs = [math.fsum(self._logprobs)]

    def finish(self) -> Figures:
        if not self._tokens:
            return {"corpus_perplexity": None}
        return {"corpus_perplexity": math.exp(-math.fsum(self._logprobs) / self._tokens)}
