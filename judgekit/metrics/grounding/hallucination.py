"""Hallucination: what an answer claims that its context contradicts or does not say."""

from __future__ import annotations

from pathlib import Path

from judgekit.core.case import Case
from judgekit.core.protocols import JudgeLike
from judgekit.core.score import Score
from judgekit.core.value import Json
from judgekit.metrics._options import check_flag, needed_text, needed_texts
from judgekit.metrics.grounding.claims import Claim, ClaimMetric
from judgekit.metrics.shares import TAU, ratio
from judgekit.metrics.step import MAX_STATEMENTS, named
from judgekit.rubric.rubric import Rubric


class Hallucination(ClaimMetric):
    """The share of an answer's claims that are not in its context. Range 0..1, lower is better.

    Asks exactly what `faithfulness` asks, so that the two together cost no call more than one,
    and is 1 minus it at the same `tau`. What it adds: `details` count the claims that the
    context contradicts apart from those it does not speak of, and `only_contradicted` counts
    nothing but the former. `confidence` is the mean of the greater of p and 1 - p.

    Args:
        judge: the judge, called once for the claims, then once for each of them.
        name: the name in results.
        tau: probability a claim must be above not to count.
        only_contradicted: whether claims the context does not speak of are let pass.
        max_claims: how many claims are checked; the details say how many are left out.
        rubric: what checks a claim, in place of `claim_support`.
    """

    higher_is_better = False
    called = "hallucination"
    synchronous = ClaimMetric.synchronous
    needs = ("output", "context")
    confidence = "is the mean of the greater of p and 1 - p"

    def __init__(
        self,
        *,
        judge: JudgeLike,
        name: str | None = None,
        tau: float = TAU,
        only_contradicted: bool = False,
        max_claims: int = MAX_STATEMENTS,
        rubric: Rubric | str | Path = "claim_support",
    ) -> None:
        check_flag(name or self.called, "only_contradicted", only_contradicted)
        self.only_contradicted = only_contradicted
        super().__init__(name=name, judge=judge, tau=tau, max_claims=max_claims, rubric=rubric)

    @property
    def options(self) -> dict[str, Json]:
        """Options that affect the requests or the value."""
        return {**super().options, "only_contradicted": self.only_contradicted}

    async def score(self, case: Case) -> Score:
        """Return the score of one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        needed_text(case, "output")
        passages = needed_texts(case, "context")
        lookup = await self.look_up(case, passages)
        claims = lookup.claims
        bad = [claim for claim in claims if self._counts(claim)]
        value = ratio(len(bad), len(claims))
        if value is None:
            reason = "The answer claims nothing that could be checked."
        elif bad:
            contradicted = sum(claim.contradicted for claim in bad)
            reason = (
                f"Not in the context: {len(bad)} of {len(claims)} claims"
                f" ({contradicted} contradicted): {named([claim.text for claim in bad])}."
            )
        else:
            reason = f"None of {len(claims)} claims goes against the context" + (
                "." if self.only_contradicted else " or beyond it."
            )
        return self.scored(lookup, value, reason=reason, counts=self._counts)

    def _counts(self, claim: Claim) -> bool:
        return claim.contradicted if self.only_contradicted else not claim.supported
