"""A run against another: its outputs are the baselines, and its folder is a name in results."""

from __future__ import annotations

import asyncio
import json

import pytest
from typer.testing import CliRunner

from judgekit.cli.app import app
from judgekit.core.errors import ConfigError
from judgekit.report.display import summary_text
from judgekit.report.folder import read_results
from judgekit.suite.merge import merge_shards
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite
from judgekit.suite.suite import load_suite
from tests.metrics.pairwise.judged import answers_of, better, judge_by

SUITE = """
cases: cases.jsonl
judge: fake/judge
metrics:
  better: {pairwise: preference, with: baseline}
"""
FIRST = [
    {"id": "a", "input": "When?", "output": "good"},
    {"id": "b", "input": "Where?", "output": "bad", "baseline": "an older one"},
    {"id": "c", "input": "Who?", "output": "good good"},
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite.yaml").write_text(SUITE, "utf-8")
    (tmp_path / "length.yaml").write_text(
        "cases: cases.jsonl\nmetrics: {length: {maximum: 9}}\n", "utf-8"
    )
    write_cases(tmp_path, FIRST)
    asyncio.run(run_suite("length.yaml", out="runs/v1"))
    return tmp_path


def write_cases(folder, rows):
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def run(*, out, against="runs/v1", judge=None, **options):
    judge = judge or judge_by(better)
    return asyncio.run(run_suite("suite.yaml", judge=judge, out=out, against=against, **options))


SECOND = [
    {"id": "c", "input": "Who?", "output": "good"},
    {"id": "a", "input": "When?", "output": "good good"},
]


def test_outputs_are_compared_by_case_id(folder):
    write_cases(folder, SECOND)
    judge = judge_by(better)
    report = run(out="runs/v2", judge=judge)

    assert [answers_of(request) for request in judge.asked[:2]] == [
        ("good", "good good"),
        ("good good", "good"),
    ]
    rows = {s.case.id: (s.case.baseline, s.rows[0].result) for s in report.results}
    assert {id: (base, row.value) for id, (base, row) in rows.items()} == {
        "c": ("good good", 0.0),
        "a": ("good", 1.0),
    }
    assert rows["a"][1].details["pairwise"] == {"a": "v2", "b": "v1", "winner": "a"}
    manifest = json.loads((folder / "runs/v2/report.json").read_text("utf-8"))["manifest"]
    first = json.loads((folder / "runs/v1/report.json").read_text("utf-8"))
    assert manifest["against"] == {"dataset": first["dataset"]}
    assert "The baselines are the outputs of the run v1." in summary_text(report)
    assert "outputs of the run v1" in report.to_html(folder / "page.html").read_text("utf-8")


@pytest.mark.parametrize(
    "row",
    [
        {"id": "new", "input": "When?", "output": "good"},
        {"id": "a", "input": "Another question?", "output": "good"},
        {"id": "a", "input": "When?", "output": "good", "history": [
            {"role": "user", "content": "Hello"}]},
        # Its own baseline is not that of the other run.
        {"id": "new", "input": "When?", "output": "good", "baseline": "bad"},
    ],
)  # fmt: skip
def test_a_case_without_a_counterpart_fails_and_says_so(folder, row):
    others = [other for other in SECOND if other["id"] != row["id"]]
    write_cases(folder, [row, *others])
    judge = judge_by(better)
    report = run(out="runs/v2", judge=judge)

    failure = next(iter(report.results)).rows[0].result
    assert failure.kind == "invalid_case"
    assert failure.message == (
        "the case has no answer of v1 to compare with: its 'baseline' is missing"
    )
    assert (report.metrics["better"].judged, report.metrics["better"].failed) == (len(others), 1)
    assert len(judge.asked) == 2 * len(others)


def test_models_name_the_answers(folder):
    noted = {"answered": {"output": {"model": "m/one"}, "baseline": {"model": "m/old"}}}
    write_cases(folder, [{**FIRST[0], "metadata": noted}, FIRST[1]])
    asyncio.run(run_suite("length.yaml", out="runs/one"))
    mine = {"answered": {"output": {"model": "m/two"}, "baseline": {"model": "m/old"}}}
    write_cases(folder, [{**SECOND[1], "metadata": mine}, {**FIRST[1], "metadata": mine}])
    report = run(out="runs/two", against="runs/one")

    first, second = report.results
    assert first.rows[0].result.details["pairwise"]["b"] == "m/one"
    assert first.rows[0].result.details["pairwise"]["a"] == "m/two"
    assert first.case.metadata["answered"]["baseline"] == {"model": "m/one"}
    # The other run does not say who answered.
    assert second.rows[0].result.details["pairwise"] == {"a": "two", "b": "one", "winner": "tie"}
    assert second.case.metadata["answered"] == {"output": {"model": "m/two"}}


def test_folders_of_one_name_are_told_apart(folder):
    write_cases(folder, SECOND)
    report = run(out="other/v1")

    pairwise = next(iter(report.results)).rows[0].result.details["pairwise"]
    assert (pairwise["a"], pairwise["b"]) == ("other/v1", "runs/v1")


def test_folders_are_named_as_far_as_they_differ(folder):
    write_cases(folder, SECOND)
    (folder / "b/runs").mkdir(parents=True)
    report = run(out="b/runs/v1")

    pairwise = next(iter(report.results)).rows[0].result.details["pairwise"]
    assert (pairwise["a"], pairwise["b"]) == ("b/runs/v1", f"{folder.name}/runs/v1")


def test_another_run_to_compare_with_makes_other_rows(folder):
    write_cases(folder, SECOND)
    run(out="runs/v2")
    asked = judge_by(better)
    run(out="runs/v2", judge=asked, retry_failed="runs/v2")
    assert asked.asked == []  # all rows are reused

    write_cases(folder, [{**row, "output": "good good good"} for row in FIRST])
    asyncio.run(run_suite("length.yaml", out="runs/v3"))
    write_cases(folder, SECOND)
    report = run(out="runs/v2", against="runs/v3", judge=asked, retry_failed="runs/v2")

    assert len(asked.asked) == 4
    assert report.metrics["better"].mean == 0.0


def test_shards_are_merged_to_the_whole(folder):
    write_cases(folder, SECOND)
    judge = judge_by(better)
    for part in (1, 2):
        chosen = Overrides(against="runs/v1", shard=f"{part}/2")
        suite = load_suite("suite.yaml", chosen, judge=judge)
        asyncio.run(run_suite(suite, out=f"runs/part{part}"))
    merged = merge_shards("suite.yaml", ["runs/part1", "runs/part2"], out="runs/all")

    assert merged.metrics["better"].mean == 0.5
    names = {row.result.details["pairwise"]["a"] for _, (row,) in read_results(folder / "runs/all")}
    assert names == {"output"}


@pytest.mark.parametrize(
    ("suite", "against", "out", "message"),
    [
        ("suite", "runs/v0", "runs/v2", "runs/v0: not a run folder: report.json is missing"),
        ("suite", "cases.jsonl", "runs/v2", "is a file; name the folder of a run"),
        ("suite", "runs/v1", "runs/v1", "overwrite the run that it is compared with; name"),
        ("length", "runs/v1", "runs/v2", "which no metric of this suite reads; add better:"),
    ],
)
def test_mistakes_are_refused(folder, suite, against, out, message):
    with pytest.raises(ConfigError, match=message):
        asyncio.run(run_suite(f"{suite}.yaml", against=against, out=out))


def test_against_comes_with_the_file(folder):
    suite = load_suite("suite.yaml", judge=judge_by(better))

    with pytest.raises(ConfigError, match="give `against` together with its file"):
        asyncio.run(run_suite(suite, against="runs/v1"))
    suite.close()


def test_other_metrics_read_the_filled_baseline(folder):
    (folder / "suite.yaml").write_text("cases: cases.jsonl\nmetrics: {difference: }\n", "utf-8")
    write_cases(folder, FIRST[:1])
    shown = CliRunner().invoke(
        app, ["run", "suite.yaml", "--against", "runs/v1", "--out", "runs/d"]
    )

    assert shown.exit_code == 0, shown.output
    ((_, (row,)),) = read_results(folder / "runs/d")
    assert row.result.value == 0.01
