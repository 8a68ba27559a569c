"""Relevance, by a judge: of the statements of an answer, and of the passages for it."""

from __future__ import annotations

from judgekit.core.case import Case, has_text
from judgekit.core.protocols import JudgeLike
from judgekit.core.score import Score
from judgekit.metrics import step
from judgekit.metrics._options import Fraction, Positive, needed_text, needed_texts
from judgekit.metrics.built_in import RubricLike
from judgekit.metrics.grounding.coverage import probable_text
from judgekit.metrics.shares import TAU, UNSURE, answer_relevancy, context_precision


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
        texts = [{"input": question, "output": statement} for statement in statements]
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
    confidence = "is the mean of the greater of p and 1 - p"

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        question = needed_text(case, "input")
        passages = needed_texts(case, "context")
        reference = tuple(text for text in case.reference if has_text(text))[:1]
        fields = {"input": question, "reference": reference}
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
