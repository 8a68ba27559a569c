"""A judge that a flag tries out leaves the committed tape as it is."""

from __future__ import annotations

import asyncio
import json

import pytest

from judgekit.cassette.store import Store, store_folder
from judgekit.cassette.tape import Tape
from judgekit.suite.resolved import resolve
from judgekit.suite.run import run_suite
from judgekit.suite.suite import Overrides, open_suite

SUITE = """\
cases: cases.jsonl
judges: {judge: fake/judge, second: fake/other}
cassette: tape.jsonl
metrics: {safety: , tone: {rubric: safety, judge: second}}
"""


@pytest.fixture
def suite(tmp_path):
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE, "utf-8")
    rows = [{"id": f"c{n}", "output": f"Answer {n}."} for n in range(3)]
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    run(path, record="all")
    return path


def run(path, *, out=None, trial=True, **flags):
    suite = open_suite(resolve(path, Overrides(**flags)), trial=trial)
    return asyncio.run(run_suite(suite, out=out))


def models(path):
    return {record.request.model for record in Tape(path).records()}


@pytest.mark.parametrize(
    "flags",
    [
        {"judge": "fake/try"},
        {"judges": {"second": "fake/try"}},
        {"judge": "fake/try", "judges": {"second": "fake/try2"}},
        {"judge": "fake/try", "shard": "1/1"},
    ],
)
def test_a_trial_judge_writes_to_the_private_store_only(suite, tmp_path, flags):
    before = (tmp_path / "tape.jsonl").read_bytes()

    first = run(suite, **flags, out=tmp_path / "out")

    assert (tmp_path / "tape.jsonl").read_bytes() == before
    assert first.run["origins"]["live"] > 0
    # The run folder has the replies, so that runs can be compared.
    assert "fake/try" in models(tmp_path / "out" / "tape.jsonl")

    second = run(suite, **flags)
    assert second.run["origins"].get("live", 0) == 0
    assert (tmp_path / "tape.jsonl").read_bytes() == before

    third = run(suite, **flags, record="new_episodes")
    assert third.run["origins"].get("live", 0) == 0
    assert "fake/try" in models(tmp_path / "tape.jsonl")


def test_the_judge_of_the_file_and_a_first_judge_are_no_trial(suite, tmp_path):
    (tmp_path / "tape.jsonl").unlink()
    run(suite, judge="fake/judge")
    assert models(tmp_path / "tape.jsonl") == {"fake/judge", "fake/other"}

    suite.write_text("cases: cases.jsonl\ncassette: new.jsonl\nmetrics: {safety: }\n", "utf-8")
    run(suite, judge="fake/first")
    assert models(tmp_path / "new.jsonl") == {"fake/first"}


def test_with_a_run_folder_the_judge_is_recorded(suite, tmp_path):
    run(suite, judge="fake/try", trial=False)

    assert "fake/try" in models(tmp_path / "tape.jsonl")


def test_replies_of_a_trial_survive_a_lost_run_folder(suite, tmp_path):
    run(suite, judge="fake/try")

    store = Store(store_folder(tmp_path))
    assert sum("fake/try" in (store.get(key) or "") for key in list(store.keys())) == 3
    store.close()
