"""The cases that the page of a very large run keeps: what fails, the worst, and a sample."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

from judgekit.pages.run.tallies import Rank
from judgekit.report.summary import Largest


class PageBounds(NamedTuple):
    """What the page of a run may hold; below `cases`, it holds everything."""

    cases: int = 20_000
    """Maximum number of cases."""
    page: int = 10_000_000
    """Maximum size of the page of a larger run, in bytes."""
    characters: int = 60_000_000
    """Maximum length of the unpacked data, which a browser holds in memory."""
    text: int = 20_000
    """Maximum length of a text of the worst cases, in characters."""
    short: int = 400
    """Maximum length of the texts of the others."""


BOUNDS = PageBounds()
_FRAME = 1_500_000
"""Usual maximum of the bytes of a page without the data of its cases."""
_PENDING = 300_000
"""Bytes that a compressor may still hold, and how far the last pass may differ."""
_LARGEST = 200_000
"""Maximum length of the data of one case whose texts are shortened, in characters."""


class KeptFigures(NamedTuple):
    """What the page of a very large run says about the cases that it keeps."""

    cases: int
    """Number of cases of the run."""
    kept: int
    failing: int
    """Number of cases of the run that fail."""
    kept_failing: int
    sampled: int
    """Number of kept cases that are a sample of the others."""
    cut: int
    """Number of kept cases with a text that is cut."""

    @property
    def sentence(self) -> str:
        """What the page keeps, in words."""
        if self.kept_failing == self.failing:
            parts = [f"all {self.failing:,} that fail"] if self.failing else []
        else:
            parts = [f"the worst {self.kept_failing:,} of {self.failing:,} that fail"]
        if worst := self.kept - self.kept_failing - self.sampled:
            parts.append(f"the {worst:,} {'next ' if self.failing else ''}worst")
        if self.sampled:
            parts.append(f"a sample of {self.sampled:,} others")
        kept = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
        line = f"Of {self.cases:,} cases, this page keeps {self.kept:,}: {kept}."
        return f"{line} Long texts of {self.cut:,} of them are cut." if self.cut else line


class KeptCase(NamedTuple):
    """A case that the page may keep."""

    number: int
    """Its position in the run."""
    place: int
    """Where `RunResults.at` finds it."""
    rank: Rank

    @property
    def fails(self) -> bool:
        """Whether a metric misses its threshold or failed."""
        return bool(self.rank.misses or self.rank.failures)


class Choice:
    """Chooses among all cases, one by one: failing ones, the worst, and a sample of the others.

    The sample depends on the ids alone, so the same run gives the same page.

    Args:
        most: maximum number of cases.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._worst = Largest[KeptCase](most)
        self._sample = Largest[KeptCase](most)
        self._cases = 0
        self._by_rank: set[int] = set()
        self.failing = 0
        """Number of cases that fail."""

    def add(self, case: KeptCase, id: str) -> None:
        """Take one case."""
        misses, failures, worst = case.rank
        self._cases += 1
        self.failing += case.fails
        self._worst.add((-misses, -failures, -worst, -case.number), case)
        hashed = blake2b(id.encode("utf-8", "surrogatepass"), digest_size=6).digest()
        self._sample.add((int.from_bytes(hashed), -case.number), case)

    @property
    def _ranked(self) -> int:
        """Number of cases that are chosen by their rank."""
        return min(self._most, max(self._most // 2, self.failing))

    def finish(self) -> Iterator[KeptCase]:
        """Yield the chosen cases: the worst first, then the sample."""
        worst = list(self._worst)[: self._ranked]
        yield from worst
        self._by_rank = {case.number for case in worst}
        others = [case for case in self._sample if case.number not in self._by_rank]
        yield from others[: self._most - len(worst)]

    def figures(self, kept: Sequence[KeptCase], cut: int) -> KeptFigures:
        """Return what the page says about the cases that it keeps.

        Args:
            kept: these cases.
            cut: the number of those with a text that is cut.
        """
        failing = sum(case.fails for case in kept)
        sampled = sum(case.number not in self._by_rank for case in kept)
        return KeptFigures(self._cases, len(kept), self.failing, failing, sampled, cut)


class Room:
    """Measures how much of a page its cases fill.

    Args:
        bounds: the bounds of the page.
        frame: size of the page without the data of its cases, in bytes, if it is known.
    """

    def __init__(self, bounds: PageBounds, *, frame: int = 0) -> None:
        self._characters = bounds.characters
        packed = bounds.page - max(_FRAME, frame)
        self._bytes = max(0, packed) * 3 // 4 - _PENDING  # base64 has 4 characters for 3 bytes
        self._bounds = bounds
        self._used = self._length = 0
        self._packers = [zlib.compressobj(6) for _ in range(2)]

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another case."""
        return self._used >= self._bytes or self._length >= self._characters

    def lengths(self) -> tuple[int, ...]:
        """Return the lengths to which the texts of the next case are cut, to be tried in turn."""
        half = self._used < self._bytes // 2 and self._length < self._characters // 2
        return (self._bounds.text, self._bounds.short) if half else (self._bounds.short,)

    def take(self, *texts: str) -> bool:
        """Add the data of a case to the page, if it is not too long for it."""
        if sum(map(len, texts)) > min(_LARGEST, self._characters - self._length):
            return False
        for packer, text in zip(self._packers, texts, strict=True):
            self._length += len(text)
            self._used += len(packer.compress(text.encode("utf-8", "replace")))
        return True
