"""The example of pairwise preference: simulated verdicts, in both orders, replayed."""

from __future__ import annotations

import asyncio
import json
import runpy
from pathlib import Path

from judgekit.suite.run import run_suite
from judgekit.suite.suite import load_suite

EXAMPLE = Path(__file__).parents[2] / "examples" / "preference"


def test_the_suite_replays_and_uses_every_record():
    suite = load_suite(EXAMPLE / "suite.yaml")

    report = asyncio.run(run_suite(suite))

    summary = report.metrics["better"]
    assert (summary.judged, report.figures.incomplete) == (24, ())
    assert suite.cassette.unused == 0
    assert all(gate.passed for gate in report.figures.gates)
    assert "no model judged it" in report.figures.manifest["notice"]
    assert suite.judge.model == "manual/simulated"
    # As the README says.
    figures = summary.figures
    assert figures["positional_consistency"] * 24 == 15
    assert figures["tie_rate"] * 24 == 10  # `first-bus` is a tie in both orders
    assert figures["first_position_rate"] > 0.5
    assert summary.mean < figures["length_controlled_win_rate"] < summary.mean + 0.1


def test_the_ties_are_the_close_cases_and_the_equal_one():
    opinions = json.loads((EXAMPLE / "opinions.json").read_text("utf-8"))
    report = asyncio.run(run_suite(load_suite(EXAMPLE / "suite.yaml")))
    values = {scored.case.id: scored.rows[0].result.value for scored in report.results}

    expected = {
        id: 0.5 if one["close"] else {"output": 1.0, "baseline": 0.0, "tie": 0.5}[one["better"]]
        for id, one in opinions.items()
    }
    assert values == expected


def test_the_script_writes_the_committed_verdicts():
    before = (EXAMPLE / "verdicts.jsonl").read_bytes()
    try:
        runpy.run_path(str(EXAMPLE / "simulate.py"), run_name="__main__")
        assert (EXAMPLE / "verdicts.jsonl").read_bytes() == before
    finally:
        (EXAMPLE / "verdicts.jsonl").write_bytes(before)
