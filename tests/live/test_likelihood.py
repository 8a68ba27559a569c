"""A suite that measures by a model's log-probabilities: live, recorded, replayed, unavailable."""

from __future__ import annotations

import json

import pytest

from judgekit.runner.evaluation import evaluate_sync
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import replay_suite
from judgekit.suite.suite import load_suite

from .endpoints import echo
from .server import Fault
from .test_no_verdict import without_echo

pytestmark = pytest.mark.loopback


@pytest.fixture
def path(tmp_path, server):
    rows = [
        {"id": "a", "choices": ["so", "otherwise"], "reference": "so", "output": "It is so."},
        {"id": "b", "choices": ["elsewhere", "on"], "reference": "on", "output": "Nowhere."},
    ]
    rows = [{**row, "input": "It is"} for row in rows]
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    suite = {
        "cases": "cases.jsonl",
        "judges": {"base": {"model": "openai/base", "api_base": server.base, "retries": 0}},
        "cassette": "tape.jsonl",
        "metrics": {
            "log_likelihoods": {"likelihood": "base", "gate": {"accuracy_raw": 1}},
            "perplexity": {"likelihood": "base", "gate": {"corpus_perplexity": 50}},
        },
    }
    path = tmp_path / "suite.yaml"
    path.write_text(json.dumps(suite))
    return path


def recorded(path):
    suite = load_suite(path, Overrides(record="new_episodes"))
    try:
        return evaluate_sync(suite.cases(), suite.metrics, gates=suite.gates)
    finally:
        suite.close()


def test_a_recorded_suite_gives_the_same_numbers_without_a_server(path, server):
    server.rule = lambda body: Fault(body=echo(body))
    live = recorded(path)
    calls = server.calls()

    replayed = replay_suite(load_suite(path))

    # 2 cases of 2 choices, and 2 texts: the longer a word, the less likely this server finds it.
    assert calls == server.calls() == 6
    assert live.metrics["log_likelihoods"].mean == 1.0
    assert live.metrics["log_likelihoods"].figures["accuracy_per_byte"] == 0.0
    assert live.exit_code == replayed.exit_code == 0
    assert [s.rows for s in live.results] == [s.rows for s in replayed.results]
    assert replayed.metrics["perplexity"].figures == live.metrics["perplexity"].figures
    assert replayed.run["missed"] == 0


def test_a_server_that_does_not_echo_is_unavailable_and_never_a_number(path, server):
    server.rule = lambda body: Fault(body=without_echo(body))

    report = recorded(path)

    kinds = {row.result.kind for scored in report.results for row in scored.rows}
    assert kinds <= {"unavailable", "not_run"}
    assert "unavailable" in kinds
    assert report.exit_code == 3


def test_without_a_recording_it_says_what_it_would_take(path):
    report = replay_suite(load_suite(path))

    assert {row.result.kind for s in report.results for row in s.rows} == {"cassette_miss"}
    assert report.run["missed"] > 0
