"""Replies that cost far more than their estimate, against a budget: the server counts them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from judgekit.judges.pace import LocalPace
from tests.hostile.costly import Costly
from tests.live.asking import judge_of, run, tokens
from tests.live.server import Server

pytestmark = pytest.mark.loopback

PRICE = 10.0
"""US dollars per million tokens of replies."""
REPLY = 5_000
COST = REPLY * PRICE / 1e6
"""US dollars of a reply; an answer to the two questions is estimated at 120 tokens."""
MOST = 0.5


PACES: dict[str, dict[str, Any]] = {
    "1": {"concurrency": 1},
    "8": {"concurrency": 8},
    "64": {"concurrency": 64},
    "256": {"concurrency": 256},
    "auto": {"concurrency": 256, "pace": {"concurrency": "auto"}},
    "rpm": {"concurrency": 64, "pace": {"rpm": 6_000}},
}


@pytest.mark.parametrize("name", PACES)
def test_no_more_is_spent_than_the_budget_and_the_calls_in_flight(
    name: str, tmp_path: Path
) -> None:
    settings = dict(PACES[name])
    pace = settings.pop("pace", None)
    costly = Costly(REPLY)
    with Server(latency=0.02) as server:
        server.rule = costly
        paced = LocalPace("judge", **pace) if pace else None
        judge = judge_of(server, price=(0.0, PRICE), pace=paced)
        outcome = run(judge, tokens(60), tmp_path, window=300, max_cost=MOST, **settings)

    # The first calls start with the estimate; after a reply, each reserves its true cost.
    first = min(settings["concurrency"], 8)
    assert costly.served * COST <= MOST + first * COST
    assert costly.served >= MOST / COST
    assert outcome.limited.budget.spent == pytest.approx(costly.served * COST)
    assert list(outcome.kinds.values()).count("scored") == costly.served


def test_unknown_usage_counts_as_the_largest_reply(tmp_path: Path) -> None:
    costly = Costly(REPLY, usage=False)
    with Server(latency=0.02) as server:
        server.rule = costly
        judge = judge_of(server, price=(0.0, PRICE), params={"max_tokens": REPLY})
        run(judge, tokens(60), tmp_path, window=64, max_cost=MOST, concurrency=64)

    assert MOST / COST <= costly.served <= MOST / COST + 8
