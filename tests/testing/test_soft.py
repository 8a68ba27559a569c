"""Soft checks: said at the end, and no failure."""

from __future__ import annotations

from tests.testing.conftest import RECORD, TESTS, spoil


def test_a_soft_check_says_so_and_passes(project, run):
    (project / "test_tone.py").write_text(TESTS.replace("0.5)", "0.5, soft=True)"), "utf-8")
    run(*RECORD)
    spoil(project, "What now?")

    code, out = run()

    assert code == 0
    assert "judgekit: 1 soft checks do not hold" in out
    assert "kind of case 'test_rude': 0 is below the threshold 0.5" in out
