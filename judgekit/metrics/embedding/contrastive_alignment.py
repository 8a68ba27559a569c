"""Contrastive alignment: nearer to texts that show a trait than to texts that lack it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from judgekit.core.case import Case
from judgekit.core.protocols import Metric
from judgekit.core.score import Score
from judgekit.embedders import Chosen, embeds_at_once, identity_of, vectors
from judgekit.metrics._options import check_options, needed_text
from judgekit.metrics.embedding.aggregation import DIGITS
from judgekit.metrics.embedding.contrast import Sides
from judgekit.metrics.embedding.examples import read_examples


@dataclass(frozen=True, kw_only=True, slots=True)
class ContrastiveAlignment(Metric):
    """How much nearer the output is to one set of examples than to another; 0..1, higher is nearer.

    .5 is as near to the one as to the other; with real texts most answers lie between .4 and
    .75. Examples are texts, or files as `judgekit pairs generate` writes them. The default
    embedder compares words, so that it hears the words of a trait, not the trait.
    `personalization` combines this with difference and quality. No confidence is given: a cosine
    is not a probability.
    """

    positive_examples: str | Sequence[str]
    """Texts that show the trait, or a file of them."""
    negative_examples: str | Sequence[str]
    """Texts that lack it, or a file of them; it may be the same file of pairs."""
    name: str = "contrastive_alignment"
    embedder: Chosen = "lexical"
    """The embedder."""

    _sides: Sides | None = field(default=None, init=False, repr=False, compare=False)
    """The vectors of the examples, embedded with the first case."""

    files: ClassVar[tuple[str, ...]] = ("positive_examples", "negative_examples")
    needs = ("output",)

    def __post_init__(self) -> None:
        check_options(self)
        for side, option in (("positive", "positive_examples"), ("negative", "negative_examples")):
            examples = read_examples(self.name, side, getattr(self, option))  # type: ignore[arg-type]
            object.__setattr__(self, option, examples)

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
        contrast = (await self._example_vectors()).contrast(
            (await vectors(self.embedder, [output]))[0]
        )
        if contrast is None:
            return Score(
                status="not_applicable",
                reason="The output, or one side of the examples, holds no words the embedder"
                " knows.",
                method=method,
                meta={"embedder": identity},
            )
        value = round(contrast.alignment, DIGITS)
        side = "shows" if value > 0.5 else "lacks"
        return Score(
            value=value,
            method=method,
            reason=f"The output is as near to one side of the examples as to the other ({value})."
            if value == 0.5
            else f"The output is nearer to the examples of what {side} the trait ({value:.2f}).",
            details={
                "positive_similarity": round(contrast.positive, DIGITS),
                "negative_similarity": round(contrast.negative, DIGITS),
                "alignment_1_100": round(contrast.alignment * 99 + 1, 2),
            },
            meta={"embedder": identity},
        )

    async def _example_vectors(self) -> Sides:
        if self._sides is not None:
            return self._sides
        count = len(self.positive_examples)
        rows = await vectors(self.embedder, [*self.positive_examples, *self.negative_examples])
        sides = Sides(rows[:count], rows[count:])
        object.__setattr__(self, "_sides", sides)
        return sides
