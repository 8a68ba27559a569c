"""Coverage and relevance, by a judge: of elements and facts, of statements and passages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from judgekit.core.case import Case, has_text
from judgekit.core.comparing import above
from judgekit.core.errors import CaseError
from judgekit.core.protocols import JudgeLike
from judgekit.core.score import Score
from judgekit.core.value import Json
from judgekit.metrics import step
from judgekit.metrics._options import Fraction, Positive, needed_text, needed_texts
from judgekit.metrics.built_in import RubricLike
from judgekit.metrics.shares import (
    TAU,
    UNSURE,
    answer_relevancy,
    completeness_ratio,
    context_precision,
)


def expected_texts(case: Case, key: str) -> list[str] | None:
    """Return the texts of a key of `expected`; `None` if it is missing.

    Raises:
        CaseError: the value is not a text or a list of texts, or a text is blank.
    """
    value = case.expected.get(key)
    if value is None:
        return None
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(
        isinstance(text, str) and has_text(text) for text in texts
    ):
        raise CaseError(f"expected.{key} must be a list of texts, none blank")
    return [str(text) for text in texts]


def probable_text(
    text: str, score: Score, *, tau: float, words: tuple[str, str], source: Case
) -> step.JudgedText:
    """Return a text with the probability that a judge gave; `words` name both verdicts.

    The text meets the criterion, and contributes 1, if its probability is above tau.
    """
    probability = score.value or 0.0
    hit = above(probability, tau)
    answer = words[0] if hit else words[1]
    details: dict[str, Json] = {"probability": probability}
    return step.JudgedText(text, score, float(hit), hit, answer, source, details)


class CoverageMetric(step.Stepped, ABC):
    """The base of completeness and judged facts: the judge checks each element separately.

    Subclasses provide the elements, their noun and their key in `expected`.
    """

    judge: JudgeLike
    name: str
    tau: Fraction = TAU
    noun = "element"
    key = "required"
    """Key of `expected` with the elements."""

    @abstractmethod
    def source(self, case: Case) -> tuple[Case, str]:
        """Return the case from which the judge lists the elements, and the name of the source.

        Raises:
            CaseError: the case has no such text.
        """

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        output = needed_text(case, "output")
        given = expected_texts(case, self.key)
        listing: list[Score] = []
        if given is not None:
            listed, source = step.distinct(given), "given"
        else:
            text, source = self.source(case)
            listing = await step.judge_all(self._list, [text])
            listed = step.items_of(listing[0], met=True)
        elements = listed[: vars(self)[f"max_{self.noun}s"]]
        left_out = len(listed) - len(elements)
        fields = {"history": case.history, "input": case.input, "output": output}
        scores = await self.judge_each(case, [fields | {"reference": (e,)} for e in elements])
        answer = Case(id=case.id, output=output)
        judged = [
            probable_text(e, score, tau=self.tau, words=("covered", "missing"), source=answer)
            for e, score in zip(elements, scores, strict=True)
        ]
        missing = [element.text for element in judged if not element.met]
        covered = len(judged) - len(missing)
        return self._score(
            completeness_ratio(covered, len(judged)),
            reason=self._reason(len(elements), missing, source, left_out),
            scores=[*listing, *scores],
            parts=step.text_parts(self.noun, judged),
            details={
                f"{self.noun}s": len(elements),
                "covered": covered,
                f"{self.noun}s_from": source,
                "tau": self.tau,
                **({f"{self.noun}s_left_out": left_out} if left_out else {}),
            },
            confidence=step.certainty([score.value or 0.0 for score in scores]),
            ground_truth=[*elements],
        )

    def _reason(self, count: int, missing: Sequence[str], source: str, left_out: int) -> str:
        words = "given with the case" if source == "given" else f"taken from the {source}"
        if not count:
            return f"There are no {self.noun}s to check ({words})."
        reason = f"The answer covers {count - len(missing)} of {count} {self.noun}s {words}"
        reason += f"; missing: {step.named(missing)}." if missing else "."
        return reason + (f" Not checked: {left_out} more." if left_out else "")


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
    max_elements: Positive = step.MAX_STATEMENTS
    rubric: RubricLike = "element_covered"
    listing = "required_elements"

    needs = ("output", "expected.required, reference or input")
    confidence = "is the mean of max(p, 1 - p)"

    def source(self, case: Case) -> tuple[Case, str]:
        """Return a case with the first reference, or else with the question.

        Raises:
            CaseError: both are missing.
        """
        reference = next((text for text in case.reference if has_text(text)), None)
        if reference is not None:
            source = step.subject(
                case, "required", history=case.history, input=case.input, output=reference
            )
            return source, "reference"
        question = needed_text(case, "input")
        source = step.subject(case, "required", history=case.history, output=question)
        return source, "question"


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
    max_facts: Positive = step.MAX_STATEMENTS
    rubric: RubricLike = "fact_stated"
    listing = "statements"

    noun = "fact"
    key = "facts"
    needs = ("output", "expected.facts or reference")
    confidence = "is the mean of max(p, 1 - p)"

    def source(self, case: Case) -> tuple[Case, str]:
        """Return a case with the first reference.

        Raises:
            CaseError: it is missing.
        """
        reference = needed_texts(case, "reference")[0]
        source = step.subject(
            case, "reference", history=case.history, input=case.input, output=reference
        )
        return source, "reference"


class AnswerRelevancy(step.Stepped):
    """Share of an answer's statements that address the question. Range 0..1, higher is better.

    First a judge lists the statements, including greetings and offers (rubric `statements`, with
    the same request as `faithfulness`). Then it rates each statement separately: yes, no or unsure,
    depending on whether it addresses the user's message (rubric `statement_relevance`). An unsure
    statement counts as `unsure`. It does not matter whether a statement is true.

    Args:
        judge: the judge, called once for the statements, then once for each of them.
        name: the name in results.
        unsure: value of an unsure statement, 0..1.
        max_statements: maximum number of statements to judge. `details.statements_left_out` counts
            the others.
        rubric: rubric for judging a statement.
    """

    judge: JudgeLike
    name: str = "answer_relevancy"
    unsure: Fraction = UNSURE
    max_statements: Positive = step.MAX_STATEMENTS
    rubric: RubricLike = "statement_relevance"
    listing = "statements"

    needs = ("input", "output")

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        question = needed_text(case, "input")
        needed_text(case, "output")
        (extracted,) = await step.judge_all(self._list, [case])
        items = step.items_of(extracted)
        statements = items[: self.max_statements]
        shared = {"history": case.history, "input": question}
        texts = [{**shared, "output": statement} for statement in statements]
        scores = await self.judge_each(case, texts)
        verdicts = [str(score.parts[0].answer) for score in scores]
        values = {"yes": 1.0, "unsure": self.unsure, "no": 0.0}
        judged = [
            step.JudgedText(statement, score, values[verdict], verdict == "yes", verdict, case)
            for statement, score, verdict in zip(statements, scores, verdicts, strict=True)
        ]
        off_topic = [statement.text for statement in judged if statement.answer == "no"]
        value = answer_relevancy(verdicts, unsure=self.unsure)
        if value is None:
            reason = "The answer states nothing."
        else:
            addressing = verdicts.count("yes")
            reason = f"{addressing} of {len(verdicts)} statements "
            reason += f"{step.agreeing(addressing, 'addresses', 'address')} the question"
            if unsure := verdicts.count("unsure"):
                reason += f", {unsure} may"
            reason += f"; not: {step.named(off_topic)}." if off_topic else "."
        return self._score(
            value,
            reason=reason,
            scores=[extracted, *scores],
            parts=step.text_parts("statement", judged),
            details={
                "statements": len(statements),
                **{word: verdicts.count(word) for word in values},
                **({"statements_left_out": out} if (out := len(items) - len(statements)) else {}),
            },
        )


class ContextPrecision(step.Stepped):
    """How high the relevant passages rank among the retrieved ones. Range 0..1, higher is better.

    For each passage separately, a judge gives the probability that it helps to answer the question
    (rubric `passage_relevance`). The judge also sees the reference, if there is one. A passage is
    relevant if its probability is above `tau`. For each relevant rank, the metric computes the
    share of relevant passages up to this rank; the value is the mean. It rates the retrieval; the
    answer does not matter. `confidence` is the mean of max(p, 1 - p).

    Args:
        judge: the judge, called once for each passage.
        name: the name in results.
        tau: probability that a passage must exceed to count as relevant.
        none_relevant: value if no passage is relevant (0/0); without it, such a case is not
            applicable.
        rubric: rubric for judging a passage.
    """

    judge: JudgeLike
    name: str = "context_precision"
    tau: Fraction = TAU
    none_relevant: Fraction | None = None
    rubric: RubricLike = "passage_relevance"

    needs = ("input", "context")
    confidence = "is the mean of max(p, 1 - p)"

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        question = needed_text(case, "input")
        passages = needed_texts(case, "context")
        reference = tuple(text for text in case.reference if has_text(text))[:1]
        fields = {"history": case.history, "input": question, "reference": reference}
        scores = await self.judge_each(case, [fields | {"output": text} for text in passages])
        judged = [
            probable_text(
                step.beginning(passage),
                score,
                tau=self.tau,
                words=("relevant", "irrelevant"),
                source=Case(id="passage", context=(passage,)),
            )
            for passage, score in zip(passages, scores, strict=True)
        ]
        ranks = [rank for rank, passage in enumerate(judged, start=1) if passage.met]
        value = context_precision([passage.met for passage in judged])
        if value is None:
            value = self.none_relevant
            reason = f"None of {len(passages)} passages is relevant to the question."
        else:
            be = step.agreeing(len(ranks), "is", "are")
            places = ", ".join(map(str, ranks))
            reason = f"Of {len(passages)} passages {len(ranks)} {be} relevant, at rank {places}."
        return self._score(
            value,
            reason=reason,
            scores=scores,
            parts=step.text_parts("passage", judged),
            details={"passages": len(passages), "relevant_ranks": [*ranks], "tau": self.tau},
            confidence=step.certainty([score.value or 0.0 for score in scores]),
        )
