"""What a rubric asks and what the answers are worth, as plain data for reports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from judgekit.core.value import Value

if TYPE_CHECKING:
    from judgekit.rubric.rubric import Rubric


def told(rubric: Rubric) -> dict[str, Any]:
    """Return what a rubric says to reports: JSON, the same for the same rubric and parameters."""
    said: dict[str, Any] = {
        "name": rubric.name,
        "version": rubric.version,
        "digest": rubric.digest[:16],
        "description": rubric.description,
        "combine": rubric.combine,
        "modes": rubric.modes,
        "default_mode": rubric.default_mode,
        "criteria": [],
    }
    if rubric.details:
        said["details"] = _plain(rubric.details)
    for criterion in rubric.criteria:
        question = criterion.question.model_dump(mode="json", exclude_defaults=True)
        question["weight"] = criterion.weight
        if criterion.reverse:
            question["reverse"] = True
        if criterion.levels:
            question["levels"] = _plain(criterion.levels)
        said["criteria"].append(question)
    return said


def _plain(values: Iterable[Value]) -> list[dict[str, Any]]:
    return [value.model_dump(mode="json", exclude_defaults=True) for value in values]
