from __future__ import annotations

import asyncio
import itertools
import random
import threading
import tracemalloc
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.core.errors import (
    BudgetExceeded,
    CaseError,
    CassetteCorrupt,
    CassetteMiss,
    CircuitOpen,
    ConfigError,
    InvalidReply,
    JudgeRefused,
    JudgeRejected,
    JudgeUnavailable,
    RubricError,
)
from judgekit.core.score import Failure, Fallback, Score
from judgekit.report.report import Report
from judgekit.runner.evaluation import evaluate, evaluate_sync, score_sync
from judgekit.runner.limits import Limits


@dataclass
class Scripted:
    """A metric that does what a function of the case says."""

    script: object = lambda case: float(case.id.lstrip("c")) / 1000
    name: str = "m"
    range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    wait: object = None
    seen: list[str] = field(default_factory=list)

    async def score(self, case):
        self.seen.append(case.id)
        if self.wait is not None:
            await self.wait(case)
        said = self.script(case)
        if isinstance(said, BaseException):
            raise said
        return said if isinstance(said, Score) else Score(value=said)


def cases(count, start=0):
    return [Case(id=f"c{n}") for n in range(start, start + count)]


def values(report, metric=0):
    return [scored.rows[metric].result.value for scored in report.results]


# -- order and window -------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(0, 60))
def test_results_leave_in_the_order_of_the_cases(seed, window, count):
    delays = random.Random(seed)

    async def wait(_):
        for _ in range(delays.randrange(6)):
            await asyncio.sleep(0)

    metrics = [Scripted(wait=wait), Scripted(name="other", script=lambda _: 1.0)]
    report = asyncio.run(evaluate(cases(count), metrics, window=window))

    assert [scored.case.id for scored in report.results] == [f"c{n}" for n in range(count)]
    assert values(report) == [n / 1000 for n in range(count)]
    assert all([r.metric for r in s.rows] == ["m", "other"] for s in report.results)


@pytest.mark.parametrize("window", [1, 4])
def test_cases_are_pulled_only_as_there_is_room(window):
    pulled = []

    async def run():
        go, stop = asyncio.Event(), asyncio.Event()

        def source():
            for number in itertools.count():
                pulled.append(number)
                yield Case(id=f"c{number}", output="x" * 400_000)

        async def wait(case):
            if case.id == "c0":
                await go.wait()
            await asyncio.sleep(0)

        running = asyncio.create_task(
            evaluate(source(), [Scripted(wait=wait)], window=window, stop=stop)
        )
        for _ in range(500):
            await asyncio.sleep(0)
        held = len(pulled)
        go.set()
        for _ in range(50):
            await asyncio.sleep(0)
        stop.set()
        await running
        return held

    held = asyncio.run(run())

    assert held <= 16_000_000 // 400_000 + 6 * window + 1
    assert len(pulled) > held


def test_no_more_rows_are_under_way_than_the_window_allows():
    under_way, most = set(), 0

    async def wait(case):
        nonlocal most
        under_way.add(case.id)
        most = max(most, len(under_way))
        await asyncio.sleep(0)
        under_way.discard(case.id)

    asyncio.run(evaluate(cases(50), [Scripted(wait=wait)], window=7))

    assert most == 7


@pytest.mark.parametrize("window", [0, 1, 1000])
def test_any_window_will_do(window):
    assert len(list(evaluate_sync(cases(5), [Scripted()], window=window).results)) == 5


