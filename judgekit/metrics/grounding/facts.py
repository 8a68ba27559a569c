"""Facts covered, by a judge: which facts of the ground truth does an answer state?"""

from __future__ import annotations

from judgekit.core.case import Case
from judgekit.metrics._options import Positive, needed_texts
from judgekit.metrics.built_in import RubricLike
from judgekit.metrics.grounding.coverage import CoverageMetric
from judgekit.metrics.step import MAX_STATEMENTS, subject


class FactsCoveredJudge(CoverageMetric):
    """Share of known facts that an answer states, by a judge. Range 0..1, higher is better.

    The facts are `expected.facts`, or else the claims that a judge lists from the first reference
    (rubric `statements`); `details.facts_from` names the source. The judge checks each fact
    separately (rubric `fact_stated`). The wording does not matter, but numbers, names and
    conditions do. A fact counts if its probability is above `tau`. Additional facts in the answer
    do not lower the value. `facts_covered` does the same without a judge, with equal or similar
    sentences. `confidence` is the mean of max(p, 1 - p).

    Args:
        judge: the judge, called once for the facts, unless given, then once for each.
        name: the name in results.
        tau: probability that a fact must exceed to count as stated.
        max_facts: maximum number of facts to check. `details.facts_left_out` counts the others.
        rubric: rubric for checking a fact.
    """

    name: str = "facts_covered_judge"
    max_facts: Positive = MAX_STATEMENTS
    rubric: RubricLike = "fact_stated"
    listing = "statements"

    noun = "fact"
    key = "facts"
    needs = ("output", "expected.facts or reference")
    confidence = "is the mean of the greater of p and 1 - p"

    def source(self, case: Case) -> tuple[Case, str]:
        """Return a case with the first reference.

        Raises:
            CaseError: it is missing.
        """
        reference = needed_texts(case, "reference")[0]
        return subject(case, "reference", input=case.input, output=reference), "reference"
