"""The questions of a run that people answer with labels, and their answers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from judgekit.core.errors import ConfigError
from judgekit.core.request import Question
from judgekit.core.suggest import suggest
from judgekit.report.manifest import dicts_in, rubrics_of
from judgekit.report.report import Report

LabelAnswer = float | bool | str | None
_YES, _NO = ("yes", "true", "pass", "passed"), ("no", "false", "fail", "failed")
_UNDECIDED = "null"
"""The word for: the person could not decide."""
_NOT_ASKED = ("weight", "levels", "reverse", "group")
"""Keys of a criterion in a manifest that are not part of its question."""


def questions_of(manifest: Mapping[str, Any], metric: str) -> dict[str, Question]:
    """Return criterion -> question of a metric; empty for a metric without one rubric."""
    rubrics = [
        rubric
        for rubric in dicts_in(manifest.get("rubrics"))
        if isinstance(rubric.get("metrics"), list) and metric in rubric["metrics"]
    ]
    criteria = dicts_in(rubrics[0].get("criteria")) if len(rubrics) == 1 else []
    return questions_from({str(one.get("id")): one for one in criteria})


def questions_from(criteria: Mapping[str, Any]) -> dict[str, Question]:
    """Return criterion -> question from JSON; what is not a question is left out."""
    questions = {}
    for id, entry in criteria.items():
        if isinstance(entry, dict):
            fields = {name: value for name, value in entry.items() if name not in _NOT_ASKED}
            try:
                questions[id] = Question.model_validate({**fields, "id": id})
            except ValidationError:
                continue
    return questions


def metric_names(report: Report) -> dict[str, str]:
    """Return metric -> itself, and rubric -> the metric that uses it: labels may name either."""
    manifest = report.figures.manifest
    names = {rubric: one for one in report.metrics for rubric, _ in rubrics_of(manifest, one)}
    return names | {one: one for one in report.metrics}


def only_judged(report: Report) -> str | None:
    """Return the only metric with scores of a judge; `None` if there are several or none."""
    judged = [name for name, summary in report.metrics.items() if summary.judged]
    return judged[0] if len(judged) == 1 else None


def chosen_metric(report: Report, metric: str | None) -> str:
    """Return the metric to work on: the named one, or the only one that a judge scores.

    Raises:
        ConfigError: there is no such metric, or a choice among several.
    """
    known = list(report.metrics)
    chosen = metric or only_judged(report) or (known[0] if len(known) == 1 else None)
    if chosen is None:
        raise ConfigError(f"the run has several metrics; name one: --metric {known[0]}"
                          f" (of {', '.join(known)})")  # fmt: skip
    if chosen not in known:
        raise ConfigError(f"--metric {metric}: no such metric in the run{suggest(metric, known)}")
    return chosen


def counted(count: int, noun: str) -> str:
    """Return a number of things.

    >>> counted(1, "label"), counted(1200, "case")
    ('1 label', '1,200 cases')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


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
    if kind in (None, "boolean") and folded in _YES + _NO:
        return folded in _YES
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
