"""Contains: does the output have the required words and none of the forbidden ones?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

from judgekit.core.case import Case
from judgekit.core.score import Score
from judgekit.embedders.folding import fold, nfkc
from judgekit.metrics._options import needed_text, needed_texts
from judgekit.metrics.computed import ComputedMetric
from judgekit.metrics.tokens import CJK

_QUOTES = str.maketrans("‘’“”", "''\"\"")


@cache
def _unspaced() -> re.Pattern[str]:
    """Return a pattern of Han and kana, Thai, Lao, Burmese and Khmer: scripts without spaces."""
    return re.compile(f"[{CJK}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")


class Contains(ComputedMetric):
    """Share of the conditions that the output meets. Range 0..1, higher is better.

    Each text in `all_of` and `none_of` is one condition; `any_of` as a whole is one condition. If
    none of the three is set, the only condition is that the output contains at least one reference.
    The metric ignores white space, character width (NFKC) and the shape of quotation marks. It
    needs `output`.
    """

    name: str = "contains"
    all_of: tuple[str, ...] = ()
    """Words and phrases that must all occur."""
    any_of: tuple[str, ...] = ()
    """Words and phrases of which at least one must occur."""
    none_of: tuple[str, ...] = ()
    """Words and phrases that must not occur."""
    ignore_case: bool = True
    """Ignore case."""
    whole_word: bool = True
    """Match only where no letter or digit touches the text; scripts without spaces have no such
    boundary."""

    synchronous = True
    needs = ("output",)

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output is missing, or the reference if no option has a text.
        """
        output = _normalised(needed_text(case, "output"), ignore_case=self.ignore_case)
        any_of = self.any_of
        if not (self.all_of or self.any_of or self.none_of):
            any_of = needed_texts(case, "reference")
        missing = [text for text in self.all_of if not self._occurs(text, output)]
        unwanted = [text for text in self.none_of if self._occurs(text, output)]
        any_missing = bool(any_of) and not any(self._occurs(text, output) for text in any_of)
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

    def _occurs(self, text: str, output: str) -> bool:
        term = _normalised(text, ignore_case=self.ignore_case)
        return _occurs(term, output, whole_word=self.whole_word)


def mentions(text: str, term: str) -> bool:
    """Return whether a text contains a whole word or phrase, ignoring case.

    >>> mentions("Whatever you say", "hate"), mentions("I HATE it", "hate")
    (False, True)
    """
    term, text = (_normalised(each, ignore_case=True) for each in (term, text))
    return _occurs(term, text, whole_word=True)


def _normalised(text: str, *, ignore_case: bool) -> str:
    return " ".join((fold(text) if ignore_case else nfkc(text)).translate(_QUOTES).split())


def _occurs(term: str, text: str, *, whole_word: bool) -> bool:
    start = text.find(term)
    while start >= 0:
        end = start + len(term)
        if not whole_word or (_edge(text, start) and _edge(text, end)):
            return True
        start += 1
        # A whole word begins at an edge; trying each position in a word would be quadratic.
        while whole_word and start < len(text) and not _edge(text, start):
            start += 1
        start = text.find(term, start)
    return False


def _edge(text: str, at: int) -> bool:
    """Return whether a word begins or ends at a position."""
    if at in (0, len(text)):
        return True
    return not (_in_word(text[at - 1]) and _in_word(text[at]))


def _in_word(char: str) -> bool:
    if _unspaced().match(char):
        return False
    return char.isalnum() or char == "_" or unicodedata.category(char)[0] == "M"


def _reason(
    met: int, total: int, missing: Sequence[str], unwanted: Sequence[str], any_of: Sequence[str]
) -> str:
    if met == total:
        return "The one condition is met." if total == 1 else f"All {total} conditions are met."
    problems = {"missing": missing, "none of": any_of, "unwanted": unwanted}
    listed = "; ".join(f"{name}: {_listed(texts)}" for name, texts in problems.items() if texts)
    return f"{met} of {total} conditions met; {listed}."


def _listed(texts: Sequence[str]) -> str:
    shown = ", ".join(f'"{text[:80]}"' for text in texts[:5])
    return shown if len(texts) <= 5 else f"{shown} and {len(texts) - 5} more"
