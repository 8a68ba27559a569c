"""Amounts in a request: "at most 50", "three", "between 3 and 5", as bounds."""

from __future__ import annotations

import re

_WORDS = {
    "a single": 1, "a couple of": 2, "a dozen": 12, "one": 1, "two": 2, "three": 3, "four": 4,
    "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "a hundred": 100, "one hundred": 100,
}  # fmt: skip
NUMBER = (
    r"(?:\d{1,3}(?:,\d{3}){1,6}|\d{1,6}|"
    + "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in sorted(_WORDS, key=len)[::-1])
    + r")(?![\w%]|[.,]\d)"
)
_N = f"(?:{NUMBER})"
_MOST = (
    r"(?:at\s+most|(?:no|not)\s+(?:more|longer)\s+than|up\s+to|(?:an?\s+)?max(?:imum)?(?:\s+of)?"
    r"|(?:not\s+)?exceed(?:ing)?)"
)
_UNDER = r"(?:under|fewer\s+than|less\s+than|below)"
_LEAST = r"(?:at\s+least|no\s+(?:fewer|less)\s+than|(?:an?\s+)?min(?:imum)?(?:\s+of)?)"
_OVER = r"(?:more\s+than|over)"
_ABOUT = r"(?:about|around|approximately|roughly)"
_RANGE = rf"(?:between\s+{_N}\s+and\s+{_N}|{_N}\s*(?:-|–|to|or)\s*{_N})"

LIMITED = (
    rf"(?:{_RANGE}|(?:{_MOST}|{_UNDER}|{_LEAST}|{_OVER}|{_ABOUT})\s+{_N}"
    rf"|{_N}(?=\s+\w+\s+(?:or\s+(?:less|fewer|more)|max(?:imum)?|min(?:imum)?)\b))"
)
"""An amount with a word that says it is a limit."""
AMOUNT = rf"(?:{LIMITED}|(?:exactly\s+|only\s+|just\s+)?{_N})"
"""An amount with or without one."""

Bounds = tuple[int | None, int | None]


def read_amount(phrase: str, *, tolerance: float = 0.0) -> Bounds:
    """Return the least and greatest number a phrase allows.

    Args:
        phrase: What `AMOUNT` matched, with the unit and "or less" after it if they are there.
        tolerance: How far off a number without a limit may be, as a share of it; "about"
            always allows a fifth.

    >>> read_amount("under 100"), read_amount("three"), read_amount("3-5"), read_amount("about 10")
    ((None, 99), (3, 3), (3, 5), (8, 12))
    """
    phrase = " ".join(phrase.lower().split())
    numbers = [_number(match[0]) for match in re.finditer(NUMBER, phrase)]
    first = numbers[0]
    if len(numbers) > 1:
        return min(numbers[:2]), max(numbers[:2])
    if re.search(rf"{_LEAST}|\bor more\b|\bmin(?:imum)?\b", phrase):
        return first, None
    if re.search(rf"{_MOST}|\bor (?:less|fewer)\b|\bmax(?:imum)?\b", phrase):
        return None, first
    if re.search(_UNDER, phrase):
        return None, max(first - 1, 0)
    if re.search(_OVER, phrase):
        return first + 1, None
    if re.search(_ABOUT, phrase):
        tolerance = 0.2
    elif "exactly" in phrase:
        tolerance = 0.0
    slack = int(first * tolerance)
    return first - slack, first + slack


def _number(written: str) -> int:
    return _WORDS.get(written) or int(written.replace(",", ""))
