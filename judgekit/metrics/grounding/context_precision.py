"""Context precision: do the passages that matter stand first?"""

from __future__ import annotations

from pathlib import Path

from judgekit.core.case import Case, has_text
from judgekit.core.protocols import JudgeLike
from judgekit.core.score import Score
from judgekit.core.value import Json
from judgekit.metrics._options import check_fraction, needed_text, needed_texts
from judgekit.metrics.shares import TAU, context_precision
from judgekit.metrics.step import (
    JudgedText,
    Step,
    Stepped,
    agreeing,
    beginning,
    certainty,
    subject,
    text_parts,
)
from judgekit.rubric.rubric import Rubric


class ContextPrecision(Stepped):
    """How far up the relevant passages stand among those retrieved. Range 0..1, higher is better.

    A judge says of each passage by itself how probable it is that it helps to answer the
    question (rubric `passage_relevance`; a reference answer is shown where there is one). It is
    relevant above `tau`. The value is the mean, over the ranks of relevant passages, of the share
    of relevant ones up to that rank. Judges what was retrieved; the answer does not matter.
    `confidence` is the mean of the greater of p and 1 - p.

    Args:
        judge: the judge, called once for each passage.
        name: the name in results.
        tau: probability a passage must be above to count as relevant.
        none_relevant: the value where no passage is relevant, which is 0/0; not applicable
            without one.
        rubric: what judges a passage, in place of `passage_relevance`.
    """

    synchronous = Stepped.synchronous
    needs = ("input", "context")
    confidence = "is the mean of the greater of p and 1 - p"

    def __init__(
        self,
        *,
        judge: JudgeLike,
        name: str = "context_precision",
        tau: float = TAU,
        none_relevant: float | None = None,
        rubric: Rubric | str | Path = "passage_relevance",
    ) -> None:
        self.tau = check_fraction(name, "tau", tau)
        self.none_relevant = (
            None if none_relevant is None else check_fraction(name, "none_relevant", none_relevant)
        )
        self._relevance = Step(rubric, judge=judge, metric=name)
        super().__init__(name=name, judge=judge, steps=(self._relevance,))

    @property
    def options(self) -> dict[str, Json]:
        """Options that affect the requests or the value."""
        return {
            "tau": self.tau,
            "none_relevant": self.none_relevant,
            "rubric": self._relevance.rubric.name,
        }

    async def score(self, case: Case) -> Score:
        """Return the score of one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        question = needed_text(case, "input")
        passages = needed_texts(case, "context")
        known = tuple(text for text in case.reference if has_text(text))[:1]
        scores = await self._relevance.ask(
            [
                subject(case, str(rank), input=question, output=passage, reference=known)
                for rank, passage in enumerate(passages, start=1)
            ]
        )
        probabilities = [score.value or 0.0 for score in scores]
        relevant = [probability > self.tau for probability in probabilities]
        ranks = [rank for rank, hit in enumerate(relevant, start=1) if hit]
        judged = [
            JudgedText(
                beginning(passage),
                score,
                value=float(hit),
                met=hit,
                answer="relevant" if hit else "irrelevant",
                source=Case(id="passage", context=(passage,)),
                details={"probability": probability},
            )
            for passage, score, hit, probability in zip(
                passages, scores, relevant, probabilities, strict=True
            )
        ]
        value = context_precision(relevant)
        if value is None:
            value = self.none_relevant
            reason = f"None of {len(passages)} passages is relevant to the question."
        else:
            be = agreeing(len(ranks), "is", "are")
            places = ", ".join(map(str, ranks))
            reason = f"Of {len(passages)} passages {len(ranks)} {be} relevant, at rank {places}."
        return self._score(
            value,
            reason=reason,
            scores=scores,
            parts=text_parts("passage", judged),
            details={"passages": len(passages), "relevant_ranks": [*ranks], "tau": self.tau},
            confidence=certainty(probabilities),
        )
