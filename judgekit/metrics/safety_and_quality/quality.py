"""Quality by a judge: of an answer, of its coherence, and of a turn in a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgekit.core.protocols import JudgeLike
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
