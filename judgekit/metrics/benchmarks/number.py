"""Numbers as answers state them, read exactly."""

from __future__ import annotations

import re
from fractions import Fraction

MAX_DIGITS = 400
"""Characters above which a number is no answer; reading it would take their number squared."""

_SIGN = r"(?:(?<![\w)\]}])[-+−]|(?<![\w.,)\]}/]))"
_DIGITS = r"(?:\d{1,3}+(?:,\d{3})++(?!\d)|\d++)(?:\.\d++)?+|\.\d++"
_NUMBER = re.compile(
    rf"{_SIGN}(?:[$€£¥]\s?[-−]?)?((?:{_DIGITS})(?:[eE][-+]?\d{{1,3}}(?!\w))?+)"
    rf"(?:\s?/\s?((?:{_DIGITS})(?![\w/])))?"
)
_FRACTION = re.compile(r"\\[dt]?frac\s?\{?\s?([-−]?\d+)\s?\}?\s?\{?\s?(\d+)\s?\}?")
_COMMAND = re.compile(r"\\(?:text|mathrm|textbf|mathbf|mbox)\s?\{([^{}]*)\}")
_SPACE = re.compile(r"\\[,!;: ]|\\quad|~|\{,\}")
_ITEM = re.compile(r"^[ \t]*(\d{1,3})[.)][ \t]+(?=\S)", re.MULTILINE)


def plain(text: str) -> str:
    r"""Return LaTeX of simple answers as plain text.

    >>> plain(r"\frac{3}{4}\text{ cm}"), plain(r"1{,}000")
    ('3/4 cm', '1,000')
    """
    if "\\" not in text and "{" not in text:
        return text
    text = text.replace("{,}", ",")
    text = _SPACE.sub(" ", _COMMAND.sub(r"\1", _FRACTION.sub(r"\1/\2", text)))
    return text.replace("\\$", "$").replace("\\%", "%").replace("\\(", "").replace("\\)", "")


def numbers(text: str) -> list[tuple[str, int, int]]:
    """Return every number of a text with its place; the numbers of list items are none.

    >>> [found for found, *_ in numbers("1. From -3 to $1,200.50, or 3/4 of it.")]
    ['-3', '$1,200.50', '3/4']
    """
    listed = list(_ITEM.finditer(text))
    if len(listed) == 1 and listed[0][1] != "1":
        listed = []  # "12. It is not 10." is no list
    items = {match.start(1) for match in listed}
    return [
        (match[0], match.start(), match.end())
        for match in _NUMBER.finditer(text)
        if match.start() not in items
    ]


def read_number(text: str) -> Fraction | None:
    """Return the one number a text states, exactly; `None` if it is no number.

    Signs of currency and percent, thousands between commas and a unit after the number do not
    matter: "50 %" is 50. "1.000" is one: a full stop is the decimal point.

    >>> read_number("$1,200.50"), read_number("-3/4"), read_number("fifty")
    (Fraction(2401, 2), Fraction(-3, 4), None)
    """
    match = _NUMBER.search(plain(text))
    if match is None or len(match[0]) > MAX_DIGITS:
        return None
    over = Fraction(match[2].replace(",", "")) if match[2] else Fraction(1)
    if not over:
        return None
    value = Fraction(match[1].replace(",", "")) / over
    before = match[0][: match.start(1) - match.start()]
    return -value if "-" in before or "−" in before else value


def is_number(text: str) -> bool:
    """Return whether a text is a number, with a sign of currency or percent at most.

    >>> is_number("$1,200"), is_number("12 apples"), is_number("0/0")
    (True, False, False)
    """
    bare = plain(text).strip().rstrip("%").strip()
    match = _NUMBER.match(bare)
    whole = match is not None and match.end() == len(bare)
    return whole and read_number(bare) is not None
