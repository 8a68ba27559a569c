"""What is asked of a person who begins something, apart from how it is asked.

An interview is a generator: it yields questions and is sent answers that passed their checks. To
take an answer back, begin it anew and send all the answers but the last.
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


class Prompt(NamedTuple):
    """One question."""

    text: str
    default: str | None = None
    """What an empty answer means; `None` where one is needed."""
    fault: Callable[[str], str | None] = lambda answer: None
    """Returns what is wrong with an answer, and how a right one looks."""
    choices: tuple[tuple[str, str], ...] = ()
    """Words to choose from and what each means; a number or a beginning will do."""


Interview = Generator[Prompt, str, ProjectPlan | RubricDraft]

WHO = (
    ("hosted", "a model somebody hosts, by key"),
    ("server", "a model on a server of your own: Ollama, vLLM, llama.cpp, LM Studio"),
    ("person", "a person"),
    ("none", "nobody: computed metrics only"),
)
_ANSWERED = (
    ("levels", "by a word from best to worst"),
    ("boolean", "yes or no"),
    ("number", "a number from 0 to 1"),
    ("choice", "by one of several words, each worth what you say"),
    ("checklist", "item by item, met or not"),
)


def project_interview(name: str) -> Generator[Prompt, str, ProjectPlan]:
    """Ask what a project needs to know."""
    name = yield Prompt("Name of the project", default=name)
    who = yield Prompt("Who judges", default="hosted", choices=WHO)
    if who == "none":
        return ProjectPlan(name, judge="none")
    if who == "person":
        person = yield Prompt("Their name", default="me", fault=name_fault)
        return ProjectPlan(name, judge=f"manual/{person}")
    if who == "hosted":
        model = yield Prompt("Model, as PROVIDER/NAME", default=EXAMPLE_MODEL, fault=model_fault)
        return ProjectPlan(name, judge=model)
    base = yield Prompt("Its address", default="http://localhost:8000/v1", fault=_address_fault)
    model = yield Prompt(
        "Model, as openai/NAME (or ollama_chat/NAME for Ollama)",
        default="openai/my-model",
        fault=model_fault,
    )
    return ProjectPlan(name, judge=model, api_base=base)


def rubric_interview(
    name: str, *, name_fault: Callable[[str], str | None]
) -> Generator[Prompt, str, RubricDraft]:
    """Ask what a rubric needs to know."""
    name = yield Prompt("Name of the rubric", default=name or None, fault=name_fault)
    description = yield Prompt("What does it judge, in one sentence")
    needed = yield Prompt(
        f"What must a case have besides the answer ({', '.join(NEEDS)}; - for nothing)",
        default="input",
        fault=needs_fault,
    )
    criteria: list[CriterionDraft] = []
    while True:
        text = yield Prompt(
            f"Criterion {len(criteria) + 1}, as a question about the answer"
            + (" (Enter when that is all)" if criteria else ""),
            default="" if criteria else None,
        )
        if not text:
            break
        criteria.append((yield from _criterion(text, [c.id for c in criteria])))
    if len(criteria) > 1:
        names = ", ".join(c.id for c in criteria)
        said = yield Prompt(
            f"Weights of {names} (numbers; Enter for equal ones)",
            default="",
            fault=lambda answer: _weights_fault(answer, len(criteria)),
        )
        if said:
            criteria = [c._replace(weight=w) for c, w in zip(criteria, _numbers(said), strict=True)]
    quotes = yield Prompt(
        "Must the judge quote its evidence", default="no", choices=(("yes", ""), ("no", ""))
    )
    return RubricDraft(
        name=name,
        description=description,
        criteria=tuple(criteria),
        requires=needs_of(needed),
        quotes=quotes == "yes",
    )


def _criterion(text: str, taken: list[str]) -> Generator[Prompt, str, CriterionDraft]:
    def fault(answer: str) -> str | None:
        return f"{answer!r} is taken" if answer in taken else name_fault(answer)

    id = yield Prompt("  its name in reports", default=id_of(text, taken), fault=fault)
    said = yield Prompt("  how is it answered", default="levels", choices=_ANSWERED)
    kind = next(kind for kind in KINDS if kind == said)
    made = CriterionDraft(id, text, kind)
    if kind == "levels":
        said = yield Prompt(
            "  its levels, best first",
            default=", ".join(word for word, _ in DEFAULT_LEVELS),
            fault=_levels_fault,
        )
        words = _parts(said)
        return made._replace(
            words=tuple((w, round(1 - n / (len(words) - 1), 3)) for n, w in enumerate(words))
        )
    if kind == "choice":
        said = yield Prompt(
            "  its words and what each is worth from 0 to 1, as good=1, bad=0, unclear=-",
            fault=_choice_fault,
        )
        return made._replace(words=_worths(said))
    if kind == "checklist":
        said = yield Prompt(
            "  its items, with ; between (Enter: the judge finds them in the case)",
            default="",
            fault=_items_fault,
        )
        return made._replace(items=_parts(said, ";"))
    return made


# -- what is wrong with an answer ---------------------------------------------------


def model_fault(answer: str) -> str | None:
    """Return what is wrong with the name of a model, if anything."""
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
    """Return what is wrong with a list of fields, if anything."""
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
        return "give at least two words, with commas between: fully, partly, not at all"
    return _words_fault(words)


def _words_fault(words: tuple[str, ...]) -> str | None:
    if len(words) > 50:
        return "50 words are the most"
    twice = [word for word in words if words.count(word) > 1]
    return f"{twice[0]!r} is there twice" if twice else None


def _choice_fault(answer: str) -> str | None:
    try:
        worths = _worths(answer)
    except ValueError:
        return "write each as WORD=NUMBER from 0 to 1, or WORD=- : good=1, bad=0, unclear=-"
    if len(worths) < 2:
        return "give at least two words: good=1, bad=0"
    if all(worth is None for _, worth in worths):
        return "at least one of them must be worth a number"
    return _words_fault(tuple(word for word, _ in worths))


def _worths(answer: str) -> tuple[tuple[str, float | None], ...]:
    """Return words and worths.

    Raises:
        ValueError: one is not `word=worth`.
    """
    found: list[tuple[str, float | None]] = []
    for part in _parts(answer):
        word, equals, said = part.rpartition("=")
        worth = None if said.strip() == "-" else float(said)
        if not equals or not word.strip() or (worth is not None and not 0 <= worth <= 1):
            raise ValueError(part)
        found.append((word.strip(), worth))
    return tuple(found)


def _items_fault(answer: str) -> str | None:
    items = _parts(answer, ";")
    if len(items) > 200:
        return "200 items are the most"
    twice = [item for item in items if items.count(item) > 1]
    return f"{twice[0]!r} is there twice" if twice else None


def _numbers(answer: str) -> list[float]:
    return [float(part) for part in answer.replace(",", " ").split()]


def _weights_fault(answer: str, wanted: int) -> str | None:
    if not answer:
        return None
    try:
        numbers = _numbers(answer)
    except ValueError:
        numbers = []
    # As text in a file they must still be what they are; and no weight may vanish beside others.
    if len(numbers) != wanted or not all(0.001 <= number <= 1000 for number in numbers):
        return f"give {wanted} numbers from 0.001 to 1000, such as {' '.join('321'[:wanted])}"
    return None
