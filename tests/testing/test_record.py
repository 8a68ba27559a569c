"""What is missing is named, recorded once, and replayed from then on."""

from __future__ import annotations

from tests.testing.conftest import RECORD, records, spoil, tape


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


def test_what_is_recorded_is_not_asked_again(project, run):
    run(*RECORD, "-k", "kind")

    code, out = run(*RECORD)

    assert code == 0
    assert "1 reply asked and recorded" in out
    assert len(records(tape(project))) == 2


def test_everything_is_asked_again_where_that_is_wanted(project, run):
    run(*RECORD)
    spoil(project, "What now?")
    assert run()[0] == 1

    code, out = run(*RECORD, "--judgekit-record", "all")

    assert code == 0, out
    assert "2 replies asked and recorded" in out
    assert run()[0] == 0


def test_a_setting_records_as_the_flag_does(project, run):
    (project / "pytest.ini").write_text(
        "[pytest]\njudgekit_record = new_episodes\njudgekit_judge = fake/judge\n", "utf-8"
    )

    assert "2 replies asked and recorded" in run()[1]
    assert "asked" not in run()[1]
    code, out = run("--judgekit-record", "none")
    assert code == 0, out
