"""Runs whose requests go into batch jobs: submit now, collect later, also from another process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from judgekit.batch.choice import BatchChoice
from judgekit.core.arguments import checked
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.score import Failure, Result
from judgekit.datasets.load import Source, load_cases
from judgekit.report.report import Report
from judgekit.runner.evaluation import Gates
from judgekit.runner.limits import Limits
from judgekit.suite.choice import JudgeChoices, MetricChoices, Recording

if TYPE_CHECKING:
    from judgekit.batch.desk import BatchFacts
    from judgekit.batch.job import Job
    from judgekit.batch.jobs import Jobs


T = TypeVar("T")


class _Round(NamedTuple):
    """One run of the suite, and what it did with jobs."""

    report: Report
    facts: BatchFacts | None
    home: Path
    """The private folder of the project."""


_Run = Callable[[BatchChoice, Report | None], Coroutine[Any, Any, _Round]]
"""Runs the suite; takes the report of the round before."""


class PendingRun:
    """A run that may wait for batch jobs; `submit` returns it.

    Nothing is lost with the object: the jobs are in the journal of the project. Another process
    that calls `submit` with the same arguments sends nothing twice, and can wait and collect.
    """

    def __init__(self, run: _Run, done: _Round) -> None:
        self._run, self._done = run, done

    def __repr__(self) -> str:
        names = ", ".join(job.name for job in self.jobs)
        return f"PendingRun(jobs=[{names}], exit_code={self.report.exit_code})"

    @property
    def report(self) -> Report:
        """The results so far; rows that wait for a job are failures of the kind `pending`."""
        return self._done.report

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs that this run waits for, as they were at the last look."""
        facts = self._done.facts
        return () if facts is None else facts.jobs

    @checked
    async def wait(self, timeout: float | None = None) -> bool:  # noqa: ASYNC109 - not an error
        """Wait until the jobs have ended, and fetch their replies.

        Args:
            timeout: the largest number of seconds; by default there is no limit. With 0, look once.

        Returns:
            Whether all jobs of this round have ended, so that `collect` has something to take.

        Raises:
            ConfigError: the journal of the project is damaged.
        """
        from judgekit.batch.polling import PollClock

        clock, jobs = PollClock(timeout, now=time.monotonic), self._jobs()
        await asyncio.to_thread(jobs.look)
        while jobs.moving and not clock.over:
            await asyncio.sleep(clock.pause())
            await asyncio.to_thread(jobs.look)
        self._note(jobs)
        return not jobs.open

    @checked
    async def collect(self, *, live: bool = False) -> Report:
        """Take the replies of the jobs that have ended, and return the report.

        What no job has is sent in new jobs: the next step of a metric that asks in several, and
        requests that got no reply. The exit code of the report is 4 while rows are pending; wait
        and collect again then.

        Args:
            live: whether to ask live what no job has, instead.

        Raises:
            JudgekitError: an error that stops a run.
        """
        self._done = await self._run(BatchChoice(sending=not live), self.report)
        return self.report

    async def cancel(self) -> None:
        """Cancel the jobs; replies that they have are kept, and the next `collect` takes them.

        Raises:
            ConfigError: a provider does not cancel its job.
        """
        jobs = self._jobs()
        for job in jobs.open:
            await asyncio.to_thread(jobs.cancel, job.name)
        self._note(jobs)

    @checked
    def wait_sync(self, timeout: float | None = None) -> bool:
        """Wait from synchronous code; see `wait`."""
        return _sync(self.wait(timeout))

    @checked
    def collect_sync(self, *, live: bool = False) -> Report:
        """Collect from synchronous code; see `collect`."""
        return _sync(self.collect(live=live))

    def cancel_sync(self) -> None:
        """Cancel from synchronous code; see `cancel`."""
        _sync(self.cancel())

    def _jobs(self) -> Jobs:
        from judgekit.batch.jobs import Jobs

        return Jobs(self._done.home, only={job.intent for job in self.jobs})

    def _note(self, jobs: Jobs) -> None:
        facts = self._done.facts
        if facts is not None:
            self._done = self._done._replace(facts=facts._replace(jobs=tuple(jobs.open)))


