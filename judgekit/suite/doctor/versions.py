"""The versions of rubrics that the metrics of a suite use, and newer ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from judgekit.core.generation import newest, version_in
from judgekit.core.protocols import Metric, with_children
from judgekit.core.value import Value
from judgekit.rubric.library import builtin_folder
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.versions import (
    SUFFIX,
    VersionedName,
    frozen_name,
    home_of,
    never_moves,
    versions_in,
)
from judgekit.suite.resolved import ResolvedSuite


class MetricVersions(Value):
    """The rubrics of one metric."""

    metric: str
    rubrics: tuple[str, ...]
    """NAME@V of each."""
    newer: tuple[str, ...] = ()
    """NAME@V of the newest version of those that have a newer one."""

    @property
    def text(self) -> str:
        """One clause, such as `quality@1 (quality@2 is newer)`."""
        used = " and ".join(self.rubrics)
        same = [name for name in self.rubrics if name.partition("@")[0] == self.metric]
        text = used if same else f"{self.metric} with {used}"
        verb = "is" if len(self.newer) == 1 else "are"
        return f"{text} ({' and '.join(self.newer)} {verb} newer)" if self.newer else text


class SuiteVersions(Value):
    """The versions of rubrics in a suite."""

    generation: int
    """The generation of the built-in rubrics: that of the tape, or else the newest."""
    newest: int
    """The newest generation."""
    tape: str | None = None
    metrics: tuple[MetricVersions, ...] = ()
    upgrade: str | None = None
    """The command that shows what a newer generation changes, if there is one."""


def versions_of(suite: ResolvedSuite, path: Path) -> SuiteVersions:
    """Return the versions of rubrics in a suite.

    Args:
        suite: the suite.
        path: its file.
    """
    tape = suite.tape if suite.tape is not None and suite.tape.is_file() else None
    behind = tape is not None and suite.generation < newest()
    return SuiteVersions(
        generation=suite.generation,
        newest=newest(),
        tape=None if tape is None else str(tape),
        metrics=tuple(filter(None, map(_of_metric, suite.metrics))),
        upgrade=f"judgekit rubric upgrade {path}" if behind else None,
    )


def _of_metric(metric: Metric) -> MetricVersions | None:
    rubrics = {
        f"{rubric.name}@{rubric.version}": rubric
        for part in with_children(metric)
        for rubric in part.rubrics
        if isinstance(rubric, Rubric) and rubric.path.suffix == SUFFIX
    }
    newer = (name for rubric in rubrics.values() for name in _newer(rubric))
    if not rubrics:
        return None
    return MetricVersions(metric=metric.name, rubrics=tuple(rubrics), newer=tuple(newer))


def _newer(rubric: Rubric) -> Iterator[str]:
    home = home_of(rubric.path)
    name = (frozen_name(rubric.path) or VersionedName(rubric.path.stem, None)).name
    if home.resolve() == builtin_folder().resolve() and not never_moves(name):
        last = version_in(name, newest())
    else:
        last = max(versions_in(home, name), default=rubric.version)
    if last > rubric.version:
        yield f"{name}@{last}"


def versions_lines(versions: SuiteVersions) -> Iterator[str]:
    """Yield the lines about versions for a terminal."""
    if versions.metrics:
        yield ", ".join(metric.text for metric in versions.metrics)
    if versions.tape is not None and versions.newest > 1:
        yield f"{versions.tape}: generation {versions.generation} of {versions.newest}"
    if versions.upgrade is not None:
        yield f"{versions.upgrade} shows what the newest rubrics change"
    elif any(metric.newer for metric in versions.metrics):
        yield "a name without @ uses the newest; judgekit rubric diff NAME@1 NAME@2 compares them"
