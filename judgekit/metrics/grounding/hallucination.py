"""Hallucination: claims of an answer that its context contradicts or does not mention."""

from __future__ import annotations

from judgekit.core.case import Case
from judgekit.core.score import Score
from judgekit.metrics._options import needed_text, needed_texts
from judgekit.metrics.grounding.claims import Claim, ClaimMetric
from judgekit.metrics.shares import ratio
from judgekit.metrics.step import named


class Hallucination(ClaimMetric):
    """Share of an answer's claims that its context does not support. Range 0..1, lower is better.

    The metric sends the same requests as `faithfulness` (rubrics `statements` and `claim_support`),
    so using both costs no additional call. At the same `tau` the value is 1 - `faithfulness`. In
    addition, `details` count contradicted claims separately from claims that the context does not
    mention. With `only_contradicted`, only contradicted claims count. `confidence` is the mean of
    max(p, 1 - p).

    Args:
        judge: the judge, called once for the claims, then once for each of them.
        name: the name in results.
        tau: probability that a claim must exceed to count as supported.
        only_contradicted: ignore claims that the context does not mention.
        max_claims: maximum number of claims to check. `details.claims_left_out` counts the others.
        rubric: rubric for checking a claim.
    """

    name: str = "hallucination"
    only_contradicted: bool = False

    higher_is_better = False
    needs = ("output", "context")
    confidence = "is the mean of the greater of p and 1 - p"

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        needed_text(case, "output")
        passages = needed_texts(case, "context")
        checked = await self.check_claims(case, passages)
        claims = checked.claims
        bad = [claim for claim in claims if self._counts(claim)]
        value = ratio(len(bad), len(claims))
        if value is None:
            reason = "The answer has no claims to check."
        elif bad:
            contradicted = sum(claim.contradicted for claim in bad)
            reason = (
                f"Not in the context: {len(bad)} of {len(claims)} claims"
                f" ({contradicted} contradicted): {named([claim.text for claim in bad])}."
            )
        else:
            beyond = "" if self.only_contradicted else " or goes beyond it"
            reason = f"None of {len(claims)} claims contradicts the context{beyond}."
        return self.scored(checked, value, reason=reason, counts=self._counts)

    def _counts(self, claim: Claim) -> bool:
        return claim.contradicted if self.only_contradicted else not claim.supported
