"""Score every case with every metric; results are in the order of the cases."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from judgekit.core.case import Case
from judgekit.core.in_flight import Drain
from judgekit.core.protocols import Metric, MetricLike
from judgekit.core.score import Result, Row, guarded, row_bytes
from judgekit.core.synchronous import Flag
from judgekit.core.value import trusted
from judgekit.datasets.load import Source, cases_of
from judgekit.judges.connections import closing_connections
from judgekit.metrics.adapter import as_metric
from judgekit.report.folder import BELOW, REPORT, RUN, ResultsWriter, Scored, write_json
from judgekit.report.gate import Gate, WrittenGates, gates_by_metric, gates_of
from judgekit.report.manifest import full_manifest
from judgekit.report.report import Figures, Report
from judgekit.report.summary import MetricSummary, Tally
from judgekit.runner.gatekeeper import (
    Gatekeeper,
    Rules,
    check_corrected,
    check_names,
    keep_baseline,
)
from judgekit.runner.limits import Limits
from judgekit.runner.progress import Progress, close, listener
from judgekit.runner.sequencer import CaseText, ResultSequencer, case_text
from judgekit.runner.sync_form import sync_form

if TYPE_CHECKING:
    import asyncio

    from judgekit.report.clusters import CaseClusters
    from judgekit.report.run_labels import RunLabels

# With the type of the gates, mypy would refuse a list of two dicts with other values.
Gates = Mapping[str, Any] | Iterable[Gate]
"""Metric -> its gates, or a list of gates."""

Reuse = Callable[[Case, str], Result | None]
"""Returns the result of an earlier run for a case and a metric, if it is still valid."""

Last = Callable[[Report], None]

_PAUSE_AFTER = 0.05
"""Seconds of scoring before a pause, in which the event loop handles Ctrl-C and progress."""


class TalliedCase(NamedTuple):
    """A case whose rows another process has read and counted."""

    text: CaseText
    rows: Sequence[bytes]
    """Its rows as lines, in the order of the metrics."""
    failed: int
    """Number of rows without a score."""
    misses: bool
    """Whether a row misses its threshold."""


class TalliedRows(Protocol):
    """Rows of finished runs that other processes read and count, for a merge."""

    def cases(self, tallies: Mapping[str, Tally], *, cluster: str | None) -> Iterator[TalliedCase]:
        """Yield the cases in order.

        Args:
            tallies: what counts the rows of each metric; they stay empty in this process.
            cluster: the field that clusters cases.
        """

    def finish(self) -> Mapping[str, MetricSummary]:
        """Return the summaries of the metrics over the cases yielded."""


async def evaluate(
    cases: Source,
    metrics: Sequence[MetricLike],
    *,
    thresholds: Mapping[str, float] | None = None,
    gates: Gates | None = None,
    cluster: str | None = None,
    labels: RunLabels | str | Path | None = None,
    rules: Rules = Rules(),  # noqa: B008 - an immutable value
    limits: Limits = Limits(),  # noqa: B008 - an immutable value
    out: str | Path | None = None,
    manifest: Mapping[str, Any] | None = None,
    window: int = 16,
    progress: Callable[[Progress], None] | bool | None = None,
    stop: asyncio.Event | Flag | None = None,
    reuse: Reuse | None = None,
    tallied: TalliedRows | None = None,
    last: Last | None = None,
    keep: bool = True,
) -> Report:
    """Score every case with every metric; `judgekit.suite.evaluate` describes the arguments.

    Raises:
        ConfigError: two metrics have the same name, or a gate refers to an unknown metric.
        DatasetError: a case cannot be read.
        JudgeRejected: the judge rejects the requests.
        CassetteCorrupt: a recording is damaged.
    """
    if isinstance(labels, str | Path):
        from judgekit.report.run_labels import RunLabels

        labels = RunLabels.read(Path(labels))
    several = metrics if isinstance(metrics, Iterable) else [metrics]
    run = _Run(
        metrics=[as_metric(metric) for metric in several],
        thresholds=thresholds or {},
        gates=gates_by_metric(gates or {}),
        cluster=cluster,
        labels=labels,
        rules=rules,
        limits=limits,
        out=Path(out) if out is not None else None,
        manifest=dict(manifest or {}),
        progress=listener(progress),
        reuse=reuse,
        keep=keep,
    )
    try:
        if tallied is not None and not run.gatekeeper.follows:
            run.take(tallied)
            run.interrupted = stop is not None and stop.is_set()
        else:
            async with closing_connections():
                await run.score(iter(cases_of(cases)), window, stop)
        return run.report(last)
    finally:
        run.close()


@dataclass(kw_only=True, eq=False, repr=False)
class _Run:
    """The state of one evaluation, from the arguments of `evaluate`."""

    metrics: list[Metric]
    thresholds: Mapping[str, float]
    gates: Mapping[str, WrittenGates]
    cluster: str | None
    labels: RunLabels | None
    rules: Rules
    limits: Limits
    out: Path | None
    manifest: dict[str, Any]
    progress: Callable[[Progress], None] | None
    reuse: Reuse | None
    keep: bool
    """Whether results are kept in memory, if there is no run folder."""
    kept: list[Scored] = field(default_factory=list)
    cases: int = 0
    failed: int = 0
    below: int = 0
    """Number of cases that miss a threshold."""
    summaries: dict[str, MetricSummary] = field(default_factory=dict)
    """Summaries that other processes made."""
    interrupted: bool = False
    broken: bool = False
    """Whether an error stops the run; a worker that never waits would not notice otherwise."""

    def __post_init__(self) -> None:
        self.names = [metric.name for metric in self.metrics]
        check_names(self.names, self.thresholds, self.gates)
        self.named = dict(zip(self.names, self.metrics, strict=True))
        self.clusters: CaseClusters | None = None
        # Without clusters, the manifest is the same as in earlier versions.
        if self.cluster is not None:
            from judgekit.report.clusters import CaseClusters

            self.clusters = CaseClusters(self.cluster)
            self.manifest["cluster"] = self.cluster
        if self.labels is not None:
            self.manifest["labels"] = self.labels.described()
        gates = [
            gate
            for name, keys in self.gates.items()
            for gate in gates_of(
                name,
                keys,
                threshold=self.thresholds.get(name),
                figures=self.named[name].figures,
                undecided=self.rules.undecided,
                cluster=self.cluster,
            )
        ]
        self.manifest = full_manifest(self.metrics, self.manifest)
        clustered = self.cluster is not None
        self.tallies = {name: self._tally(name, clustered) for name in self.names}
        for gate in gates:
            check_corrected(gate, self.labels, self.tallies[gate.metric].corrector)
        keep_baseline(self.rules, self.out)
        self.gatekeeper = Gatekeeper(
            gates, rules=self.rules, tally=self._tally, manifest=self.manifest, cluster=self.cluster
        )
        self.writer = None if self.out is None else ResultsWriter(self.out, manifest=self.manifest)
        self.dataset = hashlib.sha256()
        self.started = time.monotonic()

    def _tally(self, name: str, clustered: bool) -> Tally:
        metric = self.named[name]
        corrector = None
        if self.labels is not None:
            from judgekit.report.corrector import corrector_of

            corrector = corrector_of(
                self.labels, name, self.manifest, clustered=clustered, range=metric.range
            )
        return Tally(
            name,
            range=metric.range,
            higher_is_better=metric.higher_is_better,
            threshold=self.thresholds.get(name),
            aggregates=metric.aggregates(),
            clustered=clustered,
            corrector=corrector,
        )

    # -- scoring ------------------------------------------------------------------

    async def score(
        self, cases: Iterator[Case], window: int, stop: asyncio.Event | Flag | None
    ) -> None:
        """Score all rows: one by one if all metrics are synchronous, else up to `window` at a time.

        If `stop` is a `Flag`, there is no event loop, and all metrics must be synchronous.
        """
        if isinstance(stop, Flag):
            sequencer = ResultSequencer(self._emit, len(self.metrics), ahead=0)
            await self._work(self._rows_to_score(cases), sequencer, stop.is_set)
            self.interrupted = stop.is_set()
            return
        import asyncio

        stop = stop or asyncio.Event()
        window = 1 if all(metric.synchronous for metric in self.metrics) else max(1, window)
        sequencer = ResultSequencer(self._emit, len(self.metrics), ahead=4 * window)
        rows = self._rows_to_score(cases)
        drain = Drain()

        def stopping() -> bool:
            return stop.is_set() or drain.begun or self.broken

        workers = [
            drain.task(self._work(rows, sequencer, stopping, pause=asyncio.sleep))
            for _ in range(window)
        ]
        work = asyncio.gather(*workers)
        stopper = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait((work, stopper), return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                work.result()  # raises the error of a worker
        finally:
            stopper.cancel()
            await drain.empty(workers)
            await asyncio.gather(work, stopper, return_exceptions=True)
        self.interrupted = stop.is_set()
        if self.interrupted:
            sequencer.finish()

    def _rows_to_score(self, cases: Iterator[Case]) -> Iterator[tuple[int, CaseText, int]]:
        for number, case in enumerate(cases):
            text = case_text(case)
            for place in range(len(self.metrics)):
                yield number, text, place

    async def _work(
        self,
        rows: Iterator[tuple[int, CaseText, int]],
        sequencer: ResultSequencer,
        stopping: Callable[[], bool],
        *,
        pause: Callable[[float], Awaitable[None]] | None = None,
    ) -> None:
        """Score all remaining rows, except those that an earlier run has scored.

        `pause` lets the event loop do other work.
        """
        resumed = time.monotonic()
        for number, text, place in rows:
            await sequencer.room(number)
            metric = self.metrics[place]
            result = None if self.reuse is None else self.reuse(text.case, metric.name)
            if result is None:
                try:
                    result = await guarded(text.case, metric)
                except BaseException:
                    self.broken = True
                    raise
            sequencer.put(number, text, place, result)
            if pause is not None and time.monotonic() - resumed > _PAUSE_AFTER:
                await pause(0)
                resumed = time.monotonic()
            if stopping() and place == len(self.metrics) - 1:
                return

    # -- results ------------------------------------------------------------------

    def take(self, tallied: TalliedRows) -> None:
        """Take all cases with rows that other processes have counted."""
        for (case, text), rows, failed, misses in tallied.cases(self.tallies, cluster=self.cluster):
            if self.clusters is not None:
                self.clusters.of(case.id, case.metadata)
            self.failed += failed
            self.below += misses
            self.dataset.update(text + b"\n")
            if self.writer is not None:
                self.writer.write(text, rows)
            self.cases += 1
            if self.progress is not None:
                self.progress(Progress(self.cases, self.failed, case))
        self.summaries = dict(tallied.finish())

    def _emit(self, case_text: CaseText, results: Sequence[Result]) -> None:
        case, text = case_text
        cluster = None if self.clusters is None else self.clusters.of(case.id, case.metadata)
        misses = False
        for tally, result in zip(self.tallies.values(), results, strict=True):
            misses |= tally.add(case.id, result, cluster, case.output, case) is False
            self.failed += result.type == "failure"
        self.below += misses
        if self.gatekeeper.follows:
            self.gatekeeper.add(case, self._rows(case, results))
        self.dataset.update(text + b"\n")
        if self.writer is not None:
            id = case.id
            self.writer.write(
                text, [row_bytes(id, n, r) for n, r in zip(self.names, results, strict=True)]
            )
        elif self.keep:
            self.kept.append(Scored(case, self._rows(case, results)))
        self.cases += 1
        if self.progress is not None:
            self.progress(Progress(self.cases, self.failed, case, results))

    def _rows(self, case: Case, results: Sequence[Result]) -> tuple[Row, ...]:
        return tuple(
            trusted(Row, {"case": case.id, "metric": name, "result": result})
            for name, result in zip(self.names, results, strict=True)
        )

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
        close(self.progress)

    def report(self, last: Last | None) -> Report:
        by_name = self.summaries or {name: tally.finish() for name, tally in self.tallies.items()}
        summaries = tuple(by_name.values())
        figures = Figures(
            manifest=self.manifest,
            cases=self.cases,
            dataset=self.dataset.hexdigest(),
            metrics=summaries,
            gates=self.gatekeeper.finish(by_name),
            incomplete=(
                *self.limits.shortfalls(summaries, cases=self.cases, interrupted=self.interrupted),
                *(self.clusters.shortfalls() if self.clusters is not None else ()),
            ),
        )
        run: dict[str, Any] = {"seconds": round(time.monotonic() - self.started, 3)}
        if self.thresholds:
            run[BELOW] = self.below
        if self.writer is not None and self.writer.went_on:
            run["went_on"] = True
        report = Report(figures, run=run, results=None if self.out else self.kept, folder=self.out)
        if self.writer is not None:
            self.writer.flush()
            write_json(self.writer.folder / RUN, run)
        if last is not None:
            last(report)
        if self.writer is not None:
            write_json(self.writer.folder / REPORT, figures.model_dump(mode="json"))
        return report


# -- from synchronous code ---------------------------------------------------------


@sync_form(evaluate)
def evaluate_sync() -> None:
    """Evaluate from synchronous code, also inside a running event loop such as in a notebook.

    Ctrl-C ends the run and keeps the finished results; the report is marked as incomplete. A second
    Ctrl-C raises KeyboardInterrupt.
    """


def score_sync(case: Case, metric: MetricLike) -> Result:
    """Score one case with one metric from synchronous code; a failure is returned, not raised.

    Raises:
        JudgekitError: an error that would stop a run.
    """
    from judgekit.runner.background import run_sync

    report = run_sync(evaluate([case], [metric]))
    return next(report.results).rows[0].result
