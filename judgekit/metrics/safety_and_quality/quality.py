"""Quality, judged: how good is an answer as an answer?"""

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
    confidence = "is the share of the rubric's weight that was answered"
