"""What a server says about when to come back, and how long judgekit stays patient."""

from __future__ import annotations

import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from judgekit.core.score import Failure

from .asking import judge_of, run
from .server import Fault, Server, always, error

pytestmark = pytest.mark.loopback


def gap(server: Server, token: str) -> float:
    first, second = [seen.arrived for seen in server.seen if seen.token == token]
    return second - first


def test_retry_after_in_seconds_is_kept(server: Server, tmp_path: Path) -> None:
    server.plan = {"case-1": [error(429, "slow down", headers={"Retry-After": "0.3"})]}

    outcome = run(judge_of(server, max_wait=5), server.plan, tmp_path)

    assert outcome.kinds == {"case-1": "scored"}
    assert gap(server, "case-1") >= 0.3


@pytest.mark.thorough
def test_retry_after_as_a_date_is_kept(server: Server, tmp_path: Path) -> None:
    # HTTP dates have whole seconds, so that up to one of the two is lost.
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    server.plan = {"case-1": [error(503, "down", headers={"Retry-After": when})]}

    outcome = run(judge_of(server, max_wait=5), server.plan, tmp_path)

    assert outcome.kinds == {"case-1": "scored"}
    assert gap(server, "case-1") >= 0.5


@pytest.mark.parametrize("when", ["61", "Wed, 21 Oct 2099 07:28:00 GMT"])
def test_server_that_asks_for_more_than_max_wait_is_down(
    server: Server, tmp_path: Path, when: str
) -> None:
    server.plan = {"case-1": always(error(429, "slow down", headers={"Retry-After": when}))}

    outcome = run(judge_of(server, max_wait=60, retries=5), server.plan, tmp_path)

    assert server.calls() == 1
    row = outcome.rows["case-1"]
    assert isinstance(row, Failure)
    assert row.kind == "unavailable"
    assert "more than max_wait" in row.message


@pytest.mark.parametrize("when", ["soon", "nan", "inf", "-3", ""])
def test_retry_after_that_says_nothing_is_ignored(
    server: Server, tmp_path: Path, when: str
) -> None:
    server.plan = {"case-1": [error(429, "slow down", headers={"Retry-After": when})]}

    outcome = run(judge_of(server), server.plan, tmp_path)

    assert outcome.kinds == {"case-1": "scored"}
    assert server.calls() == 2


def test_timeout_counts_from_first_byte_to_last(server: Server, tmp_path: Path) -> None:
    server.plan = {"case-1": always(Fault(drip=0.02))}

    outcome = run(judge_of(server, timeout=0.5, retries=2), server.plan, tmp_path)

    assert outcome.kinds == {"case-1": "unavailable"}
    assert server.calls() == 3


def test_no_server_is_an_outage(server: Server, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"

        outcome = run(judge_of(server, api_base=nobody), ["case-1", "case-2"], tmp_path)

    assert outcome.kinds == {"case-1": "unavailable", "case-2": "unavailable"}
    assert server.calls() == 0
