"""A run folder belongs to one run at a time, and says whether that one came to its end."""

from __future__ import annotations

import json

import pytest

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.metrics.text.length import Length
from judgekit.report.folder import ResultsWriter, write_json
from judgekit.report.report import Report
from judgekit.runner.evaluation import evaluate_sync
from judgekit.suite.run import replay_suite
from judgekit.suite.suite import load_suite
from tests import forks

CASES = [Case(id=str(number), output="Yes.") for number in range(3)]
STOPPED = "the run is still going, or was stopped before its end"


def run(folder):
    return evaluate_sync(CASES, [Length(maximum=9)], out=folder)


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_two_runs_do_not_share_a_folder(tmp_path):
    first = ResultsWriter(tmp_path / "out", manifest={})

    with pytest.raises(ConfigError, match="another run is writing here; wait for its end") as said:
        run(tmp_path / "out")

    assert said.value.where == str(tmp_path / "out")
    first.close()
    assert run(tmp_path / "out").figures.cases == 3


def test_another_process_is_refused_with_one_line(tmp_path):
    (tmp_path / "cases.jsonl").write_text('{"output": "Yes."}\n', "utf-8")
    suite = {"cases": "cases.jsonl", "metrics": {"length": {"maximum": 9}}}
    (tmp_path / "suite.yaml").write_text(json.dumps(suite), "utf-8")
    writer = ResultsWriter(tmp_path / "out", manifest={})

    done = forks.run(["run", "suite.yaml", "--out", "out"], cwd=tmp_path)

    writer.close()
    told = "another run is writing here; wait for its end, or name another folder"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"judgekit: out: {told}\n")


def test_a_run_that_did_not_end_is_read_as_none(tmp_path):
    whole = run(tmp_path)
    expected = (tmp_path / "results.jsonl").read_bytes()
    (tmp_path / "report.json").unlink()
    (tmp_path / ".report.json.4711.new").write_text("{", "utf-8")

    with pytest.raises(ConfigError, match=STOPPED):
        Report.read(tmp_path)
    again = run(tmp_path)

    assert again.run["went_on"] is True
    assert "went_on" not in whole.run
    assert (tmp_path / "results.jsonl").read_bytes() == expected
    assert files(tmp_path) == ["report.json", "results.jsonl", "run.json"]


@pytest.mark.parametrize("lines", [0, 2])
def test_results_that_lack_cases_are_not_those_of_the_report(tmp_path, lines):
    run(tmp_path)
    path = tmp_path / "results.jsonl"
    kept = path.read_text("utf-8").splitlines(keepends=True)[: 1 + lines]
    path.write_text("".join(kept), "utf-8")

    with pytest.raises(ConfigError, match=f"holds {lines // 2} cases where the report has 3"):
        list(Report.read(tmp_path).results)


def test_the_last_word_is_called_before_the_report_is_written(tmp_path):
    seen = []

    def last(report):
        seen.append((files(tmp_path), len(list(report.results))))

    evaluate_sync(CASES, [Length(maximum=9)], out=tmp_path, last=last)

    assert seen == [(["results.jsonl", "run.json"], 3)]


def test_a_run_that_fails_leaves_the_folder_open_to_the_next(tmp_path):
    def broken():
        yield CASES[0]
        raise ConfigError("no more")

    with pytest.raises(ConfigError, match="no more"):
        evaluate_sync(broken(), [Length(maximum=9)], out=tmp_path)
    with pytest.raises(ConfigError, match=STOPPED):
        Report.read(tmp_path)

    assert run(tmp_path).figures.cases == 3


def test_json_is_written_whole_or_not_at_all(tmp_path):
    write_json(tmp_path / "a.json", {"a": 1})
    with pytest.raises(ConfigError, match="cannot be written"):
        write_json(tmp_path / "none" / "a.json", {"a": 2})

    assert files(tmp_path) == ["a.json"]


@pytest.mark.parametrize(
    ("setting", "name", "what"),
    [("cassette", "tape.jsonl", "the cassette"), ("cases", "results.jsonl", "the cases")],
)
def test_a_run_writes_over_nothing_that_it_reads(tmp_path, setting, name, what):
    (tmp_path / name).write_text('{"judgekit":"cassette","version":1}\n', "utf-8")
    (tmp_path / "cases.jsonl").write_text('{"output": "Yes."}\n', "utf-8")
    suite = {"cases": "cases.jsonl", "judge": "fake/judge", "metrics": {"safety": None}}
    (tmp_path / "suite.yaml").write_text(json.dumps({**suite, setting: name}), "utf-8")
    before = (tmp_path / name).read_bytes()

    with pytest.raises(ConfigError, match=f"would overwrite {what} of the suite, {name}"):
        replay_suite(load_suite(tmp_path / "suite.yaml"), out=tmp_path)

    assert (tmp_path / name).read_bytes() == before
