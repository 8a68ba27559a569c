"""Traits: is the output similar to texts with a trait, or in a tone?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.score import Score
from judgekit.embedders import Chosen, identity_of, vectors
from judgekit.metrics._options import needed_text
from judgekit.metrics.computed import ComputedMetric, not_applicable
from judgekit.metrics.embedding.examples import read_examples
from judgekit.metrics.embedding.similarity import DIGITS, mean
from judgekit.metrics.vectors import dot, scaled, unit_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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
        ValueError: a vector contains NaN or an infinity.
    """

    def __init__(self, positives: Any, negatives: Any) -> None:
        for side, examples in (("positive", positives), ("negative", negatives)):
            if not len(examples):
                raise ConfigError(f"contrastive alignment needs {side} examples")
        self._centres = _centre(positives), _centre(negatives)

    def contrast(self, response: Any) -> Contrast | None:
        """Return (mean cosine to positives - mean cosine to negatives + 2) / 4, and both means.

        .5 is equally similar to both sides. `None` if the response is zero, or all vectors of a
        side are.

        >>> Sides([[1.0, 0.0]], [[0.0, 1.0]]).contrast([1.0, 0.0]).alignment
        0.75
        """
        unit, (positives, negatives) = _unit(response), self._centres
        if unit is None or positives is None or negatives is None:
            return None
        positive, negative = _product(unit, positives), _product(unit, negatives)
        alignment = (positive - negative + 2) / 4
        return Contrast(min(1.0, max(0.0, alignment)), positive, negative)


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
    # Squares of very small numbers would underflow.
    return scaled(array / largest) if largest else None


def _product(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    if first.shape != second.shape:
        raise ValueError(f"the embedder returned vectors of {first.shape} and {second.shape}")
    return dot(first, second)


class ExampleContrast:
    """Contrasts texts with two sides of examples; embeds the examples on first use."""

    def __init__(
        self, embedder: Chosen, positives: Sequence[str], negatives: Sequence[str]
    ) -> None:
        self._embedder = embedder
        self._positives = positives
        self._negatives = negatives
        self._sides: Sides | None = None

    async def contrast(self, text: str) -> Contrast | None:
        """Return the contrast of a text; `None` if the text or a side has only zero vectors."""
        if self._sides is None:
            rows = await vectors(self._embedder, [*self._positives, *self._negatives])
            count = len(self._positives)
            self._sides = Sides(rows[:count], rows[count:])
        return self._sides.contrast((await vectors(self._embedder, [text]))[0])


class ContrastiveAlignment(ComputedMetric):
    """Similarity to positive examples minus that to negative ones. Range 0..1, higher is better.

    .5 means equal similarity to both; most real answers lie between .4 and .75. Examples are texts,
    or files in the format of `judgekit pairs generate`. The default embedder compares words, so it
    detects the words of a trait, not the trait itself. `personalization` combines this metric with
    difference and quality. The score has no confidence, because a cosine is not a probability.
    """

    positive_examples: str | Sequence[str]
    """Texts that show the trait, or a file of them."""
    negative_examples: str | Sequence[str]
    """Texts that do not show the trait, or a file of them; it may be the same file of pairs."""
    name: str = "contrastive_alignment"
    embedder: Chosen = "lexical"
    """Embedder that turns texts into vectors."""

    _contrast: ExampleContrast = field(init=False, repr=False, compare=False)

    files: ClassVar[tuple[str, ...]] = ("positive_examples", "negative_examples")
    synchronous = ComputedMetric.embeds_at_once
    needs = ("output",)

    def prepare(self) -> None:
        """Check and complete the options."""
        for side, option in (("positive", "positive_examples"), ("negative", "negative_examples")):
            examples = read_examples(self.name, side, getattr(self, option))  # type: ignore[arg-type]
            self.put(**{option: examples})
        contrast = ExampleContrast(self.embedder, self.positive_examples, self.negative_examples)
        self.put(_contrast=contrast)

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output is missing.
        """
        output = needed_text(case, "output")
        counts = f"{len(self.positive_examples)} and {len(self.negative_examples)}"
        common: dict[str, Any] = {
            "method": f"mean cosines to {counts} examples",
            "meta": {"embedder": identity_of(self.embedder)},
        }
        contrast = await self._contrast.contrast(output)
        if contrast is None:
            reason = (
                "The output, or one side of the examples, has no words that the embedder knows."
            )
            return not_applicable(reason, **common)
        value = round(contrast.alignment, DIGITS)
        side = "positive" if value > 0.5 else "negative"
        return Score(
            value=value,
            reason=f"The output is equally similar to both sides of the examples ({value})."
            if value == 0.5
            else f"The output is more similar to the {side} examples ({value:.2f}).",
            details={
                "positive_similarity": round(contrast.positive, DIGITS),
                "negative_similarity": round(contrast.negative, DIGITS),
                "alignment_1_100": round(contrast.alignment * 99 + 1, 2),
            },
            **common,
        )


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
    synchronous = ComputedMetric.embeds_at_once
    needs = ("output",)

    def prepare(self) -> None:
        """Check and complete the options."""
        exemplars = read_examples(self.name, "positive", self.exemplars, option="exemplars")
        self.put(exemplars=exemplars)

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
            self.put(_units=[unit for unit in units if unit is not None])
        known: list[NDArray[np.float64]] = self._units
        return known
