"""`judgekit rubric test` as people use it: recording, replaying, what is said and the exit code."""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from judgekit.rubric.library import builtin_folder
from tests.authoring.rubric_test.conftest import ALL, GOOD, ORDER, RUDE, WARM, answers, judge, write
from tests.cli.conftest import one_line

TAPE = "cassettes/rubrics/kind.jsonl"
HEADER = b'{"judgekit":"cassette","version":1}\n'


def test_what_is_recorded_is_replayed(recorded, judgekit):
    (recorded / "answers.jsonl").unlink()

    done = judgekit("rubric", "test")

    assert done.code == 0
    assert done.out == (
        "kind (rubrics/kind.jinja)\n"
        "  judge: manual/me (authored by a person; no model judged)\n"
        f"  cassette: {TAPE}\n"
        "  pass  warm            1.00\n"
        "  pass  rude            0.33\n"
        "  pass  blank\n"
        "  pass  warm-over-rude\n"
        "\n"
        "4 passed\n"
    )


def test_nothing_recorded_says_what_records_it(project, judgekit):
    done = judgekit("rubric", "test", "rubrics/kind.jinja")

    assert done.code == 3
    assert done.out == (
        "kind (rubrics/kind.jinja)\n"
        "  MISS  warm\n  MISS  rude\n  pass  blank\n  MISS  warm-over-rude\n"
        f"  {TAPE} does not exist; to record: judgekit rubric test rubrics/kind.jinja "
        "--record new_episodes --judge openai/gpt-6-luna\n\n1 passed, 3 not recorded\n"
    )
    assert not (project / "cassettes").exists()


def test_a_changed_rubric_misses_and_says_what_differs(recorded, judgekit):
    file = recorded / "rubrics" / "kind.jinja"
    file.write_text(file.read_text("utf-8").replace("Is it kind?", "Is it friendly?"), "utf-8")

    done = judgekit("rubric", "test")

    assert done.code == 3
    assert "which differs in question kind" in done.out
    command = "judgekit rubric test rubrics/kind.jinja --record new_episodes --judge"
    assert f"not recorded; to call a model: {command} openai/gpt-6-luna; " in done.out
    assert f"to answer in this terminal: {command} manual/me\n" in done.out
    assert "no test uses 2 records of" in done.out


def test_what_is_known_of_the_recording_is_in_the_command(project, judgekit):
    flags = ["--judge", "fake/it", "--cassettes", "my tapes"]
    judgekit("rubric", "test", *flags)
    write(project, tests=ALL.replace("dear friend", "old friend"))

    done = judgekit("rubric", "test", "--cassettes", "my tapes")

    assert done.code == 3
    command = "judgekit rubric test rubrics/kind.jinja --cassettes 'my tapes' --record new_episodes"
    assert f"not recorded; to record: {command}\n" in done.out
    assert "MISS" not in judgekit(*shlex.split(command)[1:]).out


def test_a_failing_test_says_criterion_band_answer_and_reason(recorded, judgekit):
    wrong = GOOD | {"rude": answers("cool", quotes=["Go away"], reason="It is a little brisk.")}

    done = judgekit("rubric", "test", "--record", "all", *judge(recorded, wrong))

    assert done.code == 1
    assert (
        "  FAIL  rude            0.75\n"
        "        rubrics/kind.jinja:16\n"
        "        kind: expected rude, a quote that contains 'pest'; the judge answered cool, worth "
        "0.5, quoting 'Go away'\n"
        "        reason: It is a little brisk.\n"
    ) in done.out
    assert "kind: expected" in judgekit("rubric", "test").out


def test_an_ordering_that_does_not_hold_fails(project, judgekit):
    done = judgekit("rubric", "test", *judge(project, {n: answers("rude", quotes=["pest"])
                                                       for n in GOOD}))  # fmt: skip

    assert done.code == 1
    assert (
        "value: expected warm above rude by at least 0.5; the value is 0.5 against 0.5" in done.out
    )


