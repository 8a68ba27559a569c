"""What is missing is named, recorded once, and replayed from then on."""

from __future__ import annotations

from testkit.conftest import RECORD, records, tape


def test_a_miss_names_the_command_that_records_it(project, run):
    code, out = run("test_tone.py::test_kind")

    assert code == 1
    assert "kind of case 'test_kind': no score (cassette_miss): nothing is recorded yet" in out
    assert (
        "to record it: pytest test_tone.py::test_kind --judgekit-record new_episodes "
        "--judgekit-judge MODEL"
    ) in out
    assert not tape(project).exists()


def test_what_is_recorded_once_is_replayed_without_a_judge(project, run):
    first = run(*RECORD)
    again = run()

    assert (first[0], again[0]) == (0, 0), first[1]
    assert "2 replies asked and recorded" in first[1]
    assert len(records(tape(project))) == 2
    assert "asked" not in again[1]
