"""The questions for a new project and a new rubric.

An interview is a generator: it yields questions and receives answers that passed their checks. To
take back an answer, start a new generator and send all answers except the last.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple, TypeVar

from judgekit.authoring.scaffold import draft
from judgekit.authoring.scaffold.draft import KINDS, CriterionDraft, RubricDraft
from judgekit.authoring.scaffold.project import ProjectPlan
from judgekit.core.example_model import EXAMPLE_MODEL, LOCAL_MODEL

T = TypeVar("T")


class InterviewPrompt(NamedTuple):
    """One question."""

    text: str
    default: str | None = None
    """The value of an empty answer; `None` if an answer is required."""
    fault: Callable[[str], str | None] = lambda answer: None
    """Returns the problem of an answer and what a valid one looks like, if there is one."""
    choices: tuple[tuple[str, str], ...] = ()
    """Choices and their meanings; a number or the first letters select one."""


WHO = (
    ("hosted", "a hosted model, with a key"),
    ("server", "a model on your own server: Ollama, vLLM, llama.cpp, LM Studio"),
    ("person", "a person"),
    ("none", "no judge: computed metrics only"),
)
_ANSWERED = (
    ("levels", "a word from best to worst"),
    ("boolean", "yes or no"),
    ("number", "a number from 0 to 1"),
    ("choice", "one of several words, with values that you choose"),
    ("checklist", "items that are met or not"),
)


def project_interview(name: str) -> Generator[InterviewPrompt, str, ProjectPlan]:
    """Ask for the settings of a project."""
    name = yield InterviewPrompt("Name of the project", default=name)
    who = yield InterviewPrompt("Judge", default="hosted", choices=WHO)
    if who == "none":
        return ProjectPlan(name, judge="none")
    if who == "person":
        person = yield InterviewPrompt("Name of the person", default="me", fault=draft.name_fault)
        return ProjectPlan(name, judge=f"manual/{person}")
    if who == "hosted":
        model = yield InterviewPrompt(
            "Model, as PROVIDER/NAME", default=EXAMPLE_MODEL, fault=_model_fault
        )
        return ProjectPlan(name, judge=model)
    base = yield InterviewPrompt(
        "Address of the server", default="http://localhost:8000/v1", fault=_address_fault
    )
    model = yield InterviewPrompt(
        "Model, as openai/NAME (or ollama_chat/NAME for Ollama)",
        default="openai/my-model",
        fault=_model_fault,
    )
    return ProjectPlan(name, judge=model, api_base=base)


def rubric_interview(
    name: str, *, name_fault: Callable[[str], str | None]
) -> Generator[InterviewPrompt, str, RubricDraft]:
    """Ask for the content of a rubric."""
    name = yield InterviewPrompt("Name of the rubric", default=name or None, fault=name_fault)
    description = yield InterviewPrompt("What it judges, in one sentence")
    fields = f"Fields that a case needs besides the answer ({', '.join(draft.NEEDS)}; - for none)"
    needed = yield from _read(fields, draft.needs_of, default="input")
    criteria: list[CriterionDraft] = []
    while True:
        text = yield InterviewPrompt(
            f"Criterion {len(criteria) + 1}, as a question about the answer"
            + (" (Enter to finish)" if criteria else ""),
            default="" if criteria else None,
        )
        if not text:
            break
        criteria.append((yield from _criterion(text, [c.id for c in criteria])))
    if len(criteria) > 1:
        names = ", ".join(c.id for c in criteria)
        weights = yield from _read(
            f"Weights of {names} (numbers; Enter for equal weights)",
            lambda answer: _weights(answer, len(criteria)),
            default="",
        )
        criteria = [c._replace(weight=w) for c, w in zip(criteria, weights, strict=True)]
    quotes = yield InterviewPrompt(
        "Quotes of evidence required", default="no", choices=(("yes", ""), ("no", ""))
    )
    return RubricDraft(name, description, tuple(criteria), needed, quotes=quotes == "yes")


def _criterion(text: str, used: list[str]) -> Generator[InterviewPrompt, str, CriterionDraft]:
    def fault(answer: str) -> str | None:
        if answer in used:
            return f"{answer!r} is used already; choose another"
        return draft.name_fault(answer)

    id = yield InterviewPrompt("  name in reports", default=draft.id_of(text, used), fault=fault)
    answer = yield InterviewPrompt("  kind of answer", default="levels", choices=_ANSWERED)
    criterion = CriterionDraft(id, text, next(kind for kind in KINDS if kind == answer))
    if answer == "levels":
        default = ", ".join(word for word, _ in draft.DEFAULT_LEVELS)
        levels = yield from _read("  levels, best first", _levels, default=default)
        return criterion._replace(words=levels)
    if answer == "choice":
        words = "  words and their values from 0 to 1, such as good=1, bad=0, unclear=-"
        return criterion._replace(words=(yield from _read(words, _options)))
    if answer == "checklist":
        items = "  items, separated by ; (Enter: the judge finds them in the case)"
        return criterion._replace(items=(yield from _read(items, _items, default="")))
    return criterion


# -- reading answers ---------------------------------------------------------------


def _read(
    text: str, read: Callable[[str], T], *, default: str | None = None
) -> Generator[InterviewPrompt, str, T]:
    """Ask for an answer that a function can read, and return what it reads."""

    def fault(answer: str) -> str | None:
        try:
            read(answer)
        except ValueError as exc:
            return str(exc)
        return None

    answer = yield InterviewPrompt(text, default=default, fault=fault)
    return read(answer)


def _model_fault(answer: str) -> str | None:
    if re.fullmatch(r"[^/\s]+/\S+", answer):
        return None
    return f"a model is PROVIDER/NAME, such as {EXAMPLE_MODEL} or {LOCAL_MODEL}"


def _address_fault(answer: str) -> str | None:
    if re.fullmatch(r"https?://\S+", answer):
        return None
    return "an address begins with http:// or https://, such as http://localhost:8000/v1"


def _check_words(words: Sequence[str], *, most: int, noun: str = "words") -> None:
    if len(words) > most:
        raise ValueError(f"{len(words)} {noun}; the limit is {most}")
    for word in words:
        if words.count(word) > 1:
            raise ValueError(f"{word!r} appears twice")


def _levels(answer: str) -> tuple[tuple[str, float], ...]:
    words = draft.parts_of(answer)
    if len(words) < 2:
        raise ValueError("give at least two words, separated by commas: fully, partly, not at all")
    _check_words(words, most=50)
    return tuple((w, round(1 - n / (len(words) - 1), 3)) for n, w in enumerate(words))


def _options(answer: str) -> tuple[tuple[str, float | None], ...]:
    options = tuple(map(_option, draft.parts_of(answer)))
    if len(options) < 2:
        raise ValueError("give at least two words: good=1, bad=0")
    if all(value is None for _, value in options):
        raise ValueError("give at least one word a number")
    _check_words([word for word, _ in options], most=50)
    return options


def _option(part: str) -> tuple[str, float | None]:
    word, equals, number = map(str.strip, part.rpartition("="))
    try:
        value = None if number == "-" else float(number)
    except ValueError:
        value = -1
    if not equals or not word or (value is not None and not 0 <= value <= 1):
        raise ValueError(
            "write each as WORD=NUMBER from 0 to 1, or WORD=- : good=1, bad=0, unclear=-"
        )
    return word, value


def _items(answer: str) -> tuple[str, ...]:
    items = draft.parts_of(answer, ";")
    _check_words(items, most=200, noun="items")
    return items


def _weights(answer: str, count: int) -> list[float]:
    try:
        weights = [float(part) for part in answer.replace(",", " ").split()] or [1.0] * count
    except ValueError:
        weights = []
    # The text in the file must be exact, and no weight may be negligible beside the others.
    if len(weights) != count or not all(0.001 <= weight <= 1000 for weight in weights):
        raise ValueError(
            f"give {count} numbers from 0.001 to 1000, such as {' '.join('321'[:count])}"
        )
    return weights
