"""`judgekit answer`, as it is typed."""

from __future__ import annotations

import json

import pytest

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
