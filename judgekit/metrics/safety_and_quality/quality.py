"""Quality by a judge: of an answer, its accuracy, coherence and tone, and of a turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgekit.core.case import Case, has_text
from judgekit.core.comparing import at_least
from judgekit.core.errors import ConfigError
from judgekit.core.protocols import JudgeLike
from judgekit.core.score import Score
from judgekit.core.value import Json
from judgekit.metrics._options import Fraction
from judgekit.metrics.built_in import BuiltIn, RubricLike
from judgekit.metrics.rubric import DEFAULT_HISTORY


class Quality(BuiltIn):
    """How good an answer is, apart from format and policy. Range 0..1, higher is better.

    The judge rates helpfulness, correctness, clarity, coherence and concision (rubric `quality`).
    Without a judge, `coherence_rules` replaces this metric and checks only the form of the text.
    `confidence` is the share of the rubric's weight that the judge answered.

    Args:
        judge: the judge.
        name: the name in results.
        scale: factor for the displayed value, such as 10.
        history: maximum number of earlier messages that the judge sees.
        samples: how many times to ask the judge.
        rubric: rubric that replaces `quality`.
        parameters: values for the parameters of that rubric.
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
    """How coherent an answer is, whatever its content. Range 0..1, higher is better.

    The judge rates contradiction, order, repetition and whether the text is complete (rubric
    `coherence`). It does not matter whether the answer is true, kind or relevant. `confidence` is
    the share of the rubric's weight that the judge answered.

    Args:
        judge: the judge.
        name: the name in results.
        history: maximum number of earlier messages that the judge sees.
        samples: how many times to ask the judge.
        rubric: rubric that replaces `coherence`.
        parameters: values for the parameters of that rubric.
    """

    judge: JudgeLike
    name: str = "coherence"
    history: int = DEFAULT_HISTORY
    samples: int = 1
    rubric: RubricLike = "coherence"
    parameters: Mapping[str, Any] | None = None

    needs = ("output",)


HISTORY = 40
"""Maximum number of earlier messages that the judge sees; this metric depends on them."""


class Interactive(BuiltIn):
    """How good the last answer is as a turn of its conversation. Range 0..1, higher is better.

    The judge sees the earlier messages. It rates whether the answer remembers them, does not
    contradict them, follows corrections, and moves the conversation forward (rubric `interactive`).
    A criterion that does not apply to a turn drops out, such as corrections if the user made none.
    `confidence` is the share of the rubric's weight that the judge answered.

    Args:
        judge: the judge.
        name: the name in results.
        history: maximum number of earlier messages that the judge sees.
        samples: how many times to ask the judge.
        rubric: rubric that replaces `interactive`.
        parameters: values for the parameters of that rubric.
    """

    judge: JudgeLike
    name: str = "interactive"
    history: int = HISTORY
    samples: int = 1
    rubric: RubricLike = "interactive"
    parameters: Mapping[str, Any] | None = None

    needs = ("history", "input", "output")


TAU = 0.8
"""Minimum probability of an equivalent answer, inclusive."""


class Accuracy(BuiltIn):
    """1 if an answer has the same meaning as an accepted answer, else 0. Higher is better.

    The judge gives the probability that a person who knows one of the references would accept the
    answer as equivalent (rubric `accuracy`). The value is 1 if the probability is at least `tau`,
    else 0, so the mean over a run is the accuracy. `details.probability` contains the probability.
    `confidence` is max(p, 1 - p). Without a judge, `semantic_accuracy` replaces this metric; it
    needs a semantic embedder and is not applicable without one.

    Args:
        judge: the judge.
        name: the name in results.
        tau: minimum probability of an equivalent answer, inclusive.
        history: maximum number of earlier messages that the judge sees.
        samples: how many times to ask the judge; the probabilities are averaged.
        rubric: rubric of the same kind that replaces `accuracy`.
        parameters: values for the parameters of that rubric.
    """

    judge: JudgeLike
    name: str = "accuracy"
    tau: Fraction = TAU
    history: int = DEFAULT_HISTORY
    samples: int = 1
    rubric: RubricLike = "accuracy"
    parameters: Mapping[str, Any] | None = None

    needs = ("output", "reference")
    confidence = "is max(p, 1 - p)"

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
        right = at_least(probability, self.tau)
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
"""The tones that the rubric defines; any other tone needs `meaning`."""


class ToneComplianceJudge(BuiltIn):
    """The probability that an answer is in the required tone. Range 0..1, higher is better.

    The tone is formal, casual, empathetic, professional, friendly, technical, or any other word
    with your own `meaning`. The judge gives the probability that readers who know the tone would
    recognise it in the answer, with quotes (rubric `target_tone`). The content of the answer does
    not matter. `confidence` is max(p, 1 - p).

    Args:
        judge: the judge.
        tone: the required tone.
        meaning: definition of the tone; required for a tone that is not built in.
        name: the name in results.
        samples: how many times to ask the judge; the probabilities are averaged.
        rubric: rubric with the parameters `tone` and `meaning` that replaces `target_tone`.
        parameters: values for further parameters of that rubric.
    """

    judge: JudgeLike
    tone: str = "professional"
    meaning: str = ""
    name: str = "tone_compliance_judge"
    samples: int = 1
    rubric: RubricLike = "target_tone"
    parameters: Mapping[str, Any] | None = None

    needs = ("output",)
    confidence = "is max(p, 1 - p)"

    def __post_init__(self) -> None:
        for option in ("tone", "meaning"):
            if not isinstance(text := vars(self)[option], str):
                raise ConfigError(f"{self.name}: {option} must be a text, not {text!r}")
        tone = " ".join(self.tone.lower().split())
        if tone not in TONES and not self.meaning.strip():
            known = ", ".join(TONES)
            problem = f"no tone {self.tone!r} is built in ({known}); define it with meaning: ..."
            raise ConfigError(f"{self.name}: {problem}")
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
