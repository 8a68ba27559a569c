"""Generation: does the answer that an output states equal a reference?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from judgekit.core.case import Case
from judgekit.core.errors import CaseError
from judgekit.core.protocols import Aggregate
from judgekit.core.score import Score
from judgekit.metrics._options import Bounds, needed_text, needed_texts, truth_of
from judgekit.metrics.aggregate import ANSWERED, answered_share
from judgekit.metrics.benchmarks.answer import StatedAnswer, find_answer, kind_of
from judgekit.metrics.benchmarks.choice import Choices
from judgekit.metrics.benchmarks.wording import read_number, wording
from judgekit.metrics.computed import ComputedMetric
from judgekit.metrics.tokens import answer_form

CONFIDENCE = {"marked": 0.93, "unmarked": 0.95, "none": 0.74}
"""How the answer was found -> (right + 1) / (texts + 2) on texts for which no rule was written:
tests/data/answers_labelled.jsonl and answers_held_out.jsonl. A test computes it again."""
AnswerKind = Literal["auto", "choice", "number", "text", "yes_no"]
Outcome = Literal["matched", "differs", "no_answer"]


class Generation(ComputedMetric):
    """1 if the output states an accepted answer, else 0. Higher is better.

    Rules extract the answer. A boxed answer, one after `####`, or one after words such as "the
    answer is" has priority; if there are several, the last one counts. Choices are compared by
    letter, numbers by their exact value, yes and no by meaning, and texts as in `exact_match`. A
    reference may be a letter or the text of one of `choices`.

    An output without an answer is wrong: the value is 0 and `details.outcome` is `no_answer`, while
    a wrong answer has `differs`. The figure `answered` is the share of rows with an answer. The
    phrases are English; the rules find boxes, `####`, letters and numbers in any language.
    `confidence` is the accuracy of the rules on labelled held-out texts: .93 for a marked answer,
    .95 for an unmarked one, .74 if they find none.
    """

    name: str = "generation"
    kind: AnswerKind = "auto"
    """Kind of answer. `auto` selects `choice` if the case has `choices`; a number, yes or no, or a
    letter if all references are of that kind; else text."""
    tolerance: Annotated[float, Bounds(0)] = 0.0
    """Maximum absolute difference between two numbers; 0 compares them exactly."""

    figures: ClassVar[Mapping[str, bool]] = {ANSWERED: True}
    synchronous = True
    needs = ("output", "reference", "choices (for questions of multiple choice)")
    confidence = (
        "is the accuracy of the rules on labelled held-out texts: .93 for a marked answer, "
        ".95 for an unmarked one, .74 if they find none"
    )

    def aggregates(self) -> list[Aggregate]:
        """Return the share of rows with an answer."""
        return [answered_share()]

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: the output or the reference is missing, or the reference is not of its kind.
        """
        output = needed_text(case, "output")
        references = needed_texts(case, "reference")
        choices = Choices(case.choices)
        kind = kind_of(references, case.choices) if self.kind == "auto" else self.kind
        accepted = [self._accepted(text, kind, choices) for text in references]
        answer = find_answer(output, kind=kind, choices=choices)
        form = None if answer is None else self._form(answer.text, kind)
        matched = form is not None and any(self._equal(form, text, kind) for text in accepted)
        outcome: Outcome = "matched" if matched else "no_answer" if answer is None else "differs"
        return Score(
            value=float(matched),
            confidence=CONFIDENCE[confidence_key(answer)],
            method=f"answer extraction ({kind}), then exact match",
            reason=_reason(answer, outcome, len(references)),
            ground_truth=truth_of(references),
            details={
                "outcome": outcome,
                "kind": kind,
                "answer": None if answer is None else answer.text[:400],
                "rule": None if answer is None else answer.rule,
                "said": None if answer is None else answer.quote,
                "accepted": [text[:400] for text in accepted],
            },
            meta={"wording": wording().digest},
        )

    def _accepted(self, reference: str, kind: str, choices: Choices) -> str:
        if kind == "choice":
            letter = choices.accepted(reference)
            if letter is None:
                among = f"one of the {len(choices.texts)} choices" if choices.texts else "a letter"
                raise CaseError(f"the reference {reference[:60]!r} is not {among}")
            return letter
        form = self._form(reference, kind)
        if form is None:
            message = f"the reference {reference[:60]!r} is not a {kind.replace('_', ' or ')}"
            raise CaseError(message)
        return form

    def _form(self, text: str, kind: str) -> str | None:
        """Return the normalised form of an answer of a kind; `None` if it is not one."""
        if kind == "number":
            number = read_number(text)
            return None if number is None else str(number)
        if kind == "yes_no":
            return wording().yes_no.get(text.strip().strip(".").casefold())
        return text if kind == "choice" else answer_form(text)

    def _equal(self, form: str, accepted: str, kind: str) -> bool:
        if kind != "number" or not self.tolerance:
            return form == accepted
        one, other = read_number(form), read_number(accepted)
        return one is not None and other is not None and abs(one - other) <= self.tolerance


def confidence_key(answer: StatedAnswer | None) -> str:
    """Return the key of `CONFIDENCE` for an answer."""
    if answer is None:
        return "none"
    return "marked" if answer.rule in ("marked", "boxed", "####", "correction") else "unmarked"


def _reason(answer: StatedAnswer | None, outcome: Outcome, references: int) -> str:
    if answer is None:
        return "No answer was found in the output, which counts as wrong."
    shown = answer.text if len(answer.text) <= 80 else answer.text[:79] + "…"
    ends = "is accepted" if outcome == "matched" else "is not the reference"
    if outcome == "differs" and references > 1:
        ends = f"is none of the {references} references"
    return f'The output answers "{shown}" (rule: {answer.rule}), which {ends}.'
