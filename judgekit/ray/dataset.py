"""Score a `ray.data.Dataset`: rows in, rows with scores out."""

from __future__ import annotations

import asyncio
import os
import platform
import secrets
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.core.errors import ConfigError, DatasetError, JudgekitError
from judgekit.ray.cluster import LOCAL, load_ray, warn_of_statistics, worker_count

if TYPE_CHECKING:
    from ray.data import Dataset

    from judgekit.core.case import Case
    from judgekit.core.score import Result

COLUMNS = ("case", "failures", "rows")
"""Columns of every row of the result, in addition to one per metric."""


def evaluate(
    dataset: Dataset,
    suite: str | Path,
    *,
    overrides: Mapping[str, Any] | None = None,
    workers: int | None = None,
    batch_size: int = 64,
    store: str | Path | None = None,
) -> Dataset:
    """Score every row of a dataset with the metrics of a suite.

    The result has one row per input row, with these columns: `case`, the id; a column per metric
    with its raw value or null; `failures`, a list of texts `METRIC: KIND: MESSAGE`; `rows`, a list
    of the case's lines in the format of `results.jsonl`. An input row that is not a case has
    failures of kind `invalid_case`. If a worker cannot score, its rows have failures of kind
    `not_run` with its machine and the cause.

    Like all of Ray Data, the dataset is evaluated lazily. Replies are recorded by the suite's
    record mode, but only in the private store of each machine, not on a tape.

    Args:
        dataset: rows as `load_cases` accepts them; `fields` of the suite apply.
        suite: the suite file; every node must have it at this path.
        overrides: settings that replace those of the file, such as `{"record": "new_episodes"}`;
            the names are those of `Overrides`.
        workers: number of actors, each with one CPU; by default one per CPU of the cluster, and at
            most `limits.concurrency`. The limits of the suite apply to all workers together.
        batch_size: number of rows per batch.
        store: folder of the private store on each machine, instead of that of the suite.

    Raises:
        ConfigError: the suite or a setting is wrong.
        MissingExtra: ray is not installed.
    """
    from judgekit.ray.limits import start_limits
    from judgekit.suite.overrides import Overrides
    from judgekit.suite.resolved import resolve

    ray = load_ray()
    flags = dict(overrides or {})
    path = Path(suite).resolve()
    resolved = resolve(path, Overrides.model_validate(flags))
    names = [metric.name for metric in resolved.metrics]
    for name in set(names) & set(COLUMNS):
        message = f"metric {name!r} has the name of a column; rename it"
        raise ConfigError(message, where=str(path))
    if ray.is_initialized():
        warn_of_statistics()
    else:
        ray.init(LOCAL, include_dashboard=False, logging_level="ERROR")
    count = worker_count(ray, resolved, workers)
    settings = {
        "suite": str(path),
        "overrides": flags,
        "metrics": names,
        "concurrency": resolved.file.limits.calls_of(count),
        "store": None if store is None else str(Path(store).resolve()),
        "home": os.environ.get("JUDGEKIT_HOME"),
        "generation": resolved.generation,
        "limits": start_limits(ray, resolved, f"limits-{secrets.token_hex(8)}"),
    }
    return dataset.map_batches(
        CaseScorer,
        fn_constructor_kwargs=settings,
        batch_size=batch_size,
        batch_format="pyarrow",
        compute=ray.data.ActorPoolStrategy(size=count),
        num_cpus=1,
    )


class CaseScorer:
    """Scores batches of rows with one suite; an actor of Ray Data.

    Args:
        suite: path of the suite file.
        overrides: settings that replace those of the file.
        metrics: the names of the metrics.
        concurrency: concurrent calls of this actor.
        store: folder of the private store.
        home: `JUDGEKIT_HOME` of the driver.
        generation: the generation of the built-in rubrics.
        limits: the actor with the limits of the run.
    """

    def __init__(
        self,
        suite: str,
        overrides: dict[str, Any],
        metrics: list[str],
        concurrency: int | None,
        store: str | None,
        home: str | None,
        generation: int,
        limits: Any,
    ) -> None:
        self._metrics = metrics
        self._problem: str | None = None
        """The reason why this actor cannot score; its rows contain it."""
        if home is not None:
            os.environ["JUDGEKIT_HOME"] = home
        path = Path(suite)
        try:
            from judgekit.cassette.cassette import store_opener
            from judgekit.ray.limits import connect_limits
            from judgekit.ray.worker import open_suite

            client = None
            if limits is not None:
                client = connect_limits(limits, load_ray().get_runtime_context().get_actor_id())
            self._suite = open_suite(
                path,
                overrides,
                concurrency=concurrency,
                store=store_opener(path.parent, folder=None if store is None else Path(store)),
                client=client,
                generation=generation,
            )
        except (JudgekitError, ImportError, OSError) as exc:
            self._fail(exc)

    async def __call__(self, batch: Any) -> AsyncIterator[Any]:
        """Yield the results of a batch of rows, as a table."""
        from judgekit.judges.connections import closing_connections

        async with closing_connections():
            scored = await asyncio.gather(*map(self._score, batch.to_pylist()))
        yield self._table(scored)

    async def _score(self, row: dict[str, Any]) -> tuple[str, list[Result]]:
        from judgekit.core.score import guarded

        id = str(row.get("id") or "")
        if self._problem is not None:
            return id, self._failures("not_run", self._problem)
        try:
            case = self._case(row)
        except DatasetError as exc:
            return id, self._failures("invalid_case", str(exc))
        try:
            metrics = self._suite.metrics
            return case.id, list(await asyncio.gather(*(guarded(case, m) for m in metrics)))
        except JudgekitError as exc:  # would stop a run; here only this actor's rows fail
            return case.id, self._failures("not_run", self._fail(exc))

    def _case(self, row: dict[str, Any]) -> Case:
        from judgekit.datasets import load_cases

        file = self._suite.file.cases_file
        format, fields = (file.format, file.fields) if file else (None, None)
        given = {name: value for name, value in row.items() if value is not None}
        case = next(load_cases([given], format=format, fields=fields))
        if self._suite.redact is None:
            return case
        from judgekit.privacy.redact import redact_case

        return redact_case(case, self._suite.redact)

    def _fail(self, error: BaseException) -> str:
        """Record the reason why this actor cannot score, with its machine."""
        text = " ".join(str(error).split()) or type(error).__name__
        self._problem = f"{platform.node()}: {text}"
        return self._problem

    def _failures(self, kind: Any, message: str) -> list[Result]:
        from judgekit.core.score import Failure

        return [Failure(kind=kind, message=message) for _ in self._metrics]

    def _table(self, scored: list[tuple[str, list[Result]]]) -> Any:
        import pyarrow

        from judgekit.core.score import Failure, row_bytes

        texts = pyarrow.list_(pyarrow.string())
        columns = {"case": pyarrow.array([id for id, _ in scored], pyarrow.string())}
        for place, name in enumerate(self._metrics):
            results = [results[place] for _, results in scored]
            values = [None if isinstance(r, Failure) else r.value for r in results]
            columns[name] = pyarrow.array(values, pyarrow.float64())
        failures, rows = [], []
        for id, results in scored:
            named = list(zip(self._metrics, results, strict=True))
            failed = [(name, result) for name, result in named if isinstance(result, Failure)]
            failures.append([f"{name}: {one.kind}: {one.message}" for name, one in failed])
            rows.append([row_bytes(id, name, result).decode() for name, result in named])
        columns["failures"] = pyarrow.array(failures, texts)
        columns["rows"] = pyarrow.array(rows, texts)
        return pyarrow.table(columns)
