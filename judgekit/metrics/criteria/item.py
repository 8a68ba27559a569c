"""The criteria of a case: read `expected.criteria`, the form of the file and of other tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple

from judgekit.core.case import Case, has_text
from judgekit.core.errors import CaseError, RubricError
from judgekit.core.request import Question
from judgekit.core.suggest import closest, suggest
from judgekit.core.value import Json
from judgekit.metrics.criteria.foreign import changing_field, listed_criteria, missing_field
from judgekit.metrics.criteria.texts import criterion_digest
from judgekit.rubric.case_text import case_text, uses_case
from judgekit.rubric.criterion import Criterion, Level

MAX_LEAVES = 400
"""Maximum number of criteria of a case that a judge decides; papers of PaperBench have hundreds."""
MAX_DEPTH = 6
"""Maximum depth of a tree of criteria."""
MAX_WORDS = 50
"""Maximum number of levels or options of a criterion."""
MAX_TAGS = 50
_FORM = "{criterion: text, points: number}"
_ALIKE = 0.8
_LARGEST = 1e100
"""Largest number; sums of larger ones could overflow, and JSON has integers that are no float."""
_LONGEST = 200
"""Maximum length of a level or an option, in characters."""

_TEXTS: Mapping[str, str] = {
    "criterion": "HealthBench; simple-evals: healthbench_eval.py",
    "criteria_description": "PRBench: data set card",
    "requirement": "habit: one of several requirements",
    "requirements": "PaperBench: rubrics of papers",
    "description": "RaR; oumi: src/oumi/datasets/grpo/rar_dataset.py",
    "text": "judgekit: a criterion of a rubric",
}
"""Name of the text of a criterion -> where it is from; the first one that is given counts."""
_POINTS: Mapping[str, str] = {
    "points": "HealthBench; simple-evals: healthbench_eval.py",
    "weight": "RaR; oumi: src/oumi/datasets/grpo/rar_dataset.py; PaperBench: rubrics of papers",
    "score": "habit: points by another name",
}
"""Name of the points of a criterion -> where it is from."""
_CHILDREN: Mapping[str, str] = {
    "of": "judgekit: metrics made of others",
    "sub_tasks": "PaperBench: rubrics of papers",
}
"""Name of the criteria under a node -> where it is from."""
_KINDS = ("boolean", "levels", "score", "choice")
# Reward Kit 0.2.3, `CriterionConfig`: a kind is `type`, the default weight is 1, and `likert` has
# its number of steps, 5 by default, under `points`.
_TYPES = {"binary": "boolean", "numeric": "score", "likert": "score", "rubric": "levels"}
_STEPS = 5
_ANNOTATED = {"negate": ("type", "negative"), "optional": ("importance", "optional")}
"""Flag -> the key of `annotations` and the word in it that sets the flag, unless it is written."""
_FLAGS = ("required", "optional", "negate", "nullable")
_OWN: Mapping[str, tuple[type, ...]] = {
    "levels": (dict, list), "score": (dict,), "choice": (dict, list), "of": (list,),
    "kind": (str,), "negate": (bool,), "nullable": (bool,), "required": (bool,),
    "optional": (bool,),
}  # fmt: skip
"""Field -> the types of its value. A field with nearly the same name and such a value is a
misspelling, which would change the verdict."""
FIELDS = frozenset(
    {*_TEXTS, *_POINTS, *_CHILDREN, *_FLAGS, "kind", "boolean", "levels", "choice", "choices"}
    | {"tags", "reference", "id", "min", "max", "annotations"}
)
"""The fields of an item that are read; lint names others."""
ItemKind = Literal["boolean", "levels", "score", "choice"]


@dataclass(frozen=True, kw_only=True, eq=False)
class CriterionItem:
    """One criterion of a case, or a node that combines those under `children`."""

    number: str
    """Its place in the tree, from 1: `3`, or `3.2` for the second child of the third."""
    text: str
    points: float
    """Negative for a property that the answer should not have."""
    kind: ItemKind = "boolean"
    levels: tuple[Level, ...] = ()
    minimum: float = 0.0
    maximum: float = 1.0
    tags: tuple[str, ...] = ()
    required: bool = False
    optional: bool = False
    negate: bool = False
    """Whether the share is 1 minus that of the verdict."""
    nullable: bool = False
    """Whether the judge may leave it open."""
    reference: tuple[str, ...] = ()
    """Examples of what meets it."""
    id: str | None = None
    children: tuple[CriterionItem, ...] = ()

    @property
    def part(self) -> str:
        """The id of its part in a score."""
        return f"criterion {self.number}"

    @property
    def plain(self) -> bool:
        """Whether it is a yes/no question without anything else that a judge must see."""
        return self.kind == "boolean" and not (self.nullable or self.reference)

    @cached_property
    def digest(self) -> str:
        """The digest of its text, by which labels refer to it."""
        return criterion_digest(self.text)

    def leaves(self) -> Iterator[CriterionItem]:
        """Yield the criteria that a judge decides, in order."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()

    def walk(self) -> Iterator[CriterionItem]:
        """Yield this item, then everything below it."""
        yield self
        for child in self.children:
            yield from child.walk()

    def question(self, id: str, model: Question) -> Question:
        """Return the question to a judge, with the quotes and details of a model question."""
        kind = {"levels": "score"}.get(self.kind, self.kind)
        return Question.model_validate(
            {
                "id": id,
                "kind": kind,
                "text": self.text,
                "minimum": self.minimum,
                "maximum": self.maximum,
                "labels": tuple(level.label for level in self.levels),
                "nullable": self.nullable,
                "quotes": model.quotes,
                "details": model.details,
            }
        )

    def criterion(self, id: str, model: Question) -> Criterion:
        """Return the question with the values of its answers."""
        question = self.question(id, model)
        return Criterion(
            question=question, weight=self.points, levels=self.levels, reverse=self.negate
        )


