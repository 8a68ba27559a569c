"""A check that does not hold says why, in the words of the case."""

from __future__ import annotations

from tests.testing.conftest import RECORD, spoil


def test_a_failed_check_says_case_criterion_reason_quote_and_threshold(project, run):
    run(*RECORD)
    spoil(project, "What now?")

    code, out = run()

    assert code == 1
    assert "kind of case 'test_rude': 0 is below the threshold 0.5" in out
    assert "kind 0.00: No greeting at all." in out
    assert '"What now?" (in output)' in out
    assert "see more: judgekit cassette show" in out
    assert "judgekit/testkit" not in out  # the user's own line is shown, not ours
