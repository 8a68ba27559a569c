from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.score import Failure, Part, Score
from judgekit.report.folder import (
    REPORT,
    RESULTS,
    ResultsWriter,
    is_locked,
    read_json,
    read_results,
)
from judgekit.report.report import Report
from judgekit.runner.evaluation import evaluate_sync

HEADER = '{"judgekit":"results","manifest":"x","version":1}\n'


class Given:
    """A metric that returns what it was given, by case."""

    name = "m"
    range = (0.0, 1.0)
    higher_is_better = True

    def __init__(self, *results):
        self.results = results

    async def score(self, case):
        result = self.results[int(case.id)]
        if isinstance(result, Exception):
            raise result
        return result


def written(folder, *results):
    cases = [Case(id=str(n), input=f"q{n}") for n in range(len(results))]
    return evaluate_sync(cases, [Given(*results)], out=folder)


texts = st.text(max_size=20)
scores = st.one_of(
    st.builds(
        Score, value=st.floats(0, 1), reason=texts, method=texts, details=st.just({"a": [1]})
    ),
    st.builds(Score, status=st.sampled_from(["abstained", "not_applicable"]), reason=texts),
    st.builds(
        Score,
        value=st.floats(0, 1),
        source=st.just("judge"),
        parts=st.lists(st.builds(Part, id=texts, value=st.floats(0, 1)), max_size=2).map(tuple),
    ),
)


@settings(max_examples=25, deadline=None)
@given(results=st.lists(scores, min_size=1, max_size=5))
def test_results_read_back_as_they_were_written(tmp_path_factory, results):
    folder = tmp_path_factory.mktemp("run")

    report = written(folder, *results)

    assert [scored.rows[0].result for scored in report.results] == results
    assert [scored.case.input for scored in Report.read(folder).results] == [
        f"q{n}" for n in range(len(results))
    ]


def test_failures_read_back_too(tmp_path):
    report = written(tmp_path, ZeroDivisionError("no"), Score(value=1.0))

    first, second = (scored.rows[0].result for scored in report.results)
    assert first == Failure(kind="metric_error", message="ZeroDivisionError: no")
    assert second.value == 1.0


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_line_cut_off_by_a_kill_is_left_out(tmp_path, cut):
    written(tmp_path, *[Score(value=0.5)] * 3)
    path = tmp_path / RESULTS
    path.write_text(path.read_text("utf-8")[:-cut], "utf-8")

    scored = list(read_results(tmp_path))

    assert [one.case.id for one in scored] == ["0", "1", "2"]
    assert [len(one.rows) for one in scored] == [1, 1, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello\n", ":1: not the results of a run"),
        ("[]\n", ":1: not the results of a run"),
        ('{"judgekit":"cassette","version":1}\n', ":1: not the results of a run"),
        (HEADER.replace(":1}", ":2}"), ":1: written by another version of judgekit"),
        (HEADER + "{}\n", ":2: not a result judgekit wrote"),
        (HEADER + '{"type":"case","case":{}}\n', ":2: not a result judgekit wrote"),
        (HEADER + '{"type":"case"}\n', ":2: not a result judgekit wrote"),
        (HEADER + '{"type":"case","case":{"id":"c"}}\n\n', ":3: not a result judgekit wrote"),
    ],
)
def test_what_is_no_result_is_said_with_its_line(tmp_path, text, message):
    (tmp_path / RESULTS).write_text(text, "utf-8")

    with pytest.raises(ConfigError) as caught:
        list(read_results(tmp_path))

    assert str(caught.value) == f"{tmp_path / RESULTS}{message}"


def test_bytes_that_are_no_text_are_said(tmp_path):
    (tmp_path / RESULTS).write_bytes(HEADER.encode() + b"\xff\n")

    with pytest.raises(ConfigError, match="cannot be read"):
        list(read_results(tmp_path))


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e400"])
def test_a_report_holds_finite_numbers_only(tmp_path, number):
    (tmp_path / REPORT).write_text(f'{{"manifest": {{"params": [{number}]}}}}', "utf-8")

    with pytest.raises(ConfigError, match=rf"report\.json: cannot be read: {number}"):
        read_json(tmp_path / REPORT)


def test_a_new_run_leaves_nothing_of_the_old_one(tmp_path):
    written(tmp_path, Score(value=1.0), Score(value=1.0))
    for name in ("tape.jsonl", "report.html"):
        (tmp_path / name).write_text("old", "utf-8")
    (tmp_path / "notes.txt").write_text("mine", "utf-8")

    written(tmp_path, Score(value=0.0))

    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "notes.txt", "report.json", "results.jsonl", "run.json",
    ]  # fmt: skip
    assert len(list(Report.read(tmp_path).results)) == 1


def test_a_run_that_is_writing_can_be_told_from_what_is_left_of_one(tmp_path):
    pytest.importorskip("fcntl")
    writer = ResultsWriter(tmp_path, manifest={})
    results = tmp_path / "results.jsonl"

    assert is_locked(results) is True
    assert results.read_text(encoding="utf-8").startswith('{"judgekit":"results"')  # seen at once
    writer.close()
    assert is_locked(results) is False
    assert is_locked(tmp_path / "none") is None


def test_rows_are_seen_while_a_run_writes(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("judgekit.report.folder.time.monotonic", lambda: now[0])
    writer = ResultsWriter(tmp_path, manifest={})

    writer.write(b'{"id":"a"}', [])
    assert len(list(read_results(tmp_path))) == 0
    now[0] = 1.0
    writer.write(b'{"id":"b"}', [])
    assert [scored.case.id for scored in read_results(tmp_path)] == ["a", "b"]
    writer.close()
