"""The typed questions that a form becomes for a decision endpoint.

`DECISION_APIS` return probabilities instead of text, one for each option of each question. The
judge sends the result of `decisions_of`; `judgekit.core.replies.decisions` reads the reply.
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
    """Unique in its request: the criterion, plus the item number for a checklist."""
    criterion: str
    kind: Literal["predicate", "choice", "score"]
    instructions: str
    options: Mapping[str, Label]
    """Option as sent to the endpoint -> answer; for a score question, from low to high."""
    descriptions: Mapping[str, str]
    """Option -> description; a description may be missing or blank."""


def decisions_of(form: Form) -> tuple[Decision, ...]:
    """Return the questions for a form, computed once."""
    known: tuple[Decision, ...] | None = form.__dict__.get("_decisions")
    if known is None:
        parts = map(_decisions, form.questions)
        known = form.__dict__["_decisions"] = tuple(one for part in parts for one in part)
    return known


def count_of(question: Question) -> int:
    """Return the number of typed questions for a criterion."""
    return len(question.items) if question.kind == "checklist" else 1


def refusal_of(question: Question) -> str | None:
    """Return why a decision endpoint cannot answer a question; `None` if it can."""
    if question.kind == "score" and not question.labels:
        return "its answer is a free number; give it levels"
    if question.kind == "checklist" and not question.items:
        return "its answer is a free list; give it items"
    return None


def left_out_of(question: Question) -> tuple[str, ...]:
    """Return the parts of a question that endpoints do not support: quotes and details."""
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
