"""Suites with replies of 80 times the estimate, against `max_cost`: the server counts them."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from judgekit.cassette.store import Store
from judgekit.ray.worker import open_suite
from judgekit.suite.run import run_suite
from judgekit.suite.suite import Overrides, load_suite
from tests.hostile.costly import Costly
from tests.live.asking import write_rubric
from tests.live.server import Server
from tests.ray.test_limits import Actor

pytestmark = pytest.mark.loopback

REPLY = 80 * 120
COST = REPLY * 10.0 / 1e6
"""US dollars of a reply."""
MOST = 1.0
UNPROVEN = 8
"""Calls of a model before the cost of its first reply is known."""


METRICS: dict[str, tuple[dict[str, Any], int]] = {
    "one": ({"brief": {"rubric": "brief.jinja"}}, 1),
    "samples": ({"brief": {"rubric": "brief.jinja", "samples": 3}}, 1),
    "each": ({"brief": {"rubric": "brief.jinja", "calls": "each"}}, 1),
    "a jury": ({"brief": {"rubric": "brief.jinja", "jury": ["a", "b", "c"]}}, 3),
    "steps": ({"prompt_alignment": None, "faithfulness": None}, 1),
}
LIMITS: dict[str, dict[str, Any]] = {
    "1": {"concurrency": 1},
    "8": {"concurrency": 8},
    "64": {"concurrency": 64},
    "256": {"concurrency": 256},
    "auto": {"concurrency": "auto"},
    "rpm": {"concurrency": 64, "rpm": 60_000},
}
# Metrics, limits, and whether the replies tell their tokens.
PAIRS = [
    *[(name, "64", True) for name in METRICS],
    *[("one", limit, True) for limit in LIMITS if limit != "64"],
    *[("one", limit, False) for limit in ("1", "256", "rpm")],
    ("a jury", "256", False),
]


def write_suite(
    folder: Path, server: Server, *, metrics: str, limits: dict[str, Any], usage: bool = True
) -> Path:
    chosen, judges = METRICS[metrics]
    write_rubric(folder)
    rows = [
        {"id": f"c{n}", "input": f"Say {n}.", "output": f"It is {n}.", "context": [f"It is {n}."]}
        for n in range(60)
    ]
    (folder / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    judge: dict[str, Any] = {
        "api_base": server.base,
        "mode": "json_schema",
        "price": {"input": 0, "output": 10},
    }
    if not usage:
        judge["params"] = {"max_tokens": REPLY}
    suite = {
        "cases": "cases.jsonl",
        "judges": {
            name: {"model": f"openai/{name}", **judge}
            for name in ("judge", "a", "b", "c")[: 1 if judges == 1 else 4]
        },
        "metrics": chosen,
        "limits": {**limits, "max_cost": MOST},
    }
    path = folder / "suite.yaml"
    path.write_text(json.dumps(suite), encoding="utf-8")
    return path


@pytest.mark.parametrize(("metrics", "limits", "usage"), PAIRS)
def test_a_suite_spends_no_more_than_its_budget_and_the_calls_in_flight(
    tmp_path: Path, metrics: str, limits: str, usage: bool
) -> None:
    judges = METRICS[metrics][1]
    costly = Costly(REPLY, usage=usage)
    with Server(latency=0.01) as server:
        server.rule = costly
        path = write_suite(tmp_path, server, metrics=metrics, limits=LIMITS[limits], usage=usage)
        loaded = load_suite(path, Overrides(record="new_episodes"))
        report = asyncio.run(run_suite(loaded))

    concurrency = LIMITS[limits]["concurrency"]
    flying = UNPROVEN if concurrency == "auto" else min(UNPROVEN, concurrency)
    assert MOST <= costly.served * COST <= MOST + flying * judges * COST
    assert any("not_run" in metric.failures for metric in report.figures.metrics)


@pytest.mark.parametrize("paced", [False, True])
@pytest.mark.parametrize("usage", [False, True])
def test_workers_of_ray_spend_no_more_together(tmp_path: Path, usage: bool, paced: bool) -> None:
    costly, workers = Costly(REPLY, usage=usage), 3
    limits = {"concurrency": 8, **({"rpm": 60_000} if paced else {})}

    async def running() -> None:
        actor = Actor(max_cost=MOST)
        suites = [
            open_suite(
                path,
                {"record": "new_episodes", "shard": f"{number}/{workers}"},
                concurrency=None,
                store=partial(Store, tmp_path / f"store{number}"),
                client=actor.client(f"{number}:x"),
            )
            for number in range(1, workers + 1)
        ]
        await asyncio.gather(*[run_suite(suite) for suite in suites])

    with Server(latency=0.01) as server:
        server.rule = costly
        path = write_suite(tmp_path, server, metrics="one", limits=limits, usage=usage)
        asyncio.run(running())

    assert MOST <= costly.served * COST <= MOST + UNPROVEN * COST
