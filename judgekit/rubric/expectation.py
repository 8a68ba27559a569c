"""The tests of a rubric: expected verdicts, and pairs of which one must score higher."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from judgekit.core.case import Case
from judgekit.core.value import Json, Value

WHOLE = "value"
"""Names the folded value of a rubric instead of a criterion."""

Expected = Literal["scored", "abstained", "not_applicable", "invalid_case"]
"""A status that a test expects; `invalid_case`: the rubric refuses the case without a call."""


class Expectation(Value):
    """The expected answer to one criterion, or the expected whole; all fields must match."""

    minimum: float | None = None
    """Lowest value on 0..1, included."""
    maximum: float | None = None
    """Highest value on 0..1, included."""
    status: Expected = "scored"
    answer: bool | str | None = None
    """The exact answer: yes or no, or one of the levels or options."""
    quotes: tuple[str, ...] = ()
    """Texts that the judge's quotes must contain; only quotes from the case count."""
    quoted_from: str | None = None
    """The field of the case that must contain every quote; at least one quote is required."""

    def words(self) -> str:
        """Return the expectation in words, such as `at most 0.5`."""
        parts = []
        if self.status != "scored":
            parts.append(self.status.replace("_", " "))
        if self.answer is not None:
            parts.append(spoken(self.answer))
        if self.minimum is not None and self.maximum is not None:
            parts.append(f"{self.minimum:g} to {self.maximum:g}")
        elif self.minimum is not None:
            parts.append(f"at least {self.minimum:g}")
        elif self.maximum is not None:
            parts.append(f"at most {self.maximum:g}")
        parts += [f"a quote that contains {text!r}" for text in self.quotes]
        if self.quoted_from is not None:
            parts.append(f"quotes from {self.quoted_from}")
        return ", ".join(parts) or "scored"


class RubricTest(Value):
    """A case with a known verdict; never shown to a judge."""

    __test__ = False

    name: str
    case: Case
    mode: str | None = None
    """Mode of the rubric; its default mode if `None`."""
    parameters: dict[str, Json] = Field(default_factory=dict)
    """Settings of the rubric's parameters; the others have their defaults."""
    expect: dict[str, Expectation]
    """Criterion, or `value` for the whole -> the expectation."""
    where: str = ""
    """`file:line` of the test."""


class Ordering(Value):
    """Expects the case of one test to score higher than that of another."""

    better: str
    worse: str
    criterion: str = WHOLE
    """Criterion, or `value` for the whole."""
    by: float = 0.0
    """Smallest difference; 0 accepts any difference."""
    where: str = ""

    @property
    def name(self) -> str:
        """Its name among the tests."""
        by = "" if self.criterion == WHOLE else f"-by-{self.criterion}"
        return f"{self.better}-over-{self.worse}{by}"


def spoken(answer: object) -> str:
    """Return an answer as text."""
    if isinstance(answer, bool):
        return "true" if answer else "false"
    if isinstance(answer, float):
        return f"{answer:g}"
    return "null" if answer is None else str(answer)
