"""Context recall: does the retrieved context support the claims of the reference?"""

from __future__ import annotations

from judgekit.core.case import Case
from judgekit.core.score import Score
from judgekit.metrics._options import needed_texts
from judgekit.metrics.grounding.claims import ClaimMetric
from judgekit.metrics.shares import ratio
from judgekit.metrics.step import named, subject


class ContextRecall(ClaimMetric):
    """Share of a reference's claims that the context supports. Range 0..1, higher is better.

    The metric rates the retrieval, not the answer. A judge lists the claims of the first reference
    (rubric `statements`) and checks each of them against the context (rubric `claim_support`), as
    `faithfulness` does with the claims of the answer. `confidence` is the mean of max(p, 1 - p).

    Args:
        judge: the judge, called once for the claims, then once for each of them.
        name: the name in results.
        tau: probability that a claim must exceed to count as supported.
        max_claims: maximum number of claims to check. `details.claims_left_out` counts the others.
        rubric: rubric for checking a claim.
    """

    name: str = "context_recall"

    needs = ("reference", "context")
    confidence = "is the mean of the greater of p and 1 - p"

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        reference = needed_texts(case, "reference")[0]
        passages = needed_texts(case, "context")
        source = subject(case, "reference", input=case.input, output=reference)
        checked = await self.check_claims(source, passages)
        missing = [claim.text for claim in checked.claims if not claim.supported]
        supported = len(checked.claims) - len(missing)
        value = ratio(supported, len(checked.claims))
        if value is None:
            reason = "The reference has no claims to check."
        else:
            reason = (
                f"The context supports {supported} of {len(checked.claims)} claims of the reference"
            )
            reason += f"; not {named(missing)}." if missing else "."
        return self.scored(
            checked,
            value,
            reason=reason,
            counts=lambda claim: claim.supported,
            ground_truth=reference,
        )