# -- failures ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (JudgeRefused("no"), "refused"),
        (InvalidReply("cut", kind="truncated"), "truncated"),
        (InvalidReply("none", kind="empty"), "empty"),
        (InvalidReply("odd"), "invalid_reply"),
        (JudgeUnavailable("down"), "unavailable"),
        (CassetteMiss("none", key="k"), "cassette_miss"),
        (CaseError("lacks"), "invalid_case"),
        (CircuitOpen("open"), "not_run"),
        (BudgetExceeded("spent"), "not_run"),
        (RubricError("template"), "metric_error"),
        (ZeroDivisionError("division by zero"), "metric_error"),
        (RecursionError("deep"), "metric_error"),
        (KeyError("x"), "metric_error"),
        (TimeoutError(), "metric_error"),
    ],
)
def test_an_error_costs_its_own_row(error, kind):
    metric = Scripted(lambda case: error if case.id == "c1" else 0.5)

    report = evaluate_sync(cases(3), [metric, Scripted(name="other")])

    results = [scored.rows[0].result for scored in report.results]
    assert [result.type for result in results] == ["score", "failure", "score"]
    assert results[1].kind == kind
    assert values(report, 1) == [0.0, 0.001, 0.002]
    assert report.metrics["m"].failures == {kind: 1}
    assert report.metrics["m"].mean == 0.5
    assert report.exit_code == 3


@pytest.mark.parametrize(
    "error", [JudgeRejected("401"), CassetteCorrupt("damaged"), ConfigError("wrong")]
)
def test_an_error_that_would_hit_every_row_stops_the_run(error):
    metric = Scripted(lambda case: error if case.id == "c3" else 0.5)

    with pytest.raises(type(error)):
        evaluate_sync(cases(1000), [metric], window=2)

    assert len(metric.seen) < 50


def test_a_source_that_fails_stops_the_run_and_keeps_what_was_written(tmp_path):
    def source():
        yield from cases(3)
        raise ConfigError("line 4 is broken")

    with pytest.raises(ConfigError, match="line 4"):
        evaluate_sync(source(), [Scripted()], out=tmp_path, window=1)

    assert not (tmp_path / "report.json").exists()
    assert len((tmp_path / "results.jsonl").read_text("utf-8").splitlines()) >= 3


def test_a_message_is_one_line_and_not_endless():
    report = evaluate_sync(cases(1), [Scripted(lambda _: ValueError("a\nb " + "x" * 5000))])

    message = next(report.results).rows[0].result.message
    assert message.startswith("ValueError: a b x")
    assert len(message) < 1100


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_so_many_failures_may_be_allowed(limit):
    metric = Scripted(lambda case: CaseError("x") if case.id in ("c0", "c1") else 0.5)

    report = evaluate_sync(cases(4), [metric], limits=Limits(max_failures=limit))

    assert report.exit_code == (0 if limit >= 2 else 3)


def test_a_metric_that_returns_no_score_costs_its_row():
    class Wrong(Scripted):
        async def score(self, case):
            return 0.7

    report = evaluate_sync(cases(2), [Wrong(), Scripted(name="other")])

    assert [s.rows[0].result.type for s in report.results] == ["failure", "failure"]
    assert values(report, 1) == [0.0, 0.001]


@pytest.mark.parametrize("wrong", [1.5, -0.1])
def test_a_value_outside_the_declared_range_costs_its_row(wrong):
    report = evaluate_sync(cases(1), [Scripted(lambda _: wrong)])

    assert next(report.results).rows[0].result.type == "failure"


# -- ending early -----------------------------------------------------------------


def test_stopping_keeps_what_is_done_and_says_so(tmp_path):
    async def run():
        stop = asyncio.Event()

        async def wait(case):
            await asyncio.sleep(0)
            if case.id == "c5":
                stop.set()

        return await evaluate(cases(100), [Scripted(wait=wait)], stop=stop, out=tmp_path, window=2)

    report = asyncio.run(run())

    done = [scored.case.id for scored in Report.read(tmp_path).results]
    assert done == [f"c{n}" for n in range(len(done))]
    assert 1 <= len(done) < 20
    (reason,) = report.figures.incomplete
    assert reason.startswith("stopped early")
    assert f" {len(done)} cases" in reason
    assert report.exit_code == 3


