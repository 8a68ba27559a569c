"""Find near duplicates, cases with nearly the same text, in linear time and memory.

A text is the set of its overlapping pieces of 5 characters, after case and punctuation are removed.
The similarity of two texts is the Jaccard index of their sets. A set is represented by its `KEPT`
smallest hashes (a bottom-k sketch; exact for texts with fewer pieces). Only cases that agree in one
of `BANDS` bands of `ROWS` minimum hashes are compared: a pair with similarity 0.8 is missed with
probability (1 - 0.8**4)**16 = 0.0002.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from hashlib import blake2b
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from judgekit.core.canonical import canonical_json
from judgekit.core.case import Case
from judgekit.core.case_field import CASE_FIELDS

ALIKE = 0.8
"""Minimum Jaccard index of near duplicates."""
KEPT = 128
BANDS, ROWS = 16, 4
WIDTH = 5
"""Length of a piece, in characters."""
_LONGEST = 1_000_000
"""Maximum number of characters of a text to compare."""
_WORD = re.compile(r"\w+")
_Hashes = np.ndarray[Any, np.dtype[np.uint64]]
_FACTORS, _SHIFTS = np.random.default_rng(42).integers(1, 2**63, (2, BANDS * ROWS, 1), np.uint64)


class DuplicatePair(NamedTuple):
    """A case and an earlier one, by the order of adding, and their similarity."""

    later: int
    earlier: int
    alike: float
    """The lower of the Jaccard indices of input and output."""


def pieces(text: str, *, width: int = WIDTH) -> _Hashes:
    """Return the hashes of the overlapping pieces of a text, sorted; none for a blank text."""
    words = " ".join(_WORD.findall(text[:_LONGEST].casefold()))
    codes = np.frombuffer(words.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    if not len(codes):
        return codes
    if len(codes) < width:
        codes = np.pad(codes, (0, width - len(codes)))
    hashes = np.zeros(len(codes) - width + 1, np.uint64)
    for place in range(width):
        hashes = hashes * np.uint64(1_000_003) + codes[place : place + len(hashes)]
    # The finaliser of splitmix64 makes every bit depend on every character.
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        hashes = (hashes ^ (hashes >> np.uint64(shift))) * np.uint64(factor)
    return _distinct(hashes ^ (hashes >> np.uint64(31)))


def share_inside(part: str, whole: str, *, width: int) -> float:
    """Return the share of a text's pieces that another text contains, 0..1."""
    inner = pieces(part, width=width)
    return float(np.isin(inner, pieces(whole, width=width)).mean()) if len(inner) else 0.0


def likeness(first: bytes, second: bytes) -> float:
    """Estimate the Jaccard index from two sketches; 1 for two blank texts."""
    a, b = (set(np.frombuffer(sketch, np.uint32).tolist()) for sketch in (first, second))
    union = sorted(a | b)[:KEPT]
    return len(a & b & set(union)) / len(union) if union else 1.0


class NearDuplicates:
    """Finds near duplicates among cases: 1.3 kB for each.

    Two cases are near duplicates if the similarities of their inputs and of their outputs are at
    least `ALIKE`, and their system prompt, history, context and choices are equal.

    >>> duplicates = NearDuplicates()
    >>> for number, text in enumerate(("Where is my parcel?", "Hello", "where is my  parcel")):
    ...     duplicates.add(Case(id=str(number), input=text))
    >>> list(duplicates.pairs())
    [DuplicatePair(later=2, earlier=0, alike=1.0)]
    """

    def __init__(self) -> None:
        self._keys = array("Q")
        self._sketches: list[tuple[bytes, ...]] = []
        """Sketches of the input and the output of each case."""

    def add(self, case: Case) -> None:
        """Add a case; a case without input and output has no duplicates."""
        sketches = [_sketch(case.input or ""), _sketch(case.output or "")]
        self._sketches.append(tuple(sketch.tobytes() for sketch in sketches))
        main = next((sketch for sketch in sketches if len(sketch)), None)
        keys = np.arange(BANDS, dtype=np.uint64) + np.uint64(len(self._sketches) * BANDS)
        if main is not None:
            lowest = ((_FACTORS * main.astype(np.uint64) + _SHIFTS) >> np.uint64(32)).min(axis=1)
            keys = np.full(BANDS, _frame(case), np.uint64)
            for row in lowest.reshape(BANDS, ROWS).T:
                keys = keys * np.uint64(0x9E3779B97F4A7C15) + row
        self._keys.frombytes(keys.tobytes())

    def pairs(self) -> Iterator[DuplicatePair]:
        """Yield each near duplicate once, with an earlier case, in order."""
        keys = np.frombuffer(self._keys, np.uint64).reshape(-1, BANDS)
        matches: dict[int, DuplicatePair] = {}
        for band in keys.T:
            order = np.argsort(band, kind="stable")
            starts = np.flatnonzero(np.diff(band[order]) != 0) + 1
            for start, end in pairwise([0, *starts.tolist(), len(order)]):
                # Compared only with the first and the previous one, to keep the time linear.
                members = order[start:end].tolist()
                for before, later in pairwise(members):
                    if later not in matches and (pair := self._match(later, {members[0], before})):
                        matches[later] = pair
        yield from (matches[later] for later in sorted(matches))

    def _match(self, later: int, earlier: set[int]) -> DuplicatePair | None:
        for other in sorted(earlier):
            alike = min(map(likeness, self._sketches[later], self._sketches[other]))
            if alike >= ALIKE:
                return DuplicatePair(later, other, alike)
        return None


def _sketch(text: str) -> np.ndarray[Any, np.dtype[np.uint32]]:
    return _distinct((pieces(text) >> np.uint64(32)).astype(np.uint32))[:KEPT]


def _distinct(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the different values, sorted; faster than numpy's function for short arrays."""
    values = np.sort(values)
    return values[np.append(True, values[1:] != values[:-1])] if len(values) else values


def _frame(case: Case) -> int:
    """Return a hash of the fields that must be equal."""
    names = {field.name for field in CASE_FIELDS if field.asked} - {"input"}
    fields = case.model_dump(mode="json", include=names, exclude_defaults=True)
    text = canonical_json(fields) if fields else ""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())
