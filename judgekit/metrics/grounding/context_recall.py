"""Context recall: does the retrieved context hold what the right answer needs?"""

from __future__ import annotations

from judgekit.core.case import Case
from judgekit.core.score import Score
from judgekit.metrics._options import needed_texts
from judgekit.metrics.grounding.claims import ClaimMetric
from judgekit.metrics.shares import ratio
from judgekit.metrics.step import named, subject


class ContextRecall(ClaimMetric):
    """The share of a reference's claims that the context holds. Range 0..1, higher is better.

    Judges what was retrieved, not the answer: the first reference is taken apart (rubric
    `statements`), and each of its claims is looked up in the context (rubric `claim_support`)
    as `faithfulness` does with those of the answer. `confidence` is the mean of the greater of
    p and 1 - p.

    Args:
        judge: the judge, called once for the claims, then once for each of them.
        name: the name in results.
        tau: probability a claim must be above to count as found.
        max_claims: how many claims are looked up; the details say how many are left out.
        rubric: what checks a claim, in place of `claim_support`.
    """

    called = "context_recall"
    synchronous = ClaimMetric.synchronous
    needs = ("reference", "context")
    confidence = "is the mean of the greater of p and 1 - p"

    async def score(self, case: Case) -> Score:
        """Return the score of one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        reference = needed_texts(case, "reference")[0]
        passages = needed_texts(case, "context")
        source = subject(case, "reference", input=case.input, output=reference)
        lookup = await self.look_up(source, passages)
        missing = [claim.text for claim in lookup.claims if not claim.supported]
        supported = len(lookup.claims) - len(missing)
        value = ratio(supported, len(lookup.claims))
        if value is None:
            reason = "The reference claims nothing that could be looked up."
        else:
            reason = (
                f"The context holds {supported} of {len(lookup.claims)} claims of the reference"
            )
            reason += f"; not {named(missing)}." if missing else "."
        return self.scored(
            lookup,
            value,
            reason=reason,
            counts=lambda claim: claim.supported,
            ground_truth=reference,
        )
