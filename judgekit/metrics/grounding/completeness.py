"""Completeness: how much of what an answer must hold does it hold?"""

from __future__ import annotations

from pathlib import Path

from judgekit.core.case import Case, has_text
from judgekit.core.protocols import JudgeLike
from judgekit.metrics._options import needed_text
from judgekit.metrics.grounding.coverage import CoverageMetric, RequiredElements
from judgekit.metrics.shares import TAU
from judgekit.metrics.step import MAX_STATEMENTS, subject
from judgekit.rubric.rubric import Rubric


class Completeness(CoverageMetric):
    """The share of required elements that an answer covers. Range 0..1, higher is better.

    The elements are those of `expected.required`. Where the case names none, a judge lists them
    (rubric `required_elements`) from the first reference, or, without one, from the question;
    `details.elements_from` says which. Each element is then looked for by itself (rubric
    `element_covered`), and is covered if the probability that the answer gives it is above `tau`.
    `confidence` is the mean of the greater of p and 1 - p.

    Args:
        judge: the judge, called once for the elements, unless given, then once for each.
        name: the name in results.
        tau: probability an element must be above to count as covered.
        max_elements: how many elements are looked for; the details say how many are left out.
        rubric: what looks for an element, in place of `element_covered`.
    """

    needs = ("output", "expected.required, reference or input")
    confidence = "is the mean of the greater of p and 1 - p"

    def __init__(
        self,
        *,
        judge: JudgeLike,
        name: str = "completeness",
        tau: float = TAU,
        max_elements: int = MAX_STATEMENTS,
        rubric: Rubric | str | Path = "element_covered",
    ) -> None:
        super().__init__(
            name=name,
            judge=judge,
            tau=tau,
            most=max_elements,
            listing="required_elements",
            rubric=rubric,
        )

    async def required(self, case: Case) -> RequiredElements:
        """Return the required elements: given, or listed by the judge.

        Raises:
            CaseError: there is nothing to take them from.
        """
        if (elements := self.from_case(case)) is not None:
            return elements
        reference = next((text for text in case.reference if has_text(text)), None)
        if reference is not None:
            source = subject(case, "required", input=case.input, output=reference)
            return await self.from_judge(source, "reference")
        question = needed_text(case, "input")
        return await self.from_judge(subject(case, "required", output=question), "question")
