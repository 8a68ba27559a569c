"""Calls in flight, outages in a row, money, and one call for many who ask the same."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.store import Store
from judgekit.core.errors import CassetteError
from judgekit.core.score import Failure
from judgekit.judges.connections import closing_connections

from .asking import judge_of, run, tokens
from .server import Fault, Server, always, error
from .test_replies import request

pytestmark = pytest.mark.loopback


@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_no_more_calls_are_in_flight_than_allowed(
    server: Server, tmp_path: Path, concurrency: int
) -> None:
    server.latency = 0.05

    outcome = run(judge_of(server), tokens(24), tmp_path, concurrency=concurrency, window=24)

    assert set(outcome.kinds.values()) == {"scored"}
    assert server.calls() == 24
    assert server.most_in_flight == concurrency


def test_judge_that_is_down_is_not_asked_any_more(server: Server, tmp_path: Path) -> None:
    server.plan = {"*": always(error(500, "oops"))}

    outcome = run(judge_of(server, retries=2), tokens(40), tmp_path, concurrency=1, max_outages=3)

    assert server.calls() == 3 * 3
    kinds = list(outcome.kinds.values())
    assert sorted(kinds) == ["not_run"] * 37 + ["unavailable"] * 3
    assert outcome.report.exit_code == 3
    skipped = next(r for r in outcome.rows.values() if getattr(r, "kind", "") == "not_run")
    assert isinstance(skipped, Failure)
    assert skipped.message.startswith("not asked: openai/judge failed 3 times in a row")


def test_calls_in_flight_are_the_only_ones_after_the_last_outage(
    server: Server, tmp_path: Path
) -> None:
    server.plan = {"*": always(error(500, "oops"))}

    outcome = run(judge_of(server, retries=0), tokens(60), tmp_path, concurrency=4, max_outages=3)

    assert 3 <= server.calls() <= 3 + 4 - 1
    assert len(outcome.rows) == 60


def test_one_answer_closes_the_count_of_outages(server: Server, tmp_path: Path) -> None:
    bad = {token: always(error(500, "oops")) for token in tokens(20) if int(token[5:]) % 3}
    server.plan = {**bad}

    outcome = run(
        judge_of(server, retries=0), tokens(20), tmp_path, concurrency=1, max_outages=3, window=1
    )

    assert "not_run" not in outcome.kinds.values()
    assert server.calls() == 20


def test_refusals_are_no_outages(server: Server, tmp_path: Path) -> None:
    server.plan = {"*": always(error(400, "content_policy_violation"))}

    outcome = run(judge_of(server), tokens(10), tmp_path, max_outages=2)

    assert set(outcome.kinds.values()) == {"refused"}


def test_money_spent_ends_the_asking(server: Server, tmp_path: Path) -> None:
    # 100 tokens in and 20 out: 0.012 dollars a call
    judge = judge_of(server, price=(100.0, 100.0))

    outcome = run(judge, tokens(20), tmp_path, concurrency=1, max_cost=0.05)

    assert server.calls() == 5
    assert outcome.limited.budget.spent == pytest.approx(0.06)
    assert list(outcome.kinds.values()).count("not_run") == 15
    assert outcome.report.exit_code == 3


def test_response_is_paid_even_if_the_request_fails_later(server: Server, tmp_path: Path) -> None:
    server.plan = {"*": [Fault(text="no JSON"), error(500, "oops")]}
    judge = judge_of(server, price=(100.0, 100.0), retries=0)

    outcome = run(judge, tokens(1), tmp_path, max_cost=1.0)

    assert set(outcome.kinds.values()) == {"unavailable"}
    assert outcome.limited.budget.spent == pytest.approx(0.012)


def test_reply_without_usage_counts_as_the_largest_one(server: Server, tmp_path: Path) -> None:
    server.plan = {"*": always(Fault(change=lambda body: body.pop("usage")))}
    judge = judge_of(server, price=(0.0, 100.0), params={"max_tokens": 1000})

    outcome = run(judge, tokens(10), tmp_path, concurrency=1, max_cost=0.25)

    assert server.calls() == 3
    assert outcome.limited.budget.spent == pytest.approx(0.3)
    assert list(outcome.kinds.values()).count("not_run") == 7


def test_call_at_the_end_of_its_time_counts_with_its_estimate(
    server: Server, tmp_path: Path
) -> None:
    server.latency = 1.0
    judge = judge_of(server, timeout=0.2, retries=0, price=(0.0, 1_000.0))

    outcome = run(judge, tokens(1), tmp_path, max_cost=1.0)

    assert set(outcome.kinds.values()) == {"unavailable"}
    assert outcome.limited.budget.spent == pytest.approx(0.12)  # two questions of 60 tokens


def test_same_request_many_times_at_once_is_one_call(server: Server, tmp_path: Path) -> None:
    server.latency = 0.1

    async def ask_all() -> list[Any]:
        cassette = Cassette(
            judge_of(server), store=Store(tmp_path / "store"), record="new_episodes"
        )
        async with closing_connections():
            replies = await asyncio.gather(*(cassette.ask(request()) for _ in range(20)))
        cassette.close()
        return replies

    replies = asyncio.run(ask_all())

    assert server.calls() == 1
    assert all(reply == replies[0] for reply in replies)


class FullDisk(Store):
    """A store whose disk is full after some replies."""

    room = 4

    def put(self, key: str, text: str) -> None:
        if self.room == 0:
            raise CassetteError(f"{self.folder}: the store cannot be written: disk is full")
        self.room -= 1
        super().put(key, text)


def test_full_disk_stops_the_run_and_loses_no_earlier_reply(server: Server, tmp_path: Path) -> None:
    store = FullDisk(tmp_path / "store")

    with pytest.raises(CassetteError, match="cannot be written: disk is full") as caught:
        run(judge_of(server), tokens(30), tmp_path, store=store, concurrency=2, window=2)

    assert "\n" not in str(caught.value)
    asked = server.calls()
    assert asked < 10
    server.forget()
    outcome = run(judge_of(server), tokens(30), tmp_path)
    assert set(outcome.kinds.values()) == {"scored"}
    assert server.calls() == 30 - asked  # the tape has those that the store could not take
