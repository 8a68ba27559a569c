"""`judgekit answer`, as it is typed."""

from __future__ import annotations

import json

import pytest

from judgekit.report.report import Report

from .conftest import one_line


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """A folder with three cases, one of which asks nothing."""
    rows = [{"id": "a", "input": "Why?"}, {"id": "b", "input": "How?"}, {"id": "c"}]
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_answers_are_written_beside_their_cases(asked, judgekit):
    done = judgekit("answer", "cases.jsonl", "--model", "fake/x", "--out", "out.jsonl")

    assert done.code == 3  # one of them asks nothing
    assert done.out == ""
    assert "2 answered (2 live); 1 without an answer; written to out.jsonl" in done.err
    assert "c: invalid_case: needs an input" in done.err
    written = rows(asked / "out.jsonl")
    assert [row["id"] for row in written] == ["a", "b", "c"]
    assert all(row["output"].startswith("Made up") for row in written[:2])
    assert "output" not in written[2]


def test_a_tape_replays_the_same_file_and_asks_nobody(asked, judgekit):
    flags = ("answer", "cases.jsonl", "--model", "fake/x", "--cassette", "tape.jsonl", "--limit", 2)
    assert judgekit(*flags, "--out", "live.jsonl").code == 0
    done = judgekit(*flags, "--record", "none", "--out", "replay.jsonl")

    assert done.code == 0
    assert "2 from the tape" in done.err
    assert (asked / "live.jsonl").read_bytes() == (asked / "replay.jsonl").read_bytes()


def test_what_is_not_recorded_is_said_with_the_way_to_ask(asked, judgekit):
    flags = ("answer", "cases.jsonl", "--cassette", "tape.jsonl", "--limit", 1)
    judgekit(*flags, "--model", "fake/x")
    done = judgekit(*flags, "--model", "fake/y", "--record", "none")

    assert done.code == 3
    assert "cassette_miss: not recorded; nearest is" in done.err
    assert "model (fake/x recorded, fake/y asked)" in done.err
    assert "--record new_episodes" in done.err


def test_the_answers_go_to_standard_output_where_no_file_is_named(asked, judgekit):
    done = judgekit("answer", "-", "-m", "fake/x", stdin='{"id":"a","input":"Why?"}\n')

    assert done.code == 0
    assert json.loads(done.out)["output"].startswith("Made up")


def test_a_file_may_be_filled_in_place_and_nothing_is_lost(asked, judgekit):
    for _ in range(2):
        done = judgekit("answer", "cases.jsonl", "-m", "fake/x", "-o", "cases.jsonl")

    assert (
        "0 answered; 2 already had an output (--replace answers them again); 1 without an answer"
        in done.err
    )
    assert [row["id"] for row in rows(asked / "cases.jsonl")] == ["a", "b", "c"]


