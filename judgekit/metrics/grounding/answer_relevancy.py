"""Answer relevancy: how much of an answer speaks to the question?"""

from __future__ import annotations

from pathlib import Path

from judgekit.core.case import Case
from judgekit.core.protocols import JudgeLike
from judgekit.core.score import Score
from judgekit.core.value import Json
from judgekit.metrics._options import check_fraction, check_positive, needed_text
from judgekit.metrics.shares import UNSURE, answer_relevancy
from judgekit.metrics.step import (
    MAX_STATEMENTS,
    JudgedText,
    Step,
    Stepped,
    agreeing,
    items_of,
    named,
    subject,
    text_parts,
)
from judgekit.rubric.rubric import Rubric


class AnswerRelevancy(Stepped):
    """The share of an answer's statements that address the question. Range 0..1, higher is better.

    A judge first lists the statements (rubric `statements`, the very request `faithfulness`
    makes), greetings and offers among them, then says of each by itself whether it addresses the
    user's message: yes, no, or unsure (rubric `statement_relevance`). An unsure one is worth
    `unsure`. Whether a statement is true does not matter here.

    Args:
        judge: the judge, called once for the statements, then once for each of them.
        name: the name in results.
        unsure: what an unsure statement is worth, 0..1.
        max_statements: how many statements are judged; the details say how many are left out.
        rubric: what judges a statement, in place of `statement_relevance`.
    """

    synchronous = Stepped.synchronous
    needs = ("input", "output")

    def __init__(
        self,
        *,
        judge: JudgeLike,
        name: str = "answer_relevancy",
        unsure: float = UNSURE,
        max_statements: int = MAX_STATEMENTS,
        rubric: Rubric | str | Path = "statement_relevance",
    ) -> None:
        self.unsure = check_fraction(name, "unsure", unsure)
        check_positive(name, "max_statements", max_statements)
        self.max_statements = max_statements
        self._statements = Step("statements", judge=judge, metric=name)
        self._relevance = Step(rubric, judge=judge, metric=name)
        super().__init__(name=name, judge=judge, steps=(self._statements, self._relevance))

    @property
    def options(self) -> dict[str, Json]:
        """Options that affect the requests or the value."""
        return {
            "unsure": self.unsure,
            "max_statements": self.max_statements,
            "rubric": self._relevance.rubric.name,
        }

    async def score(self, case: Case) -> Score:
        """Return the score of one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        question = needed_text(case, "input")
        needed_text(case, "output")
        (extracted,) = await self._statements.ask([case])
        items = items_of(extracted)
        statements = items[: self.max_statements]
        scores = await self._relevance.ask(
            [
                subject(case, str(number), input=question, output=statement)
                for number, statement in enumerate(statements, start=1)
            ]
        )
        verdicts = [str(score.parts[0].answer) for score in scores]
        worth = {"yes": 1.0, "unsure": self.unsure, "no": 0.0}
        value = answer_relevancy(verdicts, unsure=self.unsure)
        beside = [s for s, v in zip(statements, verdicts, strict=True) if v == "no"]
        if value is None:
            reason = "The answer states nothing."
        else:
            addressing = verdicts.count("yes")
            reason = f"{addressing} of {len(verdicts)} statements "
            reason += f"{agreeing(addressing, 'addresses', 'address')} the question"
            if unsure := verdicts.count("unsure"):
                reason += f", {unsure} may"
            reason += f"; beside it: {named(beside)}." if beside else "."
        return self._score(
            value,
            reason=reason,
            scores=[extracted, *scores],
            parts=text_parts(
                "statement",
                [
                    JudgedText(statement, score, worth[verdict], verdict == "yes", verdict, case)
                    for statement, score, verdict in zip(statements, scores, verdicts, strict=True)
                ],
            ),
            details={
                "statements": len(statements),
                **{word: verdicts.count(word) for word in worth},
                **({"statements_left_out": out} if (out := len(items) - len(statements)) else {}),
            },
        )
