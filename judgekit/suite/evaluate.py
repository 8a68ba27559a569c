"""Score cases in Python, with metrics as objects or by name."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.cassette.mode import RecordChoice
from judgekit.core.arguments import checked
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.limits import check_concurrent
from judgekit.core.score import Result
from judgekit.core.synchronous import Flag
from judgekit.datasets.load import Source, load_cases
from judgekit.report.folder import RUN, write_json
from judgekit.report.report import Report
from judgekit.runner import evaluation
from judgekit.runner.evaluation import Gates, Last, Reuse
from judgekit.runner.gatekeeper import Rules
from judgekit.runner.limits import Limits
from judgekit.runner.progress import Progress
from judgekit.runner.sync_form import sync_form
from judgekit.suite.choice import JudgeChoices, MetricChoice, MetricChoices, Recording
from judgekit.suite.choices import OpenChoices

if TYPE_CHECKING:
    import asyncio

    from judgekit.report.run_labels import RunLabels


@checked
async def evaluate(
    cases: Source,
    metrics: MetricChoices,
    *,
    judge: JudgeChoices | None = None,
    thresholds: float | Mapping[str, float] | None = None,
    gates: Gates | None = None,
    cassette: str | Path | None = None,
    record: RecordChoice | None = None,
    max_cost: float | None = None,
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
    last: Last | None = None,
) -> Report:
    """Score every case with every metric.

    The run reads cases only as fast as it scores them and writes results in the order of the
    cases. With `out`, data of any size runs in constant memory. A metric that fails affects one
    row. Only a wrong configuration, a judge that rejects the requests, and damaged recordings
    stop the run.

    A metric may be named, as in a suite file. Its judge is then `judge`. Replies of judges that
    are named, too, are recorded in the private store of the project, so the same call asks each
    question once. A judge that is an object is recorded only with `cassette`.

    Args:
        cases: an iterable of cases, or a source that `load_cases` accepts.
        metrics: the metrics; each scores every case. An item is a metric, the name of a metric or
            rubric, or the path of a rubric file, relative to the working folder. Instead, name ->
            options, as under `metrics` in a suite file: `{"quality": {"samples": 3}}`; `judge`
            and `jury` are judges there, not roles.
        judge: the judge of the metrics by name: a model string, the settings of a judge as in a
            suite file, or an object. A list is a jury. `"none"`: computed fallbacks.
        thresholds: metric -> value that a case must reach (or stay below) to pass; or one value
            for all metrics.
        gates: metric -> figure (`mean`, `pass_rate`, `min`, `max`, `coverage`, ...) -> bound for
            the run, optionally with `where`, `cluster` and `undecided`; or a list of such
            mappings. Instead, a list of `Gate`s.
        cassette: tape that records and replays the replies to the metrics by name. A bare name of
            a built-in rubric then means its version when the tape was begun; otherwise the newest.
        record: requests that may be sent: `none` (replay only), `new_episodes` (the default) or
            `all`.
        max_cost: US dollars that the judges by name may spend.
        cluster: metadata field that groups dependent cases, such as a user or a document; all
            intervals then use clusters.
        labels: file with human labels, to correct the means.
        rules: settings of all gates: whether an undecided gate passes, the baseline, the cost.
        limits: maximum numbers of rows that may fail or use a fallback.
        out: run folder to write; without it, results stay in memory.
        manifest: description of the inputs, in addition to the metrics.
        window: number of rows that are scored concurrently.
        progress: called after every case; `True` shows a progress line.
        stop: set it to end early and keep the finished results.
        reuse: returns a result of an earlier run, or `None` to score the row.
        last: called with the report after the last result, before `report.json` is written, which
            marks a finished run folder.

    Raises:
        ConfigError: an argument is wrong, two metrics have the same name, or a threshold or gate
            refers to an unknown metric.
        DatasetError: a case cannot be read.
        JudgeRejected: the judge rejects the requests.
        CassetteCorrupt: a recording is damaged.
    """
    check_concurrent("window", window)
    chosen = OpenChoices(metrics, judge=judge, recording=Recording(cassette, record, max_cost))
    try:
        report = await evaluation.evaluate(
            cases,
            chosen.metrics,
            thresholds=chosen.thresholds(thresholds),
            gates=chosen.gates(gates),
            cluster=cluster,
            labels=labels,
            rules=rules,
            limits=chosen.limits(limits),
            out=out,
            manifest=manifest,
            window=window,
            progress=progress,
            stop=stop,
            reuse=reuse,
            last=partial(_finish, chosen, last=last, stop=stop),
        )
        if report.figures.incomplete == ("no cases",):
            warnings.warn(_NO_CASES, stacklevel=2)
        return report
    finally:
        chosen.close()


_NO_CASES = (
    "evaluate: there is no case, so nothing is scored and the run is incomplete; check the source, "
    "or expect it: limits=judgekit.Limits(may_be_empty=True)"
)


def _finish(
    chosen: OpenChoices, report: Report, *, last: Last | None, stop: asyncio.Event | Flag | None
) -> None:
    """Note what the judges by name cost, and send the batch jobs of a run that was not stopped."""
    report.run.update(chosen.cost_facts())
    chosen.send_jobs(report, stopped=stop is not None and stop.is_set())
    if report.folder is not None:
        write_json(report.folder / RUN, report.run)
    if last is not None:
        last(report)


@sync_form(evaluate)
def evaluate_sync() -> None:
    """Evaluate from synchronous code, also inside a running event loop such as in a notebook.

    Ctrl-C ends the run and keeps the finished results; the report is marked as incomplete. A second
    Ctrl-C raises KeyboardInterrupt.
    """


@checked
async def score(
    case: Case | Mapping[str, Any],
    metric: MetricChoice | Mapping[str, Mapping[str, Any] | None],
    *,
    judge: JudgeChoices | None = None,
    cassette: str | Path | None = None,
    record: RecordChoice | None = None,
    max_cost: float | None = None,
) -> Result:
    """Score one case with one metric; a failure is returned, not raised.

    Args:
        case: the case, or its fields.
        metric: a metric, a name or the path of a rubric file; or `{NAME: options}`.
        judge: the judge of a metric by name, as for `evaluate`.
        cassette: tape of the replies, as for `evaluate`.
        record: requests that may be sent, as for `evaluate`.
        max_cost: US dollars that judges by name may spend.

    Raises:
        JudgekitError: an error that would stop a run.
    """
    fields: Any = case
    if not isinstance(fields, Case):
        if not isinstance(fields, Mapping):
            example = "{'input': '...', 'output': '...'}"
            raise ConfigError(
                f"case: a Case or its fields are expected, not {fields!r:.60}: {example}"
            )
        fields = next(load_cases([{"id": "case", **fields}]))
    if isinstance(metric, Mapping) and len(metric) != 1:
        raise ConfigError(f"metric: one name is expected, not {len(metric)}; use evaluate_sync")
    several: Any = metric if isinstance(metric, Mapping) else [metric]
    report = await evaluate(
        [fields], several, judge=judge, cassette=cassette, record=record, max_cost=max_cost
    )
    return next(report.results).rows[0].result


@checked
def score_sync(
    case: Case | Mapping[str, Any],
    metric: MetricChoice | Mapping[str, Mapping[str, Any] | None],
    *,
    judge: JudgeChoices | None = None,
    cassette: str | Path | None = None,
    record: RecordChoice | None = None,
    max_cost: float | None = None,
) -> Result:
    """Score one case from synchronous code, also inside a running event loop; see `score`.

    Raises:
        JudgekitError: an error that would stop a run.
    """
    from judgekit.runner.background import run_sync

    return run_sync(
        score(case, metric, judge=judge, cassette=cassette, record=record, max_cost=max_cost)
    )
