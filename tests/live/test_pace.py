"""The pace of HTTP calls against a server with a hidden limit, on the real clock."""

from __future__ import annotations

import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from judgekit.judges.pace import LocalPace

from .asking import judge_of, run, tokens
from .server import Fault, Server, error

pytestmark = pytest.mark.loopback


class Bucket:
    """A rule of the server: so many requests at once, and so many a second."""

    def __init__(self, *, most: int, rate: float, headers: bool) -> None:
        self.most, self.rate, self.headers = most, rate, headers
        self.left, self.at = float(most), time.monotonic()
        self.refused = 0
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> Fault | None:
        with self._lock:
            now = time.monotonic()
            self.left = min(self.most, self.left + (now - self.at) * self.rate)
            self.at = now
            headers = {}
            accepted = self.left >= 1
            self.left -= accepted
            if self.headers:
                headers = {
                    "x-ratelimit-limit-requests": str(self.most),
                    "x-ratelimit-remaining-requests": str(int(self.left)),
                    "x-ratelimit-reset-requests": f"{(self.most - self.left) / self.rate:.3f}s",
                }
            if accepted:
                return Fault(headers=headers)
            self.refused += 1
            return error(429, "slow down", headers={**headers, "retry-after": "0.1"})


def test_headers_of_the_server_are_followed(server: Server, tmp_path: Path) -> None:
    server.rule = bucket = Bucket(most=20, rate=80.0, headers=True)

    outcome = run(
        judge_of(server, max_wait=0.5, pace=LocalPace("judge", concurrency="auto", rpm="auto")),
        tokens(100),
        tmp_path,
        concurrency=100,
        window=100,
    )

    assert set(outcome.kinds.values()) == {"scored"}
    assert bucket.refused <= 5  # two on a busy machine; the test below has some thirty
    assert server.calls() == 100 + bucket.refused


def test_refused_attempts_do_not_use_up_the_retries(server: Server, tmp_path: Path) -> None:
    attempts: list[object] = []

    def rule(body: dict[str, Any]) -> Fault | None:
        attempts.append(body["messages"])
        known = attempts.count(attempts[0])
        if body["messages"] == attempts[0] and known <= 3:
            return error(429, "slow down", headers={"retry-after": "0.05"})
        return None

    server.rule, server.latency = rule, 0.02

    outcome = run(
        judge_of(
            server, retries=1, max_wait=0.5, pace=LocalPace("judge", rpm=60_000, max_wait=0.5)
        ),
        tokens(30),
        tmp_path,
        max_outages=1,
        window=3,
    )

    assert set(outcome.kinds.values()) == {"scored"}
    assert attempts.count(attempts[0]) == 4


def test_server_that_refuses_every_call_is_down(server: Server, tmp_path: Path) -> None:
    server.rule = lambda body: error(429, "slow down")

    pace = LocalPace("judge", rpm=60_000, max_wait=0.05)  # by default it would pause for 1, 2, 4 s

    outcome = run(
        judge_of(server, retries=1, pace=pace), tokens(6), tmp_path, concurrency=1, max_outages=2
    )

    assert sorted(outcome.kinds.values()) == ["not_run"] * 4 + ["unavailable"] * 2
    # The first request leaves its slot to another one, and is not sent again.
    assert server.calls() == 5


@pytest.mark.thorough
def test_wait_for_the_pace_is_no_part_of_the_time_limit(server: Server, tmp_path: Path) -> None:
    judge = judge_of(server, timeout=1.2, retries=0, pace=LocalPace("judge", rpm=200))

    outcome = run(judge, tokens(6), tmp_path, concurrency=6)  # the last waits 1.5 s

    assert set(outcome.kinds.values()) == {"scored"}
    arrived = [seen.arrived for seen in server.seen]
    # 0.3 s between two starts; on a busy machine, the first may arrive late
    assert min(b - a for a, b in pairwise(arrived)) > 0.1


def test_slow_call_is_still_an_outage(server: Server, tmp_path: Path) -> None:
    server.latency = 1.0
    judge = judge_of(server, timeout=0.2, retries=0, pace=LocalPace("judge", rpm=6000))

    outcome = run(judge, tokens(1), tmp_path)

    assert list(outcome.kinds.values()) == ["unavailable"]


def test_refusal_pauses_the_other_calls(server: Server, tmp_path: Path) -> None:
    server.plan = {"case-000": [error(429, "wait", headers={"retry-after": "0.2"})]}
    judge = judge_of(server, retries=1, max_wait=5, pace=LocalPace("judge", rpm=6000))

    outcome = run(judge, tokens(3), tmp_path, concurrency=1, window=1)

    assert set(outcome.kinds.values()) == {"scored"}
    assert server.calls() == 4
    assert server.seen[1].arrived - server.seen[0].arrived >= 0.2
