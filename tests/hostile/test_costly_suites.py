"""Suites with replies of 80 times the estimate, against `max_cost`: the server counts them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from judgekit.suite.run import run_suite
from judgekit.suite.suite import Overrides, load_suite
from tests.hostile.costly import Costly
from tests.live.asking import write_rubric
from tests.live.server import Server

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
    "auto": {"concurrency": "auto"},
    "rpm": {"concurrency": 64, "rpm": 60_000},
}
PAIRS = [(name, "64") for name in METRICS] + [("one", limit) for limit in LIMITS if limit != "64"]


@pytest.mark.parametrize(("metrics", "limits"), PAIRS)
def test_a_suite_spends_no_more_than_its_budget_and_the_calls_in_flight(
    tmp_path: Path, metrics: str, limits: str
) -> None:
    chosen, judges = METRICS[metrics]
    write_rubric(tmp_path)
    rows = [
        {"id": f"c{n}", "input": f"Say {n}.", "output": f"It is {n}.", "context": [f"It is {n}."]}
        for n in range(120)
    ]
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    costly = Costly(REPLY)
    with Server(latency=0.01) as server:
        server.rule = costly
        judge = {
            "api_base": server.base,
            "mode": "json_schema",
            "price": {"input": 0, "output": 10},
        }
        suite = {
            "cases": "cases.jsonl",
            "judges": {
                name: {"model": f"openai/{name}", **judge}
                for name in ("judge", "a", "b", "c")[: 1 if judges == 1 else 4]
            },
            "metrics": chosen,
            "limits": {**LIMITS[limits], "max_cost": MOST},
        }
        (tmp_path / "suite.yaml").write_text(json.dumps(suite), encoding="utf-8")
        loaded = load_suite(tmp_path / "suite.yaml", Overrides(record="new_episodes"))
        report = asyncio.run(run_suite(loaded))

    concurrency = LIMITS[limits]["concurrency"]
    flying = UNPROVEN if concurrency == "auto" else min(UNPROVEN, concurrency)
    assert MOST <= costly.served * COST <= MOST + flying * judges * COST
    assert any("not_run" in metric.failures for metric in report.figures.metrics)