def test_a_system_prompt_comes_from_a_file(asked, judgekit):
    (asked / "british.txt").write_text("Be British.\n")
    judgekit(
        "answer", "cases.jsonl", "-m", "fake/x", "--system-file", "british.txt", "-o", "x.jsonl"
    )

    assert {row["system"] for row in rows(asked / "x.jsonl")} == {"Be British."}


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("nope.jsonl", "-m", "fake/x"), "nope.jsonl: no such file"),
        (("cases.jsonl", "-m", "fake/x", "--field", "ouput"), "did you mean 'output'"),
        (("cases.jsonl", "-m", "manual/alex"), "is a person; name a model"),
        (("cases.jsonl", "-m", "fake/x", "--redact", "emial"), "did you mean 'email'"),
        (("cases.jsonl", "-m", "fake/x", "--record", "nine"), "no record mode 'nine'"),
        (("cases.jsonl", "-m", "fake/x", "--param", "seed"), "--param"),
        (("cases.jsonl", "-m", "fake/x", "--system", "a", "--system-file", "b"), "not both"),
        (("cases.jsonl", "-m", "fake/x", "--system-file", "none.txt"), "cannot be read"),
        (("cases.jsonl", "-m", "fake/x", "--out", "."), "is a folder"),
        (("cases.jsonl", "-m", "fake/x", "--limit", "1", "--out", "cases.jsonl"), "--limit would"),
        (("cases.jsonl", "-m", "fake/x", "--out", "t", "--cassette", "t"), "another file"),
        (("cases.jsonl", "-m", "fake/x", "--record", "none", "--cassette", "t"), "no such"),
        (("cases.jsonl", "-m", "openai/x", "--api-key-env", "NO_KEY"), "NO_KEY is not set"),
        (("cases.jsonl", "-m", "openai/x", "--api-base", "localhost:1"), "must begin with http"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line(asked, judgekit, flags, told):
    assert told in one_line(judgekit("answer", *flags))


@pytest.mark.parametrize(
    "command",
    [
        ("answer", "cases.jsonl", "--model", "fake/x", "--out"),
        ("perturb", "cases.jsonl", "--kind", "case", "--out"),
    ],
)
def test_cases_replace_the_same_cases_and_nothing_else(asked, judgekit, command):
    foreign = '{"id":"z","input":"Precious?"}\n'
    (asked / "foreign.jsonl").write_text(foreign)
    (asked / "link.jsonl").symlink_to("none.jsonl")

    assert judgekit(*command, "own.jsonl").code != 2
    first = (asked / "own.jsonl").read_bytes()
    assert judgekit(*command, "own.jsonl").code != 2

    assert (asked / "own.jsonl").read_bytes() == first
    said = one_line(judgekit(*command, "foreign.jsonl"))
    assert said.startswith("foreign.jsonl: is there already and is not a file of")
    assert "is a link" in one_line(judgekit(*command, "link.jsonl"))
    assert (asked / "foreign.jsonl").read_text() == foreign
    assert not (asked / "none.jsonl").exists()


def test_answers_may_be_written_into_the_file_of_their_cases(asked, judgekit):
    done = judgekit("answer", "cases.jsonl", "--model", "fake/x", "--out", "cases.jsonl")

    assert done.code == 3
    assert [row["id"] for row in rows(asked / "cases.jsonl")] == ["a", "b", "c"]


SUITE = """\
name: Questions
cases: cases.jsonl
judge: fake/judge
cassette: verdicts.jsonl
metrics: {safety: {}, length: {maximum: 3, gate: {mean: 1}}}
"""


def test_several_models_write_what_each_would_write(asked, judgekit):
    done = judgekit("answer", "cases.jsonl", "--models", "fake/x, fake/y", "--out", "answers/new")

    assert done.code == 3  # one of the cases asks nothing
    for model in "xy":
        judgekit("answer", "cases.jsonl", "--model", f"fake/{model}", "--out", "one.jsonl")
        written = (asked / "answers" / "new" / f"fake_{model}.jsonl").read_bytes()
        assert written == (asked / "one.jsonl").read_bytes()
        (asked / "one.jsonl").unlink()
    assert "fake/y:\n2 answered (2 live); 1 without an answer; written to" in done.err


def test_standard_input_serves_several_models(asked, judgekit):
    row = '{"id":"a","input":"Why?"}\n'
    done = judgekit("answer", "-", "--models", "fake/x,fake/y", "--out", "both", stdin=row)

    assert done.code == 0
    assert [len(rows(path)) for path in sorted((asked / "both").iterdir())] == [1, 1]


def test_a_suite_is_answered_and_scored_by_each_model(asked, judgekit):
    cases = [{"id": f"c{n}", "input": f"Why {n}?", "output": "Old."} for n in range(12)]
    (asked / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    (asked / "suite.yaml").write_text(SUITE)

    done = judgekit("answer", "suite.yaml", "--models", "fake/x,fake/y", "--cassette", "tape.jsonl")

    assert done.code == 1  # the gate of length fails
    assert "Page: runs/fake_x/report.html\n" in done.out
    for model in ("fake/x", "fake/y"):
        report = Report.read(asked / "runs" / model.replace("/", "_"))
        assert report.figures.manifest["answered_by"] == model
        assert report.figures.cases == 12
        assert all(scored.case.output.startswith("Made up") for scored in report.results)
        assert "unused" not in report.run
    ranked = json.loads(judgekit("rank", "runs/fake_x", "runs/fake_y", "--metric", "safety",
                                 "--draws", 100, "--json").out)  # fmt: skip
    assert {one["model"] for one in ranked["models"]} == {"fake/x", "fake/y"}
    compared = judgekit("compare", "runs/fake_x", "runs/fake_y")
    assert compared.out.startswith("base runs/fake_x (fake/x), new runs/fake_y (fake/y)\n")

    first = (asked / "runs" / "fake_x" / "report.json").read_bytes()
    again = judgekit("answer", "suite.yaml", "--models", "fake/x", "--cassette", "tape.jsonl",
                     "--record", "none", "--out", "again")  # fmt: skip
    assert again.code == 1
    assert (asked / "again" / "fake_x" / "report.json").read_bytes() == first
    assert "12 from the tape" in again.err


def test_a_run_of_a_suite_names_no_model(recorded):
    from judgekit.suite.suite import load_suite

    assert "answered_by" not in load_suite("suite.yaml").manifest()


def test_all_models_share_one_budget(asked, judgekit):
    done = judgekit(
        "answer", "cases.jsonl", "--models", "fake/x,fake/y", "--out", "o", "--max-cost", 0
    )

    assert done.code == 3
    assert done.err.count("a: not_run: not asked: $0.0000 of $0 is spent") == 2


def test_a_replay_needs_no_price_and_no_pace(asked, judgekit):
    flags = ("answer", "cases.jsonl", "--cassette", "tape.jsonl", "--limit", 1, "--model", "fake/x")
    assert judgekit(*flags, "--rpm", "auto", "--tpm", 1e9).code == 0
    done = judgekit(*flags, "--record", "none", "--rpm", 1, "--max-cost", 1)

    assert done.code == 0
    assert "1 from the tape" in done.err


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("cases.jsonl",), "name the system under test: --model MODEL, or several: --models A,B"),
        (("cases.jsonl", "-m", "fake/x", "--models", "fake/y"), "name the system under test"),
        (("cases.jsonl", "--models", "fake/x"), "name their folder: --out FOLDER"),
        (("cases.jsonl", "--models", "fake/x,", "-o", "o"), "a name is empty; write it as"),
        (("cases.jsonl", "--models", "f/x,f/x", "-o", "o"), "f/x is named twice"),
        (("cases.jsonl", "--models", "f/x,F:X", "-o", "o"), "f/x and F:X would both be written to"),
        (("cases.jsonl", "--models", "..", "-o", "o"), "..: cannot name a file"),
        (("cases.jsonl", "--models", "f/x", "-o", "cases.jsonl"), "cases.jsonl: not a folder"),
        (("cases.jsonl", "--models", "f/x", "-o", "o", "--steering-vector", "v.pt", "--layer", 1),
         "v.pt"),
        (("suite.yaml", "-m", "fake/x"), "is a suite; answer its cases with --models fake/x"),
        (("suite.yaml", "--models", "fake/x"), "no such suite file"),
        (("suite.yaml", "--models", "fake/x", "--field", "baseline"), "remove --field"),
        (("cases.jsonl", "-m", "fake/x", "--rpm", "fast"), "--rpm fast: give a number or auto"),
        (("cases.jsonl", "-m", "fake/x", "--tpm", "-1"), "tpm is -1.0; give a positive number"),
        (("cases.jsonl", "-m", "openai/x", "--max-cost", "1", "--api-base", "http://localhost:1"),
         "--max-cost: the price of openai/x is not known"),
    ],
)  # fmt: skip
def test_a_mistake_about_several_models_is_one_line(asked, judgekit, flags, told):
    assert told in one_line(judgekit("answer", *flags))
