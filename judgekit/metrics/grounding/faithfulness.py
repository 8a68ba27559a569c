"""Faithfulness: does the context support the claims of an answer?"""

from __future__ import annotations

from judgekit.core.case import Case
from judgekit.core.score import Score
from judgekit.metrics._options import needed_text, needed_texts
from judgekit.metrics.grounding.claims import ClaimMetric
from judgekit.metrics.shares import faithfulness_ratio
from judgekit.metrics.step import named


class Faithfulness(ClaimMetric):
    """Share of an answer's claims that its context supports. Range 0..1, higher is better.

    First a judge lists the claims of the answer (rubric `statements`); equal claims count once.
    Then it gives, for each claim separately and with quotes, the probability that the claim is true
    if the passages are (rubric `claim_support`). A claim is supported if this probability is above
    `tau`. Greetings, questions and offers are not claims; an answer without claims is not
    applicable. `confidence` is the certainty of the judge: the mean of max(p, 1 - p).

    Args:
        judge: the judge, called once for the claims, then once for each of them.
        name: the name in results.
        tau: probability that a claim must exceed to count as supported.
        max_claims: maximum number of claims to check. `details.claims_left_out` counts the others.
        rubric: rubric for checking a claim.
    """

    name: str = "faithfulness"

    needs = ("output", "context")
    confidence = "is how sure the judge was: the mean of the greater of p and 1 - p"

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        needed_text(case, "output")
        passages = needed_texts(case, "context")
        checked = await self.check_claims(case, passages)
        claims = checked.claims
        value = faithfulness_ratio(sum(claim.supported for claim in claims), len(claims))
        if value is None:
            reason = "The answer has no claims to check."
        else:
            missing = [claim.text for claim in claims if not claim.supported]
            reason = f"The context supports {len(claims) - len(missing)} of {len(claims)} claims"
            reason += f"; not {named(missing)}." if missing else "."
        return self.scored(checked, value, reason=reason, counts=lambda claim: claim.supported)
