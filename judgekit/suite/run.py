"""Run a suite: evaluate it, write the recordings, and report the cost."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.mode import RecordMode
from judgekit.cassette.tape import Tape
from judgekit.core.arguments import checked
from judgekit.core.canonical import digest_json
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.input_file import home_path
from judgekit.core.judge_wrapper import as_judge
from judgekit.core.output_file import check_room
from judgekit.core.protocols import Judge, JudgeLike
from judgekit.core.score import Failure, Result, Row, Score
from judgekit.core.synchronous import Flag, run_inline
from judgekit.datasets.ids import is_derived, is_numbered
from judgekit.report import folder as run_folder
from judgekit.report.manifest import full_manifest
from judgekit.report.report import Report
from judgekit.report.summary import MetricSummary
from judgekit.report.thresholds import passes
from judgekit.runner.evaluation import Reuse, evaluate
from judgekit.runner.gatekeeper import Rules
from judgekit.runner.progress import Progress
from judgekit.runner.sync_form import sync_form
from judgekit.suite.gates import check_fields
from judgekit.suite.overrides import Overrides
from judgekit.suite.suite import Suite, load_suite

if TYPE_CHECKING:
    import asyncio

RUNS = "runs"
"""The folder of the run folders, beside the suite."""
MAX_PLACES = 2_000
"""Maximum number of cases for which judgekit reads the file again to find lines of cases."""
MAX_KEYS = 100_000
"""Maximum number of keys in `run.json`, to limit the size of the file."""
_UNANSWERED = ("unavailable", "cassette_miss", "not_run", "pending")
"""Failures of requests without a reply."""


@checked
async def run_suite(
    suite: Suite | str | Path,
    *,
    judge: JudgeLike | None = None,
    out: str | Path | None = None,
    progress: Callable[[Progress], None] | bool | None = None,
    stop: asyncio.Event | Flag | None = None,
    retry_failed: str | Path | None = None,
    against: str | Path | None = None,
    reuse: Reuse | None = None,
    page: bool = False,
) -> Report:
    """Run a suite; recordings are written even if the run ends early.

    To continue a killed run, start it again: the private store has the replies so far; computed
    metrics are computed again.

    Args:
        suite: a suite from `load_suite`, or the path of its file.
        judge: the judge of the role `judge`, if `suite` is a file: a model string, an async
            function, or a `Judge`. With this argument, calls to the judge are allowed.
        out: run folder to write.
        progress: called when cases finish; or `True` for a progress line.
        stop: set it to end early with a partial report.
        retry_failed: run folder with results to reuse, except failures.
        against: run folder; its outputs become the baselines of the cases, if `suite` is a file.
        reuse: returns an earlier result for a row, to reuse it.
        page: whether to write a page.

    Raises:
        JudgekitError: an error that stops the run (see `judgekit.core.errors`).
    """
    suite = _loaded(suite, judge=judge, against=against)
    started = datetime.now(UTC)
    out = Path(out) if out is not None else None
    sharded = suite.data.shard is not None
    try:
        if out is not None:
            _spare_inputs(suite, out)
            if suite.record is not RecordMode.NONE:
                _check_room(out)
        if suite.against is not None:
            # The folders of shards differ, but their rows must not.
            suite.against.name_answers(suite.metrics, out=None if sharded else out)
        check_fields(suite.data.settings, suite.gates, suite.data.before())
        manifest = suite.manifest()
        if suite.record is not RecordMode.NONE and any(m.rubrics for m in suite.metrics):
            _warn_of_hidden_answers(suite)
        if retry_failed is not None:
            digest = digest_json(full_manifest(suite.metrics, manifest))
            reuse = _reuse(Path(retry_failed), digest=digest, cassette=suite.cassette)
        return await evaluate(
            suite.cases(),
            suite.metrics,
            thresholds=suite.thresholds,
            # Gates apply to all cases; a shard has only some of them.
            gates={} if sharded else suite.gates,
            rules=Rules() if sharded else suite.rules,
            cluster=suite.file.cluster,
            labels=suite.labels,
            limits=suite.limits,
            out=out,
            manifest=manifest,
            window=2 * suite.file.limits.most_calls,
            progress=progress,
            stop=stop,
            reuse=reuse,
            last=lambda report: _finish(
                suite,
                report,
                started=started,
                page=page,
                stopped=stop is not None and stop.is_set(),
            ),
        )
    finally:
        suite.close()


def _loaded(
    suite: Suite | str | Path, *, judge: JudgeLike | None, against: str | Path | None
) -> Suite:
    if not isinstance(suite, Suite):
        chosen = Overrides(against=str(against)) if against is not None else None
        return load_suite(suite, chosen, judge=judge)
    if judge is not None:
        raise ConfigError("this suite has its judges; give the judge to load_suite instead")
    if against is not None:
        raise ConfigError("this suite has its cases; give `against` together with its file")
    return suite


@sync_form(run_suite)
def run_suite_sync() -> None:
    """Run a suite from synchronous code; also inside a running event loop.

    Ctrl-C ends the run with a partial report; a second Ctrl-C raises KeyboardInterrupt.
    """


def replay_suite(suite: Suite, **options: Any) -> Report:
    """Run a synchronous suite (`suite.at_once`), without an event loop.

    Takes the options of `run_suite`, with a `Flag` as `stop`. Importing asyncio and starting a loop
    would take 75 ms of CPU time; a whole replay of one case takes 350 ms.

    Raises:
        JudgekitError: an error that stops the run (see `judgekit.core.errors`).
        RuntimeError: a metric waits although it is declared synchronous.
    """
    options["stop"] = options.get("stop") or Flag()
    return run_inline(run_suite(suite, **options))


def default_out(suite: Path, *, shard: str | None = None) -> Path:
    """Return the default run folder of a suite: `runs/NAME` beside it.

    NAME is the file name of the suite without its extension. Each shard has its own folder, such
    as `runs/NAME-1-of-4`. A run that an earlier version wrote to the working folder stays there.
    """
    shards = "" if shard is None else f"-{shard.replace('/', '-of-')}"
    folder = suite.parent.resolve()
    former = folder.name if suite.stem == "suite" and folder != Path.cwd() else ""
    out = suite.parent / RUNS / f"{suite.stem}{shards}"
    old = Path(RUNS, f"{former or suite.stem}{shards}")
    held = run_folder.RESULTS
    return old if (old / held).exists() and not (out / held).exists() else out


def ignore_default(out: Path) -> None:
    """Create the folder of runs with a `.gitignore` inside, unless it exists."""
    ignore = out.parent / ".gitignore"
    if out.parent.name == RUNS and not os.path.lexists(out.parent):
        try:
            out.parent.mkdir()
            ignore.write_text("*\n", "utf-8")
        except OSError:
            return  # the run itself reports a folder that cannot be written


def find_run(path: Path | None) -> Path:
    """Return a run folder: the one given, or the latest of a suite, a folder or the working folder.

    Raises:
        ConfigError: there is none.
    """
    here = path or Path()
    if path is not None and path.suffix in (".yaml", ".yml"):
        out = default_out(path)
        if path.is_file() and not out.exists():
            next = f"start one: judgekit run {path}, or name a run folder"
            raise ConfigError(f"has no run in {out}; {next}", where=str(path))
        return out
    if not here.is_dir() or (here / run_folder.RESULTS).exists():
        return here
    below = here if here.name == RUNS else here / RUNS
    reports = [run / run_folder.REPORT for run in (below.iterdir() if below.is_dir() else ())]
    finished = [one for one in reports if one.is_file()]
    if finished:
        return max(finished, key=lambda one: (one.stat().st_mtime, one)).parent
    if path is not None:
        return path
    raise ConfigError("which run? there is none under runs; name a folder: judgekit report FOLDER")


def _spare_inputs(suite: Suite, out: Path) -> None:
    """Reject a run folder in which the run would overwrite its own input.

    Raises:
        ConfigError: with the name of the file.
    """
    cases, cassette = suite.file.cases_file, suite.cassette
    inputs = {
        "the cassette": cassette.path if cassette is not None else None,
        "the cases": suite.base / home_path(cases.path) if cases is not None else None,
    }
    if suite.against is not None and suite.against.folder.resolve() == out.resolve():
        overwritten = "the run would overwrite the run that it is compared with"
        raise ConfigError(f"{overwritten}; name another folder with --out", where=str(out))
    outputs = {(out / name).resolve() for name in run_folder.FILES}
    for noun, path in inputs.items():
        if path is not None and path.resolve() in outputs:
            overwritten = f"the run would overwrite {noun} of the suite, {path.name}"
            raise ConfigError(f"{overwritten}, in this folder; name another folder", where=str(out))


def _check_room(out: Path) -> None:
    """Check that results can be written, before a call costs money.

    Raises:
        ConfigError: the disk is full.
    """
    try:
        check_room(out)
    except OSError as exc:
        raise ConfigError(f"cannot be written: {exc.strerror}; make room", where=str(out)) from exc


def _warn_of_hidden_answers(suite: Suite) -> None:
    """Say before the first call, which may cost money, that verdicts will rest on nothing."""
    import logging

    from judgekit.metrics.shown_fields import hidden_answers

    for line in hidden_answers(suite.metrics):
        logging.getLogger("judgekit").warning("%s", line)


def _finish(suite: Suite, report: Report, *, started: datetime, page: bool, stopped: bool) -> None:
    report.run.update(occasion(suite, started=started))
    if suite.batches is not None:
        facts = suite.batch_facts = suite.batches.finish(send=not stopped)
        if facts is not None:
            report.run["batch"] = facts.described()
    out = report.folder
    if page or out is None:
        report.places.update(_places(suite, report))
    if out is not None:
        if report.figures.manifest.get("rubrics"):
            # A run without rubrics does not load them.
            from judgekit.metrics.shown_fields import shown_by_rubric

            report.run["shown"] = shown_by_rubric(suite.metrics)
        if suite.cassette is not None:
            suite.cassette.write_used(out / run_folder.TAPE)
        if suite.data.sharding is not None:
            from judgekit.report.shardfile import write_shard

            path, source = out / run_folder.SHARD, suite.data.settings.overrides.cases
            write_shard(suite.data.sharding, path, flags=suite.flags, source=source)
        places = {run_folder.PLACES: report.places} if report.places else {}
        run_folder.write_json(out / run_folder.RUN, {**report.run, **places})
        if page:
            report.to_html()


def _places(suite: Suite, report: Report) -> dict[str, str]:
    """Return the lines of cases with derived ids, for runs small enough to read again."""
    if report.figures.cases > MAX_PLACES:
        return {}
    return places_of(suite, (scored.case for scored in report.results))


def places_of(suite: Suite, cases: Iterable[Case]) -> dict[str, str]:
    """Return derived id -> `FILE:LINE`, for the cases that have derived ids."""
    derived = {case.id for case in cases if is_derived(case) or is_numbered(case)}
    places = suite.data.places(derived) if derived else {}
    lines = ((id, line, Path(file).name) for id, (file, line) in places.items())
    return {id: f"{name}:{line}" for id, line, name in lines if line is not None}


def occasion(suite: Suite, *, started: datetime) -> dict[str, Any]:
    """Return the facts that are specific to this run: time, machine, calls and cost."""
    facts: dict[str, Any] = {
        "started": started.isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "platform": platform.system(),
        "record": suite.record.value,
        **suite.data.selected,
    }
    if suite.data.repeated:
        facts["repeated_rows"] = suite.data.repeated
    if suite.against is not None:
        facts["against"] = suite.against.folder.resolve().name
    cassette = suite.cassette
    if cassette is None:
        return facts
    ledger = cassette.ledger
    judges = {role: known for role, judge in suite.judges.items() if (known := _findings(judge))}
    if judges:
        facts["judges"] = judges
    models = sorted({*ledger.servers, *ledger.reported})
    if mixed := {model: several for model in models if (several := ledger.mixed(model))}:
        facts["mixed"] = mixed  # model string -> the servers or models that answered under it
    if changed := {model: count for model in models if (count := ledger.changed(model))}:
        facts["weights_changed"] = changed  # model string -> replays of its earlier weights
    facts.update(cost_facts(cassette))
    if ledger.older:
        facts["older"] = dict(sorted(ledger.older.items()))
    if cassette.older_keys:
        facts["older_keys"] = dict(sorted(cassette.older_keys.items()))
    if ledger.superseded:
        facts["superseded"] = ledger.superseded
    if not suite.partial:
        facts["unused"] = cassette.unused
    if len(cassette.not_from_tape) <= MAX_KEYS:
        facts["from_store_or_live"] = sorted(cassette.not_from_tape)
    return facts


def cost_facts(cassette: Cassette) -> dict[str, Any]:
    """Return where the replies of a run came from, and what they cost and saved."""
    ledger = cassette.ledger
    replays = ledger.origins["tape"] + ledger.origins["store"]
    return {
        "origins": dict(sorted(ledger.origins.items())),
        "spent": _dollars(ledger.spent, unknown=ledger.unpriced, of=ledger.origins["live"]),
        "avoided": _dollars(ledger.avoided, unknown=ledger.unpriced_replays, of=replays),
        **ledger.savings.facts(),
        "missed": ledger.missed,
    }


def _findings(judge: Judge) -> dict[str, Any]:
    """Return facts that this run learnt about a judge; empty without a call."""
    knowledge = as_judge(judge).knowledge
    findings = knowledge.findings() if knowledge is not None else {}
    return {"model": judge.model, **findings} if findings else {}


def _dollars(known: float, *, unknown: int, of: int) -> float | None:
    """Return the cost; `None` if a price is unknown."""
    return None if unknown else round(known, 6) if of else 0.0


def _reuse(folder: Path, *, digest: str, cassette: Cassette | None) -> Reuse:
    """Return the scores of an earlier run for unchanged cases.

    Empty if options, rubrics or judges of the suite have changed.
    """
    scores: dict[tuple[str, str], tuple[Case, Score]] = {}
    older = _older_keys(folder)
    tape = Tape(folder / run_folder.TAPE) if older else None
    if run_folder.read_manifest_digest(folder) == digest:
        for case, row in _rows(folder):
            if not isinstance(row.result, Failure) and row.result.fallback is None:
                scores[row.case, row.metric] = (case, row.result)

    def reuse(case: Case, metric: str) -> Result | None:
        earlier, score = scores.get((case.id, metric), (None, None))
        if score is None or earlier != case:
            return None
        if cassette is not None:
            for judgment in score.judgments:
                key = judgment.request_key
                cassette.take_over(key, earlier=tape, older=str(older.get(key, "")))
        return score

    return reuse


def _older_keys(folder: Path) -> dict[str, Any]:
    """Return the keys of an earlier run that its tape had under older keys."""
    path = folder / run_folder.RUN
    facts = run_folder.read_json(path) if path.exists() else None
    older = facts.get("older_keys") if isinstance(facts, dict) else None
    return older if isinstance(older, dict) else {}


def _rows(folder: Path) -> Iterator[tuple[Case, Row]]:
    """Yield the result rows of an earlier run, each with its case."""
    for scored in run_folder.read_results(folder):
        for row in scored.rows:
            yield scored.case, row


def failed_keys(folder: Path) -> frozenset[str]:
    """Return the keys of the requests whose replies failed in an earlier run.

    A request without a reply is asked in any case, and may have one in a batch job by now.

    Raises:
        ConfigError: it is not a run folder.
    """
    failures = (row.result for _, row in _rows(folder) if isinstance(row.result, Failure))
    return frozenset(
        failure.key
        for failure in failures
        if failure.key is not None and failure.kind not in _UNANSWERED
    )


def failing_ids(folder: Path) -> frozenset[str]:
    """Return the ids of the cases without a score, or below a threshold, in an earlier run.

    Raises:
        ConfigError: it is not a run folder, or the run is incomplete.
    """
    report = Report.read(folder)
    summaries = report.metrics
    rows = (row for scored in report.results for row in scored.rows)
    return frozenset(row.case for row in rows if _fails(row.result, summaries.get(row.metric)))


def _fails(result: Result, summary: MetricSummary | None) -> bool:
    if isinstance(result, Failure):
        return True
    if result.value is None or summary is None:
        return False
    return passes(result.value, summary.threshold, summary.higher_is_better) is False
