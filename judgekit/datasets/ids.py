"""The ids of cases: derived ids for rows without one, and the set of used ids."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from hashlib import blake2b

from judgekit.core.canonical import digest_json
from judgekit.core.case import Case

ID_LENGTH = 12
"""Length of a derived id, in hexadecimal characters."""

_SHARD_BITS = 12


def derive_id(case: Case) -> str:
    """Return the id for a case without one: a digest of its content.

    The digest does not depend on the position, so ids do not change by sorting or sampling. It does
    not include the id and `labels`, so adding human scores does not change the id.

    >>> derive_id(Case(id="any", input="2+2?")) == derive_id(Case(id="other", input="2+2?"))
    True
    """
    content = case.model_dump(exclude={"id", "labels"}, exclude_defaults=True)
    if case.unread:  # which message of the history it is was not always in a case
        content["unread"] = {k: v for k, v in case.unread.items() if "." not in k}
    return digest_json(content)[:ID_LENGTH]


def is_derived(case: Case) -> bool:
    """Return whether the id of a case is the one of `derive_id`."""
    return len(case.id) == ID_LENGTH and case.id == derive_id(case)


def is_numbered(case: Case) -> bool:
    """Return whether a case repeats a row without an id: `DERIVED-2` for the second one."""
    derived, mark, number = case.id.partition("-")
    return (
        bool(mark)
        and len(derived) == ID_LENGTH
        and number.isdecimal()
        and (derived == derive_id(case))
    )


class IdSet:
    """The set of ids so far, in about nine bytes per id of any length.

    The set stores sorted 8-byte digests, in shards small enough for fast insertion. Two different
    ids have the same digest once in about 40 million sets of a million ids.

    >>> seen = IdSet()
    >>> seen.add("a"), seen.add("a"), "a" in seen, len(seen)
    (True, False, True, 1)
    """

    __slots__ = ("_shards",)

    def __init__(self) -> None:
        # Created on demand: creating four thousand arrays takes as long as scoring a case.
        self._shards: defaultdict[int, array[int]] = defaultdict(lambda: array("Q"))

    def add(self, text: str) -> bool:
        """Add an id; return whether it is new."""
        number, shard, at = self._position(text)
        if at < len(shard) and shard[at] == number:
            return False
        shard.insert(at, number)
        return True

    def __contains__(self, text: str) -> bool:
        number, shard, at = self._position(text)
        return at < len(shard) and shard[at] == number

    def _position(self, text: str) -> tuple[int, array[int], int]:
        """Return the digest of an id, its shard, and its index in the shard."""
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        number = int.from_bytes(digest, "big")
        shard = self._shards[number >> (64 - _SHARD_BITS)]
        return number, shard, bisect_left(shard, number)

    def __len__(self) -> int:
        return sum(map(len, self._shards.values()))
