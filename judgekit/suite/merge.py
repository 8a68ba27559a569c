"""Merge the runs of all shards of a suite into one run.

All cases and results pass through the evaluation again, without scoring. The merged folder is
byte-identical to that of one run over all cases.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, TypeVar

from judgekit.cassette.tape import join_tapes
from judgekit.core.arguments import checked
from judgekit.core.canonical import digest_json
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.file_model import validate_file
from judgekit.core.score import Result
from judgekit.core.synchronous import Flag, run_inline
from judgekit.core.yaml_file import Lines
from judgekit.datasets.shard import Shard
from judgekit.report.blocks import CaseBlock, read_blocks
from judgekit.report.folder import (
    REPORT,
    RESULTS,
    RUN,
    SHARD,
    TAPE,
    Scored,
    read_json,
    read_manifest_digest,
    read_results,
    write_json,
)
from judgekit.report.report import Report
from judgekit.report.shardfile import ShardFile
from judgekit.runner.evaluation import evaluate
from judgekit.runner.progress import Progress
from judgekit.suite.cases import SuiteCases
from judgekit.suite.merge_workers import MergeWorkers, processes
from judgekit.suite.overrides import EFFECTS, SHARED, Affects, Overrides, read_settings
from judgekit.suite.resolved import ResolvedSuite, resolve
from judgekit.suite.run import MAX_KEYS

T = TypeVar("T")


@checked
def merge_shards(
    suite: str | Path,
    folders: Sequence[str | Path],
    *,
    out: str | Path,
    baseline: str | None = None,
    overrides: Overrides | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop: Flag | None = None,
    page: bool = False,
    workers: int | None = None,
) -> Report:
    """Merge the runs of all shards into one.

    Args:
        suite: the suite file of the shards.
        folders: the run folders of the shards, in any order.
        out: the run folder to write.
        baseline: run folder for `not_worse`, instead of that of the shards.
        overrides: flags that affect the exit code, such as `max_failures`, instead of those of the
            shards.
        progress: called as cases are read; without results, if several processes read them.
        stop: set it to end early with a partial report.
        page: whether to write a page.
        workers: number of processes that read rows, at most one for each metric; by default, what
            pays. 1 reads them in this process.

    Raises:
        ConfigError: a folder is not a shard, a shard is missing or given twice, or the shards
            differ in suite, flags or cases; or a flag affects more than the exit code.
    """
    parts = _parts([Path(folder) for folder in folders])
    target = Path(out)
    for part in parts:
        if part.folder.resolve() == target.resolve():
            raise ConfigError("is one of the shards; merge into another folder", where=str(out))
    own = (overrides or Overrides()).given()
    if baseline is not None:
        own["baseline"] = baseline
    resolved = resolve(suite, _overrides(parts[0], own))
    _check_manifests(resolved, parts)
    merged = _MergedShards(parts)
    stop = stop or Flag()
    count = processes(len(resolved.metrics), cases=parts[0].file.cases, wanted=workers)
    with MergeWorkers(merged.blocks, processes=count, stop=stop) as tallied:
        work = evaluate(
            merged.cases(),
            resolved.metrics,
            thresholds=resolved.thresholds,
            cluster=resolved.file.cluster,
            labels=resolved.labels,
            gates=resolved.gates.gates,
            rules=resolved.rules._replace(paid=lambda: _paid(parts)),
            limits=resolved.limits,
            out=target,
            manifest=resolved.manifest(),
            progress=progress,
            stop=stop,
            reuse=merged.result,
            tallied=tallied if count > 1 else None,
            last=lambda report: _finish(parts, report, page=page),
        )
        return run_inline(work)


def find_places(
    suite: str | Path, folders: Sequence[str | Path], ids: Collection[str]
) -> dict[str, tuple[str, int | None]]:
    """Return file and line of cases of a merged run by their ids.

    Raises:
        ConfigError: the suite is wrong, or a folder is not a shard.
    """
    part = _Part(Path(folders[0]))
    overrides = _overrides(part, {}).model_copy(update={"cases": part.file.source or None})
    return SuiteCases(read_settings(suite, overrides), redact=None).places(ids)


def _finish(parts: Sequence[_Part], report: Report, *, page: bool) -> None:
    out = report.folder
    if out is None:
        return
    tapes = [tape for part in parts if (tape := part.folder / TAPE).exists()]
    if tapes and (differing := join_tapes(tapes, out / TAPE)):
        report.run["differing_replies"] = differing
    report.run.update(_occasion(parts))
    write_json(out / RUN, report.run)
    if page:
        report.to_html()


def shard_folders(folders: Sequence[Path]) -> list[Path]:
    """Return the run folders of shards: those given, and the ones in a folder of runs."""
    return [
        shard
        for folder in folders
        for shard in (
            [folder]
            if (folder / SHARD).exists()
            else sorted(file.parent for file in folder.glob(f"*/{SHARD}")) or [folder]
        )
    ]


class _Part:
    """The run folder of one shard."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = folder / SHARD
        if not path.exists():
            command = "`judgekit run --shard N/M --out FOLDER`"
            message = f"{SHARD} is missing: not the folder of a complete {command}"
            raise ConfigError(message, where=str(folder))
        data = _mapping(read_json(path), path)
        self.file = validate_file(ShardFile, data, lines=Lines(file=str(path)))
        self.shard = Shard.parse(self.file.shard)
        self.run: Mapping[str, Any] = _mapping(read_json(folder / RUN), folder / RUN)
        read_json(folder / REPORT)  # raises for a run that was killed
        if not self.file.finished:
            message = f"shard {self.shard} was stopped early; run it again"
            raise ConfigError(message, where=str(folder))

    def placed(self, results: Iterator[T]) -> Iterator[tuple[int, T]]:
        """Yield its cases with their positions among all cases."""
        places = accumulate(map(int, self.file.places.split()))
        for place in places:
            scored = next(results, None)
            if scored is None:
                raise ConfigError(f"has fewer cases than {SHARD} lists", where=str(self.folder))
            yield place, scored
        if next(results, None) is not None:
            raise ConfigError(f"has more cases than {SHARD} lists", where=str(self.folder))

    def results(self) -> Iterator[Scored]:
        """Yield its cases with their rows."""
        return read_results(self.folder)

    def blocks(self) -> Iterator[tuple[str, CaseBlock]]:
        """Yield its cases as lines, each with the path of the file."""
        path = str(self.folder / RESULTS)
        return ((path, block) for block in read_blocks(self.folder))


