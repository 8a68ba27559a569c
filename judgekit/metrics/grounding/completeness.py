"""Completeness: how many of the required elements does an answer cover?"""

from __future__ import annotations

from judgekit.core.case import Case, has_text
from judgekit.metrics._options import Positive, needed_text
from judgekit.metrics.built_in import RubricLike
from judgekit.metrics.grounding.coverage import CoverageMetric
from judgekit.metrics.step import MAX_STATEMENTS, subject


class Completeness(CoverageMetric):
    """Share of required elements that an answer covers. Range 0..1, higher is better.

    The elements are `expected.required`. Without them, a judge lists the elements of the first
    reference, or else of the question (rubric `required_elements`); `details.elements_from` names
    the source. The judge then checks each element separately (rubric `element_covered`). An element
    is covered if the probability that the answer gives it is above `tau`. `confidence` is the mean
    of max(p, 1 - p).

    Args:
        judge: the judge, called once for the elements, unless given, then once for each.
        name: the name in results.
        tau: probability that an element must exceed to count as covered.
        max_elements: maximum number of elements to check. `details.elements_left_out` counts the
            others.
        rubric: rubric for checking an element.
    """

    name: str = "completeness"
    max_elements: Positive = MAX_STATEMENTS
    rubric: RubricLike = "element_covered"
    listing = "required_elements"

    needs = ("output", "expected.required, reference or input")
    confidence = "is the mean of the greater of p and 1 - p"

    def source(self, case: Case) -> tuple[Case, str]:
        """Return a case with the first reference, or else with the question.

        Raises:
            CaseError: both are missing.
        """
        reference = next((text for text in case.reference if has_text(text)), None)
        if reference is not None:
            return subject(case, "required", input=case.input, output=reference), "reference"
        return subject(case, "required", output=needed_text(case, "input")), "question"
