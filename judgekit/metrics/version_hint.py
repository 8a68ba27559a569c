"""Say in the message of a miss which other version of a metric's rubric is recorded."""

from __future__ import annotations

from collections.abc import Callable

from judgekit.core.case import Case
from judgekit.core.errors import JudgekitError
from judgekit.core.generation import last_with, metric_version
from judgekit.core.miss import Miss
from judgekit.core.protocols import Metric, with_children
from judgekit.metrics.opinions.opinion import OpinionRequest
from judgekit.rubric.other_versions import OtherVersion, other_versions
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.versions import SUFFIX


class VersionHint:
    """The other versions of a metric's rubric; they are loaded at the first miss.

    Args:
        rubric: the rubric of the metric.
        requests: returns a function that makes the requests of a case with another rubric.
        step_of: the metric of which the metric is a step.
    """

    def __init__(
        self,
        rubric: Rubric,
        *,
        requests: Callable[[Rubric], Callable[[Case], list[OpinionRequest]]],
        step_of: Metric | None,
    ) -> None:
        self._rubric, self._step_of = rubric, step_of
        self._others = [(other, requests(other.rubric)) for other in other_versions(rubric)]

    def add(self, miss: Miss, case: Case, ask: OpinionRequest) -> None:
        """Add the newest version for which all requests of the same opinion are recorded."""
        for other, requests in self._others:
            try:
                asks = requests(case)
            except JudgekitError:  # this version needs a field that the case lacks
                continue
            same = next((one for one in asks if _place(one) == _place(ask)), None)
            if same is not None and all(map(miss.recorded, same.requests)):
                miss.older = self._advice(other)
                return

    def _advice(self, other: OtherVersion) -> str:
        """Return which version would hit, and how to use it."""
        name = other.name
        if other.parent and self._rubric.path.suffix == SUFFIX:
            return f"{self._rubric.name} would hit with `extends: {other.parent}`"
        if other.parent:
            file = f"a rubric file with these criteria and `extends: {other.parent}`"
            return f"{file} would hit"
        if self._step_of is not None and other.builtin:
            # METRIC@V, because the rubric of a step has another name than the metric.
            generation = last_with(other.rubric.name, other.rubric.version)
            parts = with_children(self._step_of)
            rubrics = {rubric.name for part in parts for rubric in part.rubrics}
            pinned = f"{type(self._step_of).name}@{metric_version(rubrics, generation)}"
            use = f'`metric: {pinned}`, or create_metric("{pinned}") in Python'
        else:
            use = f'`rubric: {name}`, or rubric="{name}" in Python'
        if other.builtin and other.rubric.version > self._rubric.version:
            use += ", or upgrade the suite (`judgekit rubric upgrade`)"
        return f"{name} would hit: write {use}"


def _place(ask: OpinionRequest) -> tuple[str, int, int, bool]:
    return ask.member.name, ask.sample, ask.place, ask.mirror is not None