def read_items(case: Case) -> tuple[CriterionItem, ...]:
    """Return the criteria of a case, with the fields of the case that their texts use.

    Raises:
        CaseError: there are no criteria, too many, or one of them is wrong; the message has its
            number.
    """
    return tuple(_about(item, case) for item in items_of(case.expected.get("criteria")))


def items_of(listed: Json) -> list[CriterionItem]:
    """Return the criteria in the value of `expected.criteria`.

    Args:
        listed: a list of items, or the root of a tree.

    Raises:
        CaseError: there are none, too many, or one of them is wrong.
    """
    try:
        listed = listed_criteria(listed, _TEXTS, root=_CHILDREN)
    except ValueError as exc:
        raise CaseError(f"expected.criteria: {exc}") from exc
    if isinstance(listed, Mapping) and any(isinstance(listed.get(n), list) for n in _CHILDREN):
        listed = [listed if any(name in listed for name in _POINTS) else {**listed, "points": 1}]
    if not isinstance(listed, list) or not listed:
        raise CaseError(f"needs expected.criteria: a list of {_FORM}, at most {MAX_LEAVES}")
    reading = _Reading()
    items = [reading.item(entry, str(number), 1) for number, entry in enumerate(listed, start=1)]
    named: dict[str, str] = {}
    for item in items:
        for one in item.walk():
            if one.id is not None and named.setdefault(one.id, one.number) != one.number:
                raise _wrong(one.number, f"has the id {one.id!r} of number {named[one.id]}")
    return items


class _Reading:
    """Reads the items of one case, at most `MAX_LEAVES` of them."""

    def __init__(self) -> None:
        self._leaves = 0

    def item(self, entry: Json, number: str, depth: int) -> CriterionItem:
        if not isinstance(entry, Mapping):
            raise _wrong(number, f"must be {_FORM}, not {_short(entry)}")
        text = next((entry[name] for name in _TEXTS if entry.get(name) is not None), None)
        if text is None:
            raise _wrong(number, "has no text" + missing_field(entry, "criterion", FIELDS))
        if not isinstance(text, str) or not has_text(text):
            raise _wrong(number, f"must be {_FORM}")
        _check_spelling(entry, number)
        if problem := changing_field(entry, _TEXTS, FIELDS):
            raise _wrong(number, problem)
        points = _points(entry, number)
        children: Any = next((entry[name] for name in _CHILDREN if entry.get(name)), [])
        required, optional = (_flag(entry, name, number) for name in ("required", "optional"))
        if required and optional:
            raise _wrong(number, "is both required and optional; remove one")
        kind = _kind(entry, number)
        item = CriterionItem(
            number=number,
            text=" ".join(text.split()),
            points=points,
            tags=_texts(entry, "tags", number, most=MAX_TAGS),
            reference=_texts(entry, "reference", number, most=MAX_WORDS),
            id=_id(entry, number),
            required=required,
            optional=optional,
            negate=_flag(entry, "negate", number),
            nullable=_flag(entry, "nullable", number),
            kind=kind.kind,
            levels=kind.levels,
            minimum=kind.minimum,
            maximum=kind.maximum,
        )
        if not isinstance(children, list):
            raise _wrong(number, "of must be a list of criteria")
        if not children:
            self._leaves += 1
            if self._leaves > MAX_LEAVES:
                needs = f"needs expected.criteria: a list of {_FORM}, at most {MAX_LEAVES}"
                raise CaseError(needs)
            return item
        if depth >= MAX_DEPTH:
            raise _wrong(number, f"is at depth {depth}, the last one, and has criteria below it")
        if not item.plain or item.negate:
            why = "has criteria below it, so no judge answers it: remove its kind"
            raise _wrong(number, f"{why}, negate, nullable and reference")
        own = (
            self.item(child, f"{number}.{place}", depth + 1)
            for place, child in enumerate(children, start=1)
        )
        return replace(item, children=tuple(own))


