"""Contains: are the wanted words in the output, and the unwanted ones not?"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from judgekit.core.case import Case
from judgekit.core.protocols import Metric
from judgekit.core.score import Score
from judgekit.embedders.folding import fold, nfkc
from judgekit.metrics._options import (
    check_flag,
    check_name,
    needed_text,
    needed_texts,
    text_options,
)
from judgekit.metrics.tokens import CJK

_QUOTES = str.maketrans("‘’“”", "''\"\"")
# No space marks a word's edge in these: Han and kana, Thai, Lao, Burmese, Khmer.
_UNSPACED = re.compile(f"[{CJK}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Contains(Metric):
    """Share of the conditions the output meets; 0..1, higher is better.

    Each text of `all_of` and of `none_of` is a condition, `any_of` is one together. Without any
    of the three, the one condition is that some reference occurs in the output. White space,
    width (NFKC) and the shape of quotation marks never matter. Needs `output`.
    """

    name: str = "contains"
    all_of: tuple[str, ...] = ()
    """Words and phrases that must all be there."""
    any_of: tuple[str, ...] = ()
    """Words and phrases of which one must be there."""
    none_of: tuple[str, ...] = ()
    """Words and phrases that must not be there."""
    ignore_case: bool = True
    """Whether capitals count as small letters."""
    whole_word: bool = True
    """Only where no letter or digit touches the text; scripts without spaces have no such edge."""

    synchronous = True
    needs = ("output",)

    def __post_init__(self) -> None:
        check_name("contains", self.name)
        for option in ("all_of", "any_of", "none_of"):
            texts = text_options(self.name, option, getattr(self, option))
            object.__setattr__(self, option, texts)
        check_flag(self.name, "ignore_case", self.ignore_case)
        check_flag(self.name, "whole_word", self.whole_word)

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output is missing, or the reference where no option names a text.
        """
        output = _form(needed_text(case, "output"), ignore_case=self.ignore_case)
        any_of = self.any_of
        if not (self.all_of or self.any_of or self.none_of):
            any_of = needed_texts(case, "reference")
        missing = [text for text in self.all_of if not self._found(text, output)]
        unwanted = [text for text in self.none_of if self._found(text, output)]
        any_missing = bool(any_of) and not any(self._found(text, output) for text in any_of)
        total = len(self.all_of) + len(self.none_of) + bool(any_of)
        met = total - len(missing) - len(unwanted) - any_missing
        return Score(
            value=met / total,
            method="words and phrases",
            reason=_reason(met, total, missing, unwanted, any_of if any_missing else ()),
            ground_truth=None if any_of is self.any_of else list(any_of),
            details={
                "met": met,
                "conditions": total,
                "missing": [*missing],
                "unwanted": [*unwanted],
                "none_of_any": list(any_of) if any_missing else [],
            },
        )

    def _found(self, text: str, output: str) -> bool:
        return _occurs(
            _form(text, ignore_case=self.ignore_case), output, whole_word=self.whole_word
        )


def mentions(text: str, term: str) -> bool:
    """Return whether a word or phrase stands in a text, whole, in any case.

    >>> mentions("Whatever you say", "hate"), mentions("I HATE it", "hate")
    (False, True)
    """
    return _occurs(_form(term, ignore_case=True), _form(text, ignore_case=True), whole_word=True)


def _form(text: str, *, ignore_case: bool) -> str:
    return " ".join((fold(text) if ignore_case else nfkc(text)).translate(_QUOTES).split())


def _occurs(term: str, text: str, *, whole_word: bool) -> bool:
    start = text.find(term)
    while start >= 0:
        end = start + len(term)
        if not whole_word or (_edge(text, start) and _edge(text, end)):
            return True
        start += 1
        # Only an edge can begin a whole word; trying each place inside one would be quadratic.
        while whole_word and start < len(text) and not _edge(text, start):
            start += 1
        start = text.find(term, start)
    return False


def _edge(text: str, at: int) -> bool:
    """Return whether a word begins or ends between the characters before and at a place."""
    if at in (0, len(text)):
        return True
    before, after = text[at - 1], text[at]
    return not (_in_word(before) and _in_word(after))


def _in_word(char: str) -> bool:
    if _UNSPACED.match(char):
        return False
    return char.isalnum() or char == "_" or unicodedata.category(char)[0] == "M"


def _reason(
    met: int, total: int, missing: list[str], unwanted: list[str], any_of: tuple[str, ...]
) -> str:
    if met == total:
        return "The one condition is met." if total == 1 else f"All {total} conditions are met."
    faults = []
    if missing:
        faults.append(f"missing: {_listed(missing)}")
    if any_of:
        faults.append(f"none of: {_listed(any_of)}")
    if unwanted:
        faults.append(f"unwanted: {_listed(unwanted)}")
    return f"{met} of {total} conditions met; {'; '.join(faults)}."


def _listed(texts: list[str] | tuple[str, ...]) -> str:
    shown = ", ".join(f'"{text[:80]}"' for text in texts[:5])
    return shown if len(texts) <= 5 else f"{shown} and {len(texts) - 5} more"