class _MergedShards:
    """Reads the cases of all shards in the order of the data set."""

    def __init__(self, parts: Sequence[_Part]) -> None:
        self._parts = parts
        self._results: dict[str, Result] = {}

    def cases(self) -> Iterator[Case]:
        for scored in self._in_order(_Part.results):
            self._results = {row.metric: row.result for row in scored.rows}
            yield scored.case

    def blocks(self) -> Iterator[tuple[str, CaseBlock]]:
        """Yield the cases as lines, each with the path of its file."""
        return self._in_order(_Part.blocks)

    def _in_order(self, read: Callable[[_Part], Iterator[T]]) -> Iterator[T]:
        placed = (part.placed(read(part)) for part in self._parts)
        merged = heapq.merge(*placed, key=lambda pair: pair[0])
        for number, (place, one) in enumerate(merged):
            if place != number:
                message = "the shards do not fit together: they have the same positions of cases"
                raise ConfigError(message, where=str(self._parts[0].folder.parent))
            yield one

    def result(self, case: Case, metric: str) -> Result:
        if metric not in self._results:
            raise ConfigError(f"case {case.id!r} has no result of {metric!r}; run its shard again")
        return self._results[metric]


def _parts(folders: Sequence[Path]) -> list[_Part]:
    """Return the shards in order; check that each is given exactly once."""
    if not folders:
        raise ConfigError("which shards? judgekit merge suite.yaml runs/shard-* --out runs/all")
    parts = sorted(map(_Part, folders), key=lambda part: part.shard)
    first = parts[0]
    for part in parts[1:]:
        where = str(part.folder)
        if part.shard.of != first.shard.of:
            message = f"is shard {part.shard}, and {first.folder} is shard {first.shard}"
            raise ConfigError(message, where=where)
        for field, noun in (("cases", "cases"), ("ids", "cases"), ("flags", "flags")):
            if getattr(part.file, field) != getattr(first.file, field):
                raise ConfigError(f"has other {noun} than {first.folder}", where=where)
    numbers = [part.shard.number for part in parts]
    for one, other in pairwise(parts):
        if one.shard == other.shard:
            raise ConfigError(f"is shard {one.shard}, as {one.folder} is", where=str(other.folder))
    missing = [str(number) for number in range(1, first.shard.of + 1) if number not in numbers]
    if missing:
        listed = f"{', '.join(missing[:10])} of {first.shard.of}"
        which = f"shards {listed} are" if len(missing) > 1 else f"shard {listed} is"
        raise ConfigError(f"{which} missing")
    return parts


