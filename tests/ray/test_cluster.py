"""Runs on a cluster of two nodes: what is killed costs what was in flight, and no row."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from judgekit.ray.run import run_on_ray, shards_folder
from judgekit.suite.file import Overrides
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
