"""Math: is the expression an output arrives at equal to the reference, by a library's reckoning?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from judgekit.core.case import Case
from judgekit.core.errors import CaseError
from judgekit.core.protocols import Aggregate
from judgekit.core.score import Score
from judgekit.metrics._options import Bounds, needed_text, needed_texts, truth_of
from judgekit.metrics.aggregate import ANSWERED, AnsweredShare
from judgekit.metrics.benchmarks.math_worker import Compared, compare
from judgekit.metrics.computed import ComputedMetric

Undecided = Literal["abstain", "wrong"]
MAX_OUTPUT = 20_000
"""Characters at the end of an output that are read; answers stand at the end."""
MAX_REFERENCE = 2_000
MAX_REFERENCES = 50


class Math(ComputedMetric):
    r"""1 if the output's expression equals a reference symbolically, else 0; higher is better.

    math-verify finds the expression (`\boxed{...}`, LaTeX between dollars, "the answer is", a
    number) and compares it: fractions, decimals to six places, percent, sets, intervals,
    matrices, equations, polynomials, and numbers with units, as that library does.

    Each comparison runs in a process of its own, which ends with it, with limits on time and
    memory. What cannot be decided within them (`9^9^9^9`) is no wrong answer: it abstains, and
    `undecided: wrong` counts it as 0. An output without an expression is wrong, and
    `details.outcome` says `no_answer`; the figure `answered` is the share with one.
    `confidence` is 1 where the library decided: a comparison is certain.
    """

    name: str = "math"
    seconds: Annotated[float, Bounds(0, 600, above=True)] = 5.0
    """Of processor time for a case; by the clock twice as long and two seconds more."""
    strict: bool = True
    """Whether variables must have the same names, and a set is no tuple (the library's)."""
    undecided: Undecided = "abstain"
    """What becomes of a case that takes too long or too much: no value, or 0."""

    figures: ClassVar[Mapping[str, bool]] = {ANSWERED: True}
    needs = ("output", "reference")
    confidence = "is 1 where the library decided: a comparison is certain"

    def aggregates(self) -> list[Aggregate]:
        """Return the share of rows in which an expression was found."""
        return [AnsweredShare()]

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output or the reference is missing, or the reference no expression.
            MissingExtra: math-verify is not installed.
        """
        output = needed_text(case, "output")[-MAX_OUTPUT:]
        references = needed_texts(case, "reference")
        if len(references) > MAX_REFERENCES or max(map(len, references)) > MAX_REFERENCE:
            raise CaseError(
                f"takes at most {MAX_REFERENCES} references of {MAX_REFERENCE:,} characters"
            )
        comparison = await compare(output, references, seconds=self.seconds, strict=self.strict)
        if comparison.ended is None and None in comparison.references:
            at = comparison.references.index(None)
            raise CaseError(f"the reference {references[at][:60]!r} is no expression")
        return self._score(comparison, references)

    def _score(self, comparison: Compared, references: tuple[str, ...]) -> Score:
        at = comparison.matched
        matched = at is not None
        outcome = "matched" if matched else "differs" if comparison.output else "no_answer"
        equal = "is equal" if matched else "is not equal"
        reason = f"The output's expression {comparison.output} {equal} to the reference."
        if comparison.ended and not matched:
            outcome, reason = "undecided", f"Could not be decided: {self._why(comparison.ended)}."
        elif outcome == "no_answer":
            reason = "No expression was found in the output, which counts as wrong."
        abstains = comparison.ended is not None and self.undecided == "abstain"
        return Score(
            status="abstained" if abstains else "scored",
            value=None if abstains else float(matched),
            confidence=None if comparison.ended else 1.0,
            method="symbolic equivalence, math-verify",
            reason=reason,
            ground_truth=truth_of(references),
            details={
                "outcome": outcome,
                "output": comparison.output,
                "references": list(comparison.references),
                "matched": None if at is None else references[at],
            },
            meta={**comparison.versions},
        )

    def _why(self, ended: str) -> str:
        if ended in ("time", *(f"signal {number}" for number in (9, 14, 24, 27))):
            return f"it took longer than {self.seconds:g} s"
        if ended == "memory":
            return "it took too much memory"
        return ended if ended != "signal 11" else "the library crashed"
