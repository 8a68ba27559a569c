"""Why a check failed: case, criterion, reason, quote, threshold, and how to see more."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from judgekit.core.canonical import printable
from judgekit.core.score import Failure, Part, Result
from judgekit.report.thresholds import passes

MAX_REASON = 300
SHOWN = 3
"""Criteria that are named, those that cost most first."""


def shortfall(
    result: Result,
    *,
    threshold: float | None,
    higher_is_better: bool,
    allow_fallback: bool,
) -> str | None:
    """Return why a result does not pass, as half a sentence; `None` if it passes."""
    if isinstance(result, Failure):
        return f"no score ({result.kind}): {result.message}"
    if result.fallback is not None and not allow_fallback:
        return (
            f"scored by the fallback {result.fallback.substitute} ({result.fallback.cause}); "
            "allow_fallback=True accepts that"
        )
    if result.value is None:
        return f"{result.status.replace('_', ' ')}: {result.reason or 'no value'}"
    if passes(result.value, threshold, higher_is_better) is False:
        side = "below" if higher_is_better else "above"
        return f"{result.value:.3g} is {side} the threshold {threshold:g}"
    return None


def explained(
    case: str, metric: str, result: Result, fault: str, *, advice: str = ""
) -> Iterator[str]:
    """Yield the lines of a failed check."""
    yield printable(f"{metric} of case {case!r}: {fault}")
    if not isinstance(result, Failure):
        costly = sorted(
            (p for p in result.parts if p.cost > 0), key=attrgetter("cost"), reverse=True
        )
        for part in costly[:SHOWN]:
            value = part.status.replace("_", " ") if part.value is None else f"{part.value:.2f}"
            yield printable(f"  {part.id} {value}: {_cut(_reason(part))}")
            for quote in part.quotes:
                where = f"in {quote.field}" if quote.field else "NOT FOUND in the case"
                yield printable(f'    "{_cut(quote.text)}" ({where})')
        if not costly and result.reason:
            yield printable(f"  {_cut(result.reason)}")
    if advice:
        yield printable(f"  {advice}")


def _reason(part: Part) -> str:
    if part.reason:
        return part.reason
    unmet = [str(i["item"]) for i in part.items if isinstance(i, dict) and not i.get("met")]
    return f"not met: {'; '.join(unmet)}" if unmet else "no reason given"


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_REASON else text[: MAX_REASON - 1] + "…"
