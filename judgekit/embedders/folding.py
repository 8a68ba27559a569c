"""Folding: normalise a text for comparisons that ignore case and width."""

from __future__ import annotations

import unicodedata

_PIECE = 1000
"""Number of characters normalised in one call: CPython sorts a run of marks in quadratic time."""
_MAX_MARKS = 30
"""Number of consecutive marks that stay with their letter at a cut (UAX #15, stream-safe text)."""


def fold(text: str) -> str:
    """Return the text in Unicode form NFKC, case-folded; takes linear time.

    A run of more than 30 combining marks may be split before it is normalised. No written language
    has such runs; without the split, a hostile text with one would take minutes.

    >>> fold("Ｓtraße ﬁn")
    'strasse fin'
    """
    return text.lower() if text.isascii() else nfkc(text).casefold()


def nfkc(text: str) -> str:
    """Return the text in Unicode form NFKC; takes linear time."""
    if text.isascii():
        return text
    if len(text) <= _PIECE:
        return unicodedata.normalize("NFKC", text)
    pieces = []
    start = 0
    while start < len(text):
        end = min(start + _PIECE, len(text))
        limit = min(end + _MAX_MARKS, len(text))
        while end < limit and unicodedata.combining(text[end]):
            end += 1
        pieces.append(unicodedata.normalize("NFKC", text[start:end]))
        start = end
    return "".join(pieces)
