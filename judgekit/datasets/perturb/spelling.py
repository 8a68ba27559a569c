"""Typos, case, spacing and homoglyphs: changes that leave every word readable."""

import math
import re
import unicodedata
from collections.abc import Callable, Mapping

from judgekit.datasets.perturb.draw import Draw

_WORD = re.compile(r"[^\W\d_]{4,}")
"""Words of four letters or more: shorter ones may become other words."""
_SPACE = re.compile(r"(?<=\S)[ \t\u00a0]+(?=\S)")
_LETTER = re.compile(r"[^\W\d_]")

# Neighbours on the rows of a QWERTY keyboard.
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOURS = {
    key: "".join(row[max(0, at - 1) : at] + row[at + 1 : at + 2])
    for row in _ROWS
    for at, key in enumerate(row)
}

HOMOGLYPHS = {
    "a": "\u0430", "c": "\u0441", "e": "\u0435", "i": "\u0456", "j": "\u0458", "o": "\u043e",
    "p": "\u0440", "s": "\u0455", "x": "\u0445", "y": "\u0443", "A": "\u0410", "B": "\u0412",
    "C": "\u0421", "E": "\u0415", "H": "\u041d", "I": "\u0406", "K": "\u041a", "M": "\u041c",
    "O": "\u041e", "P": "\u0420", "S": "\u0405", "T": "\u0422", "X": "\u0425",
}  # fmt: skip
"""Latin letter -> the Cyrillic letter that looks the same."""


def _times(count: int, rate: float) -> int:
    """Return the number of places to change out of `count`: at least one."""
    return max(1, math.floor(count * rate + 0.5)) if count else 0


def typos(text: str, *, draw: Draw, rate: float) -> str:
    """Return the text with typos in a share of its words of four letters or more.

    A typo swaps two inner letters, drops or doubles one, or uses a neighbouring key. Digits,
    short words and first letters stay.
    """
    # To a pattern "²" is a letter, and in "m²" it is none.
    return substitute(text, _WORD, draw, rate, lambda word: _slip(word, draw), changes=str.isalpha)


def _slip(word: str, draw: Draw) -> str:
    if any(unicodedata.combining(letter) for letter in word):
        return word
    at = 1 + draw.below(len(word) - 2)
    before, key, after = word[:at], word[at], word[at + 1 :]
    slips = [before + after, before + key * 2 + after]
    if after[0] != key:
        slips.append(before + after[0] + key + after[1:])
    if near := _NEIGHBOURS.get(key.lower()):
        other = draw.choice(near)
        slips.append(before + (other.upper() if key.isupper() else other) + after)
    return draw.choice(slips)


def case(text: str, *, draw: Draw, rate: float) -> str:
    """Return the text with the case of a share of its words swapped."""
    return substitute(text, re.compile(r"[^\W\d_]+"), draw, rate, str.swapcase)


def spacing(text: str, *, draw: Draw, rate: float) -> str:
    """Return the text with a share of the gaps between words doubled, tabbed or split by a line."""
    return substitute(
        text, _SPACE, draw, rate, lambda gap: draw.choice((gap * 2, "\t", gap + "\n"))
    )


def homoglyphs(text: str, *, draw: Draw, rate: float) -> str:
    """Return the text with a share of its letters replaced by Cyrillic ones that look the same."""
    pattern = re.compile(f"[{''.join(HOMOGLYPHS)}]")
    return substitute(text, pattern, draw, rate, lambda letter: HOMOGLYPHS[letter])


SPELLING: Mapping[str, Callable[..., str]] = {
    "typos": typos,
    "case": case,
    "spacing": spacing,
    "homoglyphs": homoglyphs,
}
"""Kind of change -> its function of text, draw and rate."""


def substitute(
    text: str,
    pattern: re.Pattern[str],
    draw: Draw,
    rate: float,
    change: Callable[[str], str],
    *,
    changes: Callable[[str], bool] = bool,
) -> str:
    """Return the text with a share of the matches changed, of those that `changes` accepts."""
    spans = [m.span() for m in pattern.finditer(text) if changes(m[0])]
    pieces = []
    end = 0
    for start, stop in draw.sample(spans, _times(len(spans), rate)):
        pieces += [text[end:start], change(text[start:stop])]
        end = stop
    return "".join((*pieces, text[end:]))
