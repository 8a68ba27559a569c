"""Run a suite: evaluate it, keep what was used, say what it cost."""

from __future__ import annotations

import platform
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.ledger import Ledger
from judgekit.core.canonical import digest_json
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.protocols import JudgeLike
from judgekit.core.score import Failure, Result
from judgekit.core.synchronous import Flag
from judgekit.datasets.ids import is_derived
from judgekit.report.folder import (
    FILES,
    PLACES,
    RUN,
    SHARD,
    TAPE,
    read_manifest_digest,
    read_results,
    write_json,
)
from judgekit.report.manifest import full_manifest
from judgekit.report.report import Report
from judgekit.report.summary import MetricSummary
from judgekit.report.thresholds import passes
from judgekit.runner.evaluation import Progress, Reuse, evaluate, evaluate_inline
from judgekit.runner.gatekeeper import Rules
from judgekit.suite.suite import Suite, load_suite

if TYPE_CHECKING:
    import asyncio

MAX_PLACES = 2_000
"""Cases up to which the places of rows without an id are looked up: the cases are read again."""
MAX_PAGE_CASES = 20_000
"""Cases above which the page is only made when asked for."""


async def run_suite(
    suite: Suite | str | Path,
    *,
    judge: JudgeLike | None = None,
    out: str | Path | None = None,
    progress: Callable[[Progress], None] | bool | None = None,
    stop: asyncio.Event | None = None,
    retry_failed: str | Path | None = None,
    reuse: Reuse | None = None,
    page: bool = False,
) -> Report:
    """Run a wired suite; recordings are written even when it ends early.

    A run that was killed goes on when it is started again: the replies that had arrived are in the
    private store, and what is computed is computed again.

    Args:
        suite: from `load_suite`, or its file.
        judge: of a file, what answers the role `judge`: a model string, an async function, or a
            `Judge`. Naming one is permission to ask it.
        out: run folder to write.
        progress: called as cases finish; or `True` for a line that is written over.
        stop: set it to end early with what there is.
        retry_failed: run folder whose good results are taken over.
        reuse: returns the result of an earlier run to take over, row by row.
        page: whether the folder gets a page as well, up to `MAX_PAGE_CASES`.

    Raises:
        JudgekitError: what stops a run (see errors).
    """
    if isinstance(suite, Suite):
        if judge is not None:
            raise ConfigError("give the judge to load_suite: this suite is wired already")
    else:
        suite = load_suite(suite, judge=judge)
    out = Path(out) if out is not None else None
    retry_failed = Path(retry_failed) if retry_failed is not None else None
    try:
        return await evaluate(
            suite.cases(),
            suite.metrics,
            window=2 * suite.file.limits.concurrency,
            progress=progress,
            stop=stop,
            **_wanted(suite, out=out, retry_failed=retry_failed, reuse=reuse, page=page),
        )
    finally:
        suite.close()


def run_suite_sync(suite: Suite | str | Path, **options: Any) -> Report:
    """Run a wired suite from synchronous code; also inside a running event loop.

    Takes what `run_suite` takes. Ctrl-C ends it with what there is; a second one raises.
    """
    from judgekit.runner.background import run_stoppable

    return run_stoppable(partial(run_suite, suite), options)


def replay_suite(
    suite: Suite,
    *,
    out: Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop: Flag | None = None,
    retry_failed: Path | None = None,
    reuse: Reuse | None = None,
    page: bool = False,
) -> Report:
    """Run a suite that waits for nothing (`suite.at_once`), without an event loop.

    Raises:
        JudgekitError: what stops a run (see errors).
    """
    try:
        return evaluate_inline(
            suite.cases(),
            suite.metrics,
            progress=progress,
            stop=stop or Flag(),
            **_wanted(suite, out=out, retry_failed=retry_failed, reuse=reuse, page=page),
        )
    finally:
        suite.close()


def default_out(suite: Path, *, shard: str | None = None) -> Path:
    """Return the run folder of a suite where none is named: `runs/NAME` in the working folder.

    NAME is the name of the suite's file without its ending. A `suite.yaml` in another folder takes
    the name of that folder. A shard has a folder of its own, such as `runs/NAME-1-of-4`.
    """
    name, folder = suite.stem, suite.parent.resolve()
    if name == "suite" and folder != Path.cwd():
        name = folder.name or name
    if shard is not None:
        name += f"-{shard.replace('/', '-of-')}"
    return Path("runs", name)


def _wanted(
    suite: Suite,
    *,
    out: Path | None,
    retry_failed: Path | None,
    reuse: Reuse | None,
    page: bool,
) -> dict[str, Any]:
    """Return what a suite wants of its evaluation, however that is done."""
    started = datetime.now(UTC)
    if out is not None:
        _spare_inputs(suite, out)
    manifest = suite.manifest()
    if retry_failed is not None:
        made_by = digest_json(full_manifest(suite.metrics, manifest))
        reuse = _reuse(retry_failed, made_by=made_by, cassette=suite.cassette)
    return {
        "thresholds": suite.thresholds,
        "cluster": suite.file.cluster,
        # What gates ask of all cases, a shard alone cannot answer.
        "gates": suite.gates if suite.data.shard is None else {},
        "rules": suite.rules if suite.data.shard is None else Rules(),
        "limits": suite.limits,
        "out": out,
        "manifest": manifest,
        "reuse": reuse,
        "last": lambda report: _finish(suite, report, started=started, page=page),
    }


