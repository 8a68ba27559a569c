"""The questions for a new project and a new rubric.

An interview is a generator: it yields questions and receives answers that passed their checks. To
take back an answer, start a new generator and send all answers except the last.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import NamedTuple

from judgekit.authoring.scaffold.draft import (
    DEFAULT_LEVELS,
    KINDS,
    NEEDS,
    CriterionDraft,
    RubricDraft,
    id_of,
    name_fault,
)
from judgekit.authoring.scaffold.project import ProjectPlan
from judgekit.core.example_model import EXAMPLE_MODEL, LOCAL_MODEL


class InterviewPrompt(NamedTuple):
    """One question."""

    text: str
    default: str | None = None
    """The value of an empty answer; `None` if an answer is required."""
    fault: Callable[[str], str | None] = lambda answer: None
    """Returns the problem of an answer and what a valid one looks like, if there is one."""
    choices: tuple[tuple[str, str], ...] = ()
    """Choices and their meanings; a number or the first letters select one."""


Interview = Generator[InterviewPrompt, str, ProjectPlan | RubricDraft]

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
        person = yield InterviewPrompt("Name of the person", default="me", fault=name_fault)
        return ProjectPlan(name, judge=f"manual/{person}")
    if who == "hosted":
        model = yield InterviewPrompt(
            "Model, as PROVIDER/NAME", default=EXAMPLE_MODEL, fault=model_fault
        )
        return ProjectPlan(name, judge=model)
    base = yield InterviewPrompt(
        "Address of the server", default="http://localhost:8000/v1", fault=_address_fault
    )
    model = yield InterviewPrompt(
        "Model, as openai/NAME (or ollama_chat/NAME for Ollama)",
        default="openai/my-model",
        fault=model_fault,
    )
    return ProjectPlan(name, judge=model, api_base=base)


def rubric_interview(
    name: str, *, name_fault: Callable[[str], str | None]
) -> Generator[InterviewPrompt, str, RubricDraft]:
    """Ask for the content of a rubric."""
    name = yield InterviewPrompt("Name of the rubric", default=name or None, fault=name_fault)
    description = yield InterviewPrompt("What it judges, in one sentence")
    needed = yield InterviewPrompt(
        f"Fields that a case needs besides the answer ({', '.join(NEEDS)}; - for none)",
        default="input",
        fault=needs_fault,
    )
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
        answer = yield InterviewPrompt(
            f"Weights of {names} (numbers; Enter for equal weights)",
            default="",
            fault=lambda answer: _weights_fault(answer, len(criteria)),
        )
        if answer:
            criteria = [
                c._replace(weight=w) for c, w in zip(criteria, _numbers(answer), strict=True)
            ]
    quotes = yield InterviewPrompt(
        "Quotes of evidence required", default="no", choices=(("yes", ""), ("no", ""))
    )
    return RubricDraft(
        name=name,
        description=description,
        criteria=tuple(criteria),
        requires=needs_of(needed),
        quotes=quotes == "yes",
    )


def _criterion(text: str, used: list[str]) -> Generator[InterviewPrompt, str, CriterionDraft]:
    def fault(answer: str) -> str | None:
        return (
            f"{answer!r} is used already; choose another" if answer in used else name_fault(answer)
        )

    id = yield InterviewPrompt("  name in reports", default=id_of(text, used), fault=fault)
    answer = yield InterviewPrompt("  kind of answer", default="levels", choices=_ANSWERED)
    kind = next(kind for kind in KINDS if kind == answer)
    draft = CriterionDraft(id, text, kind)
    if kind == "levels":
        answer = yield InterviewPrompt(
            "  levels, best first",
            default=", ".join(word for word, _ in DEFAULT_LEVELS),
            fault=_levels_fault,
        )
        words = _parts(answer)
        return draft._replace(
            words=tuple((w, round(1 - n / (len(words) - 1), 3)) for n, w in enumerate(words))
        )
    if kind == "choice":
        answer = yield InterviewPrompt(
            "  words and their values from 0 to 1, such as good=1, bad=0, unclear=-",
            fault=_choice_fault,
        )
        return draft._replace(words=_values(answer))
    if kind == "checklist":
        answer = yield InterviewPrompt(
            "  items, separated by ; (Enter: the judge finds them in the case)",
            default="",
            fault=_items_fault,
        )
        return draft._replace(items=_parts(answer, ";"))
    return draft


# -- checks of answers -------------------------------------------------------------


def model_fault(answer: str) -> str | None:
    """Return the problem of a model name, if any."""
    provider, slash, name = answer.partition("/")
    if provider and slash and name and not any(c.isspace() for c in answer):
        return None
    return f"a model is PROVIDER/NAME, such as {EXAMPLE_MODEL} or {LOCAL_MODEL}"


def _address_fault(answer: str) -> str | None:
    scheme, mark, host = answer.partition("://")
    if mark and scheme in ("http", "https") and host and not any(c.isspace() for c in answer):
        return None
    return "an address begins with http:// or https://, such as http://localhost:8000/v1"


def needs_fault(answer: str) -> str | None:
    """Return the problem of a list of fields, if any."""
    unknown = [word for word in _parts(answer) if word not in (*NEEDS, "output", "-")]
    if unknown:
        return f"a case has no field {unknown[0]!r}; give some of {', '.join(NEEDS)}, or -"
    return None


def needs_of(answer: str) -> tuple[str, ...]:
    """Return the fields of a list that passed its check."""
    return tuple(field for field in NEEDS if field in _parts(answer))


def _parts(text: str, between: str = ",") -> tuple[str, ...]:
    parts = (" ".join(part.split()) for part in text.split(between))
    return tuple(part for part in parts if part)


def _levels_fault(answer: str) -> str | None:
    words = _parts(answer)
    if len(words) < 2:
        return "give at least two words, separated by commas: fully, partly, not at all"
    return _words_fault(words)


def _words_fault(words: tuple[str, ...]) -> str | None:
    if len(words) > 50:
        return f"{len(words)} words; the limit is 50"
    twice = [word for word in words if words.count(word) > 1]
    return f"{twice[0]!r} appears twice" if twice else None


def _choice_fault(answer: str) -> str | None:
    try:
        values = _values(answer)
    except ValueError:
        return "write each as WORD=NUMBER from 0 to 1, or WORD=- : good=1, bad=0, unclear=-"
    if len(values) < 2:
        return "give at least two words: good=1, bad=0"
    if all(value is None for _, value in values):
        return "give at least one word a number"
    return _words_fault(tuple(word for word, _ in values))


def _values(answer: str) -> tuple[tuple[str, float | None], ...]:
    """Return words and values.

    Raises:
        ValueError: one is not `word=value`.
    """
    values: list[tuple[str, float | None]] = []
    for part in _parts(answer):
        word, equals, answer = part.rpartition("=")
        value = None if answer.strip() == "-" else float(answer)
        if not equals or not word.strip() or (value is not None and not 0 <= value <= 1):
            raise ValueError(part)
        values.append((word.strip(), value))
    return tuple(values)


def _items_fault(answer: str) -> str | None:
    items = _parts(answer, ";")
    if len(items) > 200:
        return f"{len(items)} items; the limit is 200"
    twice = [item for item in items if items.count(item) > 1]
    return f"{twice[0]!r} appears twice" if twice else None


def _numbers(answer: str) -> list[float]:
    return [float(part) for part in answer.replace(",", " ").split()]


def _weights_fault(answer: str, count: int) -> str | None:
    if not answer:
        return None
    try:
        numbers = _numbers(answer)
    except ValueError:
        numbers = []
    # The text in the file must be exact, and no weight may be negligible beside the others.
    if len(numbers) != count or not all(0.001 <= number <= 1000 for number in numbers):
        return f"give {count} numbers from 0.001 to 1000, such as {' '.join('321'[:count])}"
    return None
