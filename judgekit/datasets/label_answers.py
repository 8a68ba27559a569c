"""Answers of people: what a word, a number or a cell means as an answer to a question."""

from __future__ import annotations

import math

from judgekit.core.request import Question
from judgekit.core.suggest import suggest

LabelAnswer = float | bool | str | None
VERDICTS = {"yes": True, "true": True, "pass": True, "passed": True,
            "no": False, "false": False, "fail": False, "failed": False}  # fmt: skip
_UNDECIDED = "null"
"""The word for: the person could not decide."""


def read_answer(value: object, question: Question | None) -> LabelAnswer:
    """Return the answer that a cell or a choice means.

    Args:
        value: a JSON value; a text may be a number or yes or no.
        question: the question; `None` if it is unknown.

    Raises:
        ValueError: it is no answer to the question; the message says which are.
    """
    if isinstance(value, str):
        value = _from_text(" ".join(value.split()), question)
    if question is not None and question.kind == "boolean" and value in (0, 1):
        value = bool(value)
    if not (value is None or isinstance(value, (bool, int, float, str))):
        raise ValueError("an answer must be a word, a number, yes or no")
    if question is not None and (problem := answer_problem(value, question)):
        raise ValueError(problem)
    return value


def _from_text(text: str, question: Question | None) -> LabelAnswer:
    folded = text.casefold()
    if question is not None and question.labels:
        return next((label for label in question.labels if label.casefold() == folded), text)
    if folded == _UNDECIDED:
        return None
    kind = question.kind if question is not None else None
    if kind in (None, "boolean") and folded in VERDICTS:
        return VERDICTS[folded]
    if kind == "boolean":
        return {"1": True, "0": False}.get(folded, text)
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text


def answer_problem(answer: LabelAnswer, question: Question) -> str | None:
    """Return why an answer is none to a question; `None` for one that is, or for no decision."""
    if answer is None:
        return None
    if question.labels:
        known = {label.casefold() for label in question.labels}
        if isinstance(answer, str) and " ".join(answer.split()).casefold() in known:
            return None
        words = list(question.labels)
        hint = suggest(answer, words) if isinstance(answer, str) else f"; known: {', '.join(words)}"
        return f"{answer!r} is no answer to {question.id!r}{hint}"
    if question.kind == "boolean":
        return None if isinstance(answer, bool) else _expected(answer, question, "yes or no")
    low, high = bounds(question)
    if isinstance(answer, (bool, str)) or not low <= answer <= high:
        return _expected(answer, question, f"a number from {low:g} to {high:g}")
    return None


def _expected(answer: LabelAnswer, question: Question, what: str) -> str:
    return f"{answer!r} is no answer to {question.id!r}, which is {what}"


def bounds(question: Question) -> tuple[float, float]:
    """Return the least and the most a number may be; of a checklist, a share of items."""
    checklist = question.kind == "checklist"
    return (0.0, 1.0) if checklist else (question.minimum, question.maximum)
