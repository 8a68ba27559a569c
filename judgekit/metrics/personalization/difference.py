"""Difference: how much a steered answer differs from the baseline, by words or by vectors."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import lru_cache
from typing import Literal

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.score import Score
from judgekit.core.value import Json
from judgekit.embedders import Chosen, embeds_at_once, identity_of, short_name, vectors
from judgekit.embedders.folding import nfkc
from judgekit.metrics._options import needed_text, truth_of
from judgekit.metrics.computed import ComputedMetric, not_applicable
from judgekit.metrics.tokens import CJK
from judgekit.metrics.vectors import cosine

By = Literal["tokens", "embedding"]
Compat = Literal["wisent"]

_ORIGINAL = re.compile(r"[A-Za-z0-9']+|[^\w\s]")
_TYPOGRAPHIC = str.maketrans("‘’ʼ＇", "''''")


def token_set(text: str, *, compat: Compat | None = None) -> frozenset[str]:
    """Return the distinct words and punctuation marks of a text in lower case.

    Letters of every script count; each Han or kana character is a token. `compat="wisent"` drops
    all letters but A to Z, as Wisent does.

    >>> sorted(token_set("Don't stop, Zoë!"))
    ['!', ',', "don't", 'stop', 'zoë']
    >>> sorted(token_set("Zoë", compat="wisent"))
    ['zo']
    """
    if compat is not None:
        return frozenset(_ORIGINAL.findall(text.lower()))
    return frozenset(_tokens().findall(nfkc(text).translate(_TYPOGRAPHIC).casefold()))


@lru_cache(maxsize=1)
def _tokens() -> re.Pattern[str]:
    """Return the pattern of a token; combining marks belong to their letter."""
    marks = "".join(
        re.escape(chr(code))
        for code in range(0x300, min(0xFE30, sys.maxunicode))
        if unicodedata.category(chr(code))[0] == "M"
    )
    letter = rf"(?![{CJK}])[^\W_]"
    return re.compile(rf"[{CJK}]|(?:{letter}|')(?:{letter}|['{marks}])*|(?![{marks}])[^\w\s]")


def jaccard(first: str, second: str, *, compat: Compat | None = None) -> float:
    """Return the Jaccard index of the tokens of two texts, 0..1; 1 if neither has a token.

    >>> jaccard("hello world", "Hello there")
    0.3333333333333333
    """
    one, other = token_set(first, compat=compat), token_set(second, compat=compat)
    union = len(one | other)
    return len(one & other) / union if union else 1.0


def on_1_100(share: float) -> float:
    """Return a share on Wisent's scale: 1 is equal, 100 completely different.

    >>> on_1_100(0.0), on_1_100(0.5), on_1_100(1.0)
    (1.0, 50.5, 100.0)
    """
    return share * 99 + 1


def difference(baseline: str, steered: str, *, compat: Compat | None = None) -> float:
    """Return the difference of two texts, 1 to 100: 99 x (1 - Jaccard index) + 1.

    >>> round(difference("hello world", "hello there"), 6)
    67.0
    """
    return on_1_100(1.0 - jaccard(baseline, steered, compat=compat))


class Difference(ComputedMetric):
    """How much the output differs from the baseline. Range 0.01..1, higher is a larger difference.

    `by: tokens` is Wisent's formula: 1 minus the Jaccard index of the sets of words and punctuation
    marks, scaled to 1..100. The value is a hundredth of it. `by: embedding` uses 1 minus the cosine
    instead. `details.difference_1_100` is Wisent's figure. Words are only a rough measure: two
    answers with the same meaning in other words differ completely. `confidence` is 1 with tokens,
    which are counted; with a cosine there is none.
    """

    name: str = "difference"
    by: By = "tokens"
    """`tokens` compares words, `embedding` compares vectors."""
    embedder: Chosen = "lexical"
    """Embedder for `by: embedding`."""
    compat: Compat | None = None
    """Use the tokens of Wisent's evaluator."""

    needs = ("output", "baseline")
    confidence = "is 1 with tokens, which are counted; with a cosine there is none"

    def prepare(self) -> None:
        """Check and complete the options."""
        if self.compat is not None and self.by != "tokens":
            raise ConfigError(f"{self.name}: compat {self.compat} needs by: tokens")

    @property
    def synchronous(self) -> bool:
        """Whether no asynchronous embedder is needed."""
        return self.by == "tokens" or embeds_at_once(self.embedder)

    async def measure(self, case: Case) -> float | None:
        """Return the difference, 1 to 100; `None` if a text has no features for the embedder.

        Raises:
            CaseError: the output or the baseline is missing.
        """
        output, baseline = needed_text(case, "output"), needed_text(case, "baseline")
        if self.by == "tokens":
            return difference(baseline, output, compat=self.compat)
        similarity = cosine(*await vectors(self.embedder, [baseline, output]))
        return None if similarity is None else on_1_100(1.0 - round(similarity, 4))

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output or the baseline is missing.
        """
        distance = await self.measure(case)
        meta: dict[str, Json] = {}
        method = "1 - token Jaccard" + (", tokens as Wisent" if self.compat else "")
        if self.by == "embedding":
            meta["embedder"] = identity_of(self.embedder)
            method = f"1 - cosine of {short_name(identity_of(self.embedder))}"
        if distance is None:
            return not_applicable(
                "The output or the baseline has no words that the embedder knows.",
                method=method,
                meta=meta,
            )
        return Score(
            value=distance / 100,
            confidence=1.0 if self.by == "tokens" else None,
            method=method,
            reason=f"The output differs from the baseline by {distance:.0f} of 100.",
            ground_truth=truth_of(case.reference),
            details={"difference_1_100": distance, "by": self.by},
            meta=meta,
        )