def _spare_inputs(suite: Suite, out: Path) -> None:
    """Refuse a run folder in which the run would write over what it reads.

    Raises:
        ConfigError: naming the file.
    """
    cases = suite.file.cases_file
    tape = suite.cassette.path if suite.cassette is not None else None
    inputs = {
        "the cassette": tape,
        "the cases": suite.base / cases.path if cases is not None else None,
    }
    written = {(out / name).resolve() for name in FILES}
    for what, path in inputs.items():
        if path is not None and path.resolve() in written:
            raise ConfigError(
                f"a run writes its own {path.name} here, where {what} of the suite would be lost; "
                "name another folder",
                where=str(out),
            )


def _finish(suite: Suite, report: Report, *, started: datetime, page: bool) -> None:
    report.run.update(occasion(suite, started=started))
    out = report.folder
    if page or out is None:
        report.places.update(_places(suite, report))
    if out is not None:
        if suite.cassette is not None:
            suite.cassette.write_used(out / TAPE)
        if suite.data.sharding is not None:
            from judgekit.report.shardfile import write_shard

            write_shard(suite.data.sharding, out / SHARD, flags=suite.flags)
        places = {PLACES: report.places} if report.places else {}
        write_json(out / RUN, {**report.run, **places})
        if page and report.figures.cases <= MAX_PAGE_CASES:
            report.to_html()


def _places(suite: Suite, report: Report) -> dict[str, str]:
    """Return the place of every case with a derived id, for runs small enough to read again."""
    if report.figures.cases > MAX_PLACES:
        return {}
    cases = (scored.case for scored in report.results)
    derived = {case.id for case in cases if is_derived(case)}
    found = suite.data.places(derived) if derived else {}
    lines = ((id, file, line) for id, (file, line) in found.items() if line is not None)
    return {id: f"line {line} of {Path(file).name}" for id, file, line in lines}


def occasion(suite: Suite, *, started: datetime) -> dict[str, Any]:
    """Return what depends on this run alone: when, where, what was asked and what it cost."""
    facts: dict[str, Any] = {
        "started": started.isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "platform": platform.system(),
        "record": suite.record.value,
        **suite.data.selected,
    }
    cassette = suite.cassette
    if cassette is None:
        return facts
    ledger = cassette.ledger
    found = {role: made for role, judge in suite.judges.items() if (made := _findings(judge))}
    if found:
        facts["judges"] = found
    mixed = _mixed(ledger)
    if mixed:
        facts["mixed"] = mixed
    facts["origins"] = dict(sorted(ledger.origins.items()))
    facts["spent"] = _dollars(ledger.spent, unknown=ledger.unpriced, of=ledger.origins["live"])
    replays = ledger.origins["tape"] + ledger.origins["store"]
    facts["avoided"] = _dollars(ledger.avoided, unknown=ledger.unpriced_replays, of=replays)
    facts["missed"] = ledger.missed
    if not suite.partial:
        facts["unused"] = cassette.unused
    facts["from_store_or_live"] = sorted(cassette.not_from_tape)
    return facts


def _findings(judge: Any) -> dict[str, Any]:
    """Return what this run found out about a judge; nothing where it was not asked."""
    found: dict[str, Any] = judge.findings()
    return {"model": judge.model, **found} if found else {}


def _mixed(ledger: Ledger) -> dict[str, list[str]]:
    """Return, by model string, the several servers or models that answered under it."""
    models = sorted({*ledger.servers, *ledger.reported})
    return {model: several for model in models if (several := ledger.mixed(model))}


def _dollars(known: float, *, unknown: int, of: int) -> float | None:
    """Return what is known to have been paid; `None` as soon as one price is not known."""
    return None if unknown else round(known, 6) if of else 0.0


def _reuse(folder: Path, *, made_by: str, cassette: Cassette | None) -> Reuse:
    """Return the good results of an earlier run, for cases that are still the same.

    Nothing is taken over when the suite is another one by now: other options, rubric or judge.
    """
    kept: dict[tuple[str, str], tuple[Case, Result]] = {}
    if read_manifest_digest(folder) != made_by:
        return lambda case, metric: None
    for scored in read_results(folder):
        for row in scored.rows:
            if not isinstance(row.result, Failure) and row.result.fallback is None:
                kept[row.case, row.metric] = (scored.case, row.result)

    def reuse(case: Case, metric: str) -> Result | None:
        found = kept.get((case.id, metric))
        if found is None or found[0] != case:
            return None
        if cassette is not None and not isinstance(found[1], Failure):
            for judgment in found[1].judgments:
                cassette.take_over(judgment.request_key)
        return found[1]

    return reuse


def failed_keys(folder: Path) -> frozenset[str]:
    """Return the keys of the requests that failed in an earlier run.

    Raises:
        ConfigError: not a run folder.
    """
    keys = set()
    for scored in read_results(folder):
        for row in scored.rows:
            if isinstance(row.result, Failure) and row.result.key is not None:
                keys.add(row.result.key)
    return frozenset(keys)


def failing_ids(folder: Path) -> frozenset[str]:
    """Return the ids of the cases without a score, or below a threshold, in an earlier run.

    Raises:
        ConfigError: not a run folder, or a run that never reported.
    """
    report = Report.read(folder)
    summaries = report.metrics
    return frozenset(
        row.case
        for scored in report.results
        for row in scored.rows
        if _fails(row.result, summaries.get(row.metric))
    )


def _fails(result: Result, summary: MetricSummary | None) -> bool:
    if isinstance(result, Failure):
        return True
    if result.value is None or summary is None:
        return False
    return passes(result.value, summary.threshold, summary.higher_is_better) is False


__all__ = [
    "MAX_PAGE_CASES",
    "default_out",
    "failed_keys",
    "failing_ids",
    "occasion",
    "replay_suite",
    "run_suite",
]
