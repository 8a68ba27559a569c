"""Coherence, judged: does an answer hang together?"""

from __future__ import annotations

from typing import ClassVar

from judgekit.core.metric_card import Card, Example
from judgekit.metrics.built_in import BuiltIn


class Coherence(BuiltIn, asks="coherence"):
    """How well an answer hangs together, whatever it says. Range 0..1, higher is better.

    The judge looks at contradiction, order, repetition, and whether the text is whole (rubric
    `coherence`); whether it is true, kind or to the point does not matter.
    `confidence` is the share of the rubric's weight that was answered.

    Args:
        judge: who answers.
        name: the name results carry.
        history: how many earlier messages the judge may see.
        samples: how often to ask.
        rubric: another rubric, in place of `coherence`.
        parameters: what that rubric's parameters are set to.
    """

    card: ClassVar[Card] = Card(
        formula=".4 consistency + .3 order + .15 repetition + .15 wholeness",
        source="Wisent's coherence judge; the weights are ours",
        needs=("output",),
        empty="no output: invalid_case, before any call",
        example=Example({"output": "The shop is open. The shop is closed."}, None),
    )
