"""Metrics of a built-in rubric, with typed options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, dataclass_transform

from judgekit.metrics._options import check_options
from judgekit.metrics.rubric import RubricMetric
from judgekit.rubric.rubric import Rubric

RubricLike = Rubric | str | Path
"""A loaded rubric, a name, or a path."""
_OPTIONS = ("mode", "samples", "history", "scale", "parameters")
"""The options of `RubricMetric` that a subclass may have."""


@dataclass_transform(kw_only_default=True, eq_default=False)
class BuiltIn(RubricMetric):
    """A metric with a built-in rubric, or with another rubric that replaces it.

    The annotated attributes of a subclass are its options. It becomes a dataclass, which checks
    them by their annotations and passes those of `RubricMetric` on.
    """

    judge: Any
    rubric: Any

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # A subclass that a user derives from a built-in metric is not changed.
        if BuiltIn in cls.__bases__:
            dataclass(kw_only=True, eq=False, repr=False)(cls)
            cls.synchronous = RubricMetric.synchronous  # type: ignore[method-assign]
            cls.validated = True  # type: ignore[method-assign, assignment]

    def __post_init__(self) -> None:
        check_options(self, without=_OPTIONS)
        given = {name: vars(self)[name] for name in _OPTIONS if name in vars(self)}
        super().__init__(self.rubric, judge=self.judge, name=self.name, **given)
