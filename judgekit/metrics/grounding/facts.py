"""Facts covered, judged: which facts of the ground truth does an answer state?"""

from __future__ import annotations

from pathlib import Path

from judgekit.core.case import Case
from judgekit.core.protocols import JudgeLike
from judgekit.metrics._options import needed_texts
from judgekit.metrics.grounding.coverage import CoverageMetric, RequiredElements
from judgekit.metrics.shares import TAU
from judgekit.metrics.step import MAX_STATEMENTS, subject
from judgekit.rubric.rubric import Rubric


class FactsCoveredJudge(CoverageMetric):
    """The share of known facts that an answer states, by a judge. Range 0..1, higher is better.

    The facts are those of `expected.facts`, or the claims a judge takes from the first reference
    (rubric `statements`); `details.facts_from` says which. Each fact is looked for by itself
    (rubric `fact_stated`): in any words, but with its numbers, names and conditions. It counts
    if the probability is above `tau`. Facts the answer adds cost nothing. `facts_covered` does
    the same without a judge, by equal or similar sentences. `confidence` is the mean of the
    greater of p and 1 - p.

    Args:
        judge: the judge, called once for the facts, unless given, then once for each.
        name: the name in results.
        tau: probability a fact must be above to count as stated.
        max_facts: how many facts are looked for; the details say how many are left out.
        rubric: what looks for a fact, in place of `fact_stated`.
    """

    noun = "fact"
    key = "facts"
    needs = ("output", "expected.facts or reference")
    confidence = "is the mean of the greater of p and 1 - p"

    def __init__(
        self,
        *,
        judge: JudgeLike,
        name: str = "facts_covered_judge",
        tau: float = TAU,
        max_facts: int = MAX_STATEMENTS,
        rubric: Rubric | str | Path = "fact_stated",
    ) -> None:
        super().__init__(
            name=name, judge=judge, tau=tau, most=max_facts, listing="statements", rubric=rubric
        )

    async def required(self, case: Case) -> RequiredElements:
        """Return the facts: given, or the claims of the reference.

        Raises:
            CaseError: the case has neither.
        """
        if (elements := self.from_case(case)) is not None:
            return elements
        reference = needed_texts(case, "reference")[0]
        source = subject(case, "reference", input=case.input, output=reference)
        return await self.from_judge(source, "reference")
