"""The typed questions that a decision endpoint is asked for a form.

`DECISION_APIS` answer without text: each question gets a probability for each of its options. The
judge sends what `decisions_of` returns, and `judgekit.core.replies.decisions` reads by it.
"""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from judgekit.core.distribution import Label
from judgekit.core.request import Form, Question

DECISION_APIS = ("decisions", "systemone")
MOST_QUESTIONS = 400
"""Questions in one request (OpenAI's limit)."""
MOST_LEVELS = 10
"""Levels of a score question (OpenAI's limit); more levels are asked as a choice."""
CANNOT_TELL = "cannot tell"


class Decision(NamedTuple):
    """One typed question."""

    name: str
    """Unique in its request: the criterion, with the number of the item of a checklist."""
    criterion: str
    kind: Literal["predicate", "choice", "score"]
    instructions: str
    options: Mapping[str, Label]
    """Option as the endpoint reads it -> the answer; of a score question from low to high."""
    descriptions: Mapping[str, str]
    """Option -> its description; some or all may have none or a blank one."""


def decisions_of(form: Form) -> tuple[Decision, ...]:
    """Return the questions for a form, computed once."""
    known: tuple[Decision, ...] | None = form.__dict__.get("_decisions")
    if known is None:
        parts = map(_decisions, form.questions)
        known = form.__dict__["_decisions"] = tuple(one for part in parts for one in part)
    return known


def count_of(question: Question) -> int:
    """Return how many questions a criterion takes."""
    return len(question.items) if question.kind == "checklist" else 1


def refusal_of(question: Question) -> str | None:
    """Return why a decision endpoint cannot be asked a question; `None` if it can."""
    if question.kind == "score" and not question.labels:
        return "its answer is a free number; give it levels"
    if question.kind == "checklist" and not question.items:
        return "its answer is a free list; give it items"
    return None


def left_out_of(question: Question) -> tuple[str, ...]:
    """Return what the question asks for and an endpoint does not give: quotes and details."""
    quotes = ("quotes",) if question.quotes else ()
    return (*quotes, *(f"detail {detail.name}" for detail in question.details))


def _decisions(question: Question) -> Iterable[Decision]:
    id, text = question.id, question.text
    descriptions = dict(zip(question.labels, question.descriptions, strict=False))
    if question.kind == "checklist":
        for number, item in enumerate(question.items, start=1):
            asked = f"{text}\nIs this item met? {item}"
            yield Decision(f"{id}[{number}]", id, "predicate", asked, _YES_NO, {})
    elif question.kind == "boolean" and not question.nullable:
        yield Decision(id, id, "predicate", text, _YES_NO, {})
    else:
        options: dict[str, Label] = {label: label for label in question.labels} or dict(_YES_NO)
        if question.nullable:
            word = CANNOT_TELL
            while word in options:
                word += "!"
            options[word] = None
        kind: Literal["choice", "score"] = "score" if question.kind == "score" else "choice"
        yield Decision(id, id, kind, text, options, descriptions)


_YES_NO: Mapping[str, Label] = {"yes": True, "no": False}