def test_cancelling_leaves_no_task_behind():
    async def run():
        async def wait(_):
            await asyncio.sleep(3600)

        running = asyncio.create_task(evaluate(cases(9), [Scripted(wait=wait)]))
        await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]

    assert asyncio.run(run()) == []


def test_no_cases_is_incomplete():
    report = evaluate_sync([], [Scripted()])

    assert report.figures.incomplete == ("no cases",)
    assert report.exit_code == 3


def test_nothing_applicable_is_incomplete():
    report = evaluate_sync(cases(3), [Scripted(lambda _: Score(status="not_applicable"))])

    assert report.figures.incomplete == ("nothing was applicable",)


def test_fallbacks_beyond_the_limit_are_incomplete():
    fallback = Score(value=0.5, fallback=Fallback(substitute="s", cause="c"))
    metric = Scripted(lambda case: fallback if case.id == "c1" else 1.0)

    report = evaluate_sync(cases(3), [metric])
    allowed = evaluate_sync(cases(3), [metric], limits=Limits(max_fallback=1))

    (reason,) = report.figures.incomplete
    assert reason.endswith("(0 allowed)")
    assert report.exit_code == 3
    assert allowed.exit_code == 0
    assert (allowed.metrics["m"].mean, allowed.metrics["m"].fallback) == (1.0, 1)


# -- thresholds and gates ---------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": []}, "there is no metric to score by"),
        ({"metrics": [Scripted(), Scripted()]}, "two metrics are named 'm'; give one of them"),
        ({"thresholds": {"x": 0.5}}, "thresholds: no metric of this run is named 'x'"),
        ({"gates": {"x": {"mean": 0.5}}}, "gates: no metric of this run is named 'x'"),
        ({"gates": {"m": {"median": 0.5}}}, "no gate on 'median'"),
        ({"gates": {"m": {"pass_rate": 0.5}}}, "a gate on pass_rate needs a threshold"),
    ],
)
def test_a_wrong_wish_is_refused_before_the_first_case(options, message):
    pulled = iter(cases(1))

    with pytest.raises(ConfigError, match=message):
        evaluate_sync(pulled, **{"metrics": [Scripted()], **options})

    assert next(pulled).id == "c0"


@pytest.mark.parametrize(
    ("higher", "gate", "code"),
    [
        (True, {"mean": 0.5}, 0),
        (True, {"mean": 0.51}, 1),
        (True, {"pass_rate": 0.5}, 0),
        (True, {"pass_rate": 0.51}, 1),
        (True, {"min": 0.2}, 0),
        (True, {"min": 0.21}, 1),
        (False, {"mean": 0.5}, 0),
        (False, {"mean": 0.49}, 1),
        (False, {"max": 0.8}, 0),
        (False, {"max": 0.79}, 1),
        (False, {"pass_rate": 0.5}, 0),
        (False, {"pass_rate": 0.75}, 1),
    ],
)
def test_a_gate_looks_the_way_the_metric_does(higher, gate, code):
    metric = Scripted(lambda case: 0.2 if case.id == "c0" else 0.8, higher_is_better=higher)

    report = evaluate_sync(cases(2), [metric], thresholds={"m": 0.5}, gates={"m": gate})

    assert report.exit_code == code
    assert report.figures.gates[0].passed == (code == 0)
    assert report.metrics["m"].passed == 1


def test_incomplete_goes_before_a_missed_gate():
    metric = Scripted(lambda case: CaseError("x") if case.id == "c0" else 0.1)

    report = evaluate_sync(cases(2), [metric], gates={"m": {"mean": 0.9}})

    assert not report.figures.gates[0].passed
    assert report.exit_code == 3


def test_a_gate_on_nothing_scored_is_missed():
    report = evaluate_sync(
        cases(1), [Scripted(lambda _: CaseError("x"))], gates={"m": {"mean": 0.0}}
    )

    assert report.figures.gates[0].passed is False
    assert report.figures.gates[0].sentence == "m: mean is unknown: nothing was scored"


