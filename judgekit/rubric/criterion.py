"""Criteria: a question to the judge, the value of each answer, and the order in a request."""

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeVar

from pydantic import ConfigDict, Field

from judgekit.core.canonical import digest
from judgekit.core.request import Question
from judgekit.core.value import Value
from judgekit.rubric.fold import Outcome, WeightedCriterion


class Level(Value):
    """A word that a judge can answer with, and its value on 0..1."""

    label: str
    value: float | None = Field(default=None, ge=0, le=1)
    """`None` means that this answer makes the criterion not applicable."""
    text: str = ""


class Criterion(Value):
    """One criterion of a rubric."""

    question: Question
    weight: float
    """Share of the weight of its group; negative for a penalty."""
    levels: tuple[Level, ...] = ()
    reverse: bool = False
    """Whether a high answer is bad; its value is then subtracted from 1."""

    model_config = ConfigDict(ignored_types=(cached_property,))

    @cached_property
    def id(self) -> str:
        """The name of the criterion in its rubric, `group.name` or `name`."""
        return self.question.id

    @cached_property
    def group(self) -> str:
        """The part of the id before the first dot; empty without a group."""
        return group_of(self.id)

    @cached_property
    def weighted(self) -> WeightedCriterion:
        """The weight of the criterion and its group, for a fold."""
        return WeightedCriterion(self.id, self.group, self.weight)

    @cached_property
    def outcome(self) -> Callable[[Any, Sequence[Any]], Outcome]:
        """A function from the value and items of an answer to its value on 0..1.

        The value of a checklist is met / all, and it is not applicable without items. The value of
        a number is its position between minimum and maximum. The value of a word is that of its
        level.
        """
        plain: Callable[[Any, Sequence[Any]], Outcome]
        if self.question.kind == "checklist":
            plain = _outcome_of_items
        elif self.levels:
            plain = _outcome_of_words({level.label: level.value for level in reversed(self.levels)})
        else:
            plain = _outcome_of_numbers(self.question)
        if not self.reverse:
            return plain

        def reversed_(value: Any, items: Sequence[Any]) -> Outcome:
            status, number = plain(value, items)
            return status, None if number is None else 1.0 - number

        return reversed_

    def changed(self, *, levels: tuple[Level, ...], **question: Any) -> "Criterion":
        """Return a copy with other levels and some fields of the question changed."""
        changed = self.question.model_copy(update=question)
        return self.model_copy(update={"question": changed, "levels": levels})


def group_of(id: str) -> str:
    """Return the part of a criterion's id before the first dot; empty without a group."""
    head, dot, _ = id.partition(".")
    return head if dot else ""


def _outcome_of_items(_: Any, items: Sequence[Any]) -> Outcome:
    if not items:
        return "not_applicable", None
    return "scored", len([1 for item in items if item["met"] is True]) / len(items)


def _outcome_of_words(values: dict[str, float | None]) -> Callable[[Any, Sequence[Any]], Outcome]:
    def outcome_of(word: Any, _: Sequence[Any]) -> Outcome:
        if word is None:
            return "abstained", None
        value = values[word]  # the reply schema allows only these words
        return ("not_applicable", None) if value is None else ("scored", value)

    return outcome_of


def _outcome_of_numbers(question: Question) -> Callable[[Any, Sequence[Any]], Outcome]:
    minimum = question.minimum
    span = question.maximum - minimum

    def outcome_of(value: Any, _: Sequence[Any]) -> Outcome:
        if value is None:
            return "abstained", None
        if value is True or value is False:
            return "scored", 1.0 if value else 0.0
        return "scored", (float(value) - minimum) / span

    return outcome_of


T = TypeVar("T")


class Arrangement(NamedTuple):
    """The criteria of a request, and their order."""

    place: int = 0
    """Index in the balanced orders: 0 is the written order."""
    criteria: tuple[str, ...] | None = None
    """The criteria of this call, after the case; `None` for all, before the case."""
    details: bool = True
    """Whether this call asks for the details of the whole verdict."""
    swapped: bool = False
    """Whether two answers are shown in the other order."""


WRITTEN = Arrangement()


SWAPPED = "swapped"


def order_name(place: int, *, swapped: bool = False) -> str:
    """Return the name of a balanced order by its index.

    >>> [order_name(place) for place in range(5)]
    ['written', 'reversed', 'shuffled 1', 'shuffled 1 reversed', 'shuffled 2']
    >>> [order_name(place, swapped=True) for place in range(2)]
    ['swapped', 'reversed swapped']
    """
    if place < 2:
        name = ("written", "reversed")[place]
    else:
        name = f"shuffled {place // 2}" + (" reversed" if place % 2 else "")
    if not swapped:
        return name
    return f"{name} {SWAPPED}" if place else SWAPPED


def ordered(values: Sequence[T], place: int) -> tuple[T, ...]:
    """Return values in one of the balanced orders.

    The written order comes first, then its reverse, then permutations, each followed by its
    reverse. In each of these pairs, every value is as often before as after every other value.

    >>> [ordered("abcd", place) for place in range(2)]
    [('a', 'b', 'c', 'd'), ('d', 'c', 'b', 'a')]
    """
    shown = tuple(values[n] for n in _permutation(len(values), place // 2))
    return shown[::-1] if place % 2 else shown


@cache
def _permutation(count: int, pair: int) -> tuple[int, ...]:
    if pair == 0:
        return tuple(range(count))
    # A digest, because the results of `random` may differ between versions of Python.
    return tuple(sorted(range(count), key=lambda n: digest(f"order {pair} {count} {n}")))


def arranged(criterion: Criterion, place: int) -> Criterion:
    """Return a criterion with its options and items in one of the balanced orders."""
    if place == 0:
        return criterion
    labels = ordered(criterion.question.labels, place)
    items = ordered(criterion.question.items, place)
    return criterion.changed(levels=ordered(criterion.levels, place), labels=labels, items=items)