def _overrides(part: _Part, own: Mapping[str, Any]) -> Overrides:
    """Return the flags of the shards, replaced by those of the merge, for a replay."""
    where = str(part.folder / SHARD)
    for name in part.file.flags:
        if name not in EFFECTS or EFFECTS[name].affects not in SHARED:
            raise ConfigError(f"unknown flag {name!r}; run the shard again", where=where)
    for name in own:
        if EFFECTS[name].affects is not Affects.EXIT_CODE:
            raise ConfigError(f"merge takes no {name}; it belongs to the runs of the shards")
    flags = {**part.file.flags, **own, "record": "none"}
    return validate_file(Overrides, flags, lines=Lines(file=where))


def _check_manifests(resolved: ResolvedSuite, parts: Sequence[_Part]) -> None:
    """Reject shards of another suite: other options, rubrics, judges or code."""
    expected = digest_json(resolved.full_manifest())
    for part in parts:
        if read_manifest_digest(part.folder) != expected:
            changed = "its metrics, rubrics, judge, gates or judgekit itself have changed"
            message = f"is not a run of this suite as it is now: {changed}; run the shard again"
            raise ConfigError(message, where=str(part.folder))


def _paid(parts: Sequence[_Part]) -> float | None:
    """Return the cost of all replies, including recorded ones; `None` if a price is unknown."""
    spent, avoided = _sum(parts, "spent"), _sum(parts, "avoided")
    return None if spent is None or avoided is None else round(spent + avoided, 6)


_MOST = 2.0**53
"""Upper bound of counts and dollars in a run folder."""


def _sum(parts: Sequence[_Part], name: str) -> float | None:
    values = [part.run.get(name, 0.0) for part in parts]
    numbers = [value for value in values if type(value) in (int, float) and 0 <= value < _MOST]
    return round(sum(numbers), 6) if len(numbers) == len(values) else None


def _occasion(parts: Sequence[_Part]) -> dict[str, Any]:
    """Return the combined facts about the runs of the shards."""
    facts: dict[str, Any] = {"shards": len(parts)}
    for name in ("started", "python", "platform", "record"):
        values = sorted({str(part.run[name]) for part in parts if name in part.run})
        if values:
            facts[name] = values[0] if name == "started" else ", ".join(values)
    if repeated := _sum(parts, "repeated_rows"):
        facts["repeated_rows"] = int(repeated)
    if not any("origins" in part.run for part in parts):
        return facts
    origins: Counter[str] = Counter()
    for part in parts:
        origins.update(_counts(part.run.get("origins") or {}, part.folder / RUN))
    facts["origins"] = dict(sorted(origins.items()))
    facts |= {name: _sum(parts, name) for name in ("spent", "avoided", "missed")}
    older: Counter[str] = Counter()
    older_keys: dict[str, Any] = {}
    for part in parts:
        older.update(_counts(part.run.get("older") or {}, part.folder / RUN))
        older_keys |= _mapping(part.run.get("older_keys") or {}, part.folder / RUN)
    if older:
        facts["older"] = dict(sorted(older.items()))
        facts["older_keys"] = dict(sorted(older_keys.items())[:MAX_KEYS])
    if superseded := _sum(parts, "superseded"):
        facts["superseded"] = superseded
    listed: list[Any] = [part.run.get("from_store_or_live") for part in parts]
    if all(isinstance(several, list) for several in listed):
        keys = {str(key) for several in listed for key in several}
        if len(keys) <= MAX_KEYS:
            facts["from_store_or_live"] = sorted(keys)
    return facts


def _counts(value: Any, path: Path) -> dict[str, int]:
    counts = _mapping(value, path)
    if not all(type(count) is int and 0 <= count < _MOST for count in counts.values()):
        raise ConfigError("not a file that judgekit wrote: a count is no number", where=str(path))
    return counts


def _mapping(value: Any, path: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError("not a file that judgekit wrote", where=str(path))
    return value
