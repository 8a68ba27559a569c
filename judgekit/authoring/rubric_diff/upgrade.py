"""Upgrade a suite to the newest built-in rubrics: what changes, before anything is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.authoring.rubric_diff.carry import carried
from judgekit.cassette.tape import set_generation, tape_generation
from judgekit.core.canonical import printable
from judgekit.core.errors import ConfigError, JudgekitError
from judgekit.core.generation import newest
from judgekit.core.protocols import Metric, with_children
from judgekit.report.run_labels import DescribedRubric, RunLabels
from judgekit.rubric.rubric import Rubric
from judgekit.suite.estimate import plan_run
from judgekit.suite.resolved import ResolvedSuite, resolve, resolve_data
from judgekit.suite.source import read_suite

TAPE_SUFFIX = ".jsonl"


class Upgrade(NamedTuple):
    """The upgrade of a suite."""

    text: str
    """What changes, for a reader."""
    exit_code: int
    """0 if it was done or would be done, 1 if something must be decided first."""
    written: bool = False
    """Whether the tape was changed."""

    def to_json(self) -> dict[str, Any]:
        """Return the upgrade as JSON values."""
        return {"lines": self.text.splitlines(), "written": self.written,
                "undecided": self.exit_code == 1}  # fmt: skip


def upgrade(path: Path, *, write: bool) -> Upgrade:
    """Return what changes when the names in a suite mean the newest built-in rubrics.

    Args:
        path: the suite, or the tape of tests.
        write: whether to write the generation to the tape, if nothing must be decided first.

    Raises:
        ConfigError: the suite is wrong, or there is no such tape.
    """
    if path.suffix == TAPE_SUFFIX:
        return _upgrade_tape(path, write=write)
    old = resolve(path)
    tape = old.tape
    if tape is None or not tape.is_file():
        return Upgrade(f"{path}: no tape yet, so the suite has the newest rubrics\n", 0)
    if old.generation == newest():
        return Upgrade(f"{path}: {tape} was begun with the newest rubrics; nothing to do\n", 0)
    data, lines = read_suite(path)
    problem = None
    try:
        resolve_data(data, base=path.parent, lines=lines, generation=newest())
    except JudgekitError as exc:
        problem = str(exc)
    new = resolve_data(_without_labels(data), base=path.parent, lines=lines, generation=newest())
    found = [f"{path}: {tape} was begun with the built-in rubrics of generation {old.generation}"]
    found[0] += f"; the newest is {newest()}"
    for metric in old.file.metrics:
        found += _changes(metric, old, new)
    if len(found) == 1:
        found.append("no rubric of this suite differs")
    else:
        found += _to_ask(new)
    if problem is not None:
        found.append(f"must be decided first: {problem}")
        found.append("nothing was written; correct this, or keep a version: rubric: NAME@V")
        return Upgrade(_text(found), 1)
    if not write:
        found.append("nothing was written; --yes upgrades, and rubric: NAME@V keeps a version")
        return Upgrade(_text(found), 0)
    set_generation(tape, newest())
    found.append(f"{tape}: upgraded; every recording is still there")
    return Upgrade(_text(found), 0, written=True)


def _upgrade_tape(path: Path, *, write: bool) -> Upgrade:
    """Upgrade the tape of tests, which have no suite to compare."""
    if not path.is_file():
        raise ConfigError("no such tape", where=str(path))
    begun = tape_generation(path)
    if begun == newest():
        return Upgrade(f"{path} was begun with the newest rubrics; nothing to do\n", 0)
    lines = [f"{path} was begun with the built-in rubrics of generation {begun}"]
    lines[0] += f"; the newest is {newest()}"
    lines.append("the names of rubrics in its tests then mean the newest versions; the tests miss")
    lines[-1] += " what is not recorded for them"
    if write:
        set_generation(path, newest())
        lines.append(f"{path}: upgraded; every recording is still there")
    else:
        lines.append("nothing was written; --yes upgrades")
    return Upgrade(_text(lines), 0, written=write)


def _text(lines: list[str]) -> str:
    return printable("\n".join(lines)) + "\n"


def _without_labels(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a suite without its labels, and without the gates, which may need them."""
    metrics = data["metrics"]
    entries = {
        name: {k: v for k, v in entry.items() if k != "gate"} if isinstance(entry, dict) else entry
        for name, entry in (metrics.items() if isinstance(metrics, dict) else ())
    }
    return {**{k: v for k, v in data.items() if k != "labels"}, "metrics": entries}


