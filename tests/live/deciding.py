"""Both protocols of decision endpoints: requests are checked strictly, and answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .server import Fault, error

Answers = Callable[[str, list[str]], list[float]]
"""Question and options -> their probabilities; of a yes/no, only that of a yes."""


def even(name: str, options: list[str]) -> list[float]:
    return [0.75] if not options else [1 / len(options)] * len(options)


def decide(body: dict[str, Any], answers: Answers = even) -> dict[str, Any]:
    """Return a response to a request of either protocol.

    Raises:
        ValueError: what is wrong with the request.
    """
    if set(body) == {"model", "input", "questions"}:
        return _openai(body, answers)
    if set(body) == {"model", "state", "questions"}:
        return _systemone(body, answers)
    raise ValueError(f"fields {sorted(body)}")


def rule(
    answers: Answers = even, change: Callable[[dict[str, Any]], Any] | None = None
) -> Callable[[dict[str, Any]], Fault | None]:
    """Return what makes a `Server` a decision endpoint.

    Args:
        answers: the probabilities.
        change: changes a response before it is sent.
    """

    def ruled(body: dict[str, Any]) -> Fault | None:
        try:
            response = decide(body, answers)
        except (ValueError, KeyError, TypeError, AttributeError) as exc:
            return error(400, f"the request is invalid: {type(exc).__name__} {exc}")
        if change is not None:
            response = change(response) or response
        return response if isinstance(response, Fault) else Fault(body=response)

    return ruled


def _openai(body: dict[str, Any], answers: Answers) -> dict[str, Any]:
    _texts(body["model"], body["input"])
    questions = body["questions"]
    _check(isinstance(questions, list) and 1 <= len(questions) <= 400, "questions")
    names = [question["name"] for question in questions]
    _check(len(set(names)) == len(names), "names")
    given = [_openai_answer(question, answers) for question in questions]
    tokens = {"input_tokens": 40, "output_tokens": 3, "total_tokens": 43}
    return {"model": "gpt-6-luna-2026", "answers": given, "usage": tokens}


def _openai_answer(question: dict[str, Any], answers: Answers) -> dict[str, Any]:
    kind, name = question["type"], question["name"]
    _texts(name, question["instructions"])
    head = {"type": kind, "name": name}
    if kind == "predicate":
        _check(set(question) == {"type", "name", "instructions"}, "predicate")
        return {**head, "probability": answers(name, [])[0]}
    field, key = {"choice": ("choices", "value"), "score": ("levels", "label")}[kind]
    _check(set(question) == {"type", "name", "instructions", field}, kind)
    entries = question[field]
    _check(2 <= len(entries) <= (10 if kind == "score" else 255), field)
    for entry in entries:
        _check({key} <= set(entry) <= {key, "description"}, field)
        _texts(*entry.values())
    options = [entry[key] for entry in entries]
    _check(len(set(options)) == len(options), "options")
    values = answers(name, options)
    head["confidence"] = 0.5
    if kind == "choice":
        pairs = [{"value": o, "probability": p} for o, p in zip(options, values, strict=True)]
        return {**head, "choice": options[values.index(max(values))], "probabilities": pairs}
    levels = [
        {"value": n, "label": o, "probability": p}
        for n, (o, p) in enumerate(zip(options, values, strict=True))
    ]
    return {**head, "score": sum(n * p for n, p in enumerate(values)), "probabilities": levels}


def _systemone(body: dict[str, Any], answers: Answers) -> dict[str, Any]:
    _texts(body["model"], body["state"])
    questions = body["questions"]
    _check(isinstance(questions, dict) and len(questions) > 0, "questions")
    given = {name: _systemone_answer(name, q, answers) for name, q in questions.items()}
    usage = {"input_tokens": 40, "output_tokens": 0}
    return {"model": "laya-1", "answers": given, "usage": usage}


def _systemone_answer(name: str, question: dict[str, Any], answers: Answers) -> dict[str, Any]:
    _check(set(question) == {"type", "instructions", "criteria"}, "question")
    _texts(question["instructions"])
    criteria = question["criteria"]
    if question["type"] == "noul":
        _check(set(criteria) == {"true", "false"}, "noul")
        return {"type": "noul", "noul": answers(name, [])[0]}
    if question["type"] == "choice":
        _check(len(criteria) >= 2, "choice")
        _texts(*criteria, *(text for text in criteria.values() if text is not None))
        values = answers(name, list(criteria))
        pairs = dict(zip(criteria, values, strict=True))
        best = max(pairs, key=lambda option: pairs[option])
        return {"type": "choice", "choice": best, "confidence": 0.5, "probabilities": pairs}
    _check(question["type"] == "score" and isinstance(criteria, list), "type")
    _check(2 <= len(criteria) <= 10 and len(set(criteria)) == len(criteria), "levels")
    _texts(*criteria)
    values = answers(name, [text.partition(":")[0] for text in criteria])
    return {
        "type": "score",
        "score": sum(n * p for n, p in enumerate(values)),
        "confidence": 0.5,
        "legend": {str(n): text for n, text in enumerate(criteria)},
        "probabilities": {str(n): p for n, p in enumerate(values)},
    }


def _texts(*values: Any) -> None:
    _check(all(isinstance(value, str) and value for value in values), f"texts {values!r}")


def _check(valid: bool, what: str) -> None:
    if not valid:
        raise ValueError(what)
