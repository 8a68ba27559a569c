"""A criterion: a question to the judge, and what its answer is worth."""

from __future__ import annotations

from functools import cached_property

from pydantic import ConfigDict, Field

from judgekit.judgment import Answer
from judgekit.request import Question
from judgekit.score import Status
from judgekit.value import Value


class Level(Value):
    """One word a judge may answer with, and what it is worth on 0..1."""

    label: str
    value: float | None = Field(default=None, ge=0, le=1)
    """`None`: this answer leaves the criterion out, as not applicable."""
    text: str = ""


class Criterion(Value):
    """One thing a rubric looks at."""

    question: Question
    weight: float
    """Share inside its group; negative for a penalty."""
    levels: tuple[Level, ...] = ()
    reverse: bool = False
    """Whether a high answer is bad: the value is then 1 minus it."""

    model_config = ConfigDict(ignored_types=(cached_property,))

    @cached_property
    def id(self) -> str:
        """The name of the criterion in its rubric, `group.name` or `name`."""
        return self.question.id

    @cached_property
    def group(self) -> str:
        """What stands before the first dot; empty for a criterion of no group."""
        head, dot, _ = self.id.partition(".")
        return head if dot else ""

    def value_of(self, answer: Answer) -> tuple[Status, float | None]:
        """Return what an answer is worth on 0..1.

        A checklist is worth met / all, and is not applicable when it has no items; a number is
        worth its place between minimum and maximum; a word is worth what its level says.
        """
        if self.question.kind == "checklist":
            if not answer.items:
                return "not_applicable", None
            value = sum(1 for item in answer.items if item["met"] is True) / len(answer.items)
        elif answer.value is None:
            return "abstained", None
        elif self.levels:
            worth = next(level.value for level in self.levels if level.label == answer.value)
            if worth is None:
                return "not_applicable", None
            value = worth
        elif isinstance(answer.value, bool):
            value = 1.0 if answer.value else 0.0
        else:
            span = self.question.maximum - self.question.minimum
            value = (float(answer.value) - self.question.minimum) / span
        return "scored", 1.0 - value if self.reverse else value