class _Kind(NamedTuple):
    kind: ItemKind = "boolean"
    levels: tuple[Level, ...] = ()
    minimum: float = 0.0
    maximum: float = 1.0


def _kind(entry: Mapping[str, Any], number: str) -> _Kind:
    words = {"levels": entry.get("levels"), "choice": entry.get("choice", entry.get("choices"))}
    scale = entry.get("score") if isinstance(entry.get("score"), Mapping) else None
    given = [name for name, value in {**words, "score": scale}.items() if value is not None]
    named = entry.get("kind")
    if named is None and isinstance(entry.get("type"), str):
        named = _TYPES.get(entry["type"], entry["type"] if entry["type"] in _KINDS else None)
    if _is_likert(entry):
        scale = {"min": 1, "max": _STEPS if entry.get("points") is None else entry["points"]}
    if named is not None and named not in _KINDS:
        raise _wrong(number, f"no kind {named!r}{suggest(named, _KINDS)}")
    if len(given) > 1 or (named is not None and given and named != given[0]):
        both = " and ".join(given if len(given) > 1 else [str(named), given[0]])
        raise _wrong(number, f"has two kinds, {both}; remove one")
    kind: Any = named or (given[0] if given else "boolean")
    if kind != "score" and (bound := next((n for n in ("min", "max") if n in entry), None)):
        raise _wrong(number, f"{bound} belongs to a score; write score: {{min: ..., max: ...}}")
    if kind == "score":
        bounds = scale if scale is not None else entry
        low, high = (_number(bounds.get(name, end), f"score.{name}", number)
                     for name, end in (("min", 0), ("max", 1)))  # fmt: skip
        if not low < high:
            raise _wrong(number, f"score.min {low:g} is not below score.max {high:g}")
        return _Kind("score", (), low, high)
    if kind == "boolean":
        return _Kind()
    if words[kind] is None:
        raise _wrong(number, f"kind {kind} needs {kind}: {{label: value, ...}}")
    return _Kind(kind, _levels(words[kind], kind, number))


def _levels(words: Any, kind: str, number: str) -> tuple[Level, ...]:
    """Return the words of a criterion; those of a list are evenly spaced, the worst first."""
    if isinstance(words, list):
        values = [place / max(1, len(words) - 1) for place in range(len(words))]
        if not all(isinstance(word, str) and has_text(word) for word in words):
            raise _wrong(number, f"{kind} must be texts from worst to best, or {{label: value}}")
        pairs: list[tuple[Any, Any]] = list(zip(words, values, strict=True))
    elif isinstance(words, Mapping):
        pairs = list(words.items())
    else:
        raise _wrong(number, f"{kind} must be {{label: value, ...}}, or a list from worst to best")
    # On one line, because a word is printed without a fence.
    pairs = [(" ".join(str(label).split()), value) for label, value in pairs]
    labels = [label for label, _ in pairs]
    if long := next((label for label in labels if len(label) > _LONGEST), None):
        raise _wrong(number, f"{kind}: {_short(long)} has more than {_LONGEST} characters")
    if not 2 <= len(labels) <= MAX_WORDS or len(set(labels)) < len(labels):
        raise _wrong(number, f"{kind} must have 2 to {MAX_WORDS} different words")
    levels = [_level(label, given, kind, number) for label, given in pairs]
    if all(level.value is None for level in levels):
        raise _wrong(number, f"{kind}: none of its words has a value")
    return tuple(levels)


def _level(label: str, given: Any, kind: str, number: str) -> Level:
    value, text = given, ""
    if isinstance(given, Mapping):
        value, text = given.get("value"), given.get("text", "")
    if not isinstance(text, str) or not has_text(label):
        raise _wrong(number, f"{kind}: {label!r} must be a word with a value from 0 to 1")
    if value is not None:
        value = _number(value, f"{kind}.{label}", number)
        if not 0 <= value <= 1:
            raise _wrong(number, f"{kind}.{label} must be from 0 to 1, not {value:g}")
    elif kind == "levels":
        raise _wrong(number, f"levels.{label} needs a value; a choice may have null")
    return Level(label=label, value=value, text=" ".join(text.split()))


def _is_likert(entry: Mapping[str, Any]) -> bool:
    return entry.get("type") == "likert"


