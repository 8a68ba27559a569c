"""The offline fallback embedder of Alignmenter: token counts, hashed to 512 buckets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2s
from typing import ClassVar, cast

from judgekit.core.protocols import BaseEmbedder

PLACES = 512


def bucket(token: str, places: int = PLACES) -> int:
    """Return the place of a token: its BLAKE2s digest of 8 bytes, big-endian, modulo `places`.

    >>> bucket("hello"), bucket("")
    (86, 156)
    """
    digest = blake2s(token.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % places


@dataclass(frozen=True, kw_only=True, slots=True)
class HashedEmbedder(BaseEmbedder):
    """Turns a text into counts of its tokens; for figures comparable with Alignmenter's.

    Tokens are what white space divides, so that capitals and punctuation count: "Hello," and
    "hello" have nothing in common. The vector has length 1, or 0 for a text without tokens.
    """

    identity: ClassVar[str] = "hashed-512"
    synchronous: ClassVar[bool] = True
    semantic: ClassVar[bool] = False

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return a float64 array with a row per text."""
        import numpy as np

        vectors = np.zeros((len(texts), PLACES), dtype=np.float64)
        for at, text in enumerate(texts):
            for token, count in Counter(text.split()).items():
                vectors[at, bucket(token)] += count
            norm = float(np.sqrt(np.dot(vectors[at], vectors[at])))
            if norm:
                vectors[at] /= norm
        return cast(Sequence[Sequence[float]], vectors)