def test_a_person_who_did_not_judge_a_case_leaves_it_open(project, judgekit):
    done = judgekit("rubric", "test", *judge(project, {"warm": GOOD["warm"]}))

    assert done.code == 3
    assert "DOWN  rude" in done.out
    assert "no answers for case 'rude'" in done.out
    assert judgekit("rubric", "test", *judge(project, GOOD)).code == 0


def test_new_episodes_keeps_what_is_recorded_and_all_replaces_it(recorded, judgekit):
    changed = GOOD | {"warm": answers("cool")}

    kept = judgekit("rubric", "test", "--record", "new_episodes", *judge(recorded, changed))
    assert kept.code == 0
    replaced = judgekit("rubric", "test", "--record", "all", *judge(recorded, changed))

    assert replaced.code == 1
    assert f"2 replies of manual/me recorded on {TAPE}" in replaced.out
    assert "used by no test" not in replaced.out


def test_records_no_test_uses_are_counted_and_removed_when_told(recorded, judgekit):
    write(recorded, tests=WARM)

    counted = judgekit("rubric", "test")
    again = judgekit("rubric", "test", "--prune")
    after = judgekit("rubric", "test")

    assert counted.code == again.code == after.code == 0
    assert re.search(rf"no test uses 1 record of {TAPE} \(\w{{12}}\); --prune", counted.out)
    assert f"removed from {TAPE}: 1 record that no test uses" in again.out
    assert "used" not in after.out + judgekit("cassette", "verify", TAPE).err


def test_nothing_is_removed_while_tests_miss(recorded, judgekit):
    write(recorded, tests=WARM + "\n" + RUDE.replace("pest", "pests"))
    before = (recorded / TAPE).read_bytes()

    done = judgekit("rubric", "test", "--prune")

    assert done.code == 3
    assert (recorded / TAPE).read_bytes() == before


def test_several_judges_on_a_cassette_are_told_apart(recorded, judgekit):
    flags = ["--judge", "manual/you", "--answers", "answers.jsonl", "--record", "new_episodes"]
    assert judgekit("rubric", "test", *flags).code == 0

    unclear = one_line(judgekit("rubric", "test"))
    chosen = judgekit("rubric", "test", "--judge", "manual/me", "--record", "none")

    assert unclear == f"{TAPE}: recorded by manual/me, manual/you; name one: --judge MODEL"
    assert chosen.code == 0
    assert "used by no test" not in chosen.out


def test_what_shapes_a_recorded_judge_is_taken_from_the_cassette(project, judgekit):
    from judgekit.cassette.record import Record
    from judgekit.cassette.tape import merge_into
    from judgekit.core.canonical import canonical_json
    from judgekit.core.judge_settings import JudgeSettings
    from judgekit.core.request import Reply, Try
    from judgekit.judges.absent import AbsentJudge
    from judgekit.metrics.rubric import RubricMetric
    from judgekit.rubric.load import load_rubric

    write(project, tests=WARM)
    rubric = load_rubric("rubrics/kind.jinja")
    asked = AbsentJudge(
        "openai/x",
        JudgeSettings(identity="v7", params={"temperature": 0.5}, mode="tools"),
    )
    _, (request,) = RubricMetric(rubric, judge=asked).requests(rubric.tests[0].case)
    reply = Reply(tries=(Try(text=canonical_json(GOOD["warm"]), finish="stop"),))
    merge_into(project / TAPE, [request.key], lambda key: Record(key, request, reply))

    done = judgekit("rubric", "test")

    assert done.code == 0
    assert "judge: openai/x (replies of this model)" in done.out


