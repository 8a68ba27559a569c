"""Merge: the runs of all shards of a suite, as the one run they are parts of.

Every case and result is read back and goes through the same evaluation again, with nothing left
to score: what comes out is what one run over all cases writes, byte for byte.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from judgekit.cassette.tape import join_tapes
from judgekit.core.canonical import digest_json
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.file_model import validate_file
from judgekit.core.score import Result
from judgekit.core.synchronous import Flag
from judgekit.core.yaml_file import Lines
from judgekit.datasets.selection.shard import Shard
from judgekit.report.folder import (
    REPORT,
    RUN,
    SHARD,
    TAPE,
    Scored,
    read_json,
    read_manifest_digest,
    read_results,
    write_json,
)
from judgekit.report.manifest import full_manifest
from judgekit.report.report import Report
from judgekit.report.shardfile import ShardFile
from judgekit.runner.evaluation import Progress, evaluate_inline
from judgekit.suite.file import DECIDING, Overrides
from judgekit.suite.run import MAX_PAGE_CASES
from judgekit.suite.suite import Suite, load_suite


def merge_shards(
    suite: str | Path,
    folders: Sequence[str | Path],
    *,
    out: str | Path,
    baseline: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop: Flag | None = None,
    page: bool = False,
) -> Report:
    """Make one run of the runs of all shards.

    Args:
        suite: the suite file they ran.
        folders: their run folders, in any order.
        out: the run folder to write.
        baseline: run folder for `not_worse`, if another than the shards were told.
        progress: called as cases are read.
        stop: set it to end early with what there is.
        page: whether the folder gets a page as well, up to `MAX_PAGE_CASES`.

    Raises:
        ConfigError: a folder is no shard, one is missing or there twice, or they are not of one
            run: another suite, other flags or other cases.
    """
    parts = _parts([Path(folder) for folder in folders])
    target = Path(out)
    for part in parts:
        if part.folder.resolve() == target.resolve():
            raise ConfigError("is one of the shards; merge into another folder", where=str(out))
    wired = load_suite(suite, _overrides(parts[0], baseline))
    try:
        _check_made_by(wired, parts)
        merged = _Merged(parts)
        return evaluate_inline(
            merged.cases(),
            wired.metrics,
            thresholds=wired.thresholds,
            cluster=wired.file.cluster,
            gates=wired.gates,
            rules=wired.rules._replace(paid=lambda: _paid(parts)),
            limits=wired.limits,
            out=target,
            manifest=wired.manifest(),
            progress=progress,
            stop=stop or Flag(),
            reuse=merged.result,
            last=lambda report: _finish(parts, report, page=page),
        )
    finally:
        wired.close()


def _finish(parts: Sequence[_Part], report: Report, *, page: bool) -> None:
    out = report.folder
    if out is None:
        return
    tapes = [tape for part in parts if (tape := part.folder / TAPE).exists()]
    if tapes:
        join_tapes(tapes, out / TAPE)
    report.run.update(_occasion(parts))
    write_json(out / RUN, report.run)
    if page and report.figures.cases <= MAX_PAGE_CASES:
        report.to_html()


class _Part:
    """One shard that has run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = folder / SHARD
        if not path.exists():
            raise ConfigError(
                f"{SHARD} is missing: not the folder of `judgekit run --shard N/M --out FOLDER` "
                "that came to its end",
                where=str(folder),
            )
        self.said = validate_file(
            ShardFile, _mapping(read_json(path), path), lines=Lines(file=str(path))
        )
        self.shard = Shard.parse(self.said.shard)
        self.run: Mapping[str, Any] = _mapping(read_json(folder / RUN), folder / RUN)
        read_json(folder / REPORT)  # says where the run was killed before its end
        if not self.said.finished:
            message = f"shard {self.shard} was stopped early; run it again"
            raise ConfigError(message, where=str(folder))

    def placed(self) -> Iterator[tuple[int, Scored]]:
        """Yield its cases with their places among all."""
        places = accumulate(map(int, self.said.places.split()))
        results = read_results(self.folder)
        for place in places:
            scored = next(results, None)
            if scored is None:
                raise ConfigError("holds fewer cases than it says", where=str(self.folder))
            yield place, scored
        if next(results, None) is not None:
            raise ConfigError("holds more cases than it says", where=str(self.folder))


