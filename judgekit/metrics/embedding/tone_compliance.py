"""Tone compliance by example: how near is the output to texts in the wanted tone?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from judgekit.core.case import Case
from judgekit.core.protocols import Metric
from judgekit.core.score import Score
from judgekit.embedders import Chosen, embeds_at_once, identity_of
from judgekit.metrics._options import check_options, needed_text
from judgekit.metrics.embedding.aggregation import DIGITS, mean
from judgekit.metrics.embedding.examples import read_examples
from judgekit.metrics.vectors import dot, scaled, unit_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Reduce = Literal["centre", "max", "mean"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ToneCompliance(Metric):
    """Cosine of the output to exemplars of the wanted tone; 0..1, higher is better.

    `reduce` says to what of several exemplars: `centre` the mean of their vectors (the
    definition's target), `max` the nearest, `mean` the mean of the cosines. An opposite counts
    as unrelated. A cosine is no probability: what a good one is depends on embedder and
    exemplars, so hold it against texts whose tone is known. The default embedder compares
    words, and hears a tone only where it has words of its own; `tone_compliance_judge` is the
    judged form.
    """

    exemplars: str | Sequence[str]
    """Texts in the wanted tone, or a file of them: .txt or .jsonl a text a line, .json a list."""
    name: str = "tone_compliance"
    reduce: Reduce = "centre"
    """Nearness to the mean of the exemplars, to the nearest, or the mean of all."""
    embedder: Chosen = "lexical"
    """The embedder."""

    _units: Any = field(default=None, init=False, repr=False, compare=False)
    """The vectors of the exemplars, embedded with the first case."""

    files: ClassVar[tuple[str, ...]] = ("exemplars",)
    needs = ("output",)

    def __post_init__(self) -> None:
        check_options(self)
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
        identity = identity_of(self.embedder)
        method = f"cosine to {len(self.exemplars)} exemplars ({self.reduce})"
        target = await self._exemplar_vectors()
        (unit,) = await unit_vectors(self.embedder, [output])
        if unit is None or not target:
            whose = "output holds" if target else "exemplars hold"
            return Score(
                status="not_applicable",
                reason=f"The {whose} no words the embedder knows.",
                method=method,
                meta={"embedder": identity},
            )
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
            method=method,
            reason=f"The cosine of the output to the exemplars of the tone is {value:.2f}.",
            details={"nearest": self.exemplars[nearest], "cosine": round(cosines[nearest], DIGITS)},
            meta={"embedder": identity},
        )

    async def _exemplar_vectors(self) -> list[NDArray[np.float64]]:
        if self._units is None:
            units = await unit_vectors(self.embedder, self.exemplars)
            object.__setattr__(self, "_units", [unit for unit in units if unit is not None])
        known: list[NDArray[np.float64]] = self._units
        return known
