"""Answer relevancy: how much of an answer addresses the question?"""

from __future__ import annotations

from judgekit.core.case import Case
from judgekit.core.protocols import JudgeLike
from judgekit.core.score import Score
from judgekit.metrics import step
from judgekit.metrics._options import Fraction, Positive, needed_text
from judgekit.metrics.built_in import RubricLike
from judgekit.metrics.shares import UNSURE, answer_relevancy


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
        value = answer_relevancy(verdicts, unsure=self.unsure)
        off_topic = [s for s, v in zip(statements, verdicts, strict=True) if v == "no"]
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
            parts=step.text_parts(
                "statement",
                [
                    step.JudgedText(
                        statement, score, values[verdict], verdict == "yes", verdict, case
                    )
                    for statement, score, verdict in zip(statements, scores, verdicts, strict=True)
                ],
            ),
            details={
                "statements": len(statements),
                **{word: verdicts.count(word) for word in values},
                **({"statements_left_out": out} if (out := len(items) - len(statements)) else {}),
            },
        )
