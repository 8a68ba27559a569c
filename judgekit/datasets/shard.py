"""A shard: one of several parts of a data set; the id of a case determines its shard."""

import hashlib
import re
from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Self

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError

MOST = 10_000
"""Maximum number of shards."""


class Shard(NamedTuple):
    """Number `number` of `of` shards, counted from 1."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `2/5`.

        Raises:
            ConfigError: the text has another form, or the numbers are out of range.

        >>> Shard.parse("2/5")
        Shard(number=2, of=5)
        """
        match = re.fullmatch(r"\s*(\d{1,6})\s*/\s*(\d{1,6})\s*", text, re.ASCII)
        if match is None:
            raise ConfigError(f"--shard {text}: write it as NUMBER/COUNT, such as 1/4")
        number, of = int(match[1]), int(match[2])
        if not 1 <= number <= of <= MOST:
            raise ConfigError(f"--shard {text}: number from 1 to the count, at most {MOST:,}")
        return cls(number, of)

    def has(self, id: str) -> bool:
        """Return whether a case belongs to this shard, by the digest of its id."""
        digest = hashlib.sha256(id.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


class Sharding:
    """Selects the cases of one shard and records their positions in the data set.

    Attributes:
        shard: the shard.
        seen: number of cases so far, of all shards.
        places: positions of the shard's cases, counted from 0, as distances to the previous one.
        finished: whether all cases were read.
    """

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        self.seen = 0
        self.places = array("L")
        self.finished = False
        self._ids = hashlib.sha256()
        self._last = 0

    def of(self, cases: Iterable[Case]) -> Iterator[Case]:
        """Yield the cases of the shard."""
        for case in cases:
            id = case.id.encode("utf-8", "surrogatepass")
            self._ids.update(len(id).to_bytes(8, "big") + id)
            if self.shard.has(case.id):
                self.places.append(self.seen - self._last)
                self._last = self.seen
                self.seen += 1
                yield case
            else:
                self.seen += 1
        self.finished = True

    @property
    def ids(self) -> str:
        """Digest of all ids so far, in order."""
        return self._ids.hexdigest()
