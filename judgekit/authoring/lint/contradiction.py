"""Detect verdicts that contradict their reason."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from judgekit.authoring.lint.language import english
from judgekit.core.request import Question

FAR = 0.05
"""Share of the scale by which the number in a reason may differ from the value."""
_MOST = 4_000
"""Characters of a reason that are read, from its end, where the conclusion is."""

_NO = re.compile(
    r"^\W*(?:no|false|wrong|not\s+met|unmet)\b\s*[.,:;!–—-]"
    r"|\b(?:so|thus|hence|therefore)\W+(?:the\s+)?(?:answer|verdict|value)\s+is\s+(?:no|false)\b"
    r"|\b(?:criterion|requirement|condition|item)\s+(?:is|was)\s+(?:not\s+(?:met|satisfied|"
    r"fulfilled)|unmet|violated)\b"
    r"|\b(?:does|do|did)\s+not\s+(?:meet|satisfy|fulfil|fulfill)\s+(?:the|this)\s+"
    r"(?:criterion|requirement|condition)\b|\bfails\s+(?:the|this)\s+criterion\b",
    re.IGNORECASE,
)
_YES = re.compile(
    r"^\W*(?:yes|true|met)\b\s*[.,:;!–—-]"
    r"|\b(?:so|thus|hence|therefore)\W+(?:the\s+)?(?:answer|verdict|value)\s+is\s+(?:yes|true)\b"
    r"|\b(?:criterion|requirement|condition|item)\s+(?:is|was)\s+(?:fully\s+)?"
    r"(?:met|satisfied|fulfilled)\b",
    re.IGNORECASE,
)
_VERDICT_IS = (
    r"\b(?:verdict|score|value|rating|level|grade|answer|wert|note|valeur|valor)\s*"
    r"(?:is|are|would\s+be|should\s+be|of|ist|est|es|:|=|→)\s*[\"'“‘`]?"
)
_NUMBER_IS = re.compile(_VERDICT_IS + r"(\d{1,6}(?:\.\d{1,6})?)(?![\w%/]|[.,]\d)", re.IGNORECASE)


def contradiction(
    question: Question,
    *,
    value: Any,
    reason: str,
    items: Sequence[Mapping[str, Any]] = (),
) -> str | None:
    """Return how an answer contradicts its own reason, or `None`.

    Args:
        question: the question.
        value: the verdict: a number, a label, true or false; `None` for a checklist.
        reason: the reason for the verdict.
        items: the items of a checklist, each `{item, met, reason}`.
    """
    if question.kind == "checklist":
        for item in items:
            if isinstance(item.get("met"), bool):
                text = _of_yes_no(item["met"], str(item.get("reason", ""))[-_MOST:])
                if text is not None:
                    return text
        return None
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
    says_no, says_yes = _NO.search(reason), _YES.search(reason)
    if value and says_no and not says_yes:
        return f"the value is true, but the reason says {_short(says_no[0])!r}"
    if not value and says_yes and not says_no:
        return f"the value is false, but the reason says {_short(says_yes[0])!r}"
    return None


def _of_word(value: str, labels: Sequence[str], reason: str) -> str | None:
    last: str | None = None
    at = -1
    for label in labels:
        pattern = _VERDICT_IS + re.escape(label) + r"(?!\w)"
        for match in re.finditer(pattern, reason, re.IGNORECASE):
            if match.end() > at:
                last, at = label, match.end()
    if last is not None and last.casefold() != value.casefold():
        return f"the value is {value!r}, but the reason says {last!r}"
    return None


def _of_number(value: float, question: Question, reason: str) -> str | None:
    numbers = [float(number) for number in _NUMBER_IS.findall(reason)]
    inside = [n for n in numbers if question.minimum <= n <= question.maximum]
    if not inside:
        return None
    span = question.maximum - question.minimum
    if all(abs(n - value) > FAR * span for n in inside):
        return f"the value is {value:g}, but the reason says {inside[-1]:g}"
    return None


def _short(text: str) -> str:
    return " ".join(text.split())[:60]
