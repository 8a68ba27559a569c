"""Quality by a judge: of an answer, its accuracy, coherence and tone, and of a turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgekit.core.case import Case, has_text
from judgekit.core.errors import ConfigError
from judgekit.core.protocols import JudgeLike
from judgekit.core.score import Score
from judgekit.core.value import Json
from judgekit.metrics._options import Fraction
from judgekit.metrics.built_in import BuiltIn, RubricLike
from judgekit.metrics.rubric import DEFAULT_HISTORY


class Quality(BuiltIn):
    """How good an answer is, whatever format or policy it had to follow; 0..1, higher is better.

    The judge looks at helpfulness, correctness, clarity, coherence and concision (rubric
    `quality`). Without a judge, `coherence_rules` stands in: it sees the form of a text alone.
    `confidence` is the share of the rubric's weight that was answered.

    Args:
        judge: the judge.
        name: the name in results.
        scale: factor for the shown value, such as 10.
        history: how many earlier messages the judge may see.
        samples: number of replies per case.
        rubric: another rubric, in place of `quality`.
        parameters: values of the parameters of that rubric.
    """

    judge: JudgeLike
    name: str = "quality"
    scale: float = 1.0
    history: int = DEFAULT_HISTORY
    samples: int = 1
    rubric: RubricLike = "quality"
    parameters: Mapping[str, Any] | None = None

    needs = ("input", "output")


class Coherence(BuiltIn):
    """How well an answer hangs together, whatever it says. Range 0..1, higher is better.

    The judge looks at contradiction, order, repetition, and whether the text is whole (rubric
    `coherence`); whether it is true, kind or to the point does not matter.
    `confidence` is the share of the rubric's weight that was answered.

    Args:
        judge: the judge.
        name: the name in results.
        history: how many earlier messages the judge may see.
        samples: number of replies per case.
        rubric: another rubric, in place of `coherence`.
        parameters: values of the parameters of that rubric.
    """

    judge: JudgeLike
    name: str = "coherence"
    history: int = DEFAULT_HISTORY
    samples: int = 1
    rubric: RubricLike = "coherence"
    parameters: Mapping[str, Any] | None = None

    needs = ("output",)


HISTORY = 40
"""Earlier messages the judge sees: this metric is about them."""


class Interactive(BuiltIn):
    """How good the last answer is as a turn of its conversation. Range 0..1, higher is better.

    The judge sees the earlier messages and says whether the answer remembers what was said, does
    not contradict it, takes corrections up, and brings the conversation on (rubric
    `interactive`). What does not apply to a turn, such as a correction nobody made, leaves the
    sum. `confidence` is the share of the rubric's weight that was answered.

    Args:
        judge: the judge.
        name: the name in results.
        history: how many earlier messages the judge may see.
        samples: number of replies per case.
        rubric: another rubric, in place of `interactive`.
        parameters: values of the parameters of that rubric.
    """

    judge: JudgeLike
    name: str = "interactive"
    history: int = HISTORY
    samples: int = 1
    rubric: RubricLike = "interactive"
    parameters: Mapping[str, Any] | None = None

    needs = ("history", "input", "output")


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
        probability = score.value
        right = probability >= self.tau
        words = "means" if right else "does not mean"
        why = score.parts[0].reason
        return score.model_copy(
            update={
                "value": float(right),
                "reason": f"The answer {words} what was accepted ({probability:.2f}): {why}",
                "confidence": max(probability, 1.0 - probability),
                "ground_truth": references,
                "details": {**score.details, "probability": probability, "tau": self.tau},
            }
        )


TONES = ("formal", "casual", "empathetic", "professional", "friendly", "technical")
"""The tones the rubric knows the meaning of; any other needs `meaning`."""


class ToneComplianceJudge(BuiltIn):
    """The probability that an answer is in the tone that is wanted. Range 0..1, higher is better.

    The tone is one of formal, casual, empathetic, professional, friendly, technical, or any other
    word with a `meaning` of your own. The judge says how probable it is that people who know the
    tone would hear it in the answer (rubric `target_tone`), with quotes; what the answer says
    does not matter. `confidence` is the greater of p and 1 - p.

    Args:
        judge: the judge.
        tone: the tone that is wanted.
        meaning: what that tone is; needed for a tone that is not built in.
        name: the name in results.
        samples: number of replies per case; probabilities are averaged.
        rubric: another rubric with the parameters `tone` and `meaning`.
        parameters: what further parameters of that rubric are set to.
    """

    judge: JudgeLike
    tone: str = "professional"
    meaning: str = ""
    name: str = "tone_compliance_judge"
    samples: int = 1
    rubric: RubricLike = "target_tone"
    parameters: Mapping[str, Any] | None = None

    needs = ("output",)
    confidence = "is the greater of p and 1 - p"

    def __post_init__(self) -> None:
        for option in ("tone", "meaning"):
            if not isinstance(text := vars(self)[option], str):
                raise ConfigError(f"{self.name}: {option} must be a text, not {text!r}")
        tone = " ".join(self.tone.lower().split())
        if tone not in TONES and not self.meaning.strip():
            known = ", ".join(TONES)
            raise ConfigError(
                f"{self.name}: no tone {self.tone!r} is built in ({known}); say what it is:"
                " meaning: ..."
            )
        self.tone = tone
        settings = {"tone": tone, "meaning": " ".join(self.meaning.split())}
        self.parameters = {**(self.parameters or {}), **settings}
        super().__post_init__()

    async def score(self, case: Case) -> Score:
        """Return the score of one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        score = await super().score(case)
        if score.value is None:
            return score
        return score.model_copy(
            update={
                "reason": f"{self.tone} {score.value:.2f}: {score.parts[0].reason}",
                "confidence": max(score.value, 1.0 - score.value),
                "details": {**score.details, "tone": self.tone},
            }
        )