def _rubrics_of(suite: ResolvedSuite, name: str) -> list[Rubric]:
    """Return the rubrics of a metric and of the metrics inside it."""
    metric: Metric | None = next((one for one in suite.metrics if one.name == name), None)
    if metric is None:
        return []
    rubrics = (rubric for part in with_children(metric) for rubric in part.rubrics)
    return [rubric for rubric in rubrics if isinstance(rubric, Rubric)]


def _changes(name: str, old: ResolvedSuite, new: ResolvedSuite) -> Iterator[str]:
    """Yield what changes for a metric, and what cannot carry over."""
    entry = old.file.metrics[name]
    pairs = zip(_rubrics_of(old, name), _rubrics_of(new, name), strict=True)
    for before, after in pairs:
        if before.digest == after.digest:
            continue
        if (before.name, before.version) == (after.name, after.version):
            yield f"{name}: its own questions, in the frame of newer built-in rubrics"
        else:
            yield f"{name}: {before.name}@{before.version} -> {after.name}@{after.version}"
        kept = carried(before, after)
        yield from (f"  {line}" for line in kept.lines())
        bounds = [f"threshold {entry.threshold:g}"] if entry.threshold is not None else []
        bounds += ["gate"] if entry.gate else []
        if bounds and kept.moves_values:
            it = (
                "it still applies, so check it"
                if len(bounds) == 1
                else "they still apply, so check them"
            )
            what = "the value is computed differently"
            yield f"  {' and '.join(bounds)}: {what}; {it} after the first run"
        elif bounds:
            yield f"  {' and '.join(bounds)}: the value is computed as before"
        if old.labels is not None and _about(old.labels, name, before):
            yield from _labels(name, old.labels, before, after, new)


def _about(labels: RunLabels, name: str, rubric: Rubric) -> bool:
    return any(label.metric in (name, rubric.name) for label in labels)


def _labels(
    name: str, labels: RunLabels, before: Rubric, after: Rubric, new: ResolvedSuite
) -> Iterator[str]:
    rubric = DescribedRubric(new.full_manifest(), name)
    kept = carried(before, after)
    fit, misfits, gone = 0, dict[str, int](), dict[str, int]()
    for label in labels:
        if label.metric not in (name, before.name):
            continue
        now = kept.renamed.get(label.criterion or "", label.criterion)
        if label.criterion in kept.gone:
            gone[str(label.criterion)] = gone.get(str(label.criterion), 0) + 1
            continue
        try:
            rubric.value(label._replace(criterion=now))
            fit += 1
        except ValueError:
            misfits[str(now)] = misfits.get(str(now), 0) + 1
    yield f"  labels that carry over: {fit}"
    for id, count in gone.items():
        yield f"  labels of {id}, which is gone: {count}; they stay in the file, unused"
    for id, count in misfits.items():
        yield f"  labels of {id} that are no answer on its new scale: {count}"


def _to_ask(new: ResolvedSuite) -> Iterator[str]:
    """Yield which recordings can be used, and what must be asked."""
    try:
        plan = plan_run(new)
    except ConfigError as exc:
        yield f"recordings: cannot be counted: {exc}"
        return
    texts = {one.model: one.text for one in plan.missing}
    for model in plan.models:
        cost = f", {texts[model.model]}" if model.model in texts else ""
        yield f"{model.model}: recorded {model.recorded}, to ask {model.requests[0]}{cost}"
    if plan.further:
        yield f"further requests of {', '.join(plan.further)} depend on replies"
