"""Coherence, judged: does an answer hang together?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgekit.core.protocols import JudgeLike
from judgekit.metrics.built_in import BuiltIn, RubricLike
from judgekit.metrics.rubric import DEFAULT_HISTORY


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
    confidence = "is the share of the rubric's weight that was answered"
