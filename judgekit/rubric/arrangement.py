"""How one request shows a rubric: the order of criteria and options, and which criteria it has."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, TypeVar

from judgekit.core.canonical import digest
from judgekit.rubric.criterion import Criterion

T = TypeVar("T")


class Arrangement(NamedTuple):
    """Which criteria a request has, and in which order."""

    place: int = 0
    """Place in the balanced orders: 0 is the written order."""
    criteria: tuple[str, ...] | None = None
    """The criteria of this call, after the case; `None` for all, before the case."""
    details: bool = True
    """Whether this call asks for the details of the whole verdict."""
    swapped: bool = False
    """Whether two answers are shown in the other order."""


WRITTEN = Arrangement()


SWAPPED = "swapped"


def order_name(place: int, *, swapped: bool = False) -> str:
    """Return the name of a place in the balanced orders.

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
    reverse. In each such pair, every value is as often before as after every other.

    >>> [ordered("abcd", place) for place in range(2)]
    [('a', 'b', 'c', 'd'), ('d', 'c', 'b', 'a')]
    """
    shown = tuple(values[n] for n in _permutation(len(values), place // 2))
    return shown[::-1] if place % 2 else shown


@cache
def _permutation(count: int, pair: int) -> tuple[int, ...]:
    if pair == 0:
        return tuple(range(count))
    # A digest, because the order of `random` is not promised for all versions of Python.
    return tuple(sorted(range(count), key=lambda n: digest(f"order {pair} {count} {n}")))


def arranged(criterion: Criterion, place: int) -> Criterion:
    """Return a criterion with its options and items in one of the balanced orders."""
    if place == 0:
        return criterion
    question = criterion.question
    update = {"labels": ordered(question.labels, place), "items": ordered(question.items, place)}
    return criterion.model_copy(
        update={
            "question": question.model_copy(update=update),
            "levels": ordered(criterion.levels, place),
        }
    )
