"""Who judges: `--judgekit-judge`, `judgekit_judge`, `--judgekit-api-base`."""

from __future__ import annotations

import re

import pytest

from judgekit.cassette.mode import RecordMode
from judgekit.testing.session import Tapes
from tests.testing.conftest import RECORD, records, tape

pytestmark = pytest.mark.usefixtures("project")

OTHER = ("--judgekit-judge", "fake/other")


@pytest.fixture
def of_two(project, run):
    """A cassette that two judges are on, whatever they say."""
    text = (project / "test_tone.py").read_text("utf-8")
    (project / "test_tone.py").write_text(re.sub(r"threshold=[\d.]+", "threshold=0.0", text))
    assert run(*RECORD)[0] == 0
    assert run(*OTHER, "--judgekit-unused", "ignore")[0] == 0


def test_nobody_is_asked_without_a_name(run):
    code, out = run("--judgekit-record", "new_episodes")

    assert code == 1
    assert "recording asks a judge: say which, --judgekit-judge MODEL" in out


def test_whoever_is_on_the_cassette_is_asked_what_is_missing(project, run):
    run(*RECORD, "-k", "kind")

    code, out = run("--judgekit-record", "new_episodes")

    assert code == 0, out
    assert "1 reply asked and recorded" in out
    assert all('"fake/judge"' in line for line in records(tape(project)))


@pytest.mark.usefixtures("of_two")
def test_of_several_judges_one_has_to_be_named(run):
    code, out = run()

    assert code == 1
    assert "recorded by fake/judge, fake/other; say whose: --judgekit-judge MODEL" in out


@pytest.mark.usefixtures("of_two")
@pytest.mark.parametrize("place", ["flag", "setting"])
def test_a_named_judge_is_replayed(project, run, place):
    words = ()
    if place == "flag":
        words = (*OTHER, "--judgekit-record", "none")
    else:
        (project / "pytest.ini").write_text("[pytest]\njudgekit_judge = fake/other\n", "utf-8")

    code, out = run(*words, "--judgekit-unused", "warn")

    assert code == 0, out
    assert "2 recorded replies not used" in out  # those of the other judge
    assert "asked" not in out


def test_a_judge_nobody_recorded_is_a_miss(run):
    run(*RECORD)

    code, out = run("--judgekit-judge", "fake/third", "--judgekit-record", "none")

    assert code == 1
    assert "no score (cassette_miss)" in out


def test_an_address_is_that_of_the_judge(tmp_path):
    tapes = Tapes(
        record=RecordMode.NEW_EPISODES, judge="openai/x", api_base="http://127.0.0.1:9/v1"
    )

    limited = tapes.open(tmp_path / "tape.jsonl").judge

    assert limited.judge.api_base == "http://127.0.0.1:9/v1"
    tapes.close()
