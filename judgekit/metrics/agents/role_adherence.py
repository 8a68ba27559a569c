"""Role adherence: does an assistant keep to its role in every turn?"""

from __future__ import annotations

from pathlib import Path

from judgekit.core.case import Case, Message, has_text
from judgekit.core.errors import CaseError
from judgekit.core.protocols import JudgeLike
from judgekit.core.score import Score
from judgekit.core.value import Json
from judgekit.metrics._options import check_positive, needed_text
from judgekit.metrics.rubric import DEFAULT_HISTORY
from judgekit.metrics.shares import ratio
from judgekit.metrics.step import (
    MAX_STATEMENTS,
    Step,
    Stepped,
    agreeing,
    beginning,
    named,
    subject,
    text_part,
)
from judgekit.rubric.rubric import Rubric


class RoleAdherence(Stepped):
    """The share of assistant turns that keep to the role of the system prompt. 0..1, higher better.

    Every assistant turn of the conversation is judged by itself, the output last: the judge sees
    the system prompt, what was said before the turn, and the turn (rubric `role_adherence`), and
    says whether it keeps to the role: who it is, what it may talk about, and how.

    Args:
        judge: who answers; asked once for each assistant turn.
        name: the name results carry.
        history: how many messages before a turn the judge may see.
        max_turns: how many turns are judged, the last ones; what is left out is said in details.
        rubric: what judges a turn, in place of `role_adherence`.
    """

    synchronous = Stepped.synchronous
    needs = ("system", "output or assistant messages in history")

    def __init__(
        self,
        *,
        judge: JudgeLike,
        name: str = "role_adherence",
        history: int = DEFAULT_HISTORY,
        max_turns: int = MAX_STATEMENTS,
        rubric: Rubric | str | Path = "role_adherence",
    ) -> None:
        check_positive(name, "max_turns", max_turns)
        self.max_turns = max_turns
        self.history = history
        self._role = Step(rubric, judge=judge, metric=name, history=history)
        super().__init__(name=name, judge=judge, steps=(self._role,))

    @property
    def options(self) -> dict[str, Json]:
        """The options that decide what is asked and how it counts."""
        return {
            "history": self.history,
            "max_turns": self.max_turns,
            "rubric": self._role.rubric.name,
        }

    async def score(self, case: Case) -> Score:
        """Return the score of one case.

        Raises:
            JudgekitError: what the judge, the cassette or the case made impossible.
        """
        system = needed_text(case, "system")
        talk = conversation(case)
        turns = [n for n, m in enumerate(talk) if m.role == "assistant" and has_text(m.content)]
        if not turns:
            raise CaseError("needs an output, or an assistant message in history")
        judged = turns[-self.max_turns :]
        scores = await self._role.ask(
            [
                subject(
                    case,
                    str(turns.index(place) + 1),
                    system=system,
                    history=tuple(talk[:place]),
                    output=talk[place].content,
                )
                for place in judged
            ]
        )
        kept = [score.value == 1.0 for score in scores]
        said = [talk[place].content for place in judged]
        value = ratio(sum(kept), len(kept))
        left = [text for text, ok in zip(said, kept, strict=True) if not ok]
        reason = f"{sum(kept)} of {len(kept)} assistant turns "
        reason += f"{agreeing(sum(kept), 'keeps', 'keep')} to the role"
        reason += f"; not {named([' '.join(text.split()) for text in left])}." if left else "."
        return self._score(
            value,
            reason=reason,
            scores=scores,
            parts=[
                text_part(
                    f"turn {turns.index(place) + 1}",
                    beginning(talk[place].content),
                    score,
                    value=float(ok),
                    met=ok,
                    answer="in the role" if ok else "out of it",
                    of=len(judged),
                    whole=case,
                )
                for place, score, ok in zip(judged, scores, kept, strict=True)
            ],
            details={
                "turns": len(turns),
                "kept": sum(kept),
                **({"turns_left_out": out} if (out := len(turns) - len(judged)) else {}),
            },
        )


def conversation(case: Case) -> list[Message]:
    """Return the whole conversation of a case: history, input, output."""
    talk = list(case.history)
    if case.input is not None and has_text(case.input):
        talk.append(Message(role="user", content=case.input))
    if case.output is not None and has_text(case.output):
        talk.append(Message(role="assistant", content=case.output))
    return talk
