"""Contrastive alignment: nearer to texts that show a trait than to texts that lack it?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from judgekit.errors import ConfigError

Vector = Sequence[float]


class Contrast(NamedTuple):
    """Mean cosines to both sides, each -1..1, and what they come to, 0..1."""

    alignment: float
    positive: float
    negative: float


def contrast(
    response: Vector, positives: Sequence[Vector], negatives: Sequence[Vector]
) -> Contrast | None:
    """Return (mean cosine to positives - mean cosine to negatives + 2) / 4, and both means.

    .5 is as near to one side as to the other. A zero vector is as near to nothing as to
    everything, so those of the examples are left out; `None` where the response is one, or no
    example of a side is left. Sums are exact.

    Raises:
        ConfigError: a side has no examples.

    >>> contrast([1.0, 0.0], [[1.0, 0.0]], [[0.0, 1.0]]).alignment
    0.75
    """
    for side, vectors in (("positive", positives), ("negative", negatives)):
        if not len(vectors):
            raise ConfigError(f"contrastive alignment needs {side} examples")
    means = [_mean(response, side) for side in (positives, negatives)]
    positive, negative = means
    if positive is None or negative is None:
        return None
    alignment = (positive - negative + 2) / 4
    return Contrast(min(1.0, max(0.0, alignment)), positive, negative)


def mean_alignment(
    responses: Sequence[Vector], positives: Sequence[Vector], negatives: Sequence[Vector]
) -> float:
    """Return the mean alignment of several responses; 0 without any, as the original has it."""
    found = [contrast(response, positives, negatives) for response in responses]
    known = [each.alignment for each in found if each is not None]
    return math.fsum(known) / len(known) if known else 0.0


def _mean(response: Vector, examples: Sequence[Vector]) -> float | None:
    cosines = [c for c in (_cosine(response, example) for example in examples) if c is not None]
    return math.fsum(cosines) / len(cosines) if cosines else None


def _cosine(first: Vector, second: Vector) -> float | None:
    """Return the cosine, -1..1; `None` where a vector is zero."""
    import numpy as np

    a = np.asarray(first, dtype=np.float64)
    b = np.asarray(second, dtype=np.float64)
    if a.shape != b.shape:
        raise ValueError(f"the embedder gave vectors of {a.shape} and {b.shape}")
    norms = math.fsum((a * a).tolist()) * math.fsum((b * b).tolist())
    if not math.isfinite(norms):
        raise ValueError("the embedder gave a vector with a number that is not finite")
    if norms == 0:
        return None
    return max(-1.0, min(1.0, math.fsum((a * b).tolist()) / math.sqrt(norms)))
