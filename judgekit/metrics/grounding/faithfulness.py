"""Faithfulness: is what an answer claims borne out by its context?"""

from __future__ import annotations

from judgekit.core.case import Case
from judgekit.core.score import Score
from judgekit.metrics._options import needed_text, needed_texts
from judgekit.metrics.grounding.claims import ClaimMetric
from judgekit.metrics.shares import faithfulness_ratio
from judgekit.metrics.step import named


class Faithfulness(ClaimMetric):
    """The share of an answer's claims that its context supports. Range 0..1, higher is better.

    A judge first lists what the answer states (rubric `statements`), equal claims once, then
    says of each claim by itself how probable it is that it is true if the passages are (rubric
    `claim_support`), with quotes. A claim is supported if that is above `tau`. Greetings,
    questions and offers are no claims; an answer without any is not applicable.
    `confidence` is how sure the judge was: the mean of the greater of p and 1 - p.

    Args:
        judge: the judge, called once for the claims, then once for each of them.
        name: the name in results.
        tau: probability a claim must be above to count as supported.
        max_claims: how many claims are checked; the details say how many are left out.
        rubric: what checks a claim, in place of `claim_support`.
    """

    called = "faithfulness"
    synchronous = ClaimMetric.synchronous
    needs = ("output", "context")
    confidence = "is how sure the judge was: the mean of the greater of p and 1 - p"

    async def score(self, case: Case) -> Score:
        """Return the score of one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        needed_text(case, "output")
        passages = needed_texts(case, "context")
        lookup = await self.look_up(case, passages)
        claims = lookup.claims
        value = faithfulness_ratio(sum(claim.supported for claim in claims), len(claims))
        if value is None:
            reason = "The answer claims nothing that could be checked."
        else:
            missing = [claim.text for claim in claims if not claim.supported]
            reason = f"The context supports {len(claims) - len(missing)} of {len(claims)} claims"
            reason += f"; not {named(missing)}." if missing else "."
        return self.scored(lookup, value, reason=reason, counts=lambda claim: claim.supported)
