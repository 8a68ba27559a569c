"""A criterion: a question to the judge, and the value of each answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from pydantic import ConfigDict, Field

from judgekit.core.judgment import Answer
from judgekit.core.request import Question
from judgekit.core.value import Value
from judgekit.rubric.fold import Outcome


class Level(Value):
    """One word that a judge may answer with, and its value on 0..1."""

    label: str
    value: float | None = Field(default=None, ge=0, le=1)
    """`None`: this answer makes the criterion not applicable."""
    text: str = ""


class Criterion(Value):
    """One criterion of a rubric."""

    question: Question
    weight: float
    """Share inside its group; negative for a penalty."""
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
    def worth(self) -> Callable[[Any, Sequence[Any]], Outcome]:
        """A function that returns the value of an answer on 0..1, from its value and items.

        A checklist has the value met / all, and is not applicable without items; a number its
        position between minimum and maximum; a word the value of its level.
        """
        plain: Callable[[Any, Sequence[Any]], Outcome]
        if self.question.kind == "checklist":
            plain = _worth_of_items
        elif self.levels:
            plain = _worth_of_words({level.label: level.value for level in reversed(self.levels)})
        else:
            plain = _worth_of_numbers(self.question)
        if not self.reverse:
            return plain

        def reversed_(value: Any, items: Sequence[Any]) -> Outcome:
            status, worth = plain(value, items)
            return status, None if worth is None else 1.0 - worth

        return reversed_

    def value_of(self, answer: Answer) -> Outcome:
        """Return the value of an answer on 0..1 (see `worth`)."""
        return self.worth(answer.value, answer.items)


def group_of(id: str) -> str:
    """Return the part of a criterion's id before the first dot; empty without a group."""
    head, dot, _ = id.partition(".")
    return head if dot else ""


def _worth_of_items(_: Any, items: Sequence[Any]) -> Outcome:
    if not items:
        return "not_applicable", None
    return "scored", len([1 for item in items if item["met"] is True]) / len(items)


def _worth_of_words(worth: dict[str, float | None]) -> Callable[[Any, Sequence[Any]], Outcome]:
    def worth_of(word: Any, _: Sequence[Any]) -> Outcome:
        if word is None:
            return "abstained", None
        value = worth[word]  # the reply schema allows only these words
        return ("not_applicable", None) if value is None else ("scored", value)

    return worth_of


def _worth_of_numbers(question: Question) -> Callable[[Any, Sequence[Any]], Outcome]:
    minimum = question.minimum
    span = question.maximum - minimum

    def worth_of(value: Any, _: Sequence[Any]) -> Outcome:
        if value is None:
            return "abstained", None
        if value is True or value is False:
            return "scored", 1.0 if value else 0.0
        return "scored", (float(value) - minimum) / span

    return worth_of