# -- reuse ------------------------------------------------------------------------


def test_results_of_an_earlier_run_are_taken_over():
    metric = Scripted()
    earlier = {("c0", "m"): Score(value=0.9), ("c2", "m"): Failure(kind="refused", message="no")}

    report = evaluate_sync(
        cases(3), [metric], reuse=lambda case, name: earlier.get((case.id, name))
    )

    assert metric.seen == ["c1"]
    results = [scored.rows[0].result for scored in report.results]
    assert [r.type for r in results] == ["score", "score", "failure"]
    assert results[0].value == 0.9


# -- the run folder ---------------------------------------------------------------


def test_the_same_figures_come_with_and_without_a_folder(tmp_path):
    kept = evaluate_sync(cases(20), [Scripted()], thresholds={"m": 0.01})
    written = evaluate_sync(cases(20), [Scripted()], thresholds={"m": 0.01}, out=tmp_path)

    assert written.figures.metrics == kept.figures.metrics
    assert list(written.results) == list(kept.results)
    assert Report.read(tmp_path).figures == written.figures


def test_the_digest_of_the_data_follows_cases_and_their_order():
    def dataset(*given_cases):
        return evaluate_sync(given_cases, [Scripted()]).figures.dataset

    one, two = cases(2)
    digests = {
        dataset(one, two),
        dataset(two, one),
        dataset(one),
        dataset(one, two.model_copy(update={"input": "x"})),
    }
    assert len(digests) == 4
    assert dataset(one, two) in digests


def test_the_digest_of_the_data_does_not_depend_on_where_results_go(tmp_path):
    kept = evaluate_sync(cases(2), [Scripted()])
    written = evaluate_sync(cases(2), [Scripted()], out=tmp_path)

    assert kept.figures.dataset == written.figures.dataset


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")

    with pytest.raises(ConfigError, match="is a file; name a new folder"):
        evaluate_sync(cases(1), [Scripted()], out=tmp_path / "file")


def test_progress_counts_cases_and_failures():
    seen = []
    metric = Scripted(lambda case: CaseError("x") if case.id == "c1" else 0.5)

    evaluate_sync(cases(3), [metric], progress=seen.append, window=1)

    assert [(now.cases, now.failed) for now in seen] == [(1, 0), (2, 1), (3, 1)]


# -- sync doors -------------------------------------------------------------------


def test_the_sync_door_works_inside_a_running_loop():
    async def inside():
        return evaluate_sync(cases(3), [Scripted()])

    assert values(asyncio.run(inside())) == [0.0, 0.001, 0.002]


def test_the_sync_door_works_from_several_threads():
    reports = []
    threads = [
        threading.Thread(target=lambda: reports.append(evaluate_sync(cases(20), [Scripted()])))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [len(values(report)) for report in reports] == [20] * 4


def test_scoring_one_case_returns_a_failure_instead_of_raising():
    assert score_sync(Case(id="c1"), Scripted()).value == 0.001
    assert score_sync(Case(id="c1"), Scripted(lambda _: CaseError("x"))).kind == "invalid_case"
    with pytest.raises(JudgeRejected):
        score_sync(Case(id="c1"), Scripted(lambda _: JudgeRejected("401")))


# -- memory -----------------------------------------------------------------------


@pytest.mark.slow
def test_memory_does_not_grow_with_the_data_when_results_are_written(tmp_path):
    metric = Scripted(lambda _: 0.5)
    metric.seen = type("Forgetful", (list,), {"append": lambda *_: None})()
    marks = []

    def source():
        for number in range(6_000):
            if number in (1_000, 5_999):
                marks.append(tracemalloc.get_traced_memory()[0])
            yield Case(id=f"c{number}", output=f"an answer {number} " * 20)

    tracemalloc.start()
    try:
        evaluate_sync(source(), [metric], out=tmp_path)
    finally:
        tracemalloc.stop()

    assert marks[1] - marks[0] < 125_000
