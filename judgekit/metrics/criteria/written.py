"""Criteria of a case that are written in Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any

from judgekit.core.arguments import checked_class
from judgekit.core.errors import CaseError, ConfigError
from judgekit.core.value import Json
from judgekit.metrics.criteria.item import items_of


@checked_class
@dataclass(frozen=True)
class WrittenCriterion:
    """A criterion of one case, for `Case(criteria=[...])`; the metric `points` judges it.

    Args:
        text: what an answer does that meets it.
        points: a number; negative for what an answer should not do.
        levels: words with values from 0 to 1, or a list from worst to best.
        score: the bounds of a number, `{"min": 1, "max": 5}`.
        choice: words in no order, with their values; `None` for not applicable.
        of: the criteria below it; it is their weighted mean.
        tags: words such as `axis:accuracy`.
        required: whether it must be met to pass, with `pass: required`.
        optional: whether it need not be met to pass.
        negate: whether its share is 1 minus that of the verdict.
        nullable: whether the judge may leave it open.
        reference: examples of what meets it, for the judge.
        id: a name that is unique in the case.

    Raises:
        ConfigError: a field is wrong.

    Example:
        >>> Criterion("Names the dose", 5, tags=["axis:accuracy"]).row()
        {'criterion': 'Names the dose', 'points': 5, 'tags': ['axis:accuracy']}
    """

    text: str
    points: float
    _: KW_ONLY
    levels: Mapping[str, float] | Sequence[str] | None = None
    score: Mapping[str, float] | None = None
    choice: Mapping[str, float | None] | Sequence[str] | None = None
    of: Sequence[Criterion] = ()
    tags: Sequence[str] = ()
    required: bool = False
    optional: bool = False
    negate: bool = False
    nullable: bool = False
    reference: str | Sequence[str] = ()
    id: str | None = None

    def __post_init__(self) -> None:
        try:
            items_of([self.row()])
        except CaseError as exc:
            raise ConfigError(str(exc).replace("expected.criteria: number 1", "criterion")) from exc

    def __repr__(self) -> str:
        further = [f", {name}={value!r}" for name, value in list(self.row().items())[2:]]
        return f"Criterion({self.text!r}, {self.points!r}{''.join(further)})"

    def row(self) -> dict[str, Json]:
        """Return the criterion as in a row of a file, without fields at their defaults."""
        row: dict[str, Any] = {"criterion": self.text, "points": self.points}
        for field in fields(self)[2:]:
            value = getattr(self, field.name)
            if value != field.default:
                row[field.name] = _plain(value)
        return row


def _plain(value: Any) -> Any:
    if isinstance(value, WrittenCriterion):
        return value.row()
    if isinstance(value, Mapping):
        return dict(value)
    return value if isinstance(value, (str, bool)) else [_plain(one) for one in value]


# In the package, `Criterion` is one of a rubric; in the Python API, it is one of a case.
WrittenCriterion.__name__ = WrittenCriterion.__qualname__ = "Criterion"
Criterion = WrittenCriterion
