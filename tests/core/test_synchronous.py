from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest

from judgekit.core.synchronous import Flag, run_inline
from judgekit.metrics.fallback import WithFallback
from judgekit.metrics.text.length import Length
from judgekit.suite.run import replay_suite, run_suite
from judgekit.suite.suite import Overrides, build_suite, load_suite
from tests.suite.test_run import EXAMPLE, SUITE

SINGLE = {"safety": {"threshold": 0.5}, "length": {"maximum": 9, "gate": {"mean": 0.5}}}


@pytest.fixture
def folder(tmp_path):
    rows = [{"id": f"c{n}", "input": f"Question {n}?", "output": f"Answer {n}."} for n in range(8)]
    del rows[3]["output"]  # a row that fails
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    return tmp_path


def wired(folder, metrics=SINGLE, **overrides):
    data = {**SUITE, "metrics": metrics}
    return build_suite(data, base=folder, overrides=Overrides(**overrides))


def told(suite, how, out):
    """Run a suite one way; return everything a run folder says but the occasion."""
    report = (
        asyncio.run(run_suite(suite, out=out)) if how == "loop" else replay_suite(suite, out=out)
    )
    texts = {
        path.name: path.read_bytes() for path in sorted(out.iterdir()) if path.name != "run.json"
    }
    run = {k: v for k, v in report.run.items() if k not in ("started", "seconds")}
    return texts, run, report.exit_code


def test_a_replay_gives_the_same_with_and_without_an_event_loop(folder, tmp_path):
    asyncio.run(run_suite(wired(folder, record="new_episodes")))
    replay = wired(folder)
    assert replay.at_once

    with_loop = told(wired(folder), "loop", tmp_path / "a")
    without = told(replay, "none", tmp_path / "b")

    assert with_loop == without
    assert b"invalid_case" in without[0]["results.jsonl"]


def test_misses_and_runs_without_a_judge_give_the_same(folder, tmp_path):
    for number, options in enumerate(({}, {"no_judge": True})):
        metrics = {"prompt_alignment": {"mode": "user"}, "length": {"maximum": 9}}
        suites = [wired(folder, metrics, **options) for _ in range(2)]
        assert suites[0].at_once
        with_loop = told(suites[0], "loop", tmp_path / f"a{number}")
        assert told(suites[1], "none", tmp_path / f"b{number}") == with_loop


def test_the_example_needs_no_loop():
    assert load_suite(EXAMPLE).at_once


@pytest.mark.parametrize(
    ("metrics", "overrides"),
    [
        (SINGLE, {"record": "new_episodes"}),
        (SINGLE, {"judge": "fake/other"}),
        ({"regex": {"pattern": "x"}}, {}),
        ({"a": {"metric": "length", "maximum": 9}, "b": {"of": ["a"]}}, {}),
    ],
)
def test_what_may_wait_has_a_loop(folder, metrics, overrides):
    assert not wired(folder, metrics, **overrides).at_once


def test_a_subclass_with_another_score_may_wait_unless_it_says_otherwise():
    class Slow(Length):
        async def score(self, case):
            await asyncio.sleep(0)
            return await super().score(case)

    class Quick(Length):
        synchronous = True

        async def score(self, case):
            return await super().score(case)

    assert Length(maximum=1).synchronous
    assert Quick(maximum=1).synchronous
    assert not Slow(maximum=1).synchronous
    assert WithFallback(Length(maximum=1), Length(maximum=2)).synchronous
    assert not WithFallback(Length(maximum=1), Slow(maximum=2)).synchronous


def test_work_that_waits_after_all_is_no_result():
    async def quick():
        return 3

    async def slow():
        await asyncio.sleep(0)

    assert run_inline(quick()) == 3
    with pytest.raises(RuntimeError, match="waits, which needs an event loop"):
        run_inline(slow())


def test_a_stopped_replay_is_incomplete(folder):
    stop = Flag()
    seen = []

    def two(progress):
        seen.append(progress)
        if len(seen) == 2:
            stop.set()

    suite = wired(folder, {"length": {"maximum": 9}}, no_judge=True)
    report = replay_suite(suite, progress=two, stop=stop)

    assert report.exit_code == 3
    assert report.figures.incomplete[0] == "stopped early, with 2 cases done"


INTERRUPTED = """
import os, signal, sys
TIMES = int(sys.argv[1])
from judgekit.metrics.text.length import Length
score, count = Length.score, 0
async def interrupting(self, case):
    global count
    count += 1
    if count == 3:
        for _ in range(TIMES):
            os.kill(os.getpid(), signal.SIGINT)
    return await score(self, case)
Length.score = interrupting
from judgekit.cli import main
sys.argv = ["judgekit", "run", "suite.yaml"]
main()
"""


@pytest.mark.parametrize(("times", "code"), [(1, 3), (2, -2)])
def test_ctrl_c_ends_a_replay_and_twice_ends_it_at_once(folder, times, code):
    suite = {"cases": "cases.jsonl", "metrics": {"length": {"maximum": 9}}}
    (folder / "suite.yaml").write_text(json.dumps(suite), "utf-8")

    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(times)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == code, done.stderr
    assert "stopping; what is done is kept" in done.stderr
    assert "Traceback" not in done.stderr
    assert ("stopped early, with 3 cases done" in done.stdout) == (times == 1)
