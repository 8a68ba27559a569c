"""What evaluates and answers takes what `load_cases` takes."""

from __future__ import annotations

import json

import pytest

import judgekit
from judgekit.core.errors import ConfigError, DatasetError
from tests.later import Later

datasets, pandas, polars = Later("datasets"), Later("pandas"), Later("polars")

ROWS = [{"id": "a", "input": "q", "output": "one two"}, {"id": "b", "input": "r", "output": "x"}]
MADE = {
    "dicts": list,
    "pandas": lambda rows: pandas.DataFrame(rows),
    "polars": lambda rows: polars.DataFrame(rows),
    "lazy": lambda rows: polars.DataFrame(rows).lazy(),
    "hf": lambda rows: datasets.Dataset.from_list(rows),
    "cases": lambda rows: [judgekit.Case(**row) for row in rows],
    "tuple": lambda rows: tuple(judgekit.Case(**row) for row in rows),
    "iterator": lambda rows: judgekit.load_cases(rows),
}


@pytest.mark.parametrize("kind", MADE)
def test_all_of_them_are_evaluated(kind):
    report = judgekit.evaluate_sync(
        MADE[kind](ROWS), [judgekit.create_metric("length", maximum=9, unit="words")]
    )

    assert [case.id for case, _ in report.results] == ["a", "b"]
    assert report.metrics["length"].computed == 2


@pytest.mark.parametrize("kind", ["dicts", "pandas", "polars", "hf"])
def test_all_of_them_are_answered(kind):
    rows = [{"id": row["id"], "input": row["input"]} for row in ROWS]

    answers = judgekit.answer_cases_sync(MADE[kind](rows), judgekit.FakeJudge())

    assert [case.id for case in answers.cases] == ["a", "b"]


def test_a_path_and_one_case_are_evaluated(tmp_path):
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    length = judgekit.create_metric("length", maximum=9, unit="words")

    assert judgekit.evaluate_sync(path, [length]).figures.cases == 2
    assert judgekit.evaluate_sync(str(path), [length]).figures.cases == 2
    assert judgekit.evaluate_sync(judgekit.Case(**ROWS[0]), [length]).figures.cases == 1
    assert judgekit.evaluate_sync(ROWS[0], [length]).figures.cases == 1


def test_a_table_that_is_none_of_cases_stops_before_anything_is_scored():
    with pytest.raises(DatasetError, match="row 0: field 'price': unknown key"):
        judgekit.evaluate_sync(
            pandas.DataFrame({"price": [1]}), [judgekit.create_metric("length", maximum=9)]
        )


@pytest.mark.parametrize("given", [None, 5, object()])
def test_what_holds_no_cases_is_a_line(given):
    with pytest.raises(ConfigError, match=r"^cannot load cases from"):
        judgekit.evaluate_sync(given, [judgekit.create_metric("length", maximum=9)])


def test_one_metric_need_not_be_in_a_list():
    report = judgekit.evaluate_sync(ROWS, judgekit.create_metric("length", maximum=9))

    assert list(report.metrics) == ["length"]


def test_a_suite_may_be_given_by_its_file(tmp_path):
    (tmp_path / "cases.jsonl").write_text(json.dumps(ROWS[0]) + "\n")
    suite = tmp_path / "suite.yaml"
    suite.write_text("cases: cases.jsonl\nmetrics: {length: {maximum: 9}}\n")

    report = judgekit.run_suite_sync(suite, out=str(tmp_path / "run"))

    assert report.figures.cases == 1
    assert (tmp_path / "run" / "report.json").exists()


def test_cases_of_any_kind_become_a_frame_and_a_report_has_its_own():
    for made in MADE.values():
        assert judgekit.datasets.to_pandas(made(ROWS))["id"].tolist() == ["a", "b"]
    report = judgekit.evaluate_sync(ROWS, [judgekit.create_metric("length", maximum=9)])
    with pytest.raises(ConfigError, match="a report has its own to_pandas"):
        judgekit.datasets.to_pandas(report)
