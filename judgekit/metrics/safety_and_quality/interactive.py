"""Interactive: does an assistant hold its own in a conversation of several turns?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgekit.core.protocols import JudgeLike
from judgekit.metrics.built_in import BuiltIn, RubricLike

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
    confidence = "is the share of the rubric's weight that was answered"