def test_the_outcome_can_be_had_as_json(recorded, judgekit):
    write(recorded, tests=f"{WARM}\n{RUDE}\n{ORDER}".replace("kind: warm", "kind: cool"))

    done = judgekit("rubric", "test", "--json")
    data = json.loads(done.out)

    assert done.code == 1
    assert (data["passed"], data["failed"], data["missed"], data["unjudged"]) == (2, 1, 0, 0)
    (rubric,) = data["rubrics"]
    assert (rubric["cassette"], rubric["by_hand"], rubric["unused"]) == (TAPE, True, [])
    failed = rubric["outcomes"][0]
    assert failed["shortfalls"] == [{
        "criterion": "kind", "expected": "cool", "said": "warm, worth 1",
        "reason": "Because of its words.",
    }]  # fmt: skip


def test_names_files_and_folders_are_each_tested_once(recorded, judgekit):
    write(recorded, name="mine")
    shutil.copy(recorded / TAPE, recorded / "cassettes/rubrics/mine.jsonl")
    (recorded / "rubrics/none.jinja").write_text(
        "---\nname: none\nextends: base\ndescription: D.\ncriteria:\n  a: {text: A.}\n---\n"
    )

    done = judgekit("rubric", "test", "kind", "rubrics", "rubrics/kind.jinja")

    assert done.code == 0
    assert [line for line in done.out.splitlines() if line.endswith(")") and line[0] != " "] == [
        "kind (rubrics/kind.jinja)", "mine (rubrics/mine.jinja)"
    ]  # fmt: skip
    assert done.out.endswith("8 passed\n")


def test_a_folder_without_rubrics_does_not_hide_a_rubric_of_its_name(recorded, judgekit):
    (recorded / "kind").mkdir()

    assert judgekit("rubric", "test", "kind").code == 0


def test_a_test_may_set_parameters_of_the_rubric(project, judgekit):
    text = (project / "rubrics/kind.jinja").read_text("utf-8")
    text = text.replace("criteria:", "parameters: {to: {kind: text}}\ncriteria:")
    text = text.replace("Is it kind?", "Is it kind to {{ parameters.to }}?")
    whom = {"warm": "a friend", "rude": "a guest", "blank": "a friend"}
    for name, to in whom.items():
        text = text.replace(f"name: {name}\n", f"name: {name}\n    parameters: {{to: {to}}}\n")
    (project / "rubrics/kind.jinja").write_text(text, "utf-8")

    assert judgekit("rubric", "test", *judge(project, GOOD)).code == 0
    assert judgekit("rubric", "test").code == 0
    tape = (project / TAPE).read_text("utf-8")

    assert "Is it kind to a friend?" in tape
    assert "Is it kind to a guest?" in tape


def test_cassettes_may_be_kept_elsewhere(project, judgekit):
    flags = judge(project, GOOD)

    assert judgekit("rubric", "test", *flags, "--cassettes", "kept").code == 0
    assert judgekit("rubric", "test", "--cassettes", "kept").code == 0
    assert (project / "kept" / "kind.jsonl").exists()
    assert not (project / "cassettes").exists()


