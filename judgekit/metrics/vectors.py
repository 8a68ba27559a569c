"""Unit vectors and their products; exact sums give the same result on every machine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from judgekit.embedders import Chosen, vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float64] | None
    """`None` is a text the embedder has no features for."""
else:
    Vector = Any  # importing numpy takes longer than scoring a dozen cases


async def unit_vectors(embedder: Chosen, texts: Sequence[str]) -> list[Vector]:
    """Return the texts as vectors of length 1; `None` for a zero vector.

    Raises:
        ValueError: the embedder did not return one row of finite numbers per text.
    """
    import numpy as np

    if not texts:
        return []
    rows = np.asarray(await vectors(embedder, texts), dtype=np.float64)
    return [scaled(row) for row in rows]


def scaled(row: NDArray[np.float64]) -> Vector:
    """Return a vector scaled to length 1; `None` for a zero vector.

    Raises:
        ValueError: it contains NaN or an infinity.
    """
    norm = math.sqrt(_sum(row * row))
    if not math.isfinite(norm):
        raise ValueError("the embedder returned a vector with a number that is not finite")
    return row / norm if norm else None


def dot(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return the dot product of two vectors; for vectors of length 1 it is their cosine, -1..1."""
    return max(-1.0, min(1.0, _sum(first * second)))


def cosine(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return the cosine of two vectors, clamped to 0..1; `None` if one of them is zero.

    Sums are exact (`math.fsum`), so the value does not depend on the machine.

    Raises:
        ValueError: a vector contains NaN or an infinity, or their lengths differ.

    >>> cosine([1.0, 0.0], [2.0, 0.0]), cosine([1.0], [-1.0]), cosine([0.0], [1.0])
    (1.0, 0.0, None)
    """
    import numpy as np

    a = np.asarray(first, dtype=np.float64)
    b = np.asarray(second, dtype=np.float64)
    if a.shape != b.shape:
        raise ValueError(f"the embedder returned vectors of {a.shape} and {b.shape} for one call")
    norms = _sum(a * a) * _sum(b * b)
    if not math.isfinite(norms):
        raise ValueError("the embedder returned a vector with a number that is not finite")
    if norms == 0:
        return None
    return max(0.0, min(1.0, _sum(a * b) / math.sqrt(norms)))


def square(vector: NDArray[np.float64]) -> float:
    """Return the squared length of a vector."""
    return _sum(vector * vector)


def _sum(products: NDArray[np.float64]) -> float:
    # Lexical vectors are mostly zeros, and each of them slows down an exact sum.
    return math.fsum(products[products != 0.0].tolist())
