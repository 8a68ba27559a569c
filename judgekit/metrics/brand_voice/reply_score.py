"""The score of one turn of an assistant, and its reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from judgekit.core.score import Part
from judgekit.core.value import Json
from judgekit.metrics.aggregate import mean_of
from judgekit.metrics.brand_voice.traits import TraitFinding

STYLE_BANDS = (
    (0.9, "very close"),
    (0.7, "good"),
    (0.5, "moderate"),
    (-1.0, "poor"),
)
"""Least similarity of style -> how the original's documentation reads it."""


class ReplyScore(NamedTuple):
    """The score of one reply."""

    values: Mapping[str, float | None]
    reasons: Mapping[str, str]
    details: dict[str, Json]


def style_band(value: float) -> str:
    """Return the word for a similarity of style (see `STYLE_BANDS`)."""
    return next(words for least, words in STYLE_BANDS if value >= least)


def part_of(id: str, values: Sequence[float | None], reasons: Sequence[str]) -> Part:
    """Return the mean of the replies as a part, with the reason of the worst reply."""
    value = mean_of(values)
    known = [i for i, v in enumerate(values) if v is not None]
    if not known or value is None:
        return Part(id=id, status="not_applicable", reason=reasons[0])
    worst = min(known, key=lambda i: (values[i], i))
    at = f"turn {worst + 1}: " if len(values) > 1 else ""
    return Part(
        id=id,
        value=max(0.0, min(1.0, value)),
        reason=f"{at}{reasons[worst]}",
        details={"turns": len(known), "lowest": values[worst]},
    )


def plain_finding(finding: TraitFinding) -> dict[str, Json]:
    """Return a finding as plain data."""
    return {
        "trait": finding.kind,
        "wanted": finding.expected,
        "matched": finding.matched,
        "heard": list(finding.detected),
        "signals": {name: list(hits) for name, hits in finding.signals.items()},
        "reason": finding.reason,
    }


def traits_reason(findings: Sequence[TraitFinding]) -> str:
    """Return which traits are missing, or else which are detected."""
    if not findings:
        return "the persona names no traits"
    missed = [f for f in findings if f.matched is False]
    if missed:
        return "; ".join(f"not {f.expected}: {f.reason}" for f in missed)
    matched = [f.expected for f in findings if f.matched]
    if matched:
        return f"{', '.join(matched)} as wanted"
    return "; ".join(f"{f.expected}: {f.reason}" for f in findings)


def words_reason(liked: Mapping[str, int], shunned: Mapping[str, int], total: int) -> str:
    """Return which preferred and avoided words are used; `total` is the number of preferred."""
    facts = [f"uses {', '.join(liked)}"] if liked else ["uses no preferred word"] if total else []
    if shunned:
        facts.append(f"uses {', '.join(shunned)}, which the persona avoids")
    elif not total:
        facts.append("uses no avoided word")
    return "; ".join(facts)


def reason_of(persona: str, value: float, parts: Sequence[Part]) -> str:
    """Return the result in a sentence."""
    summary = "; ".join(
        f"{part.id} {part.value:.2f} ({part.reason})" if part.value is not None
        else f"{part.id} not applicable ({part.reason})"
        for part in parts
    )  # fmt: skip
    return f"{value:.2f} like {persona}: {summary}."


def counted(count: int) -> str:
    """Return a number of turns, with its noun."""
    return f"{count} turn{'s' if count != 1 else ''}"
