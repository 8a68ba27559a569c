"""Tone compliance by example: how similar is the output to texts in a tone?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from judgekit.core.case import Case
from judgekit.core.score import Score
from judgekit.embedders import Chosen, embeds_at_once, identity_of
from judgekit.metrics._options import needed_text
from judgekit.metrics.computed import ComputedMetric, not_applicable
from judgekit.metrics.embedding.aggregation import DIGITS, mean
from judgekit.metrics.embedding.examples import read_examples
from judgekit.metrics.vectors import dot, scaled, unit_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Reduce = Literal["centre", "max", "mean"]


class ToneCompliance(ComputedMetric):
    """Cosine similarity of the output to exemplars of a tone. Range 0..1, higher is better.

    `reduce` selects the target. `centre` is the mean of the exemplars' vectors (the target of the
    definition), `max` the most similar exemplar, and `mean` the mean of the cosines. Opposite texts
    count as unrelated. A cosine is not a probability, and a good value depends on the embedder and
    the exemplars, so compare it with the values of texts with a known tone. The default embedder
    compares words and detects a tone only by its typical words. `tone_compliance_judge` uses a
    judge instead.
    """

    exemplars: str | Sequence[str]
    """Texts in the required tone, or a file: .txt or .jsonl with one text per line, or .json with a
    list."""
    name: str = "tone_compliance"
    reduce: Reduce = "centre"
    """Similarity to the mean of the exemplars (`centre`), to the most similar one (`max`), or the
    mean similarity (`mean`)."""
    embedder: Chosen = "lexical"
    """Embedder that turns texts into vectors."""

    _units: Any = field(default=None, init=False, repr=False, compare=False)
    """The vectors of the exemplars, embedded with the first case."""

    files: ClassVar[tuple[str, ...]] = ("exemplars",)
    needs = ("output",)

    def prepare(self) -> None:
        """Check and complete the options."""
        exemplars = read_examples(self.name, "positive", self.exemplars, option="exemplars")
        object.__setattr__(self, "exemplars", exemplars)

    @property
    def synchronous(self) -> bool:
        """Whether the embedder is synchronous."""
        return embeds_at_once(self.embedder)

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output is missing.
        """
        output = needed_text(case, "output")
        common: dict[str, Any] = {
            "method": f"cosine to {len(self.exemplars)} exemplars ({self.reduce})",
            "meta": {"embedder": identity_of(self.embedder)},
        }
        target = await self._exemplar_vectors()
        (unit,) = await unit_vectors(self.embedder, [output])
        if unit is None or not target:
            subject = "output has" if target else "exemplars have"
            return not_applicable(f"The {subject} no words that the embedder knows.", **common)
        cosines = [dot(unit, each) for each in target]
        if self.reduce == "centre":
            centre = scaled(sum(target[1:], start=target[0]))
            value = 0.0 if centre is None else dot(unit, centre)
        else:
            value = max(cosines) if self.reduce == "max" else mean(cosines)
        value = round(max(0.0, min(1.0, value)), DIGITS)
        nearest = max(range(len(cosines)), key=lambda n: (round(cosines[n], DIGITS), -n))
        return Score(
            value=value,
            reason=f"The cosine of the output to the exemplars of the tone is {value:.2f}.",
            details={"nearest": self.exemplars[nearest], "cosine": round(cosines[nearest], DIGITS)},
            **common,
        )

    async def _exemplar_vectors(self) -> list[NDArray[np.float64]]:
        if self._units is None:
            units = await unit_vectors(self.embedder, self.exemplars)
            object.__setattr__(self, "_units", [unit for unit in units if unit is not None])
        known: list[NDArray[np.float64]] = self._units
        return known
