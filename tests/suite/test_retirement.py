"""Models that retire soon are named in the terminal, by the date in litellm's table."""

from __future__ import annotations

import calendar
import json
from datetime import date, timedelta

import pytest

from judgekit.judges.prices import listed_retirement
from judgekit.judges.retirements import announced
from judgekit.suite.judge_file import JudgeFile
from judgekit.suite.retirement import SOON, retirement_of, retirements, today
from tests.cli.conftest import judgekit  # noqa: F401

MODEL = "anthropic/claude-sonnet-4-5"
DAY = date.fromisoformat(listed_retirement(MODEL) or "2026-11-30")
SUITE = {
    "judge": MODEL,
    "record": "none",
    "cases": [{"id": "a", "input": "Hi", "output": "Hello"}],
    "metrics": {"kind": {"criteria": {"polite": "Is it polite?"}}},
}


@pytest.fixture
def on(monkeypatch):
    """Set the day."""

    def set_day(days_before):
        day = DAY - timedelta(days=days_before)
        monkeypatch.setenv("SOURCE_DATE_EPOCH", str(calendar.timegm(day.timetuple())))

    return set_day


@pytest.mark.parametrize(
    ("days_before", "words"),
    [
        (SOON, f"retires on {DAY}, in 90 days, by litellm's table of models"),
        (1, f"retires on {DAY}, tomorrow"),
        (0, f"was retired on {DAY}"),
        (-400, "recordings replay, but nothing new can be recorded"),
    ],
)
def test_a_model_is_named_with_date_and_source(on, days_before, words):
    on(days_before)

    assert words in retirement_of(JudgeFile(model=MODEL), on=today()).sentence


def test_only_soon_retired_models_of_the_provider_are_named(on):
    on(SOON + 1)
    assert retirements({"judge": JudgeFile(model=MODEL)}) == []
    on(5)
    several = {
        "own": JudgeFile(model=MODEL, api_base="http://127.0.0.1:1/v1"),
        "unknown": JudgeFile(model="openai/no-such-model"),
        "person": JudgeFile(model="manual/ann"),
        "odd": JudgeFile(model="sample_spec"),
        "one": JudgeFile(model=MODEL),
        "two": JudgeFile(model=MODEL),
    }
    assert [one.model for one in retirements(several)] == [MODEL]
    assert retirements(several, over=True) == []


def test_a_model_that_litellm_dropped_is_named_with_its_provider(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795737600")  # 27 November 2026
    model = "anthropic/claude-sonnet-4-20250514"

    gone = retirement_of(JudgeFile(model=model), on=today())

    assert gone.sentence.startswith(
        f"{model} was retired on 2026-06-15 by the SDK of Anthropic: recordings replay"
    )


def test_each_row_adds_a_model_to_the_table_of_litellm():
    for model, row in announced().items():
        assert listed_retirement(model) is None, f"litellm has a date for {model}: delete the row"
        assert retirement_of(JudgeFile(model=model), on=date.fromisoformat(row["day"])) is not None


@pytest.mark.parametrize("odd", ["", "x", "-5", "9" * 30, "١"])
def test_an_odd_clock_is_ignored(monkeypatch, odd):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", odd)

    assert today().year >= 2026


@pytest.mark.parametrize(("days_before", "said"), [(5, False), (-5, True)])
def test_a_replay_names_only_a_model_that_is_gone(judgekit, on, in_folder, days_before, said):  # noqa: F811
    on(days_before)

    done = judgekit("run", "suite.yaml")

    assert ("was retired" in done.err) is said
    assert "retire" not in done.out
    for path in in_folder.rglob("*.json*"):
        assert "retire" not in path.read_text("utf-8")


@pytest.mark.parametrize("command", [["doctor", "suite.yaml"], ["run", "suite.yaml", "--plan"]])
def test_doctor_and_plan_name_a_model_that_will_be_gone(judgekit, on, in_folder, command):  # noqa: F811
    on(5)

    done = judgekit(*command)

    assert f"{MODEL} retires on {DAY}, in 5 days" in " ".join(done.out.split())


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite.yaml").write_text(json.dumps(SUITE), "utf-8")
    return tmp_path
