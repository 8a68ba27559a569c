"""A pair of answers, and the collection that drops unusable and duplicate pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from judgekit.core.canonical import visible
from judgekit.core.value import Value
from judgekit.metrics.tokens import answer_form

MAX_TEXT = 8_000
"""Characters of a text of a pair."""


class AnswerPair(Value):
    """A prompt, an answer that shows the trait, and one that lacks it."""

    prompt: str
    positive: str
    negative: str


class PairCollection:
    """Usable pairs in the order of the replies; `dropped` counts the others by reason."""

    def __init__(self) -> None:
        self.pairs: list[AnswerPair] = []
        self.dropped: Counter[str] = Counter()
        self._seen: set[str] = set()

    def add(self, entries: Iterable[Any], *, most: int) -> None:
        """Add entries until there are `most` pairs."""
        for entry in entries:
            if len(self.pairs) >= most:
                return
            self._take(entry)

    def _take(self, entry: Any) -> None:
        pair = _pair(entry)
        if isinstance(pair, str):
            self.dropped[pair] += 1
            return
        positive, negative = answer_form(pair.positive), answer_form(pair.negative)
        if positive == negative:
            self.dropped["both sides the same"] += 1
            return
        # A second pair with the same prompt or the same positive answer adds nothing.
        keys = {f"prompt {answer_form(pair.prompt)}", f"positive {positive}"}
        if keys & self._seen:
            self.dropped["duplicate"] += 1
            return
        self._seen |= keys
        self.pairs.append(pair)


def _pair(entry: Any) -> AnswerPair | str:
    """Return a pair, or the reason to drop the entry."""
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
