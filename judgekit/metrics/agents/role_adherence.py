"""Role adherence: does the assistant keep to its role in every turn?"""

from __future__ import annotations

from judgekit.core.case import Case, Message, has_text
from judgekit.core.errors import CaseError
from judgekit.core.protocols import JudgeLike
from judgekit.core.score import Score
from judgekit.metrics import step
from judgekit.metrics._options import Positive, needed_text
from judgekit.metrics.built_in import RubricLike
from judgekit.metrics.rubric import DEFAULT_HISTORY
from judgekit.metrics.shares import ratio


class RoleAdherence(step.Stepped):
    """Share of assistant turns that keep to the system prompt's role. Range 0..1, higher is better.

    The judge rates every assistant turn separately, the output last (rubric `role_adherence`). It
    sees the system prompt, the earlier messages and the turn. It decides whether the turn keeps to
    the role: who the assistant is, which topics it may talk about, and how it should behave.

    Args:
        judge: the judge, called once for each assistant turn.
        name: name in results.
        history: maximum number of messages before a turn that the judge sees.
        max_turns: maximum number of turns to judge; the last turns are used.
            `details.turns_left_out` counts the others.
        rubric: rubric for judging a turn.
    """

    judge: JudgeLike
    name: str = "role_adherence"
    history: int = DEFAULT_HISTORY
    max_turns: Positive = step.MAX_STATEMENTS
    rubric: RubricLike = "role_adherence"

    needs = ("system", "output or assistant messages in history")

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            JudgekitError: raised by the judge or the cassette, or the case lacks a field.
        """
        system = needed_text(case, "system")
        messages = conversation(case)
        # The output is a turn even if it is empty; an earlier turn without text is only a call.
        last = len(messages) - 1 if case.output is not None else None
        turns = [
            n
            for n, m in enumerate(messages)
            if m.role == "assistant" and (n == last or has_text(m.content))
        ]
        if not turns:
            raise CaseError("needs an output, or an assistant message in history")
        places = turns[-self.max_turns :]
        first = len(turns) - len(places) + 1
        texts = [messages[place].content for place in places]
        subjects = [
            step.subject(
                case,
                str(number),
                system=system,
                history=tuple(messages[:place]),
                output=text,
                metadata=case.metadata,  # it says what the messages hold beside their texts
            )
            for number, (place, text) in enumerate(zip(places, texts, strict=True), first)
        ]
        scores = await step.judge_all(self._each, subjects)
        in_role = [score.value == 1.0 for score in scores]
        judged = [
            step.JudgedText(
                step.beginning(text),
                score,
                value=float(ok),
                met=ok,
                answer="in the role" if ok else "out of it",
                source=case,
            )
            for text, score, ok in zip(texts, scores, in_role, strict=True)
        ]
        violations = [
            " ".join(text.split()) for text, ok in zip(texts, in_role, strict=True) if not ok
        ]
        count = sum(in_role)
        reason = f"{count} of {len(judged)} assistant turns "
        reason += f"{step.agreeing(count, 'keeps', 'keep')} to the role"
        reason += f"; not {step.named(violations)}." if violations else "."
        return self._score(
            ratio(count, len(judged)),
            reason=reason,
            scores=scores,
            parts=step.text_parts("turn", judged, first=first),
            details={
                "turns": len(turns),
                "kept": count,
                **({"turns_left_out": first - 1} if first > 1 else {}),
            },
        )


def conversation(case: Case) -> list[Message]:
    """Return the whole conversation of a case: history, input, steps, output."""
    messages = list(case.history)
    if case.input is not None and has_text(case.input):
        messages.append(Message(role="user", content=case.input))
    messages += case.steps
    if case.output is not None:
        messages.append(Message(role="assistant", content=case.output))
    return messages
