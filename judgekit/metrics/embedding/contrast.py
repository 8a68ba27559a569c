"""Contrastive alignment of vectors: the equation, without an embedder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from judgekit.core.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vector = Sequence[float]


class Contrast(NamedTuple):
    """The alignment, 0..1, and the mean cosines to both sides, each -1..1."""

    alignment: float
    positive: float
    negative: float


class Sides:
    """The examples of both sides; a mean cosine is one product with the mean of the unit vectors.

    Zero vectors have no direction, so examples with one are left out.

    Raises:
        ConfigError: a side has no examples.
        ValueError: a vector holds NaN or an infinity.
    """

    def __init__(self, positives: Any, negatives: Any) -> None:
        for side, vectors in (("positive", positives), ("negative", negatives)):
            if not len(vectors):
                raise ConfigError(f"contrastive alignment needs {side} examples")
        self._centres = [_centre(positives), _centre(negatives)]

    def contrast(self, response: Any) -> Contrast | None:
        """Return the contrast of a response; `None` if it is zero, or all vectors of a side."""
        unit = _unit(response)
        positive, negative = (
            None if unit is None or centre is None else _product(unit, centre)
            for centre in self._centres
        )
        if positive is None or negative is None:
            return None
        alignment = (positive - negative + 2) / 4
        return Contrast(min(1.0, max(0.0, alignment)), positive, negative)


def contrast(
    response: Vector, positives: Sequence[Vector], negatives: Sequence[Vector]
) -> Contrast | None:
    """Return (mean cosine to positives - mean cosine to negatives + 2) / 4, and both means.

    .5 is equally similar to both sides. See `Sides` for zero vectors and errors.

    >>> contrast([1.0, 0.0], [[1.0, 0.0]], [[0.0, 1.0]]).alignment
    0.75
    """
    return Sides(positives, negatives).contrast(response)


def mean_alignment(
    responses: Sequence[Vector], positives: Sequence[Vector], negatives: Sequence[Vector]
) -> float:
    """Return the mean alignment of several responses; 0 if there are none, as in Wisent."""
    sides = Sides(positives, negatives)
    contrasts = filter(None, map(sides.contrast, responses))
    alignments = [each.alignment for each in contrasts]
    return math.fsum(alignments) / len(alignments) if alignments else 0.0


def _centre(vectors: Any) -> NDArray[np.float64] | None:
    """Return the mean of the unit vectors; `None` if all vectors are zero."""
    units = [unit for unit in map(_unit, vectors) if unit is not None]
    if not units:
        return None
    total = units[0].copy()
    for unit in units[1:]:
        if unit.shape != total.shape:
            raise ValueError(f"the embedder returned vectors of {total.shape} and {unit.shape}")
        total += unit
    return total / len(units)


def _unit(vector: Any) -> NDArray[np.float64] | None:
    import numpy as np

    array = np.asarray(vector, dtype=np.float64)
    largest = float(np.abs(array).max(initial=0.0))
    if not math.isfinite(largest):
        raise ValueError("the embedder returned a vector with a number that is not finite")
    if largest == 0:
        return None
    array = array / largest  # squares of very small numbers would underflow
    unit: NDArray[np.float64] = array / math.sqrt(math.fsum((array * array).tolist()))
    return unit


def _product(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    if first.shape != second.shape:
        raise ValueError(f"the embedder returned vectors of {first.shape} and {second.shape}")
    return max(-1.0, min(1.0, math.fsum((first * second).tolist())))
