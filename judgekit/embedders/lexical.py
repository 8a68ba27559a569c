"""Embedders that compare words, without a model. Lexical, not semantic."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2s
from typing import TYPE_CHECKING, Any, ClassVar, cast

from judgekit.core.errors import ConfigError
from judgekit.core.protocols import BaseEmbedder
from judgekit.embedders.folding import fold

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.uint64]
    Flags = NDArray[np.bool_]


_BASE = 0x9E3779B97F4A7C15
"""Odd, so it has an inverse modulo 2**64; the golden ratio, as in splitmix64."""
_INVERSE = pow(_BASE, -1, 2**64)
_SIZES = (3, 4, 5)
_UNSPACED_SIZES = (1, 2)
_WORD_KIND = 99
_CHUNK_TEXTS = 64
"""Number of texts hashed in one batch: their counts (2 MB at 4,096) fit into the CPU cache."""
_CHUNK_CODES = 1 << 16

_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # kana
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
"""Scripts written without spaces: single characters and pairs count there as well."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LexicalEmbedder(BaseEmbedder):
    """Embeds a text as a vector of its words and parts of words.

    **Lexical, not semantic**: two texts are similar if they share words, or parts of words
    (inflections, typos), whatever they mean. "Yes" and "no" after the same sentence are similar. A
    paraphrase in other words, or a translation, is dissimilar.

    Features are whole words, and the 3-, 4- and 5-grams of characters inside each word with its
    boundaries, after NFKC and case folding. In scripts without spaces, single characters and pairs
    are features too. Each feature is hashed to an index and a sign (a polynomial of its code points
    modulo 2**64, mixed as in splitmix64). An element is the square root of its sum, so each
    repetition counts less. The vector is scaled to length 1. There are no document frequencies: a
    vector depends only on its text. A text without letters, digits and symbols has the zero vector.
    Time is linear in the length of the text, and the result is the same on every machine.
    """

    dimensions: int = 4096
    """Length of a vector: a power of two from 64 to 65,536."""

    synchronous: ClassVar[bool] = True
    semantic: ClassVar[bool] = False

    def __post_init__(self) -> None:
        size = self.dimensions
        if type(size) is not int or not 64 <= size <= 65536 or size & (size - 1):
            raise ConfigError(
                f"lexical embedder: dimensions must be a power of two from 64 to 65536,"
                f" not {size!r}"
            )

    @property
    def identity(self) -> str:
        """Name, version of the features, and dimensions; it changes when any vector changes."""
        return f"lexical-1/{self.dimensions}"

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return a float32 array: a row per text, of Euclidean length 1, or 0 for no words."""
        import numpy as np

        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for start, words in _chunks(texts):
            vectors[start : start + len(words)] = self._vectors(words)
        # numpy does not declare its arrays as sequences, though they are.
        return cast("Sequence[Sequence[float]]", vectors)

    def _vectors(self, texts: list[str]) -> NDArray[np.float64]:
        import numpy as np

        joined = " " + " ".join(texts) + " "
        codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        # A text includes its characters and the space before them.
        lengths = np.array([len(text) + 1 for text in texts])
        lengths[-1] += 1
        owner = np.repeat(np.arange(len(texts), dtype=np.int64), lengths)
        places, hashes = _features(codes.astype(np.uint64))
        hashes = _mixed(hashes)
        shift = np.uint64(65 - self.dimensions.bit_length())
        cells = owner[places] * self.dimensions + (hashes >> shift).astype(np.int64)
        signs = 1.0 - 2.0 * (hashes & np.uint64(1)).astype(np.float64)
        cell_count = len(texts) * self.dimensions
        sums = np.asarray(np.bincount(cells, weights=signs, minlength=cell_count), dtype=np.float64)
        table = sums.reshape(len(texts), self.dimensions)
        # Squares of square roots are whole numbers, so the sum is exact in any order.
        squared = np.abs(table).sum(axis=1)
        squared[squared == 0] = 1.0
        rows = np.flatnonzero(sums)
        nonzero = sums[rows]
        shares = np.abs(nonzero) / squared[rows // self.dimensions]
        sums[rows] = np.copysign(np.sqrt(shares), nonzero)
        return table


def _chunks(texts: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield batches of folded texts with the index of the first; a long text has its own batch."""
    start, size, chunk = 0, 0, list[str]()
    for index, text in enumerate(texts):
        words = " ".join(fold(text).translate(_separators).split())
        if chunk and (len(chunk) == _CHUNK_TEXTS or size + len(words) > _CHUNK_CODES):
            yield start, chunk
            start, size, chunk = index, 0, []
        chunk.append(words)
        size += len(words)
    if chunk:
        yield start, chunk