def _points(entry: Mapping[str, Any], number: str) -> float:
    given: dict[str, float] = {}
    for name in ("weight",) if _is_likert(entry) else _POINTS:
        value = entry.get(name)
        if value is not None and not isinstance(value, Mapping):
            fine = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not fine or not abs(value) <= _LARGEST:
                advice = ", a text; write a number" if isinstance(value, str) else ""
                raise _wrong(number, f"must be {_FORM}; {name} is {_short(value)}{advice}")
            given[name] = float(value)
    if len(set(given.values())) > 1:
        both = " and ".join(f"{name} {value:g}" for name, value in given.items())
        raise _wrong(number, f"has {both}; remove all but one")
    if given:
        return next(iter(given.values()))
    if isinstance(entry.get("type"), str) and entry["type"] in _TYPES:
        return 1.0
    raise _wrong(number, "has no points" + missing_field(entry, "points", FIELDS))


def _number(value: Any, name: str, number: str) -> float:
    fine = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not fine or not abs(value) <= _LARGEST:
        raise _wrong(number, f"{name} must be a number, not {_short(value)}")
    return float(value)


def _flag(entry: Mapping[str, Any], name: str, number: str) -> bool:
    value = entry.get(name)
    if value is not None and not isinstance(value, bool):
        raise _wrong(number, f"{name} must be true or false, not {_short(value)}")
    annotations = entry.get("annotations")
    if value is None and name in _ANNOTATED and isinstance(annotations, Mapping):
        key, word = _ANNOTATED[name]
        return word in str(annotations.get(key, "")).lower()
    return bool(value)


def _texts(entry: Mapping[str, Any], name: str, number: str, *, most: int) -> tuple[str, ...]:
    value = entry.get(name)
    if name == "tags" and isinstance(value, str) and (value.startswith("[") or "," in value):
        raise _wrong(number, f"tags must be a list of texts, not the text {_short(value)}")
    texts = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise _wrong(number, f"{name} must be a list of texts, not {_short(value)}")
    if len(texts) > most:
        raise _wrong(number, f"{name} has {len(texts)} texts; the most is {most}")
    return tuple(dict.fromkeys(text for text in texts if has_text(text)))


def _id(entry: Mapping[str, Any], number: str) -> str | None:
    value = entry.get("id")
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if value is not None and not (isinstance(value, str) and has_text(value)):
        raise _wrong(number, f"id must be a text that is not blank, not {_short(value)}")
    return value


def _check_spelling(entry: Mapping[str, Any], number: str) -> None:
    """Refuse a field that is nearly one that would change the verdict."""
    for name in entry.keys() - FIELDS - {"type"}:
        own = _alike(str(name))
        if own is not None and isinstance(entry[name], _OWN[own]):
            raise _wrong(number, f"unknown field {name!r}; did you mean {own!r}?")


@lru_cache(maxsize=256)
def _alike(name: str) -> str | None:
    return next(iter(closest(name, _OWN, alike=_ALIKE)), None)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _wrong(number: str, problem: str) -> CaseError:
    return CaseError(f"expected.criteria: number {number}: {problem}")


def _about(item: CriterionItem, case: Case) -> CriterionItem:
    """Return an item with the fields of the case that its texts use."""
    text = item.text
    if uses_case(text):
        try:
            text = case_text(text).render(case)
        except (CaseError, RubricError) as exc:
            raise _wrong(item.number, str(exc)) from exc
    children = tuple(_about(child, case) for child in item.children)
    if text == item.text and all(a is b for a, b in zip(children, item.children, strict=True)):
        return item
    return replace(item, text=text, children=children)


def unread_fields(listed: Json) -> Iterator[str]:
    """Yield the fields of the items in `expected.criteria` that are not read, with repetitions."""
    with suppress(ValueError):
        listed = listed_criteria(listed, _TEXTS, root=_CHILDREN)
    waiting: list[tuple[Any, int]] = [(listed, 0)]
    while waiting:
        value, depth = waiting.pop()
        if isinstance(value, list):
            waiting += [(entry, depth) for entry in value[:MAX_LEAVES]]
        elif isinstance(value, Mapping) and depth <= MAX_DEPTH:
            yield from (
                str(name)
                for name in value
                if name not in FIELDS and not (name == "type" and _is_kind(value[name]))
            )
            # The first text is the criterion.
            yield from [name for name in _TEXTS if value.get(name) is not None][1:]
            waiting += [(value[name], depth + 1) for name in _CHILDREN if name in value]


def _is_kind(value: Any) -> bool:
    return isinstance(value, str) and (value in _TYPES or value in _KINDS)


def leaves_of(items: Sequence[CriterionItem]) -> list[CriterionItem]:
    """Return the criteria that a judge decides, in order."""
    return [leaf for item in items for leaf in item.leaves()]
