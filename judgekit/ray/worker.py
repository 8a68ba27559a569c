"""Run one shard of a suite in a process of a Ray cluster."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from judgekit.core.errors import ConfigError, JudgekitError
from judgekit.core.file_model import FileModel, none_yet, validate_file
from judgekit.core.yaml_file import Lines
from judgekit.datasets.shard import Shard
from judgekit.ray.cluster import load_ray
from judgekit.report.folder import RESULTS, is_locked, read_json

if TYPE_CHECKING:
    from judgekit.cassette.store import Store
    from judgekit.ray.limits import LimitsClient
    from judgekit.runner.progress import Progress
    from judgekit.suite.suite import Suite

JOB = "job.json"
_PATIENCE = 60.0
"""Seconds to wait for a process that still locks the run folder."""
KNOWN = "known.db"
"""A copy of the private store of the project."""


class ShardJob(FileModel):
    """The data for running a shard: the content of `job.json`."""

    token: str
    """A random token, to check that a worker sees the driver's folder."""
    shards: int
    suite: str
    """Path of the suite file."""
    working_folder: str
    """The working folder of the command; paths in flags are relative to it."""
    overrides: dict[str, Any] = Field(default_factory=dict)
    concurrency: int | None = None
    """The concurrent calls of one shard."""
    ask_all: bool = False
    """Whether the record mode is `all`."""
    retry_failed: str | None = None
    generation: int | None = None
    """The generation of the built-in rubrics, so that all shards have the same."""
    limits: str | None = None
    """Name of the actor with the limits of the run."""
    source: list[Any] = Field(default_factory=none_yet)
    """Size, times and digests of the input; finished shards of the same input are kept."""


def run_shard(folder: str, token: str, number: int) -> dict[str, Any]:
    """Run one shard in its run folder and return the outcome; called by Ray.

    The replies are in a store next to the run folder, so a shard can continue after its process was
    killed. Errors are returned as text, because Ray would pickle exceptions.

    Args:
        folder: the folder of all shards; every node must see it.
        token: the expected token in `job.json`.
        number: the shard, counted from 1.
    """
    outcome: dict[str, Any] = {"host": platform.node(), "error": None, "spent": {}}
    try:
        job = read_job(Path(folder), token)
        try:
            os.chdir(job.working_folder)
        except OSError as exc:
            message = "this node does not have the folder; suite, cases and --out must be shared"
            raise ConfigError(message, where=job.working_folder) from exc
        shard = Shard(number, job.shards)
        limits = nullcontext() if job.limits is None else _limits(job.limits, shard)
        with limits as client:
            _run(job, Path(folder), shard, client=client)
        if client is not None:
            outcome["spent"] = {client.worker: client.spent}
    except JudgekitError as exc:
        outcome["error"] = str(exc)
    except (ImportError, OSError) as exc:
        outcome["error"] = f"{type(exc).__name__}: {exc}"
    return outcome


def read_job(folder: Path, token: str | None = None) -> ShardJob:
    """Return the job in a folder.

    Raises:
        ConfigError: the folder is missing, is not the driver's folder, or has no job.
    """
    path = folder / JOB
    message = (
        "is not the folder that the driver sees; suite, cases and --out must be in a folder that "
        "all nodes share"
    )
    if not path.is_file():
        raise ConfigError(message, where=str(folder))
    job = validate_file(ShardJob, read_json(path), lines=Lines(file=str(path)))
    if token is not None and job.token != token:
        raise ConfigError(f"{message}; and no other run may use it", where=str(folder))
    return job


def run_folder(folder: Path, shard: Shard) -> Path:
    """Return the run folder of a shard."""
    return folder / f"{shard.number}-of-{shard.of}"


def store_of(folder: Path, shard: Shard) -> Path:
    """Return the folder of the store of a shard."""
    return folder / f"{shard.number}-of-{shard.of}.store"


