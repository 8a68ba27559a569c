"""Semantic accuracy: is the output near enough to an accepted answer to count as the same?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from judgekit.case import Case
from judgekit.embedders import Chosen, check_embedder, embeds_at_once, identity_of, vectors
from judgekit.metrics._options import check_fraction, check_name, needed_text, needed_texts
from judgekit.metrics.card import Card, Example
from judgekit.metrics.embedding import cosine
from judgekit.metrics.nearness.folds import DIGITS, TAU, is_accurate
from judgekit.score import Score


@dataclass(frozen=True, kw_only=True, slots=True)
class SemanticAccuracy:
    """1 if the cosine of the output to a reference is at least `tau`, else 0; higher is better.

    The mean over a run is the semantic accuracy. Of several references the nearest counts. What
    is near is the embedder's affair: the default one compares words, so that "5 pm" and "17:00"
    are far and a sentence and its negation are near; take a model for meaning, and calibrate
    `tau` for it. A text the embedder has no features for is left out.
    """

    name: str = "semantic_accuracy"
    tau: float = TAU
    """The least cosine that counts; at it counts."""
    embedder: Chosen = "lexical"
    """What turns texts into vectors."""

    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    higher_is_better: ClassVar[bool] = True
    card: ClassVar[Card] = Card(
        formula="1[cos(output, reference) >= tau], the nearest reference, the cosine to four"
        " decimals; over a run the mean",
        source="quality definitions (7); tau = .8 is ours, the source names none",
        needs=("output", "reference"),
        empty="no output or no reference: invalid_case; no features in either: not applicable",
        example=Example(
            {"output": "The train leaves at noon.", "reference": "the train leaves at noon"}, 1.0
        ),
    )

    def __post_init__(self) -> None:
        check_name("semantic_accuracy", self.name)
        object.__setattr__(self, "tau", check_fraction(self.name, "tau", self.tau))
        check_embedder(self.name, self.embedder)

    @property
    def at_once(self) -> bool:
        """Whether scoring waits for nothing: the embedder decides."""
        return embeds_at_once(self.embedder)

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output or the reference is missing.
        """
        output, references = needed_text(case, "output"), needed_texts(case, "reference")
        first, *rest = await vectors(self.embedder, [output, *references])
        cosines = [cosine(first, vector) for vector in rest]
        known = [value for value in cosines if value is not None]
        identity = identity_of(self.embedder)
        method = f"cosine at least {self.tau:g}"
        if not known:
            return Score(
                status="not_applicable",
                reason="The output or the reference holds no words the embedder knows.",
                method=method,
                meta={"embedder": identity},
            )
        best = round(max(known), DIGITS)
        hit = is_accurate(best, self.tau)
        return Score(
            value=1.0 if hit else 0.0,
            method=method,
            reason=f"The cosine of the output to the reference is {best:.4f},"
            f" {'at least' if hit else 'below'} {self.tau:g}.",
            ground_truth=list(references),
            details={
                "cosine": best,
                "cosines": [None if each is None else round(each, DIGITS) for each in cosines],
                "tau": self.tau,
            },
            meta={"embedder": identity},
        )
