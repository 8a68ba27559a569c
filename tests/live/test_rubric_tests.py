"""`judgekit rubric test` with a judge that is really asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from judgekit.authoring.rubric_test.run import RubricTestSettings, run_tests
from judgekit.cassette.mode import RecordMode
from judgekit.rubric.load import load_rubric
from judgekit.suite.judge_file import JudgeFile
from tests.cli.conftest import judgekit, one_line

from .asking import MODEL, RUBRIC
from .server import Server, always, error

__all__ = ["judgekit"]

pytestmark = pytest.mark.loopback

TESTS = """\
tests:
  - {name: one, case: {output: This is the answer to case-001.}, expect: {value: {min: 0}}}
  - {name: two, case: {output: This is the answer to case-002.}, expect: {polite: {min: 0}}}
---
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rubrics").mkdir()
    front = RUBRIC.removesuffix("---\n")
    (tmp_path / "rubrics/brief.jinja").write_text(front + TESTS, "utf-8")
    return tmp_path


def asking(server: Server) -> list[str]:
    return ["--judge", MODEL, "--api-base", server.base, "--param", "temperature=0.5"]


def test_replies_are_recorded_once_and_replayed(
    server: Server, project: Path, judgekit: Any
) -> None:
    first = judgekit("rubric", "test", *asking(server))
    calls = server.calls("case-001"), server.calls("case-002")
    again = judgekit("rubric", "test", *asking(server))
    alone = judgekit("rubric", "test")

    assert (first.code, again.code, alone.code) == (0, 0, 0), first
    assert "2 replies of openai/judge recorded on cassettes/rubrics/brief.jsonl" in first.out
    assert " recorded on " not in again.out + alone.out
    assert (server.calls("case-001"), server.calls("case-002")) == calls
    assert "judge: openai/judge (replies of this model)" in alone.out


def test_a_judge_that_is_down_leaves_tests_open_and_keeps_the_rest(
    server: Server, project: Path
) -> None:
    server.plan["case-002"] = always(error(503))
    judge = JudgeFile(model=MODEL, api_base=server.base, retries=0)
    settings = RubricTestSettings(judge=judge, record=RecordMode.NEW_EPISODES)
    rubric = load_rubric("rubrics/brief.jinja")

    tested = run_tests(rubric, settings)
    server.plan.clear()
    server.forget()
    mended = run_tests(rubric, settings)

    assert {o.name: o.verdict for o in tested.outcomes} == {"one": "passed", "two": "unjudged"}
    assert (tested.exit_code, tested.asked) == (3, 1)
    assert (mended.exit_code, mended.asked) == (0, 1)


def test_a_judge_that_rejects_us_stops_it(server: Server, project: Path, judgekit: Any) -> None:
    server.plan["case-001"] = server.plan["case-002"] = always(error(401))

    line = one_line(judgekit("rubric", "test", *asking(server)))

    assert "401" in line or "credential" in line or "key" in line
