"""A form as a conversation: one prompt at a time, with immediate validation of each answer.

The conversation is a function of the answers so far: `undo` removes the last answer, and saved
answers are replayed in order.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Generator, Sequence
from typing import Any, Literal, NamedTuple

from judgekit.core.canonical import printable
from judgekit.core.errors import InvalidReply
from judgekit.core.json_extraction import extract_object
from judgekit.core.reply_schema import MAX_ITEMS
from judgekit.core.request import Detail, Form, Question

Kind = Literal["reason", "quote", "value", "item", "met", "text", "boolean", "list", "object"]


class Ask(NamedTuple):
    """One prompt."""

    kind: Kind
    question: Question | None = None
    number: int = 0
    """Number of its question, from 1; 0 for details of the whole verdict."""
    detail: Detail | None = None
    item: str | None = None
    """The item of a checklist."""
    nth: int = 0
    """Index in its list."""

    @property
    def may_abstain(self) -> bool:
        """Whether the person may abstain."""
        nullable = self.question is not None and self.question.nullable
        return nullable and self.item is None and self.kind in ("reason", "value")

    @property
    def may_be_empty(self) -> bool:
        """Whether an empty line is a valid answer, which ends a list."""
        return self.kind in ("quote", "item", "list")


class NotAnAnswer(Exception):
    """A line is not a valid answer; the message describes valid answers."""


Conversation = Generator[Ask, Any, dict[str, Any]]


def conversation(form: Form) -> Conversation:
    """Yield the prompts of a form, reasons first; return the answers as an object.

    The caller sends the result of `parse` for each `Ask`.
    """
    if form.json_schema is not None:
        filled: dict[str, Any] = yield Ask("object")
        return filled
    answers: dict[str, Any] = {}
    for number, question in enumerate(form.questions, start=1):
        answers[question.id] = yield from _question(question, number)
    for detail in form.details:
        answers[detail.name] = yield from _detail(Ask("text"), detail)
    return answers


def _question(question: Question, number: int) -> Conversation:
    ask = Ask("reason", question, number)
    checklist = question.kind == "checklist"
    reason = "" if checklist else (yield ask)
    abstains = reason is None
    answer: dict[str, Any] = {} if checklist else {"reason": reason or ""}
    if question.quotes:
        answer["quotes"] = [] if abstains else (yield from _list(ask._replace(kind="quote")))
    if checklist:
        answer["items"] = yield from _checklist(ask, question.items)
    for detail in question.details:
        answer[detail.name] = yield from _detail(ask, detail)
    if not checklist:
        answer["value"] = None if abstains else (yield ask._replace(kind="value"))
    return answer


def _checklist(ask: Ask, texts: Sequence[str]) -> Generator[Ask, Any, list[dict[str, Any]]]:
    items: list[dict[str, Any]] = []
    for nth in range(len(texts) or MAX_ITEMS):
        item = texts[nth] if texts else (yield ask._replace(kind="item", nth=nth))
        if not texts and not item:
            break
        about = ask._replace(item=item, nth=nth)
        reason = yield about
        met = yield about._replace(kind="met")
        items.append({"item": item, "reason": reason, "met": met})
    return items


def _list(ask: Ask) -> Generator[Ask, Any, list[str]]:
    texts: list[str] = []
    for nth in range(MAX_ITEMS):
        text = yield ask._replace(nth=nth)
        if not text:
            break
        texts.append(text)
    return texts


def _detail(ask: Ask, detail: Detail) -> Generator[Ask, Any, Any]:
    ask = ask._replace(kind=detail.kind, detail=detail)
    return (yield from _list(ask)) if detail.kind == "list" else (yield ask)


def next_prompt(form: Form, answers: Sequence[Any]) -> Ask | dict[str, Any]:
    """Return the prompt after some answers, or the complete answers."""
    talk = conversation(form)
    try:
        ask = next(talk)
        for answer in answers:
            ask = talk.send(answer)
    except StopIteration as done:
        return dict(done.value)
    return ask


# -- lines to answers ------------------------------------------------------------

_YES_OR_NO = "yes or no (y or n)"
_YES_NO_WORDS = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)\Z", re.ASCII)


def parse(line: str, ask: Ask, *, in_material: Callable[[str], bool]) -> Any:
    """Parse a line as an answer.

    Args:
        line: the typed text, without control characters.
        ask: the prompt.
        in_material: returns whether words occur in the case.

    Raises:
        NotAnAnswer: it is invalid.
    """
    text = line.strip()
    if not text and ask.may_be_empty:
        return text
    if ask.kind == "quote" and not in_material(text):
        raise NotAnAnswer(
            "these words do not stand in the material like that; type them as they do (Enter ends)"
        )
    answer: Any = text or None
    if text and ask.kind == "object":
        answer = _object(text)
    elif ask.kind in ("met", "boolean"):
        answer = _YES_NO_WORDS.get(text.casefold())
    elif text and ask.kind == "value" and ask.question is not None:
        answer = _value(text, ask.question)
    if answer is None:
        raise NotAnAnswer(_valid_answers(ask))
    return answer


def accepts(answer: Any, ask: Ask, *, in_material: Callable[[str], bool]) -> bool:
    """Return whether a saved answer could have been typed."""
    if answer is None:
        return ask.may_abstain
    number = isinstance(answer, (int, float)) and not isinstance(answer, bool)
    if isinstance(answer, bool):
        line = "yes" if answer else "no"
    elif number:
        line = format(answer, "f") if math.isfinite(answer) else ""
    elif isinstance(answer, str) and printable(answer) == answer and "\n" not in answer:
        line = answer
    else:
        return ask.kind == "object" and isinstance(answer, dict)
    try:
        typed = parse(line, ask, in_material=in_material)
    except NotAnAnswer:
        return False
    return ask.kind == "value" if number else bool(typed == answer)


def _valid_answers(ask: Ask) -> str:
    question = ask.question
    if ask.kind == "reason":
        return "a reason comes before the answer; a few words will do"
    if ask.kind in ("met", "boolean"):
        return _YES_OR_NO
    if ask.kind != "value" or question is None:
        return "a few words will do"
    if question.labels:
        return f"one of {', '.join(question.labels)}"
    if question.kind == "boolean":
        return _YES_OR_NO
    low, high = question.minimum, question.maximum
    return f"a number from {low:g} to {high:g}, such as {low + 0.75 * (high - low):g}"


def _value(text: str, question: Question) -> Any:
    """Return the value of an answer; `None` if it is invalid."""
    if question.labels:
        return _label(text, question.labels)
    if question.kind == "boolean":
        return _YES_NO_WORDS.get(text.casefold())
    value = float(text) if _NUMBER.match(text) and len(text) <= 30 else math.nan
    return value if question.minimum <= value <= question.maximum else None


def numbered(labels: Sequence[str]) -> bool:
    """Return whether labels can be selected by number; false if a label is a number."""
    return not any(_NUMBER.match(label) for label in labels)


def _label(text: str, labels: Sequence[str]) -> str | None:
    if text in labels:
        return text
    if numbered(labels) and text.isascii() and text.isdigit() and len(text) < 4:
        place = int(text)
        if 1 <= place <= len(labels):
            return labels[place - 1]
    near = [label for label in labels if label.casefold() == text.casefold()]
    near = near or [label for label in labels if label.casefold().startswith(text.casefold())]
    return near[0] if len(near) == 1 else None


def _object(text: str) -> dict[str, Any]:
    try:
        value, _ = extract_object(text)
    except InvalidReply as exc:
        raise NotAnAnswer(f"one JSON object on one line; this is not one: {exc}") from exc
    return value
