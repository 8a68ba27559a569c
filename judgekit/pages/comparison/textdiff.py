"""What was taken out of a text and what was put in, word by word, in bounded time."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from rapidfuzz.distance import LCSseq

Sign = Literal["=", "-", "+"]

WORDS = 40_000_000
"""Most pairs of words to compare: 5 MB, a few hundredths of a second.
Longer texts are compared by sentences first."""
SENTENCES = 400_000_000
"""The same for sentences; texts of even more are shown one after the other."""

# A word of letters and digits, one sign of a script that writes without spaces, or one other sign.
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+|[^\w\s]"
)
_SENTENCE = re.compile(r"[^\n.!?。！？]*(?:[.!?。！？]+\s*|\n\s*)|[^\n.!?。！？]+")
_JOINERS = ("\u200d", "\ufe0e", "\ufe0f")


class DiffPiece(NamedTuple):
    """A stretch of text that both texts have (=), that was taken out (-), or put in (+)."""

    sign: Sign
    text: str


class _Step(NamedTuple):
    """Units of one text and their replacement in the other."""

    same: bool
    before: tuple[int, int]
    after: tuple[int, int]


class _Word(NamedTuple):
    text: str
    space: str
    """White space after it: what differs in nothing else is the same word."""


def text_diff(before: str, after: str) -> list[DiffPiece]:
    """Return what leads from one text to another.

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
    old, new = _words(before), _words(after)
    steps = _steps([word.text for word in old], [word.text for word in new], most=WORDS)
    if steps is None:
        yield from _by_sentences(before, after)
        return
    for step in _readable(steps, old, new):
        here, there = old[slice(*step.before)], new[slice(*step.after)]
        if not step.same:
            yield DiffPiece("-", _text(here))
            yield DiffPiece("+", _text(there))
            continue
        if here == there:
            yield DiffPiece("=", _text(here))
            continue
        for one, other in zip(here, there, strict=True):
            yield DiffPiece("=", one.text)
            if one.space == other.space:
                yield DiffPiece("=", one.space)
            else:
                yield DiffPiece("-", one.space)
                yield DiffPiece("+", other.space)


def _by_sentences(before: str, after: str) -> Iterator[DiffPiece]:
    """Yield the pieces of long texts: sentences first, then the words of those that differ."""
    old, new = _SENTENCE.findall(before), _SENTENCE.findall(after)
    several = len(old) > 1 and len(new) > 1
    steps = _steps(old, new, most=SENTENCES) if several else None
    if steps is None:
        yield DiffPiece("-", before)
        yield DiffPiece("+", after)
        return
    for step in steps:
        here, there = "".join(old[slice(*step.before)]), "".join(new[slice(*step.after)])
        if step.same:
            yield DiffPiece("=", here)
        elif here and there and (here, there) != (before, after):
            yield from _by_words(here, there)
        else:
            yield DiffPiece("-", here)
            yield DiffPiece("+", there)


def _steps(old: Sequence[str], new: Sequence[str], *, most: int) -> list[_Step] | None:
    """Return how units of two texts go together; `None` if there are too many to say."""
    numbers: dict[str, int] = {}
    left, right = ([numbers.setdefault(u, len(numbers)) for u in side] for side in (old, new))
    head = 0
    while head < min(len(left), len(right)) and left[head] == right[head]:
        head += 1
    tail = 0
    while tail < min(len(left), len(right)) - head and left[-1 - tail] == right[-1 - tail]:
        tail += 1
    left, right = left[head : len(left) - tail], right[head : len(right) - tail]
    if len(left) * len(right) > most:
        return None
    steps = [_Step(True, (0, head), (0, head))] if head else []
    # A replacement: removed text next to added text.
    opcodes = ((op.tag == "equal", op) for op in LCSseq.opcodes(left, right))
    for same, group in groupby(opcodes, key=lambda each: each[0]):
        ops = [op for _, op in group]
        first, last = ops[0], ops[-1]
        steps.append(
            _Step(
                same,
                (head + first.src_start, head + last.src_end),
                (head + first.dest_start, head + last.dest_end),
            )
        )
    if tail:
        steps.append(_Step(True, (len(old) - tail, len(old)), (len(new) - tail, len(new))))
    return steps


def _readable(
    steps: Sequence[_Step], old: Sequence[_Word], new: Sequence[_Word]
) -> Iterator[_Step]:
    """Join changes that are a word or two apart: people read phrases, not splinters."""
    change: _Step | None = None  # a change that may go on
    for number, step in enumerate(steps):
        inside = 0 < number < len(steps) - 1
        if step.same and not (
            inside and _is_splinter(step, steps[number - 1], steps[number + 1], old, new)
        ):
            if change is not None:
                yield change
            change = None
            yield step
        else:
            change = step if change is None else _spanning(change, step)
    if change is not None:
        yield change


def _is_splinter(
    step: _Step, left: _Step, right: _Step, old: Sequence[_Word], new: Sequence[_Word]
) -> bool:
    words = old[slice(*step.before)]
    if len(words) > 2 or any("\n" in word.space for word in words):
        return False
    size = sum(len(word.text) for word in words)
    return all(size * 2 <= _size(each, old, new) for each in (left, right))


def _size(step: _Step, old: Sequence[_Word], new: Sequence[_Word]) -> int:
    sides = (old[slice(*step.before)], new[slice(*step.after)])
    return max(sum(len(word.text) for word in side) for side in sides)


def _spanning(first: _Step, last: _Step) -> _Step:
    return _Step(False, (first.before[0], last.before[1]), (first.after[0], last.after[1]))


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
    """Return whether a mark or a joiner belongs to the sign before it, which it must not leave."""
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
        if same:
            yield DiffPiece("=", "".join(piece.text for piece in members))
            continue
        for sign in ("-", "+"):
            text = "".join(piece.text for piece in members if piece.sign == sign)
            if text:
                yield DiffPiece(sign, text)
