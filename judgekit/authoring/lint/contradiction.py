"""Whether a verdict contradicts the reason given for it, as far as words can tell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from judgekit.authoring.lint.language import english
from judgekit.core.request import Question

FAR = 0.05
"""Share of the scale that the number in a reason may be off before it is another number."""
_LOOKED_AT = 4_000
"""Characters of a reason that are looked at, from its end, where the verdict is drawn."""

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
        question: what was asked.
        value: the verdict: a number, a word, true or false; `None` of a checklist.
        reason: why.
        items: of a checklist, `{item, met, reason}` each.
    """
    if question.kind == "checklist":
        for item in items:
            if isinstance(item.get("met"), bool):
                found = _of_yes_no(item["met"], str(item.get("reason", ""))[-_LOOKED_AT:])
                if found is not None:
                    return found
        return None
    reason = reason[:200] + "\n" + reason[200:][-_LOOKED_AT:] if len(reason) > 200 else reason
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
        return f"it is true, and the reason says {_short(says_no[0])!r}"
    if not value and says_yes and not says_no:
        return f"it is false, and the reason says {_short(says_yes[0])!r}"
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
        return f"it is {value!r}, and the reason says {last!r}"
    return None


def _of_number(value: float, question: Question, reason: str) -> str | None:
    said = [float(number) for number in _NUMBER_IS.findall(reason)]
    inside = [n for n in said if question.minimum <= n <= question.maximum]
    if not inside:
        return None
    span = question.maximum - question.minimum
    if all(abs(n - value) > FAR * span for n in inside):
        return f"it is {value:g}, and the reason says {inside[-1]:g}"
    return None


def _short(text: str) -> str:
    return " ".join(text.split())[:60]