class _Merged:
    """Reads the cases of all shards in the order they had before they were parted."""

    def __init__(self, parts: Sequence[_Part]) -> None:
        self._parts = parts
        self._results: dict[str, Result] = {}

    def cases(self) -> Iterator[Case]:
        merged = heapq.merge(*(part.placed() for part in self._parts), key=lambda found: found[0])
        number = -1
        for number, (place, scored) in enumerate(merged):
            if place != number:
                raise ConfigError(
                    "the shards do not fit together: their cases stand in the same places",
                    where=str(self._parts[0].folder.parent),
                )
            self._results = {row.metric: row.result for row in scored.rows}
            yield scored.case

    def result(self, case: Case, metric: str) -> Result:
        found = self._results.get(metric)
        if found is None:
            raise ConfigError(f"case {case.id!r} has no result of {metric!r}; run its shard again")
        return found


def _parts(folders: Sequence[Path]) -> list[_Part]:
    """Return the shards in their order, after checking that they are all there, each once."""
    if not folders:
        raise ConfigError("which shards? judgekit merge suite.yaml runs/shard-* --out runs/all")
    parts = sorted(map(_Part, folders), key=lambda part: part.shard)
    first = parts[0]
    for part in parts[1:]:
        where = str(part.folder)
        if part.shard.of != first.shard.of:
            message = f"is shard {part.shard}, and {first.folder} is shard {first.shard}"
            raise ConfigError(message, where=where)
        if (part.said.cases, part.said.ids) != (first.said.cases, first.said.ids):
            message = f"was made of other cases than {first.folder}"
            raise ConfigError(message, where=where)
        if part.said.flags != first.said.flags:
            message = f"was run with other flags than {first.folder}"
            raise ConfigError(message, where=where)
    numbers = [part.shard.number for part in parts]
    for one, next_one in pairwise(parts):
        if one.shard == next_one.shard:
            message = f"is shard {one.shard}, as {one.folder} is"
            raise ConfigError(message, where=str(next_one.folder))
    missing = [str(number) for number in range(1, first.shard.of + 1) if number not in numbers]
    if missing:
        alone = len(missing) == 1
        which = f"shard{'' if alone else 's'} {', '.join(missing[:10])} of {first.shard.of}"
        raise ConfigError(f"{which} {'is' if alone else 'are'} missing")
    return parts


def _overrides(part: _Part, baseline: str | None) -> Overrides:
    """Return the flags the shards were run with; nobody is asked, whatever they were allowed."""
    where = str(part.folder / SHARD)
    for name in part.said.flags:
        if name not in DECIDING:
            raise ConfigError(f"a shard is not told by {name!r}", where=where)
    flags = {**part.said.flags, "record": "none"}
    if baseline is not None:
        flags["baseline"] = baseline
    return validate_file(Overrides, flags, lines=Lines(file=where))


def _check_made_by(suite: Suite, parts: Sequence[_Part]) -> None:
    """Refuse shards that another suite made: other options, rubrics or judges, or other code."""
    wanted = digest_json(full_manifest(suite.metrics, suite.manifest()))
    for part in parts:
        if read_manifest_digest(part.folder) != wanted:
            raise ConfigError(
                "was not made by this suite as it is now: its metrics, rubrics, judge, gates or "
                "judgekit itself were others",
                where=str(part.folder),
            )


def _paid(parts: Sequence[_Part]) -> float | None:
    """Return what all replies cost, or cost when they were recorded; `None` if not known."""
    spent, avoided = _sum(parts, "spent"), _sum(parts, "avoided")
    return None if spent is None or avoided is None else round(spent + avoided, 6)


def _sum(parts: Sequence[_Part], name: str) -> float | None:
    found = [part.run.get(name, 0.0) for part in parts]
    numbers = [number for number in found if isinstance(number, (int, float))]
    return round(sum(numbers), 6) if len(numbers) == len(found) else None


def _occasion(parts: Sequence[_Part]) -> dict[str, Any]:
    """Return what the shards say of their occasions, together."""
    facts: dict[str, Any] = {"shards": len(parts)}
    for name in ("started", "python", "platform", "record"):
        said = sorted({str(part.run[name]) for part in parts if name in part.run})
        if said:
            facts[name] = said[0] if name == "started" else ", ".join(said)
    if not any("origins" in part.run for part in parts):
        return facts
    origins: dict[str, int] = {}
    keys: set[str] = set()
    for part in parts:
        for origin, count in _mapping(part.run.get("origins") or {}, part.folder / RUN).items():
            origins[str(origin)] = origins.get(str(origin), 0) + int(count)
        keys.update(map(str, part.run.get("from_store_or_live") or ()))
    facts["origins"] = dict(sorted(origins.items()))
    facts["spent"], facts["avoided"] = _sum(parts, "spent"), _sum(parts, "avoided")
    facts["missed"] = _sum(parts, "missed")
    facts["from_store_or_live"] = sorted(keys)
    return facts


def _mapping(value: Any, path: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError("not what judgekit wrote", where=str(path))
    return value


__all__ = ["merge_shards"]
