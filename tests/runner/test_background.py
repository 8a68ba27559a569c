"""The sync doors outside a notebook: in a script, in a thread, after a fork, under Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import judgekit
from judgekit.cassette.cassette import Cassette
from judgekit.cassette.store import Store
from judgekit.core.case import Case
from judgekit.core.request import Reply, Request
from judgekit.core.score import Failure, Score
from judgekit.metrics.rubric import RubricMetric
from judgekit.rubric.load import load_rubric
from judgekit.runner.background import run_sync
from judgekit.runner.evaluation import score_sync
from judgekit.runner.progress import Progress, ProgressLine

SCRIPT = """
import asyncio, sys, judgekit
from judgekit.core.score import Score
class Slow:
    name, range, higher_is_better = "slow", (0.0, 1.0), True
    async def score(self, case):
        await asyncio.sleep(0.1)
        if case.id == "c9": print("at", flush=True)
        return Score(value=0.5)
cases = [judgekit.Case(id=f"c{n}") for n in range(4000)]
report = judgekit.evaluate_sync(cases, [Slow()], window=4)
print(report.exit_code, 0 < report.figures.cases < 200)
sys.exit(report.exit_code)
"""


class Quick:
    name, range, higher_is_better = "quick", (0.0, 1.0), True

    async def score(self, case):
        await asyncio.sleep(0)
        return Score(value=0.5)


CASES = [judgekit.Case(id=f"c{n}") for n in range(5)]


def test_the_first_ctrl_c_ends_a_script_with_what_there_is():
    script = subprocess.Popen(
        [sys.executable, "-u", "-c", SCRIPT],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert script.stdout.readline() == "at\n"
    script.send_signal(signal.SIGINT)
    out, err = script.communicate(timeout=300)

    assert out.splitlines()[-1] == "3 True"
    assert err == "stopping; what is done is kept (again: leave at once)\n"
    assert script.returncode == 3


def test_the_second_ctrl_c_ends_a_script_at_once():
    # A metric that does not let go of the loop, so that stopping does not come about.
    stuck = SCRIPT.replace("await asyncio.sleep(0.1)", "import time; time.sleep(0.1)").replace(
        'print("at", flush=True)', 'print("at", flush=True); time.sleep(3600)'
    )
    script = subprocess.Popen(
        [sys.executable, "-u", "-c", stuck],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert script.stdout.readline() == "at\n"
    script.send_signal(signal.SIGINT)
    assert script.stderr.readline().startswith("stopping;")
    script.send_signal(signal.SIGINT)
    script.communicate(timeout=300)

    assert script.returncode != 0


def test_doors_work_in_any_thread():
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(judgekit.evaluate_sync(CASES, [Quick()])))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert [report.metrics["quick"].mean for report in found] == [0.5] * 4


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_doors_work_after_a_fork():
    judgekit.evaluate_sync(CASES, [Quick()])
    child = os.fork()
    if child == 0:
        os._exit(7 if judgekit.evaluate_sync(CASES, [Quick()]).figures.cases == 5 else 1)
    for _ in range(200):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.1)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("it waits for a loop that nobody runs")

    assert os.waitstatus_to_exitcode(status) == 7


def test_work_that_would_wait_for_itself_is_refused():
    async def nested():
        return run_sync(asyncio.sleep(0, "never"))

    with pytest.raises(judgekit.ConfigError, match="await the one without _sync there"):
        run_sync(nested())


@pytest.mark.thorough
def test_a_stop_of_ones_own_is_kept():
    stop = asyncio.Event()

    def told(progress):
        if progress.cases == 2:
            asyncio.run_coroutine_threadsafe(_set(stop), _loop_of()).result(5)

    many = [judgekit.Case(id=str(n)) for n in range(50_000)]
    report = judgekit.evaluate_sync(many, [Quick()], stop=stop, progress=told, window=1)

    assert 2 <= report.figures.cases < 50_000


async def _set(stop):
    stop.set()


def _loop_of():
    from judgekit.runner import background

    return background._loop


def test_a_door_says_progress_on_the_callers_thread_and_in_order():
    told = []

    judgekit.evaluate_sync(
        CASES, [Quick()], progress=lambda p: told.append((threading.get_ident(), p.cases))
    )

    assert told == [(threading.get_ident(), n) for n in range(1, 6)]


def test_progress_false_is_nobody():
    assert judgekit.evaluate_sync(CASES, [Quick()], progress=False).figures.cases == 5
    assert asyncio.run(judgekit.evaluate(CASES, [Quick()], progress=False)).figures.cases == 5


def test_a_line_is_not_written_to_a_file(capsys, monkeypatch):
    line = ProgressLine()
    monkeypatch.setattr("judgekit.runner.progress._PATIENCE", -1.0)
    for number in range(100):
        line(Progress(number, 0))
    line.close()

    assert capsys.readouterr() == ("", "")


def test_a_line_of_a_terminal_is_written_over_and_taken_away(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("judgekit.runner.progress._PATIENCE", -1.0)
    line = ProgressLine()
    for number in range(1, 2000):
        line(Progress(number, 3))
    line.close()

    said = capsys.readouterr().err
    assert said.startswith("\r\x1b[K1 case, 3 failed, ")
    assert said.endswith("\r\x1b[K")
    assert "\n" not in said
    assert said.count("\r") <= 4


class Exits:
    name, range, higher_is_better = "exits", (0.0, 1.0), True

    async def score(self, case: Case) -> Score:
        sys.exit(1)


def test_exit_in_a_metric_costs_its_row() -> None:
    result = score_sync(Case(id="a", output="x"), Exits())

    assert isinstance(result, Failure)
    assert (result.kind, result.message) == ("metric_error", "SystemExit: 1")


async def exiting(request: Request) -> Reply:
    raise SystemExit(1)


def test_exit_in_a_judge_costs_its_row(tmp_path: Path) -> None:
    cassette = Cassette(exiting, store=Store(tmp_path / "store"), record="new_episodes")
    rubric = load_rubric("quality")
    try:
        for judge in (cassette, exiting):
            result = score_sync(
                Case(id="a", input="x", output="x"), RubricMetric(rubric, judge=judge)
            )

            assert isinstance(result, Failure)
            assert result.kind == "metric_error"
    finally:
        cassette.close()


def test_exit_of_the_work_is_raised_by_its_caller() -> None:
    async def leave() -> None:
        sys.exit(5)

    for _ in range(2):
        with pytest.raises(SystemExit) as left:
            run_sync(leave())
        assert left.value.code == 5
