"""Stability: does an assistant keep its voice from turn to turn?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.score import Score
from judgekit.core.value import Json
from judgekit.embedders import Chosen, identity_of
from judgekit.metrics._options import Bounds
from judgekit.metrics.brand_voice import alignmenter
from judgekit.metrics.brand_voice.alignmenter import Compat
from judgekit.metrics.brand_voice.sessions import FIGURES, Sessions, replies
from judgekit.metrics.computed import ComputedMetric, not_applicable
from judgekit.metrics.vectors import Vector, dot, scaled, square, unit_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Variant = Literal["dispersion", "documented"]

MAX_EXPECTED: Mapping[Variant, float] = {"dispersion": 1.0, "documented": 0.5}
"""The cosine distance of two unrelated texts, and the maximum standard deviation of numbers on
0..1."""

STABILITY_BANDS = (
    (0.9, "very consistent"),
    (0.7, "consistent"),
    (0.5, "somewhat varied"),
    (0.0, "inconsistent"),
)
"""Minimum stability -> its meaning, from the original's documentation."""


class Spread(NamedTuple):
    """The cosine distances between the replies of a session."""

    pairwise: float
    """Mean distance between pairs of replies."""
    from_mean: float
    """Mean distance to their mean."""
    deviation: float
    """Standard deviation (ddof 0) of the distances to their mean."""


def spread_of(vectors: Sequence[NDArray[np.float64]]) -> Spread:
    """Return the spread of at least two vectors of length 1; takes linear time.

    If the mean has length 0, its distance to every vector is 1.
    """
    import numpy as np

    count = len(vectors)
    rows = np.array(vectors)
    total = rows.sum(axis=0)
    # The order of the replies must not matter, so sums of more than two are exact.
    shared = np.flatnonzero(np.count_nonzero(rows, axis=0) > 2)
    total[shared] = [math.fsum(column) for column in rows[:, shared].T.tolist()]
    squared = square(total)
    pairwise = 1.0 - (squared - count) / (count * (count - 1))
    mean = scaled(total) if squared > 1e-18 * count * count else None
    distances = [1.0 if mean is None else 1.0 - dot(vector, mean) for vector in vectors]
    centre = math.fsum(distances) / count
    variance = math.fsum((d - centre) ** 2 for d in distances) / count
    return Spread(max(0.0, pairwise), centre, math.sqrt(variance))


class Stability(ComputedMetric):
    """How similar the replies of a session are to each other. Range 0..1, higher is better.

    `dispersion` is 1 minus the mean cosine distance between pairs of replies. `documented` is 1
    minus the standard deviation of the distances to the mean reply, divided by `maximum`. It misses
    some differences: two replies always have the same distance to their mean and count as perfectly
    consistent, and so do replies that all differ equally. The embedder decides whether words or
    meaning are compared. With the default, lexical one, replies about different topics are
    dissimilar, whatever their tone.

    A session needs at least two replies with words; otherwise the metric is not applicable.
    `compat: alignmenter` gives the figures of Alignmenter's code: the variance of those distances
    with its hashed embedder, rescaled to .1-.9, so that the best value is .9.
    """

    name: str = "stability"
    variant: Variant = "dispersion"
    """`dispersion`: the mean distance between pairs of replies. `documented`: Alignmenter's
    documented formula."""
    maximum: Annotated[float, Bounds(0, above=True)] | None = None
    """Distance or deviation that scores 0; by default 1 for dispersion and .5 for documented."""
    embedder: Chosen = "lexical"
    """Embedder that turns texts into vectors."""
    compat: Compat | None = None
    """Reproduce the figures of Alignmenter's code."""
    calibration: str | Mapping[str, Any] | None = None
    """With `compat`: a `.traits.json` file or its content; this metric uses its `variance_min` and
    `variance_max`."""

    files: ClassVar[tuple[str, ...]] = ("calibration",)
    figures: ClassVar[Mapping[str, bool]] = FIGURES
    options = ComputedMetric.plain_options
    synchronous = ComputedMetric.embeds_at_once
    needs = ("two replies: output and assistant turns in history",)

    def prepare(self) -> None:
        """Check and complete the options."""
        if self.compat is not None:
            if self.embedder == "lexical":
                self.put(embedder="hashed-512")
            self.put(calibration=alignmenter.calibration_of(self.calibration))
        elif self.calibration is not None:
            raise ConfigError(f"{self.name}: calibration belongs to compat: alignmenter")
        most = MAX_EXPECTED[self.variant] if self.maximum is None else self.maximum
        self.put(maximum=float(most))

    def aggregates(self) -> list[Sessions]:
        """Return the spread over sessions."""
        return [Sessions()]

    async def score(self, case: Case) -> Score:
        """Score one session.

        Raises:
            CaseError: the assistant has no turn with text.
        """
        texts = replies(case)
        several = texts if len(texts) > 1 else []
        vectors: list[Vector] = await unit_vectors(self.embedder, several)
        known = [vector for vector in vectors if vector is not None]
        formula = "variance, as Alignmenter" if self.compat else self.variant
        common: dict[str, Any] = {
            "method": f"{formula} of embeddings",
            "meta": {"embedder": identity_of(self.embedder)},
        }
        details: dict[str, Json] = {"turns": len(texts)}
        if len(known) < 2:
            few = "one reply" if len(texts) == 1 else "fewer than two replies that hold words"
            reason = f"The session has {few}; there is nothing to compare."
            return not_applicable(reason, details=details, **common)
        spread = spread_of(known)
        details |= {
            "compared": len(known),
            "mean_pairwise_distance": spread.pairwise,
            "mean_distance": spread.from_mean,
            "std_of_distances": spread.deviation,
        }
        if self.compat:
            bounds = alignmenter.calibration_of(self.calibration).variance
            variance = spread.deviation**2
            normalised = alignmenter.rescale_variance(variance, bounds)
            details |= {"session_variance": variance, "normalized_variance": normalised}
        else:
            wide = spread.pairwise if self.variant == "dispersion" else spread.deviation
            normalised = min(1.0, wide / (self.maximum or 1.0))
        # The original rounds to three decimals, and compat reproduces its figures.
        value = round(max(0.0, 1.0 - normalised), 3 if self.compat else 4)
        band = alignmenter.band_of(value, STABILITY_BANDS)
        return Score(
            value=value,
            reason=f"{len(known)} replies are {band}: on average"
            f" {spread.pairwise:.2f} apart, at {spread.from_mean:.2f} from their mean"
            f" (standard deviation {spread.deviation:.3f}).",
            details=details,
            **common,
        )
