"""Runs and datasets on a cluster of two nodes: what is killed costs what was in flight, and no row.

One file, because the workers of pytest-xdist share files: a cluster takes 8 s of processor time.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from judgekit.core.errors import ConfigError, JudgeRejected
from judgekit.ray.dataset import CaseScorer
from judgekit.ray.dataset import evaluate as evaluate_dataset
from judgekit.ray.run import run_on_ray, shards_folder
from judgekit.report.folder import read_results
from judgekit.suite.overrides import Overrides
from tests.live.server import Server
from tests.ray.conftest import workers
from tests.ray.suites import assert_same, run_alone, write_suite

# Ray warns of its own deprecated settings.
pytestmark = [pytest.mark.loopback, pytest.mark.slow, pytest.mark.filterwarnings("default")]

CASES = 60
LOST = 8
"""Calls that a kill may cost: 4 in flight, and as many replies that are about to be stored."""
RECORD = Overrides(record="new_episodes")


@pytest.fixture
def server():
    with Server(latency=0.1) as running:
        yield running


def live(folder, server, **limits):
    """Write a suite that asks the server, with a store of its own."""
    judge = {"model": "openai/judge", "api_base": server.base, "mode": "json_schema"}
    judge["price"] = {"input": 100.0, "output": 0.0}  # 0.01 dollars a reply
    limits = {"concurrency": 4, "max_failures": 1_000, **limits}
    os.environ["JUDGEKIT_HOME"] = str(folder / "store")  # a fixture restores it
    return write_suite(folder, cases=CASES, judge=judge, limits=limits)


class Killer(threading.Thread):
    """Kills a worker process once a condition holds.

    Args:
        of: part of its title.
        condition: when.
    """

    def __init__(self, of, condition):
        super().__init__(daemon=True)
        self.of, self.condition = of, condition
        self.killed = None
        self.start()

    def run(self):
        end = time.monotonic() + 300
        while time.monotonic() < end:
            if self.condition() and (processes := workers(self.of)):
                self.killed = processes[0]
                os.kill(self.killed, signal.SIGKILL)
                return
            time.sleep(0.01)


@pytest.mark.thorough
def test_a_killed_worker_costs_what_was_in_flight(tmp_path, nodes, server):
    run_alone(live(tmp_path / "one", server), tmp_path / "whole")
    alone = server.calls()
    server.forget()
    suite = live(tmp_path / "many", server)
    killer = Killer("judgekit shard", lambda: server.calls() >= CASES // 2)

    report = run_on_ray(suite, RECORD, out=tmp_path / "merged")

    killer.join()
    assert killer.killed
    assert_same(tmp_path / "whole", tmp_path / "merged")
    assert report.figures.cases == CASES
    assert alone == CASES
    assert CASES <= server.calls() <= CASES + LOST


@pytest.mark.thorough
def test_a_killed_driver_continues_where_it_was(tmp_path, nodes, server):
    run_alone(live(tmp_path / "one", server), tmp_path / "whole")
    server.forget()
    suite = live(tmp_path / "many", server)
    out = tmp_path / "merged"
    command = ["run", str(suite), "--ray", nodes.address, "--record", "new_episodes"]
    program = "from judgekit.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", program, *command, "--out", str(out)], stderr=subprocess.PIPE
    )
    server.wait_for(CASES // 2)
    process.kill()
    process.communicate()
    asked = server.calls()
    assert asked < CASES

    run_on_ray(suite, RECORD, out=out)

    assert_same(tmp_path / "whole", out)
    assert server.calls() <= CASES + LOST
    assert not shards_folder(out).exists()


@pytest.mark.thorough
def test_terminated_driver_does_not_exit_like_a_missed_gate(tmp_path, nodes, server):
    suite = live(tmp_path / "many", server)
    command = ["run", str(suite), "--ray", nodes.address, "--record", "new_episodes"]
    program = "from judgekit.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", program, *command, "--out", str(tmp_path / "out")],
        stderr=subprocess.PIPE,
    )
    server.wait_for(CASES // 4)
    process.terminate()
    _, err = process.communicate(timeout=60)

    assert process.returncode == 128 + signal.SIGTERM, err.decode()


@pytest.mark.thorough
def test_all_workers_share_one_budget_also_after_the_kill_of_its_actor(tmp_path, nodes, server):
    suite = live(tmp_path / "many", server, max_cost=0.2)
    killer = Killer("RunLimits", lambda: server.calls() >= 10)

    report = run_on_ray(suite, RECORD, out=tmp_path / "merged")

    killer.join()
    assert killer.killed
    assert report.exit_code == 3
    summary = report.metrics["polite"]
    assert summary.scored + summary.not_run == CASES
    # 0.2 dollars are 20 replies; four more may be in flight when the actor dies.
    assert 20 <= summary.scored <= 24
    assert report.run["spent"] == pytest.approx(0.01 * summary.scored)


@pytest.mark.thorough
def test_all_workers_share_one_rate(tmp_path, nodes, server):
    suite = live(tmp_path / "many", server, rpm=1_200)

    report = run_on_ray(suite, RECORD, out=tmp_path / "merged")

    assert report.metrics["polite"].scored == CASES
    first, *_, last = (seen.arrived for seen in server.seen)
    # 20 calls at once, then 20 a second; two paces would need half a second.
    assert last - first >= 1.2


def test_no_usage_statistics_are_sent(nodes, capsys):
    import ray

    from judgekit.ray import cluster

    @ray.remote(num_cpus=0)
    def variable():
        return os.environ.get("RAY_USAGE_STATS_ENABLED")

    assert ray.get(variable.remote()) == "0"
    assert cluster._sends_statistics() is False
    with cluster.connected(None):
        pass
    assert capsys.readouterr().err == ""


def test_a_cluster_that_sends_usage_statistics_gets_one_line(nodes, monkeypatch, capsys):
    from ray.experimental import internal_kv

    from judgekit.ray import cluster

    facts = {"session_start_timestamp_ms": 1}
    for reply, text in ((json.dumps(facts).encode(), "sends"), (None, "may send")):
        monkeypatch.setattr(internal_kv, "_internal_kv_get", lambda *_, reply=reply, **__: reply)
        with cluster.connected(None):
            pass
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 1
        assert f"this Ray cluster {text} usage statistics" in lines[0]
        assert "RAY_USAGE_STATS_ENABLED=0" in lines[0]


def rows_of(suite):
    lines = (suite.parent / "cases.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_every_row_gets_the_values_of_a_usual_run(tmp_path, nodes):
    import ray

    suite = write_suite(tmp_path / "suite", cassette=None)
    run_alone(suite, tmp_path / "whole")
    rows = [*rows_of(suite), {"id": "broken", "input": "no output"}]

    result = evaluate_dataset(ray.data.from_items(rows), suite, batch_size=5).take_all()

    by_case = {row["case"]: row for row in result}
    assert len(result) == len(by_case) == 24
    broken = by_case.pop("broken")
    assert broken["polite"] is None
    assert [text.split(": ")[1] for text in broken["failures"]] == ["invalid_case"] * 2
    for scored in read_results(tmp_path / "whole"):
        row = by_case[scored.case.id]
        assert row["rows"] == [one.to_json() for one in scored.rows]
        assert [row[one.metric] for one in scored.rows] == [
            None if one.result.type == "failure" else one.result.value for one in scored.rows
        ]


@pytest.mark.thorough
def test_a_killed_actor_loses_no_row(tmp_path, nodes):
    import ray

    with Server(latency=0.1) as server:
        suite = live(tmp_path / "suite", server, max_cost=10.0)
        killer = Killer("CaseScorer", lambda: server.calls() >= 20)
        dataset = ray.data.from_items(rows_of(suite), override_num_blocks=6)

        scored = evaluate_dataset(
            dataset, suite, overrides={"record": "new_episodes"}, batch_size=10
        ).take_all()

        killer.join()
        assert killer.killed
        assert sorted(row["case"] for row in scored) == sorted(r["id"] for r in rows_of(suite))
        assert all(row["polite"] is not None for row in scored)
        # The store of the machine has the replies of the killed actor.
        assert CASES <= server.calls() <= CASES + LOST
        assert server.most_in_flight <= 4


def test_a_worker_that_cannot_score_says_so_in_every_row(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    scorer = CaseScorer(
        suite=str(tmp_path / "none.yaml"),
        overrides={},
        generation=1,
        metrics=["polite"],
        concurrency=1,
        store=None,
        home=None,
        limits=None,
    )

    table = scored_by(scorer, pyarrow.table({"id": ["a", "b"], "output": ["x", "y"]}))

    assert table["case"].to_pylist() == ["a", "b"]
    (failure,) = table["failures"].to_pylist()[0]
    assert failure.startswith("polite: not_run: ")
    assert "none.yaml: no such suite file" in failure


def test_an_error_that_would_stop_a_run_costs_the_rows_of_the_actor(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    suite = write_suite(tmp_path / "suite", cassette=None)
    scorer = CaseScorer(str(suite), {}, ["polite", "exact_match"], 1, None, None, 1, None)

    async def score(case):
        raise JudgeRejected("no such model")

    scorer._suite.metrics[0].score = score
    for _ in range(2):
        table = scored_by(scorer, pyarrow.table({"id": ["a"], "output": ["x"]}))
        assert "no such model" in table["failures"].to_pylist()[0][0]


def scored_by(scorer, batch):
    async def score():
        return [table async for table in scorer(batch)]

    (table,) = asyncio.run(score())
    return table


def test_a_metric_with_the_name_of_a_column_is_refused(tmp_path, nodes):
    suite = write_suite(tmp_path, metrics={"rows": {"metric": "exact_match"}})
    with pytest.raises(ConfigError, match="'rows' has the name of a column"):
        evaluate_dataset(None, suite)
