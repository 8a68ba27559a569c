"""Similarity: how near the output is to another text of the case, by an embedder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, cast

from judgekit.case import Case
from judgekit.embedders import open_embedder
from judgekit.errors import ConfigError
from judgekit.metrics._options import TextField, check_choice, check_name, needed_text, needed_texts
from judgekit.metrics.card import Card, Example
from judgekit.protocols import Embedder
from judgekit.score import Score

Target = Literal["reference", "input", "context", "baseline"]
Reduce = Literal["max", "mean"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Similarity:
    """Cosine of the output to a field of the case; 0..1, higher is better.

    The cosine is clamped to 0..1 (opposite counts as unrelated) and rounded to four decimals.
    Where the field holds several texts, the greatest or the mean cosine is taken. What "near"
    means is the embedder's affair, and `meta.embedder` names it; the default one is lexical.
    A text the embedder has no features for (a zero vector) is left out; none left, or such an
    output, is not applicable. Needs `output` and the field `to` names.
    """

    name: str = "similarity"
    to: Target = "reference"
    reduce: Reduce = "max"
    embedder: str | Embedder = "lexical"
    """The name of a built-in embedder, or an embedder."""

    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    higher_is_better: ClassVar[bool] = True
    at_once = True
    card: ClassVar[Card] = Card(
        formula="max(0, cos(embed(output), embed(to))), rounded to four decimals",
        source="cosine similarity; what counts as near is the embedder's affair",
        needs=("output", "the field that `to` names"),
        empty="a missing field: invalid_case; no features in a text: not applicable",
        example=Example({"output": "the cat sat", "reference": "the cat sat"}, 1.0),
    )

    def __post_init__(self) -> None:
        check_name("similarity", self.name)
        check_choice(self.name, "to", self.to, Target)
        check_choice(self.name, "reduce", self.reduce, Reduce)
        if isinstance(self.embedder, str):
            open_embedder(self.embedder)
        elif not (hasattr(self.embedder, "embed") and hasattr(self.embedder, "identity")):
            raise ConfigError(
                f"{self.name}: embedder must be a name or an embedder, not {self.embedder!r}"
            )

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
        embedder = open_embedder(self.embedder) if isinstance(self.embedder, str) else self.embedder
        vectors = embedder.embed([output, *others])
        cosines = [cosine(vectors[0], vector) for vector in vectors[1:]]
        known = [value for value in cosines if value is not None]
        method = f"cosine of {embedder.identity}"
        if not known:
            return Score(
                status="not_applicable",
                reason=f"The output or the {self.to} holds no words the embedder knows.",
                method=method,
                meta={"embedder": embedder.identity},
            )
        value = max(known) if self.reduce == "max" else math.fsum(known) / len(known)
        several = "" if len(cosines) == 1 else f", the {self.reduce} over {len(known)} texts"
        return Score(
            value=round(value, 4),
            method=method,
            reason=f"The cosine of the output to the {self.to} is {value:.2f}{several}.",
            ground_truth=list(others) if self.to == "reference" else None,
            details={"cosines": [None if c is None else round(c, 4) for c in cosines]},
            meta={"embedder": embedder.identity},
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
        raise ValueError(f"the embedder gave vectors of {a.shape} and {b.shape} for one call")
    norms = math.fsum((a * a).tolist()) * math.fsum((b * b).tolist())
    if not math.isfinite(norms):
        raise ValueError("the embedder gave a vector with a number that is not finite")
    if norms == 0:
        return None
    return max(0.0, min(1.0, math.fsum((a * b).tolist()) / math.sqrt(norms)))
