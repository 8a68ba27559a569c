"""Recorded replies that no test used: `--judgekit-unused`."""

from __future__ import annotations

import pytest

from tests.testing.conftest import RECORD, TESTS, records, tape


def test_an_unused_recording_fails_the_session_unless_told_otherwise(project, run):
    run(*RECORD)
    (project / "test_tone.py").write_text(TESTS.partition("def test_rude")[0], "utf-8")

    code, out = run()
    assert code == 1
    assert "test_tone.jsonl: 1 recorded reply not used" in out
    assert run("--judgekit-unused", "warn")[0] == 0
    assert "unused recordings" not in run("--judgekit-unused", "ignore")[1]
    code, out = run("--judgekit-unused", "remove")
    assert (code, len(records(tape(project)))) == (0, 1)
    assert "1 recorded reply removed" in out
    assert run()[0] == 0


@pytest.mark.parametrize("words", [("-k", "kind"), ("test_tone.py::test_kind",)])
def test_what_was_not_run_leaves_nothing_unused(project, run, words):
    run(*RECORD)

    code, out = run(*words)

    assert (code, "unused recordings" in out) == (0, False)


def test_a_failing_test_hides_no_unused_recording_as_its_own(project, run):
    run(*RECORD)
    (project / "test_tone.py").write_text("def test_kind(judgekit):\n    assert 0\n", "utf-8")

    code, out = run()

    assert code == 1
    assert "unused recordings" not in out
