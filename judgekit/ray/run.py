"""Run a suite in shards on a Ray cluster, and merge them into one run."""

from __future__ import annotations

import hashlib
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.cassette.mode import RecordMode
from judgekit.cassette.tape import add_tapes
from judgekit.core.errors import ConfigError, JudgekitError
from judgekit.core.synchronous import Flag
from judgekit.datasets.shard import Shard
from judgekit.ray import worker
from judgekit.ray.cluster import connected, worker_count
from judgekit.report import folder as run_files
from judgekit.report.report import Report
from judgekit.suite.judges import asks_in_terminal
from judgekit.suite.merge import merge_shards
from judgekit.suite.resolved import ResolvedSuite, resolve

if TYPE_CHECKING:
    from judgekit.suite.overrides import Overrides

RETRIES = 20
"""Maximum number of restarts of a shard after its process or machine died."""
_TICK = 0.5
"""Seconds between two checks for a stop request."""


class StoppedRun(JudgekitError):
    """The run was stopped early; the same command continues it."""


def run_on_ray(
    suite: Path,
    overrides: Overrides,
    *,
    out: Path,
    address: str | None = None,
    workers: int | None = None,
    retry_failed: Path | None = None,
    page: bool = False,
    stop: Flag | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Run a suite on a Ray cluster; the run folder equals that of a run in one process.

    Each worker writes a shard to the folder `OUT-shards`, which must be visible on every node.
    After a kill, the same call continues the run: finished shards are kept, and unfinished ones
    reuse their recorded replies. The folder is removed after the merge.

    Args:
        suite: the suite file.
        overrides: settings that replace those of the file.
        out: the run folder to write.
        address: a running cluster; `local` starts Ray on this machine; `None` uses the connection
            of this process, or starts Ray on this machine.
        workers: number of concurrent shards; by default one per CPU of the cluster, and at most
            `limits.concurrency`.
        retry_failed: run folder with results to reuse, except failures.
        page: whether to write a page.
        stop: set it to end early.
        progress: called about twice a second with the finished cases and the failed rows.

    Raises:
        ConfigError: a setting is wrong, there is no cluster, or a shard cannot run.
        StoppedRun: `stop` was set.
    """
    from judgekit.ray.limits import start_limits

    stop = stop or Flag()
    with suppress(OSError):  # the merge reports the error
        run_files.check_folder(out)
    resolved = resolve(suite, overrides)
    _check(resolved, overrides)
    with connected(address) as ray:
        slots = worker_count(ray, resolved, workers)
        name = f"limits-{secrets.token_hex(8)}"
        actor = start_limits(ray, resolved, name)
        started = time.monotonic()
        try:
            job = _prepare(resolved, suite, overrides, out=out, slots=slots, again=retry_failed)
            job = job.model_copy(update={"limits": None if actor is None else name})
            folder = shards_folder(out)
            run_files.write_json(folder / worker.JOB, job.model_dump(mode="json"))
            left = [shard for shard in _shards(job) if not _finished(folder, shard, resolved)]
            for _ in _run_all(ray, folder, job, left, slots=slots, stop=stop, actor=actor):
                if progress is not None:
                    progress(*worker.read_progress(folder, job.shards))
        finally:
            if actor is not None:
                ray.kill(actor)
    folders = [worker.run_folder(folder, shard) for shard in _shards(job)]
    scored = time.monotonic()
    report = merge_shards(suite, folders, out=out, page=page, stop=stop)
    report.run["ray"] = {
        "workers": min(slots, job.shards),
        "seconds": round(scored - started, 3),
        "seconds_of_merge": round(time.monotonic() - scored, 3),
    }
    run_files.write_json(out / run_files.RUN, report.run)
    if not stop.is_set():
        _keep_replies(resolved, job, folder)
        shutil.rmtree(folder)
    return report


def shards_folder(out: Path) -> Path:
    """Return the folder of the shards of a run folder."""
    return out.with_name(f"{out.name}-shards")


def _check(suite: ResolvedSuite, overrides: Overrides) -> None:
    """Check that a suite can run on several machines.

    Raises:
        ConfigError: the cases are on standard input, or a person answers in this terminal.
    """
    if suite.cases().source()[0] == "-":
        raise ConfigError("--ray reads the cases on every worker; name a file, not standard input")
    if overrides.shard is not None:
        raise ConfigError("--ray divides the cases itself; leave out --shard")
    asking = suite.record is not RecordMode.NONE
    for judge in suite.asked.values():
        if asks_in_terminal(judge, asking=asking):
            raise ConfigError(f"{judge.model} answers in a terminal; leave out --ray")


def _prepare(
    suite: ResolvedSuite,
    path: Path,
    overrides: Overrides,
    *,
    out: Path,
    slots: int,
    again: Path | None,
) -> worker.ShardJob:
    """Return the job for the workers; continue with the shards of a stopped run.

    Raises:
        ConfigError: the folder of the shards cannot be written.
    """
    folder = shards_folder(out).resolve()
    flags = overrides.model_dump(mode="json", exclude_defaults=True)
    source = _source(suite, path, flags)
    before = worker.read_job(folder) if (folder / worker.JOB).is_file() else None
    if before is None and folder.exists() and any(folder.iterdir()):
        raise ConfigError("holds other files; name another --out", where=str(folder))
    if before is not None and before.source != source:
        for shard in _shards(before):  # the replies are kept
            (worker.run_folder(folder, shard) / run_files.REPORT).unlink(missing_ok=True)
    shards = before.shards if before is not None else slots
    job = worker.ShardJob(
        token=secrets.token_hex(16),
        shards=shards,
        suite=str(path.resolve()),
        working_folder=str(Path.cwd()),
        overrides=flags,
        concurrency=suite.file.limits.calls_of(min(slots, shards)),
        ask_all=suite.record is RecordMode.ALL,
        retry_failed=str(again) if again is not None else None,
        source=source,
        generation=suite.generation,
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise ConfigError(f"cannot be made: {exc.strerror}", where=str(folder)) from exc
    if before is None and not job.ask_all:
        _copy_store(suite, folder / worker.KNOWN)
    return job


def _source(suite: ResolvedSuite, path: Path, flags: dict[str, Any]) -> list[Any]:
    """Return facts that change with the suite file, the flags or the file of cases."""
    facts: list[Any] = [flags, suite.generation]
    for file in dict.fromkeys((path, Path(suite.cases().source()[0]))):
        state = file.stat()
        facts.append([str(file), state.st_size, state.st_mtime_ns])
    with path.open("rb") as content:
        facts.append(hashlib.file_digest(content, "sha256").hexdigest())
    return facts


def _copy_store(suite: ResolvedSuite, copy: Path) -> None:
    """Copy the store of the project for the workers, if there is one."""
    from judgekit.cassette.store import Store, store_folder

    folder = store_folder(suite.base)
    if not suite.asks or not (folder / "cache.db").is_file():
        return
    with closing(Store(folder)) as store:
        store.copy_to(copy)


def _shards(job: worker.ShardJob) -> list[Shard]:
    return [Shard(number, job.shards) for number in range(1, job.shards + 1)]


def _finished(folder: Path, shard: Shard, suite: ResolvedSuite) -> bool:
    """Return whether a shard finished without failures, with the current suite."""
    from judgekit.core.canonical import digest_json

    out = worker.run_folder(folder, shard)
    if not (out / run_files.REPORT).is_file() or not (out / run_files.SHARD).is_file():
        return False
    manifest = digest_json(suite.full_manifest())
    ended = run_files.read_json(out / run_files.SHARD).get("finished")
    if not ended or run_files.read_manifest_digest(out) != manifest:
        return False
    metrics = Report.read(out).figures.metrics
    return not any(metric.failed or metric.not_run for metric in metrics)


def _run_all(
    ray: Any,
    folder: Path,
    job: worker.ShardJob,
    shards: list[Shard],
    *,
    slots: int,
    stop: Flag,
    actor: Any,
) -> Iterator[None]:
    """Run shards, `slots` concurrently; the first error ends all. Yields after each check.

    Raises:
        ConfigError: a shard cannot run.
        StoppedRun: `stop` was set.
    """
    task = ray.remote(worker.run_shard).options(
        num_cpus=1, max_retries=RETRIES, retry_exceptions=False, name="judgekit shard"
    )
    waiting = iter(shards)
    running: dict[Any, Shard] = {}
    spent: dict[str, float] = {}
    try:
        while True:
            while len(running) < slots and (shard := next(waiting, None)) is not None:
                running[task.remote(str(folder.resolve()), job.token, shard.number)] = shard
            if not running:
                return
            done, _ = ray.wait(list(running), num_returns=1, timeout=_TICK)
            if stop.is_set():
                advice = "run the same command again to continue"
                raise StoppedRun(f"stopped; the replies so far are in {folder}; {advice}")
            for reference in done:
                spent |= _outcome(ray, reference, running.pop(reference))["spent"]
            if actor is not None:  # a restarted actor does not know the finished workers
                ray.wait([actor.count.remote(spent)], timeout=_TICK)
            yield
    finally:
        for reference in running:
            with suppress(ray.exceptions.RayError):
                ray.cancel(reference, force=True)


def _outcome(ray: Any, reference: Any, shard: Shard) -> dict[str, Any]:
    """Return the outcome of a shard; raise its error on one line with machine and cause."""
    try:
        outcome: dict[str, Any] = ray.get(reference)
    except ray.exceptions.RayError as exc:
        lines = [line.strip() for line in str(exc).splitlines() if line.strip()]
        raise ConfigError(
            f"{(lines or [type(exc).__name__])[-1]:.300}; "
            "see that every node has this version of judgekit, then run the command again",
            where=f"shard {shard}",
        ) from None
    if outcome["error"] is not None:
        raise ConfigError(outcome["error"], where=f"shard {shard} on {outcome['host']}")
    return outcome


def _keep_replies(suite: ResolvedSuite, job: worker.ShardJob, folder: Path) -> None:
    """Add the new replies to the tape of the suite or, without one, to the store of the project."""
    if not suite.asks or suite.record is RecordMode.NONE:
        return
    if (tape := suite.tape) is not None:
        tapes = [worker.run_folder(folder, shard) / run_files.TAPE for shard in _shards(job)]
        add_tapes(tape, [path for path in tapes if path.exists()])
        return
    from judgekit.cassette.store import Store, store_folder

    with closing(Store(store_folder(suite.base))) as store:
        for shard in _shards(job):
            if (path := worker.store_of(folder, shard)).exists():
                with closing(Store(path)) as other:
                    store.add_all(other)