def test_a_packaged_rubric_is_recorded_in_the_working_folder(
    project, judgekit, monkeypatch, tmp_path
):  # fmt: skip
    package = tmp_path / "site" / "_rubrics"
    package.mkdir(parents=True)
    for file in builtin_folder().glob("*.jinja"):
        shutil.copy(file, package)
    (package / "kind.jinja").write_text((project / "rubrics/kind.jinja").read_text("utf-8"))
    (project / "rubrics/kind.jinja").unlink()
    for module in ("rubric.load", "rubric.library", "authoring.rubric_test.run"):
        monkeypatch.setattr(f"judgekit.{module}.builtin_folder", lambda: package)

    missing = judgekit("rubric", "test", "kind")
    recorded = judgekit("rubric", "test", "kind", *judge(project, GOOD))

    assert missing.code == 3
    assert "the package has no recorded replies" in missing.out
    assert (
        "judgekit rubric test kind --record new_episodes --judge openai/gpt-6-luna" in missing.out
    )
    assert recorded.code == 0
    assert (project / TAPE).exists()
    assert not list(tmp_path.glob("site/**/*.jsonl"))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nothing"], "no rubric named 'nothing'; known: "),
        (["rubics"], "no rubric and no folder of this name; did you mean 'rubrics'?"),
        (["rubrics/kin.jinja"], "no such rubric file"),
        (["base"], "is abstract: extend it"),
        (["empty/"], "empty: this folder has no rubric (*.jinja)"),
        (["untested"], "untested: no rubric in this folder has tests; write some under `tests:`"),
        (["untested/u.jinja"], "untested/u.jinja: has no tests; write some under `tests:`"),
        (["--record", "sometimes"], "no record mode 'sometimes'"),
        (["--record", "all"], "nothing is recorded yet; add --judge MODEL"),
        (["--judge", "manual/me"], "manual/me is a person; add their answers: --answers FILE"),
        (["--judge", "none"], "--judge none: a replay calls no judge anyway"),
        (["--answers", "x"], "--answers needs a judge; add --judge MODEL"),
        (["--param", "x"], "--param x: write it as name=value"),
        (["--judge", "manual/me", "--answers", "zz"], "zz: no such file of answers"),
        (["kind", "elsewhere/kind.jinja", "--cassettes", "c"], "have the same file name"),
    ],
)
def test_a_mistake_is_one_line(project, judgekit, args, message):
    untested = "---\nname: u\nextends: base\ndescription: D.\ncriteria:\n  a: {text: A.}\n---\n"
    for name, text in {"empty/x.txt": "", "untested/u.jinja": untested}.items():
        (project / name).parent.mkdir()
        (project / name).write_text(text, "utf-8")
    (project / "elsewhere").mkdir()
    shutil.copy(project / "rubrics/kind.jinja", project / "elsewhere")

    assert message in one_line(judgekit("rubric", "test", *args))


def test_without_a_folder_of_rubrics_one_must_be_named(tmp_path, monkeypatch, judgekit):
    monkeypatch.chdir(tmp_path)

    assert one_line(judgekit("rubric", "test")).startswith("no folder `rubrics` here")


@pytest.mark.parametrize(
    "damage", [b"", b"{}\n", b"\x00\xff", b'{"judgekit":"cassette","version":1}\n{"key":"zz']
)
def test_a_damaged_cassette_is_one_line(recorded, judgekit, damage):
    (recorded / TAPE).write_bytes(damage)

    done = judgekit("rubric", "test")

    if damage:
        assert TAPE in one_line(done)
    else:
        assert done.code == 3


def test_what_a_judge_says_cannot_write_on_the_terminal(project, judgekit):
    write(project, tests=WARM)
    hostile = {"warm": answers("cool", reason="\x1b[2J\x1b]0;gone\x07\u202egnp.exe")}

    done = judgekit("rubric", "test", *judge(project, hostile))

    assert done.code == 1
    assert not {"\x1b", "\x07", "\u202e"} & set(done.out)


def test_a_folder_lists_its_rubrics_with_their_tests(project, judgekit):
    out = judgekit("rubric", "list", "--folder", "rubrics").out

    assert out == "kind                        3 criteria   4 tests  rubrics  Is the answer kind?\n"
    assert ALL.count("name:") == 3


def test_the_built_in_tests_replay_without_a_judge_or_a_store():
    code = (
        "import sys\nfrom judgekit.cli import main\n"
        f"sys.argv = ['judgekit', 'rubric', 'test', {str(builtin_folder())!r}]\n"
        "try:\n    main()\n"
        "finally:\n    print(sorted({m.partition('.')[0] for m in sys.modules}), file=sys.stderr)\n"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 0
    assert re.search(r"\n\d+ passed\n$", done.stdout)
    heavy = {"litellm", "instructor", "openai", "tenacity", "diskcache", "numpy", "pytest"}
    loaded = set(ast.literal_eval(done.stderr))
    assert "jinja2" in loaded
    assert heavy.isdisjoint(loaded)
