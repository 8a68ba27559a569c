"""Contrastive alignment: is the output more similar to texts with a trait, or without it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import ClassVar

from judgekit.core.case import Case
from judgekit.core.score import Score
from judgekit.embedders import Chosen, embeds_at_once, identity_of, vectors
from judgekit.metrics._options import needed_text
from judgekit.metrics.computed import ComputedMetric
from judgekit.metrics.embedding.aggregation import DIGITS
from judgekit.metrics.embedding.contrast import Contrast, Sides
from judgekit.metrics.embedding.examples import read_examples


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
    needs = ("output",)

    def prepare(self) -> None:
        """Check and complete the options."""
        for side, option in (("positive", "positive_examples"), ("negative", "negative_examples")):
            examples = read_examples(self.name, side, getattr(self, option))  # type: ignore[arg-type]
            object.__setattr__(self, option, examples)
        contrast = ExampleContrast(self.embedder, self.positive_examples, self.negative_examples)
        object.__setattr__(self, "_contrast", contrast)

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
        counts = f"{len(self.positive_examples)} and {len(self.negative_examples)}"
        method = f"mean cosines to {counts} examples"
        contrast = await self._contrast.contrast(output)
        if contrast is None:
            return Score(
                status="not_applicable",
                reason="The output, or one side of the examples, has no words that the embedder"
                " knows.",
                method=method,
                meta={"embedder": identity},
            )
        value = round(contrast.alignment, DIGITS)
        side = "positive" if value > 0.5 else "negative"
        return Score(
            value=value,
            method=method,
            reason=f"The output is equally similar to both sides of the examples ({value})."
            if value == 0.5
            else f"The output is more similar to the {side} examples ({value:.2f}).",
            details={
                "positive_similarity": round(contrast.positive, DIGITS),
                "negative_similarity": round(contrast.negative, DIGITS),
                "alignment_1_100": round(contrast.alignment * 99 + 1, 2),
            },
            meta={"embedder": identity},
        )
