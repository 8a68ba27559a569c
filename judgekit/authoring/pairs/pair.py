"""A pair, how a model's entry becomes one, and which pairs are the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from judgekit.core.canonical import visible
from judgekit.core.value import Value
from judgekit.metrics.tokens import answer_form

MAX_TEXT = 8_000
"""Characters a text of a pair may have."""


class AnswerPair(Value):
    """A prompt, an answer that shows the trait, and one that lacks it."""

    prompt: str
    positive: str
    negative: str


class PairCollection:
    """Pairs in the order in which they came, without those that are of no use.

    What is left out is counted by reason in `dropped`.
    """

    def __init__(self) -> None:
        self.pairs: list[AnswerPair] = []
        self.dropped: Counter[str] = Counter()
        self._seen: set[str] = set()

    def add(self, entries: Iterable[Any], *, most: int) -> None:
        """Take entries until there are so many pairs."""
        for entry in entries:
            if len(self.pairs) >= most:
                return
            self._take(entry)

    def _take(self, entry: Any) -> None:
        pair = _pair(entry)
        if isinstance(pair, str):
            self.dropped[pair] += 1
            return
        positive, negative = _form(pair.positive), _form(pair.negative)
        if positive == negative:
            self.dropped["both sides the same"] += 1
            return
        # The same prompt, or the same showing of the trait, teaches nothing twice.
        keys = {f"prompt {_form(pair.prompt)}", f"positive {positive}"}
        if keys & self._seen:
            self.dropped["duplicate"] += 1
            return
        self._seen |= keys
        self.pairs.append(pair)


def _pair(entry: Any) -> AnswerPair | str:
    """Return a pair, or why an entry is none."""
    if not isinstance(entry, dict):
        return "not a pair"
    texts = {}
    for name in ("prompt", "positive", "negative"):
        text = entry.get(name)
        if not isinstance(text, str) or not text.strip():
            return f"without {name}"
        if len(text) > MAX_TEXT:
            return f"{name} over {MAX_TEXT:,} characters"
        texts[name] = visible(text.strip())
    return AnswerPair(**texts)


def _form(text: str) -> str:
    """Return a text as duplicates are looked for: without capitals, marks and articles."""
    return answer_form(text)