@contextmanager
def _limits(name: str, shard: Shard) -> Iterator[LimitsClient]:
    """Yield the client of the limits; release the resources of the shard at the end."""
    from judgekit.ray.limits import NAMESPACE, connect_limits

    ray = load_ray()
    actor = ray.get_actor(name, namespace=NAMESPACE)
    client = connect_limits(actor, str(shard.number))
    try:
        yield client
    finally:
        counted = actor.count.remote({client.worker: client.spent})
        ray.get([counted, actor.forget.remote(client.worker)])


def _run(job: ShardJob, folder: Path, shard: Shard, *, client: LimitsClient | None) -> None:
    import asyncio

    from judgekit.cassette.store import LayeredStore
    from judgekit.suite.run import replay_suite, run_suite

    out = run_folder(folder, shard)
    _wait_for_lock(out)
    flags = {**job.overrides, "shard": str(shard)}
    if job.ask_all:
        # Without tape and copy, the store of the shard has only the requests of this run.
        flags["record"] = "new_episodes"
    suite = open_suite(
        Path(job.suite),
        flags,
        concurrency=job.concurrency,
        tape=not job.ask_all,
        generation=job.generation,
        store=partial(LayeredStore, store_of(folder, shard), folder / KNOWN),
        client=client,
    )
    again = Path(job.retry_failed) if job.retry_failed is not None else None
    progress = _Counter(folder, shard)
    options: dict[str, Any] = {"out": out, "retry_failed": again, "progress": progress}
    if suite.at_once:
        replay_suite(suite, **options)
    else:
        asyncio.run(run_suite(suite, **options))


class _Counter:
    """Writes the number of finished cases of a shard to a file for the driver, once a second."""

    def __init__(self, folder: Path, shard: Shard) -> None:
        self._path = folder / f"{shard.number}-of-{shard.of}.progress"
        self._written = 0.0

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._written >= 1.0:
            self._written = now
            self._path.write_text(f"{progress.cases} {progress.failed}", encoding="ascii")


def read_progress(folder: Path, shards: int) -> tuple[int, int]:
    """Return the finished cases and failed rows of all shards, about a second old."""
    counts = [0, 0]
    for number in range(1, shards + 1):
        path = folder / f"{number}-of-{shards}.progress"
        with suppress(OSError), path.open("rb") as file:
            words = file.read(100).decode("ascii").split()
            counts = [old + int(new) for old, new in zip(counts, words or ("0", "0"), strict=True)]
    return counts[0], counts[1]


def _wait_for_lock(out: Path) -> None:
    """Wait for the end of the shard's previous process, which Ray kills with its driver."""
    end = time.monotonic() + _PATIENCE
    while is_locked(out / RESULTS) and time.monotonic() < end:
        time.sleep(0.1)


def open_suite(
    path: Path,
    overrides: dict[str, Any],
    *,
    concurrency: int | None,
    store: Callable[[], Store],
    client: LimitsClient | None,
    tape: bool = True,
    generation: int | None = None,
) -> Suite:
    """Load the suite of a worker, with its share of the limits.

    Args:
        path: the suite file.
        overrides: settings that replace those of the file.
        concurrency: concurrent calls of this worker, instead of those of the file.
        store: opens the store of the worker.
        client: the limits of the run, if it has some.
        tape: whether to replay from the tape of the suite.
        generation: the generation of the built-in rubrics; by default that of the tape.

    Raises:
        ConfigError: the file is wrong, or missing on this machine.
    """
    from judgekit.ray.limits import SharedBudget, SharedPace
    from judgekit.suite.judges import SharedRun
    from judgekit.suite.overrides import Overrides
    from judgekit.suite.source import read_suite
    from judgekit.suite.suite import build_suite

    data, lines = read_suite(path)
    if not tape:
        data = {**data, "cassette": None}
    if concurrency is not None:
        data = {**data, "limits": {**(data.get("limits") or {}), "concurrency": concurrency}}
    shared = SharedRun(store)
    if client is not None:
        money = (data.get("limits") or {}).get("max_cost") is not None
        budget = SharedBudget(client) if money else None
        shared = SharedRun(store, budget, partial(SharedPace, client))
    return build_suite(
        data,
        base=path.parent,
        lines=lines,
        overrides=validate_file(Overrides, overrides, lines=Lines(file="overrides")),
        shared=shared,
        generation=generation,
    )
