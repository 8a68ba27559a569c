"""What the author of a rubric expects of it: tests, and which case must come out above which."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from judgekit.core.case import Case
from judgekit.core.value import Json, Value

WHOLE = "value"
"""Names the folded value of a rubric where a criterion may stand."""

Expected = Literal["scored", "abstained", "not_applicable", "invalid_case"]
"""A status a test may ask for; `invalid_case` means the rubric refuses the case unasked."""


class Expectation(Value):
    """What is expected of one criterion, or of the whole; everything given must hold."""

    minimum: float | None = None
    """Lowest value on 0..1, included."""
    maximum: float | None = None
    """Highest value on 0..1, included."""
    status: Expected = "scored"
    answer: bool | str | None = None
    """Exactly what the judge must answer: yes or no, or a word of its levels or options."""
    quotes: tuple[str, ...] = ()
    """Texts that a quote of the judge must contain; a quote that is not in the case is none."""
    quoted_from: str | None = None
    """Field of the case that every quote must stand in; there must be one."""

    def words(self) -> str:
        """Return the expectation as people read it, such as `at most 0.5`."""
        said = []
        if self.status != "scored":
            said.append(self.status.replace("_", " "))
        if self.answer is not None:
            said.append(spoken(self.answer))
        if self.minimum is not None and self.maximum is not None:
            said.append(f"{self.minimum:g} to {self.maximum:g}")
        elif self.minimum is not None:
            said.append(f"at least {self.minimum:g}")
        elif self.maximum is not None:
            said.append(f"at most {self.maximum:g}")
        said += [f"a quote that contains {text!r}" for text in self.quotes]
        if self.quoted_from is not None:
            said.append(f"quotes from {self.quoted_from}")
        return ", ".join(said) or "scored"


class RubricTest(Value):
    """A case whose verdict is known; never shown to a judge."""

    __test__ = False

    name: str
    case: Case
    mode: str | None = None
    """Mode of the rubric; its default without one."""
    parameters: dict[str, Json] = Field(default_factory=dict)
    """What parameters of the rubric are set to; the others are at their defaults."""
    expect: dict[str, Expectation]
    """Criterion, or `value` for the whole -> what must hold of it."""
    where: str = ""
    """`file:line` of the test."""


class Ordering(Value):
    """Says that one test's case must come out above another's."""

    better: str
    worse: str
    criterion: str = WHOLE
    """Criterion, or `value` for the whole."""
    by: float = 0.0
    """How far apart they must be at least; without it any difference will do."""
    where: str = ""

    @property
    def name(self) -> str:
        """Its name among the tests."""
        by = "" if self.criterion == WHOLE else f"-by-{self.criterion}"
        return f"{self.better}-over-{self.worse}{by}"


def spoken(answer: object) -> str:
    """Return a judge's answer as people read it."""
    if isinstance(answer, bool):
        return "true" if answer else "false"
    if isinstance(answer, float):
        return f"{answer:g}"
    return "null" if answer is None else str(answer)
