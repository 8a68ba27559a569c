"""Detect verdicts that contradict their reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judgekit.authoring.lint.words import english, pattern, verdict_with
from judgekit.core.request import Question

FAR = 0.05
"""Share of the scale by which the number in a reason may differ from the value."""
_MOST = 4_000
"""Characters of a reason that are read, from its end, where the conclusion is."""


def contradiction(
    question: Question, *, value: Any, reason: str, items: Sequence[Mapping[str, Any]] = ()
) -> str | None:
    """Return how an answer contradicts its own reason, or `None`.

    Args:
        question: the question.
        value: the verdict: a number, a label, true or false; `None` for a checklist.
        reason: the reason for the verdict.
        items: the items of a checklist, each `{item, met, reason}`.
    """
    if question.kind == "checklist":
        texts = (
            _of_yes_no(item["met"], str(item.get("reason", ""))[-_MOST:])
            for item in items
            if isinstance(item.get("met"), bool)
        )
        return next(filter(None, texts), None)
    reason = reason[:200] + "\n" + reason[200:][-_MOST:] if len(reason) > 200 else reason
    if isinstance(value, bool):
        return _of_yes_no(value, reason)
    if isinstance(value, str) and question.labels:
        return _of_word(value, question.labels, reason)
    if isinstance(value, (int, float)):
        return _of_number(float(value), question, reason)
    return None


def _of_yes_no(value: bool, reason: str) -> str | None:
    if not english(reason, around="the answer is"):
        return None
    says_no, says_yes = pattern("says_no").search(reason), pattern("says_yes").search(reason)
    if value and says_no and not says_yes:
        return f"the value is true, but the reason says {_short(says_no[0])!r}"
    if not value and says_yes and not says_no:
        return f"the value is false, but the reason says {_short(says_yes[0])!r}"
    return None


def _of_word(value: str, labels: Sequence[str], reason: str) -> str | None:
    ends = {
        match.end(): label
        for label in reversed(labels)
        for match in verdict_with(label).finditer(reason)
    }
    last = ends[max(ends)] if ends else value
    if last.casefold() != value.casefold():
        return f"the value is {value!r}, but the reason says {last!r}"
    return None


def _of_number(value: float, question: Question, reason: str) -> str | None:
    numbers = [float(number) for number in pattern("number_is").findall(reason)]
    inside = [n for n in numbers if question.minimum <= n <= question.maximum]
    if not inside:
        return None
    span = question.maximum - question.minimum
    if all(abs(n - value) > FAR * span for n in inside):
        return f"the value is {value:g}, but the reason says {inside[-1]:g}"
    return None


def _short(text: str) -> str:
    return " ".join(text.split())[:60]
