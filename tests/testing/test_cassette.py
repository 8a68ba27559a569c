"""Which file is replayed: one for a module, one for a test, or one that a marker names."""

from __future__ import annotations

from tests.testing.conftest import RECORD, TESTS, records, tape


def test_each_test_may_have_a_cassette_of_its_own(project, run):
    (project / "pytest.ini").write_text("[pytest]\njudgekit_cassette = test\n", "utf-8")

    assert run(*RECORD)[0] == 0
    assert run()[0] == 0
    names = sorted(path.name for path in (project / "cassettes/test_tone").iterdir())
    assert names == ["test_kind.jsonl", "test_rude.jsonl"]


def test_a_marker_names_a_cassette(project, run):
    text = "import pytest\n@pytest.mark.judgekit(cassette='shared.jsonl')" + TESTS
    (project / "test_tone.py").write_text(text, "utf-8")

    assert run(*RECORD)[0] == 0
    assert len(records(project / "shared.jsonl")) == 1
    assert len(records(tape(project))) == 1


def test_a_wrong_marker_is_one_line(project, run):
    text = "import pytest\n@pytest.mark.judgekit(tape='x')" + TESTS
    (project / "test_tone.py").write_text(text, "utf-8")

    code, out = run("-k", "kind")

    assert code == 1
    assert "the marker judgekit takes cassette=FILE, not tape" in out
