"""Datasets of Ray Data: one row out for every row in, with the values of a usual run."""

from __future__ import annotations

import asyncio
import json

import pytest

from judgekit.core.errors import ConfigError, JudgeRejected
from judgekit.ray.dataset import CaseScorer
from judgekit.ray.dataset import evaluate as evaluate_dataset
from judgekit.report.folder import read_results
from tests.live.server import Server
from tests.ray.suites import run_alone, write_suite
from tests.ray.test_cluster import CASES, LOST, Killer, live

# Ray warns of its own deprecated settings.
pytestmark = [pytest.mark.loopback, pytest.mark.slow, pytest.mark.filterwarnings("default")]


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
    scorer = CaseScorer(str(suite), {}, ["polite", "exact_match"], 1, None, None, None)

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
