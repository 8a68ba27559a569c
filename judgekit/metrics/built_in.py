"""A built-in rubric as a metric: one constructor for those that add no option of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.core.protocols import JudgeLike
from judgekit.metrics.rubric import DEFAULT_HISTORY, RubricMetric
from judgekit.rubric.rubric import Rubric


class BuiltIn(RubricMetric):
    """A metric that asks one rubric of ours, unless another is given in its place.

    `class Coherence(BuiltIn, asks="coherence")` takes `judge`, `name`, `history`, `samples`,
    `rubric` and `parameters`. Its defaults stand in its signature, where help and cards look.
    """

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            judge: JudgeLike,
            name: str = ...,
            history: int = ...,
            samples: int = ...,
            rubric: Rubric | str | Path = ...,
            parameters: Mapping[str, Any] | None = ...,
        ) -> None: ...

    def __init_subclass__(
        cls, *, asks: str | None = None, history: int = DEFAULT_HISTORY, **options: Any
    ) -> None:
        super().__init_subclass__(**options)
        if asks is not None:
            constructor = _constructor(asks, history)
            constructor.__qualname__ = f"{cls.__qualname__}.__init__"  # errors of calls name it
            cls.__init__ = constructor  # type: ignore[method-assign]


def _constructor(asks: str, shown: int) -> Any:
    def __init__(
        self: RubricMetric,
        *,
        judge: JudgeLike,
        name: str = asks,
        history: int = shown,
        samples: int = 1,
        rubric: Rubric | str | Path = asks,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        RubricMetric.__init__(
            self,
            rubric,
            judge=judge,
            name=name,
            history=history,
            samples=samples,
            parameters=parameters,
        )

    return __init__
