"""Tried as a new user would: from an empty folder to a first score, and to a suite replayed."""

from __future__ import annotations

import shlex

import pytest

from tests.live.server import Server

pytestmark = pytest.mark.loopback

FIRST_SCORE = """\
judgekit rubric new tone --criterion "Is the answer friendly?" --criterion "Is it short?"
judgekit rubric render tone
judgekit score --rubric tone --input "Do you ship abroad?" --output "Gladly, to 12 countries." \
--judge openai/small --api-base SERVER
"""
SUITE = """\
judgekit init shop --judge openai/small --api-base SERVER
judgekit run suite.yaml
judgekit run suite.yaml --judge openai/small --api-base SERVER
judgekit run suite.yaml --judge openai/small --record none
judgekit cassette verify cassettes/suite.jsonl
"""


@pytest.fixture
def typed(tmp_path, monkeypatch, judgekit):
    """Type commands one after the other; return what each showed."""

    def type_all(commands, server):
        monkeypatch.chdir(tmp_path)
        shown = []
        for line in commands.replace("SERVER", server.base).splitlines():
            program, *words = shlex.split(line)
            assert program == "judgekit"
            done = judgekit(*words, stdin="")
            shown.append(done)
            if words[0] == "init":
                monkeypatch.chdir(tmp_path / words[1])
        return shown

    return type_all


def test_a_first_score_takes_at_most_six_commands_and_no_editor(typed):
    assert len(FIRST_SCORE.splitlines()) <= 6
    with Server() as server:
        new, render, score = typed(FIRST_SCORE, server)
        asked = server.calls()

    assert [done.code for done in (new, render, score)] == [0, 0, 0]
    assert [done.err for done in (new, render, score)] == ["", "", ""]
    assert "judgekit rubric render tone" in new.out
    assert "Is the answer friendly?" in render.out
    assert score.out.startswith("tone: ")
    assert "judge, openai/small by tone@1" in score.out
    assert asked >= 1


def test_a_suite_runs_with_ones_own_judge_and_replays_without_it(typed):
    assert len(SUITE.splitlines()) <= 6
    with Server() as server:
        init, first, live, replay, verify = typed(SUITE, server)

    assert init.out.count("\n") == 4
    assert first.code == verify.code == 0
    assert "judge manual/template" in first.out
    assert "replies: 3 from the tape" in first.out
    assert "judge openai/small" in live.out
    assert "3 new replies written to cassettes/suite.jsonl" in live.out
    assert "3 failed" not in live.out
    assert "replies: 3 from the tape" in replay.out
    assert live.code == replay.code
    assert live.code in (0, 1)  # what this server says is worth nothing
    assert "6 records, all valid" in verify.out
