"""Compare texts word by word, in bounded time."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from rapidfuzz.distance import LCSseq, Postfix, Prefix

Sign = Literal["=", "-", "+"]

WORDS = 40_000_000
"""Most pairs of words to compare: 5 MB, a few hundredths of a second.
Longer texts are compared by sentences first."""
SENTENCES = 400_000_000
"""The same for sentences; texts of even more are shown one after the other."""

# A word of letters and digits, one character of a script without spaces, or one other character.
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+|[^\w\s]"
)
_SENTENCE = re.compile(r"[^\n.!?。！？]*(?:[.!?。！？]+\s*|\n\s*)|[^\n.!?。！？]+")
_JOINERS = ("\u200d", "\ufe0e", "\ufe0f")


class DiffPiece(NamedTuple):
    """A piece of text that is in both texts (=), was removed (-), or was added (+)."""

    sign: Sign
    text: str


class _Word(NamedTuple):
    """A word, or a sentence."""

    text: str
    space: str = ""
    """White space after it; words that differ only in it are equal."""


class _Step(NamedTuple):
    """Words of one text and their replacement in the other."""

    same: bool
    before: Sequence[_Word]
    after: Sequence[_Word]


def text_diff(before: str, after: str) -> list[DiffPiece]:
    """Return the differences between two texts.

    The pieces without `+` make up the first text, those without `-` the second.

    >>> text_diff("Send it back today.", "Send it back in May.")
    ... # doctest: +NORMALIZE_WHITESPACE
    [DiffPiece(sign='=', text='Send it back '), DiffPiece(sign='-', text='today'),
     DiffPiece(sign='+', text='in May'), DiffPiece(sign='=', text='.')]
    """
    return list(_joined(_by_words(before, after)))


def _by_words(before: str, after: str) -> Iterator[DiffPiece]:
    if before == after:
        yield DiffPiece("=", before)
        return
    steps = _steps(_words(before), _words(after), most=WORDS)
    if steps is None:
        yield from _by_sentences(before, after)
        return
    for same, here, there in _readable(steps):
        if not same or here == there:
            yield from _replaced(_text(here), _text(there))
            continue
        for one, other in zip(here, there, strict=True):
            yield DiffPiece("=", one.text)
            yield from _replaced(one.space, other.space)


def _by_sentences(before: str, after: str) -> Iterator[DiffPiece]:
    """Yield the pieces of long texts: sentences first, then the words of those that differ."""
    old, new = (list(map(_Word, _SENTENCE.findall(text))) for text in (before, after))
    several = len(old) > 1 and len(new) > 1
    steps = _steps(old, new, most=SENTENCES) if several else None
    for step in steps or [_Step(False, [_Word(before)], [_Word(after)])]:
        here, there = _text(step.before), _text(step.after)
        if here and there and not step.same and (here, there) != (before, after):
            yield from _by_words(here, there)
        else:
            yield from _replaced(here, there)


def _replaced(before: str, after: str) -> tuple[DiffPiece, ...]:
    if before == after:
        return (DiffPiece("=", before),)
    return DiffPiece("-", before), DiffPiece("+", after)


def _steps(old: Sequence[_Word], new: Sequence[_Word], *, most: int) -> list[_Step] | None:
    """Return the alignment of the words of two texts; `None` if there are too many words."""
    numbers: dict[str, int] = {}
    left, right = (
        [numbers.setdefault(word.text, len(numbers)) for word in side] for side in (old, new)
    )
    head = Prefix.similarity(left, right)
    tail = Postfix.similarity(left[head:], right[head:])
    left, right = left[head : len(left) - tail], right[head : len(right) - tail]
    if len(left) * len(right) > most:
        return None
    steps = [_Step(True, old[:head], new[:head])] if head else []
    # A replacement: removed text next to added text.
    for same, group in groupby(LCSseq.opcodes(left, right), key=lambda op: op.tag == "equal"):
        ops = list(group)
        before = slice(head + ops[0].src_start, head + ops[-1].src_end)
        after = slice(head + ops[0].dest_start, head + ops[-1].dest_end)
        steps.append(_Step(same, old[before], new[after]))
    if tail:
        steps.append(_Step(True, old[-tail:], new[-tail:]))
    return steps


def _readable(steps: Sequence[_Step]) -> Iterator[_Step]:
    """Join changes that are a word or two apart, so that phrases are shown."""
    stays = [
        step.same and not (0 < n < len(steps) - 1 and _is_splinter(*steps[n - 1 : n + 2]))
        for n, step in enumerate(steps)
    ]
    for same, group in groupby(zip(stays, steps, strict=True), key=lambda each: each[0]):
        members = [step for _, step in group]
        if same:
            yield from members
            continue
        before = [word for step in members for word in step.before]
        yield _Step(False, before, [word for step in members for word in step.after])


def _is_splinter(left: _Step, step: _Step, right: _Step) -> bool:
    words = step.before
    if len(words) > 2 or any("\n" in word.space for word in words):
        return False
    beside = (max(_size(each.before), _size(each.after)) for each in (left, right))
    return 2 * _size(words) <= min(beside)


def _size(words: Sequence[_Word]) -> int:
    return sum(len(word.text) for word in words)


def _words(text: str) -> list[_Word]:
    """Return the words of a text with the space after each; a first one may be all space."""
    starts = [match.start() for match in _WORD.finditer(text)]
    if not text.isascii():
        starts = [at for at in starts if not _belongs_to_before(text, at)]
    if not starts or starts[0]:
        starts.insert(0, 0)
    pieces = (text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True))
    return [_Word(bare := piece.rstrip(), piece[len(bare) :]) for piece in pieces]


def _belongs_to_before(text: str, at: int) -> bool:
    """Return whether a mark or a joiner must stay with the preceding character."""
    if at == 0:
        return False
    here, before = text[at], text[at - 1]
    return here in _JOINERS or before == "\u200d" or unicodedata.category(here)[0] == "M"


def _text(words: Sequence[_Word]) -> str:
    return "".join(word.text + word.space for word in words)


def _joined(pieces: Iterator[DiffPiece]) -> Iterator[DiffPiece]:
    """Join adjacent pieces; in a change, removed text comes first."""
    for same, group in groupby((p for p in pieces if p.text), key=lambda p: p.sign == "="):
        members = list(group)
        signs: tuple[Sign, ...] = ("=",) if same else ("-", "+")
        for sign in signs:
            if text := "".join(piece.text for piece in members if piece.sign == sign):
                yield DiffPiece(sign, text)