@checked
async def submit(
    suite: str | Path | Source,
    metrics: MetricChoices | None = None,
    *,
    judge: JudgeChoices | None = None,
    cassette: str | Path | None = None,
    max_cost: float | None = None,
    gates: Gates | None = None,
    out: str | Path | None = None,
) -> PendingRun:
    """Run a suite, or score cases, with batch jobs instead of live calls.

    What is recorded is replayed, and the replies of jobs that have ended are taken, so the call may
    be repeated. Requests that no job can have, such as those of embeddings, are asked live.

    Args:
        suite: the path of a suite file. With `metrics`, the cases instead, as for `evaluate`.
        metrics: the metrics, as for `evaluate`. Requests of those by name go into jobs; metrics
            that are objects are scored at once.
        judge: the judge by name: a model string, or the settings of a judge as in a suite file.
            With `metrics`, a list is a jury.
        cassette: tape of the replies, as for `evaluate`; with `metrics` only.
        max_cost: US dollars that this run may spend, jobs and live calls together; with `metrics`
            only.
        gates: bounds for the run, as for `evaluate`; with `metrics` only.
        out: run folder to write.

    Raises:
        ConfigError: an argument is wrong, or no job can have the requests of a judge.
        JudgekitError: an error that stops a run.
    """
    run: _Run
    if metrics is None:
        if not isinstance(suite, str | Path):
            raise ConfigError("submit: give the path of a suite file, or cases and metrics")
        for name, value in (("cassette", cassette), ("max_cost", max_cost), ("gates", gates)):
            if value is not None:
                raise ConfigError(f"{name}: the suite file has it; leave it out")
        run = _of_suite(Path(suite), judge, out)
    else:
        recording = Recording(cassette, None, max_cost)
        run = _of_cases(suite, metrics, judge, recording, gates, out)
    return PendingRun(run, await run(BatchChoice(sending=True), None))


@checked
def submit_sync(
    suite: str | Path | Source,
    metrics: MetricChoices | None = None,
    *,
    judge: JudgeChoices | None = None,
    cassette: str | Path | None = None,
    max_cost: float | None = None,
    gates: Gates | None = None,
    out: str | Path | None = None,
) -> PendingRun:
    """Submit from synchronous code, also inside a running event loop; see `submit`.

    Raises:
        JudgekitError: an error that stops a run.
    """
    work = submit(
        suite, metrics, judge=judge, cassette=cassette, max_cost=max_cost, gates=gates, out=out
    )
    return _sync(work)


def _sync(work: Coroutine[Any, Any, T]) -> T:
    from judgekit.runner.background import run_sync

    return run_sync(work)


def _of_suite(path: Path, judge: JudgeChoices | None, out: str | Path | None) -> _Run:
    from judgekit.cassette.store import store_folder
    from judgekit.suite.overrides import Overrides
    from judgekit.suite.resolved import resolve
    from judgekit.suite.run import run_suite
    from judgekit.suite.suite import open_suite

    if judge is not None and not isinstance(judge, str):
        raise ConfigError("judge: of a suite file, a model string is expected; or give `metrics`")
    chosen = Overrides(record="new_episodes", judge=judge)

    async def run(choice: BatchChoice, before: Report | None) -> _Round:
        suite = open_suite(resolve(path, chosen), batches=choice)
        report = await run_suite(suite, out=out)
        return _Round(report, suite.batch_facts, store_folder(suite.base))

    return run


def _of_cases(
    source: Any,
    metrics: MetricChoices,
    judge: JudgeChoices | None,
    recording: Recording,
    gates: Gates | None,
    out: str | Path | None,
) -> _Run:
    from judgekit.cassette.store import store_folder
    from judgekit.runner.evaluation import evaluate
    from judgekit.suite.choices import OpenChoices

    # A round reads the cases again, and an iterator gives them once.
    cases = source if isinstance(source, str | Path) else list(load_cases(source))

    async def run(choice: BatchChoice, before: Report | None) -> _Round:
        opened = OpenChoices(metrics, judge=judge, recording=recording, batches=choice)
        suite = opened.suite
        facts: list[BatchFacts | None] = []

        def last(report: Report) -> None:
            facts.append(opened.send_jobs(report))

        try:
            by_name = set() if suite is None else {metric.name for metric in suite.metrics}
            report = await evaluate(
                cases,
                opened.metrics,
                gates=opened.gates(gates),
                thresholds=opened.thresholds(None),
                limits=opened.limits(Limits()),
                out=out,
                reuse=_earlier(before, by_name),
                last=last,
            )
        finally:
            opened.close()
        return _Round(report, facts[0] if facts else None, store_folder(Path()))

    return run


def _earlier(
    before: Report | None, by_name: set[str]
) -> Callable[[Case, str], Result | None] | None:
    """Return the results of the metrics that are objects, so that no round scores them again."""
    if before is None:
        return None
    known = {
        (row.case, row.metric): row.result
        for scored in before.results
        for row in scored.rows
        if row.metric not in by_name and not isinstance(row.result, Failure)
    }
    return lambda case, metric: known.get((case.id, metric))
