"""Accuracy: does an answer say what an accepted answer says?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgekit.core.case import Case, has_text
from judgekit.core.protocols import JudgeLike
from judgekit.core.score import Score
from judgekit.core.value import Json
from judgekit.metrics._options import Fraction
from judgekit.metrics.built_in import BuiltIn, RubricLike
from judgekit.metrics.rubric import DEFAULT_HISTORY
from judgekit.metrics.step import certainty

TAU = 0.8
"""From this probability on an answer counts as equivalent to a reference."""


class Accuracy(BuiltIn):
    """Whether an answer means what an accepted answer means: 1 or 0, higher is better.

    The judge says how probable it is that somebody who knows one of the references would accept
    the answer as the same (rubric `accuracy`). The value is 1 from `tau` on, `tau` included, else
    0, so that the mean over a run is the accuracy; `details.probability` is the number itself.
    `confidence` is the greater of p and 1 - p. Without a judge, `semantic_accuracy`
    stands in, which needs a semantic embedder and is not applicable without one.

    Args:
        judge: the judge.
        name: the name in results.
        tau: probability from which an answer counts as equivalent.
        history: how many earlier messages the judge may see.
        samples: number of replies per case; probabilities are averaged.
        rubric: another rubric of the same kind, in place of `accuracy`.
        parameters: values of the parameters of that rubric.
    """

    judge: JudgeLike
    name: str = "accuracy"
    tau: Fraction = TAU
    history: int = DEFAULT_HISTORY
    samples: int = 1
    rubric: RubricLike = "accuracy"
    parameters: Mapping[str, Any] | None = None

    needs = ("output", "reference")
    confidence = "is the greater of p and 1 - p"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._made_with["value"] = "whether the rubric's reaches tau"

    @property
    def options(self) -> dict[str, Json]:
        """Options that affect the requests or the value."""
        return {**super().options, "tau": self.tau}

    async def score(self, case: Case) -> Score:
        """Return the score of one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        score = await super().score(case)
        references: list[Json] = [text for text in case.reference if has_text(text)]
        if score.value is None:
            return score.model_copy(update={"ground_truth": references})
        right = score.value >= self.tau
        words = "means" if right else "does not mean"
        why = score.parts[0].reason
        return score.model_copy(
            update={
                "value": float(right),
                "reason": f"The answer {words} what was accepted ({score.value:.2f}): {why}",
                "confidence": certainty([score.value]),
                "ground_truth": references,
                "details": {**score.details, "probability": score.value, "tau": self.tau},
            }
        )
