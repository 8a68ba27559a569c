"""The parts of a rubric's score: one for each criterion."""

from __future__ import annotations

import math
from collections.abc import Sequence

from judgekit.case import Case
from judgekit.judgment import Said
from judgekit.metrics.quote import find_quotes
from judgekit.rubric.fold import Folded, Outcome
from judgekit.rubric.rubric import Variant
from judgekit.score import Part
from judgekit.value import trusted


def parts_of(
    case: Case,
    variant: Variant,
    told: Sequence[Said],
    outcomes: Sequence[Outcome],
    folded: Folded,
) -> tuple[Part, ...]:
    """Return what was answered to each criterion, what it is worth, and how much it weighs."""
    share = folded.shares.get
    return tuple(
        [
            trusted(
                Part,
                {
                    "id": id,
                    "status": status,
                    "value": worth,
                    "weight": share(id, 0.0),
                    "answer": value,
                    "reason": reason,
                    "quotes": find_quotes(quotes, case) if quotes else (),
                    "items": items,
                    "details": details,
                },
            )
            for id, (value, reason, quotes, items, details), (status, worth) in zip(
                variant.ids, told, outcomes, strict=True
            )
        ]
    )


def value_of(part: Part) -> float:
    """Return the value of a part, 0 where it has none."""
    return part.value or 0.0


def costliest(parts: Sequence[Part]) -> tuple[Part, float]:
    """Return the scored criterion that cost the value the most, and how much; the first of equals.

    At least one of the parts is scored.
    """
    decisive = parts[0]
    most = -math.inf
    for part in parts:
        value = part.value
        if value is not None:
            weight = part.weight
            cost = weight * (1.0 - value) if weight > 0 else -weight * value
            if cost > most:
                decisive, most = part, cost
    return decisive, most


def said_of(part: Part) -> str:
    """Return the reason of a part, or which of its items are not met."""
    if part.reason:
        return part.reason
    unmet = [str(item["item"]) for item in part.items if isinstance(item, dict) and not item["met"]]
    return f"not met: {'; '.join(unmet)}" if unmet else "all of its items are met"
