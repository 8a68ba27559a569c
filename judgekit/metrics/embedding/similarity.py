"""Similarity: how near the output is to another text of the case, by an embedder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from judgekit.core.case import Case
from judgekit.core.protocols import Metric
from judgekit.core.score import Score
from judgekit.embedders import (
    Chosen,
    embeds_at_once,
    identity_of,
    short_name,
    vectors,
)
from judgekit.metrics._options import (
    TextField,
    check_options,
    needed_text,
    needed_texts,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Target = Literal["reference", "input", "context", "baseline"]
Reduce = Literal["max", "mean"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Similarity(Metric):
    """Cosine of the output to a field of the case; 0..1, higher is better.

    The cosine is clamped to 0..1 (opposite counts as unrelated) and rounded to four decimals.
    Where the field holds several texts, the greatest or the mean cosine is taken. What "near"
    means is the embedder's affair, and `meta.embedder` names it; the default one is lexical.
    A text the embedder has no features for (a zero vector) is left out; none left, or such an
    output, is not applicable. Needs `output` and the field `to` names.
    """

    name: str = "similarity"
    to: Target = "reference"
    """What the output is held against."""
    reduce: Reduce = "max"
    """Of several texts, the nearest or the mean."""
    embedder: Chosen = "lexical"
    """The name of an embedder, a mapping such as `{onnx: FOLDER}`, or an embedder."""

    needs = ("output", "the field that `to` names")

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def synchronous(self) -> bool:
        """Whether the embedder is synchronous."""
        return embeds_at_once(self.embedder)

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output or the field is missing.
        """
        output = needed_text(case, "output")
        if self.to in ("reference", "context"):
            others = needed_texts(case, self.to)
        else:
            others = (needed_text(case, cast("TextField", self.to)),)
        identity = identity_of(self.embedder)
        first, *rest = await vectors(self.embedder, [output, *others])
        cosines = [cosine(first, vector) for vector in rest]
        known = [value for value in cosines if value is not None]
        method = f"cosine of {short_name(identity)}"
        if not known:
            return Score(
                status="not_applicable",
                reason=f"The output or the {self.to} holds no words the embedder knows.",
                method=method,
                meta={"embedder": identity},
            )
        value = max(known) if self.reduce == "max" else math.fsum(known) / len(known)
        several = "" if len(cosines) == 1 else f", the {self.reduce} over {len(known)} texts"
        return Score(
            value=round(value, 4),
            method=method,
            reason=f"The cosine of the output to the {self.to} is {value:.2f}{several}.",
            ground_truth=list(others) if self.to == "reference" else None,
            details={"cosines": [None if c is None else round(c, 4) for c in cosines]},
            meta={"embedder": identity},
        )


def cosine(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return the cosine of two vectors, clamped to 0..1; `None` where one of them is zero.

    Sums are exact (`math.fsum`), so the figure does not depend on the machine.

    Raises:
        ValueError: a vector holds NaN or an infinity, or their lengths differ.

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


def _sum(products: NDArray[np.float64]) -> float:
    # Lexical vectors are mostly zeros, and an exact sum takes its time for every one.
    return math.fsum(products[products != 0.0].tolist())
