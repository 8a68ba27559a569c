"""The questions for a new project and a new rubric.

An interview is a generator that yields questions and receives valid answers. To undo an answer,
start a new generator and send all answers except the last.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from judgekit.authoring.scaffold import draft
from judgekit.authoring.scaffold.draft import KINDS, CriterionDraft, RubricDraft
from judgekit.authoring.scaffold.project import ProjectPlan
from judgekit.core.example_model import EXAMPLE_MODEL, LOCAL_MODEL
from judgekit.core.yaml_file import package_data
from judgekit.judges.kinds import MANUAL

T = TypeVar("T")
Fault = Callable[[str], str | None]
"""Returns the problem of an answer with an example of a valid one; `None` if it is valid."""

_FILE = Path(__file__).with_name("interview.yaml")


class InterviewPrompt(NamedTuple):
    """One question."""

    text: str
    default: str | None = None
    """The value of an empty answer; `None` if an answer is required."""
    fault: Fault = lambda answer: None
    choices: tuple[tuple[str, str], ...] = ()
    """Choices and their meanings; a number or the first letters select one."""


def project_interview(
    name: str, *, criteria: Literal["rubric", "case"] | None = None
) -> Generator[InterviewPrompt, str, ProjectPlan]:
    """Ask for the settings of a project, except for where its criteria are if that is given."""
    name = yield prompt("project", default=name)
    plan = yield from judge_interview(name)
    where: str = criteria or "rubric"
    if plan.judge != "none" and criteria is None:
        where = yield prompt("criteria")
    return plan._replace(criteria="case" if where == "case" else "rubric")


def judge_interview(name: str) -> Generator[InterviewPrompt, str, ProjectPlan]:
    """Ask for the judge."""
    who = yield prompt("judge")
    if who == "none":
        return ProjectPlan(name, judge="none")
    if who == "person":
        person = yield prompt("person", fault=draft.name_fault)
        return ProjectPlan(name, judge=f"{MANUAL.prefix}{person}")
    if who == "hosted":
        model = yield prompt("hosted_model", default=EXAMPLE_MODEL, fault=_model_fault)
        return ProjectPlan(name, judge=model)
    base = yield prompt("address", fault=_address_fault)
    model = yield prompt("server_model", fault=_model_fault)
    return ProjectPlan(name, judge=model, api_base=base)


def rubric_interview(
    name: str, *, name_fault: Fault
) -> Generator[InterviewPrompt, str, RubricDraft]:
    """Ask for the content of a rubric."""
    name = yield prompt("rubric", default=name or None, fault=name_fault)
    description = yield prompt("description")
    needed = yield from _read("requires", draft.needs_of, fields=", ".join(draft.NEEDS))
    criteria: list[CriterionDraft] = []
    text = yield prompt("criterion", number=1)
    while text:
        criteria.append((yield from _criterion(text, [c.id for c in criteria])))
        text = yield prompt("next_criterion", number=len(criteria) + 1)
    if len(criteria) > 1:
        names = ", ".join(c.id for c in criteria)
        weights = yield from _read("weights", partial(_weights, len(criteria)), names=names)
        criteria = [c._replace(weight=w) for c, w in zip(criteria, weights, strict=True)]
    quotes = yield prompt("quotes")
    return RubricDraft(name, description, tuple(criteria), needed, quotes=quotes == "yes")


def _criterion(text: str, used: list[str]) -> Generator[InterviewPrompt, str, CriterionDraft]:
    def fault(answer: str) -> str | None:
        if answer in used:
            return f"{answer!r} is used already; choose another"
        return draft.name_fault(answer)

    id = yield prompt("id", default=draft.id_of(text, used), fault=fault)
    answer = yield prompt("kind")
    criterion = CriterionDraft(id, text, next(kind for kind in KINDS if kind == answer))
    if answer == "levels":
        usual = ", ".join(word for word, _ in draft.levels_for(text))
        return criterion._replace(words=(yield from _read("levels", _levels, default=usual)))
    if answer == "choice":
        return criterion._replace(words=(yield from _read("choice", _options)))
    if answer == "checklist":
        return criterion._replace(items=(yield from _read("checklist", _items)))
    return criterion


def prompt(
    name: str,
    *,
    default: str | None = None,
    fault: Fault = lambda answer: None,
    choices: tuple[tuple[str, str], ...] = (),
    **named: Any,
) -> InterviewPrompt:
    """Return a question of `interview.yaml`, with its choices or those given."""
    entry = package_data(_FILE)[name]
    choices = choices or tuple(entry.get("choices", {}).items())
    text = entry["text"].format(**named)
    return InterviewPrompt(text, entry.get("default", default), fault, choices)


# -- reading answers ---------------------------------------------------------------


def _read(
    name: str, read: Callable[[str], T], *, default: str | None = None, **named: Any
) -> Generator[InterviewPrompt, str, T]:
    """Ask for an answer that a function can parse, and return the parsed value."""

    def fault(answer: str) -> str | None:
        try:
            read(answer)
        except ValueError as exc:
            return str(exc)
        return None

    answer = yield prompt(name, default=default, fault=fault, **named)
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
        example = "good=1, bad=0, unclear=-"
        raise ValueError(f"write each as WORD=NUMBER from 0 to 1, or WORD=- : {example}")
    return word, value


def _items(answer: str) -> tuple[str, ...]:
    items = draft.parts_of(answer, ";")
    _check_words(items, most=200, noun="items")
    return items


def _weights(count: int, answer: str) -> list[float]:
    try:
        weights = [float(part) for part in answer.replace(",", " ").split()] or [1.0] * count
    except ValueError:
        weights = []
    # The text in the file must be exact, and no weight may be negligible.
    if len(weights) != count or not all(0.001 <= weight <= 1000 for weight in weights):
        example = " ".join("321"[:count])
        raise ValueError(f"give {count} numbers from 0.001 to 1000, such as {example}")
    return weights
