"""Perplexity: how surprised a model is by a text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError, InvalidReply
from judgekit.core.protocols import Aggregate, JudgeLike, Likelihood
from judgekit.core.score import Score
from judgekit.metrics._options import needed_text, needed_texts
from judgekit.metrics.aggregate import Figures, ScoreAggregate
from judgekit.metrics.benchmarks.likelihood_metric import LikelihoodMetric
from judgekit.metrics.computed import not_applicable

Measured = Literal["output", "input", "baseline", "reference"]
Given = Literal["nothing", "input", "system"]
_MOST = 700.0
"""Mean surprise, in nats a token, beyond which exp() has no number: placeholders of a server."""


class Perplexity(LikelihoodMetric):
    """exp of the mean surprise of a token; 1 upwards without end, lower is better.

    1 means that the model foresaw every token; 20, that it was as unsure as among 20 equally
    likely ones. Perplexities of models with different tokenisers cannot be compared; the
    `bits_per_byte` in `details` can. The first token of a text that follows nothing has no
    figure and is left out (`first_left_out`). `confidence` is the share of the tokens that have a
    figure.

    The figures come from a completions endpoint that echoes log-probabilities. Over a run,
    `corpus_perplexity` weighs every token alike, where the mean weighs every case alike.

    Args:
        judge: the model, or a `Likelihood`.
        name: the name in results.
        field: the field of the case whose text is measured; of `reference`, the first text.
        given: what stands before the text without being counted: nothing, input or system.
        joint: what stands between the two.
        of: the former name of `field`; in a suite, `of` names the parts of a combined metric.
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
    confidence = "is the share of the tokens that have a figure"

    def __post_init__(self) -> None:
        self.field = self.field if self.of is None else self.of
        super().__post_init__()
        if self.given == self.field:
            raise ConfigError(f"{self.name}: field and given are both {self.field!r}")

    def aggregates(self) -> list[Aggregate]:
        """Return what makes the perplexity of all texts as one."""
        return [_Corpus()]

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: a text is missing.
            JudgekitError: raised by the model or the cassette.
        """
        if self.field == "reference":
            text = needed_texts(case, "reference")[0]
        else:
            text = needed_text(case, self.field)
        prompt = "" if self.given == "nothing" else needed_text(case, self.given) + self.joint
        (continuation,) = await self.measure(case, [(prompt, text)])
        common: dict[str, Any] = {"method": self._method, "meta": self.made_with}
        tokens = len(continuation.logprobs)
        if not tokens:
            reason = "A single token with nothing before it has no perplexity."
            return not_applicable(reason, **common)
        total = math.fsum(continuation.logprobs)
        if -total / tokens > _MOST:
            raise InvalidReply("the log-probabilities are too low to be a model's")
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