class _Separators(dict[int, int]):
    """The table of `translate`, filled for each character on first use."""

    def __missing__(self, code: int) -> int:
        # Keep letters, marks, numbers and symbols: "कि" has marks, "C++" and emoji symbols.
        belongs = unicodedata.category(chr(code))[0] in "LMNS"
        self[code] = code if belongs else 0x20
        return self[code]


_separators = _Separators()


def _features(codes: Codes) -> tuple[Any, Codes]:
    """Return the start of each feature, and its unmixed hash."""
    import numpy as np

    inside = codes != 0x20
    unspaced = _unspaced(codes)
    features = [_words(codes, inside)]
    for size in (*_UNSPACED_SIZES, *_SIZES):
        count = len(codes) - size + 1
        if count <= 0 or (size in _UNSPACED_SIZES and not unspaced.any()):
            continue
        # An n-gram of a word may include the spaces around the word and nothing beyond them.
        whole, margin = (unspaced, 0) if size in _UNSPACED_SIZES else (inside, 1)
        fits = np.ones(count, dtype=np.bool_)
        for step in range(margin, size - margin):
            fits &= whole[step : step + count]
        starts = np.flatnonzero(fits)
        hashes = np.full(len(starts), size, dtype=np.uint64)
        for step in range(size):
            hashes = hashes * np.uint64(_BASE) + codes[starts + step]
        features.append((starts, hashes))
    return (
        np.concatenate([starts for starts, _ in features]),
        np.concatenate([hashes for _, hashes in features]),
    )


def _words(codes: Codes, inside: Flags) -> tuple[Any, Codes]:
    """Return the start of each word and its hash, by differences of a running polynomial."""
    import numpy as np

    powers, inverses = _powers(1 << max(16, (len(codes) - 1).bit_length()))
    running = np.zeros(len(codes) + 1, dtype=np.uint64)
    np.cumsum(codes * powers[: len(codes)], out=running[1:])
    starts = np.flatnonzero(inside[1:] & ~inside[:-1]) + 1
    ends = np.flatnonzero(inside[:-1] & ~inside[1:]) + 1
    hashes = (running[ends] - running[starts]) * inverses[starts]
    return starts, hashes * np.uint64(_BASE) + np.uint64(_WORD_KIND)


@lru_cache(maxsize=2)
def _powers(count: int) -> tuple[Codes, Codes]:
    import numpy as np

    def powers(base: int) -> Codes:
        factors = np.full(count, base, dtype=np.uint64)
        factors[0] = 1
        return np.multiply.accumulate(factors)

    return powers(_BASE), powers(_INVERSE)


def _unspaced(codes: Codes) -> Flags:
    import numpy as np

    flags = np.zeros(len(codes), dtype=np.bool_)
    if codes.max(initial=0) >= _UNSPACED[0][0]:
        for low, high in _UNSPACED:
            flags |= (codes >= low) & (codes <= high)
    return flags


def _mixed(hashes: Codes) -> Codes:
    """Mix as in splitmix64, so every bit depends on every character."""
    import numpy as np

    hashes = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    hashes = (hashes ^ (hashes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return hashes ^ (hashes >> np.uint64(31))


PLACES = 512


def bucket(token: str, places: int = PLACES) -> int:
    """Return the index of a token: its BLAKE2s digest of 8 bytes, big-endian, modulo `places`.

    >>> bucket("hello"), bucket("")
    (86, 156)
    """
    digest = blake2s(token.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % places


@dataclass(frozen=True, kw_only=True, slots=True)
class HashedEmbedder(BaseEmbedder):
    """Turns a text into counts of its tokens, for figures comparable with Alignmenter's.

    White space separates tokens, so capitals and punctuation matter: "Hello," and "hello" have
    nothing in common. The vector has length 1, or 0 for a text without tokens.
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
