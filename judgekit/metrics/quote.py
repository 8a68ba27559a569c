"""Find the quotes of a judge in the case, and count them over a run."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from judgekit.core.case import Case
from judgekit.core.case_field import CASE_TEXTS, MESSAGE_LISTS
from judgekit.core.judgment import Quote
from judgekit.core.score import Row, Score
from judgekit.rubric.message_text import shown_text

_PLAIN = str.maketrans(
    dict.fromkeys("‘’‚‛′`´", "'")
    | dict.fromkeys("“”„‟″«»", '"')
    | dict.fromkeys("‐‑‒–—―−", "-")
    | {"…": "..."}
)
_MARKS = "\"'“”‘’….\u00a0 \t\r\n"
"""A quote of only these characters is not evidence."""
_ENDS = ("...", '"', "'", " ")
"""Text that is removed at both ends of a quote."""


def find_quote(quote: str, case: Case) -> str | None:
    """Return the field of a case that contains a quote; `None` if there is none.

    White space of any kind and length counts as one space; typographic quotation marks, dashes and
    dots count as the plain ones; marks and dots around a quote are ignored. Everything else must
    match: a quote in other words, with other capitals, or with a gap in its middle is not found.

    Example:
        >>> case = Case(id="c", output="We ship by Friday – “if all goes well”.")
        >>> find_quote('by Friday - "if all', case), find_quote("we will ship by Friday", case)
        ('output', None)
    """
    if not quote.strip(_MARKS):
        return None
    fields = case.__dict__  # also fields that were not read whole: the judge did not ask for them
    if fields["output"] is not None and quote in fields["output"]:
        return "output"
    plain = _without_ends(_plain(quote))
    if not plain:
        return None
    for field in ("output", *CASE_TEXTS):
        value = fields[field]
        texts = (value,) if isinstance(value, str) else value or ()
        if any(quote in text or plain in _plain(text) for text in texts):
            return field
    for field in MESSAGE_LISTS:
        if any(plain in _plain(shown_text(message)) for message in fields[field]):
            return field
    return None


def _without_ends(text: str) -> str:
    start, end = 0, len(text)
    while mark := next((m for m in _ENDS if text.startswith(m, start, end)), ""):
        start += len(mark)
    while mark := next((m for m in _ENDS if text.endswith(m, start, end)), ""):
        end -= len(mark)
    return text[start:end]


def find_quotes(quotes: Iterable[str], case: Case) -> tuple[Quote, ...]:
    """Return quotes, each with the field of the case that contains it."""
    return tuple(Quote(text=text, field=find_quote(text, case)) for text in quotes)


def _plain(text: str) -> str:
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(_PLAIN)
    return " ".join(text.split())


class QuoteTally:
    """Counts the quotes of one metric over a run; scores of fallbacks do not count."""

    def __init__(self) -> None:
        self._scores = 0
        self._quotes = 0
        self._unverified = 0

    def add(self, row: Row) -> None:
        """Add one result."""
        result = row.result
        if not isinstance(result, Score) or result.fallback is not None:
            return
        self._scores += 1
        for part in result.parts:
            for quote in part.quotes:
                self._quotes += 1
                self._unverified += quote.field is None

    def finish(self) -> dict[str, float | int | None]:
        """Return the number of unverified quotes, and the share of verified ones.

        Both are `None` if nothing was judged; then no gate passes.
        """
        verified = self._quotes - self._unverified
        return {
            "unverified_quotes": self._unverified if self._scores else None,
            "verified_quotes": verified / self._quotes if self._quotes else None,
        }


FIGURES = {"unverified_quotes": False, "verified_quotes": True}
"""The figures of `QuoteTally`, and whether higher is better."""
