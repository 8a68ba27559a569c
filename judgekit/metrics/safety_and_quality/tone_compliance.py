"""Tone compliance, judged: is an answer in the tone that is wanted?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.protocols import JudgeLike
from judgekit.core.score import Score
from judgekit.core.value import Json
from judgekit.metrics.built_in import BuiltIn, RubricLike
from judgekit.metrics.step import certainty

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
        details: dict[str, Json] = {**score.details, "tone": self.tone}
        return score.model_copy(
            update={
                "reason": f"{self.tone} {score.value:.2f}: {score.parts[0].reason}",
                "confidence": certainty([score.value]),
                "details": details,
            }
        )
