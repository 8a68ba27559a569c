"""Coverage: which of the things that should be in an answer are in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from judgekit.core.case import Case, has_text
from judgekit.core.errors import CaseError
from judgekit.core.protocols import JudgeLike
from judgekit.core.score import Score
from judgekit.core.value import Json
from judgekit.metrics._options import check_fraction, check_positive, needed_text
from judgekit.metrics.shares import completeness_ratio
from judgekit.metrics.step import (
    JudgedText,
    Step,
    Stepped,
    certainty,
    distinct,
    items_of,
    named,
    subject,
    text_parts,
)
from judgekit.rubric.rubric import Rubric


class RequiredElements(NamedTuple):
    """What an answer should hold, and who says so."""

    elements: list[str]
    source: str
    """`given`, `reference` or `question`."""
    scores: tuple[Score, ...] = ()


class CoverageMetric(Stepped, ABC):
    """What completeness and the judged facts covered share: each element is looked for by itself.

    Subclasses say what is wanted, and what one of them is called.
    """

    synchronous = Stepped.synchronous
    noun = "element"
    key = "required"
    """Where in `expected` the elements are given."""

    def __init__(
        self,
        *,
        name: str,
        judge: JudgeLike,
        tau: float,
        most: int,
        listing: str,
        rubric: Rubric | str | Path,
    ) -> None:
        self.tau = check_fraction(name, "tau", tau)
        check_positive(name, f"max_{self.noun}s", most)
        self._most = most
        self._listing = Step(listing, judge=judge, metric=name)
        self._cover = Step(rubric, judge=judge, metric=name)
        super().__init__(name=name, judge=judge, steps=(self._listing, self._cover))

    @property
    def options(self) -> dict[str, Json]:
        """Options that affect the requests or the value."""
        return {
            "tau": self.tau,
            f"max_{self.noun}s": self._most,
            "rubric": self._cover.rubric.name,
        }

    @abstractmethod
    async def required(self, case: Case) -> RequiredElements:
        """Return what the answer should hold.

        Raises:
            CaseError: the case does not say, and has nothing to take it from.
        """

    def from_case(self, case: Case) -> RequiredElements | None:
        """Return the elements that `expected` names; `None` where it names none.

        Raises:
            CaseError: they are not a list of texts.
        """
        value = case.expected.get(self.key)
        if value is None:
            return None
        elements = [value] if isinstance(value, str) else value
        if not isinstance(elements, list) or not all(
            isinstance(element, str) and has_text(element) for element in elements
        ):
            raise CaseError(f"expected.{self.key} must be a list of texts, none blank")
        return RequiredElements(distinct(str(element) for element in elements), "given")

    async def from_judge(self, case: Case, source: str) -> RequiredElements:
        """Return what the judge lists, those items that count."""
        (score,) = await self._listing.ask([case])
        return RequiredElements(items_of(score, met=True), source, (score,))

    async def score(self, case: Case) -> Score:
        """Return the score of one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        output = needed_text(case, "output")
        required = await self.required(case)
        elements = required.elements[: self._most]
        scores = await self._cover.ask(
            [
                subject(case, str(n), input=case.input, output=output, reference=(element,))
                for n, element in enumerate(elements, start=1)
            ]
        )
        probabilities = [score.value or 0.0 for score in scores]
        covered = [probability > self.tau for probability in probabilities]
        value = completeness_ratio(sum(covered), len(covered))
        missing = [e for e, hit in zip(elements, covered, strict=True) if not hit]
        source = Case(id=case.id, output=output)
        judged = [
            JudgedText(
                element,
                score,
                value=float(hit),
                met=hit,
                answer="covered" if hit else "missing",
                source=source,
                details={"probability": probability},
            )
            for element, score, hit, probability in zip(
                elements, scores, covered, probabilities, strict=True
            )
        ]
        out = len(required.elements) - len(elements)
        return self._score(
            value,
            reason=self._reason(len(elements), missing, required.source, out),
            scores=[*required.scores, *scores],
            parts=text_parts(self.noun, judged),
            details={
                f"{self.noun}s": len(elements),
                "covered": sum(covered),
                f"{self.noun}s_from": required.source,
                "tau": self.tau,
                **({f"{self.noun}s_left_out": out} if out else {}),
            },
            confidence=certainty(probabilities),
            ground_truth=[*elements],
        )

    def _reason(self, count: int, missing: Sequence[str], source: str, out: int) -> str:
        words = {
            "given": "given with the case",
            "reference": "taken from the reference",
            "question": "taken from the question",
        }[source]
        if not count:
            return f"There is no {self.noun} to look for ({words})."
        reason = f"The answer covers {count - len(missing)} of {count} {self.noun}s {words}"
        reason += f"; missing: {named(missing)}." if missing else "."
        return reason + (f" Not looked for: {out} more." if out else "")
