"""Verbs that only look: metrics, report, rubric, cassette, and the program itself."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import judgekit as package
from judgekit.cli.app import COMMANDS
from judgekit.metrics.registry import metric_names
from judgekit.rubric.library import rubric_names
from tests.cli.conftest import EXAMPLE, one_line

RUBRIC = "---\nname: mine\ndescription: Of my own.\ncriteria:\n  a: {text: A.}\n---\nBODY\n"
BODY = "{{ criteria | length }} {{ case.output }}"


# -- the program ------------------------------------------------------------------


def test_the_version_is_printed(judgekit):
    assert judgekit("--version").out == f"judgekit {package.__version__}\n"


@pytest.mark.parametrize("args", [["-h"], ["run", "-h"], ["score", "--help"], ["cassette", "-h"]])
def test_help_is_plain_text_that_fits(judgekit, args):
    done = judgekit(*args)

    assert done.code == 0
    assert "Usage: judgekit" in done.out
    assert max(map(len, done.out.splitlines())) <= 100


@pytest.mark.parametrize("args", [["bogus"], ["run", "--bogus"], ["rubric", "bogus"]])
def test_a_wrong_word_is_exit_code_2(judgekit, args):
    done = judgekit(*args)

    assert done.code == 2
    assert "--help` lists them" in done.err


def test_the_module_runs_as_the_program():
    done = subprocess.run(
        [sys.executable, "-m", "judgekit", "--version"], capture_output=True, text=True, check=True
    )

    assert done.stdout == f"judgekit {package.__version__}\n"


# -- metrics ----------------------------------------------------------------------


def test_every_metric_is_listed_with_what_it_is(judgekit):
    out = judgekit("metrics").out
    lines = [line for line in out.splitlines() if line and not line.startswith("#")]

    assert sorted(line.split()[0] for line in lines) == metric_names()
    assert all(line.split()[1] in ("judged", "computed", "plugin") for line in lines)


def test_a_metric_is_explained_with_its_example_worked_out(judgekit):
    out = judgekit("metrics", "show", "token_f1").out

    assert "2 P R / (P + R)" in out
    assert "gives            0.5. The output and the nearest reference share 1 word:" in out


def test_an_unknown_metric_is_one_line(judgekit):
    done = judgekit("metrics", "show", "lenght")

    assert done.code == 2
    assert "no metric named 'lenght'; did you mean 'length'?" in done.err


# -- report -----------------------------------------------------------------------


def test_a_report_is_printed_and_its_page_written_from_the_folder_alone(judgekit, recorded):
    run = judgekit("run", "suite.yaml", "--out", "out")
    for name in ("suite.yaml", "cases.jsonl", "tape.jsonl", "out/report.html"):
        (recorded / name).unlink()

    done = judgekit("report", "out", "--out", "page.html")

    assert done.code == 0
    assert done.out == run.out.replace("Page: out/report.html", "Page: page.html")
    # The page of the folder is gone, so the verdict names the folder.
    assert judgekit("report", "out", "--export", "csv=x.csv", "-q").out.endswith(" Page: out\n")
    assert (recorded / "page.html").stat().st_size > 1000


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["none"], "none: not a run folder: report.json is missing"),
        (["outt"], "outt: not a run folder: report.json is missing; did you mean 'out'?"),
        (["cases.jsonl"], "cases.jsonl"),
        (["out", "--out", "."], "is a folder; name a file"),
    ],
)
def test_a_report_of_nothing_is_one_line(judgekit, recorded, args, message):
    judgekit("run", "suite.yaml", "--out", "out")

    assert message in one_line(judgekit("report", *args))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cases": 1}', "\x00"])
def test_a_damaged_report_is_one_line(judgekit, recorded, text):
    judgekit("run", "suite.yaml", "--out", "out")
    (recorded / "out" / "report.json").write_text(text, "utf-8")

    assert "report" in one_line(judgekit("report", "out"))


# -- rubric -----------------------------------------------------------------------


def test_the_built_in_rubrics_are_listed(judgekit):
    out = judgekit("rubric", "list").out
    lines = [line for group in out.split("\n\n") for line in group.splitlines()[1:]]

    names = sorted(line.split()[0] for line in lines)
    assert [name for name in names if "@" not in name] == [n for n in rubric_names() if n != "base"]
    assert all(" criteria " in line or " 1 criterion " in line for line in lines)


def test_a_folder_is_listed_with_what_does_not_load(judgekit, folder):
    home = folder / "abstract things"
    home.mkdir()
    (home / "good.jinja").write_text(RUBRIC.replace("BODY", BODY), "utf-8")
    (home / "bad.jinja").write_text(RUBRIC.replace("BODY", "{{ cases }}"), "utf-8")
    (home / "yaml.jinja").write_text("---\nname: [\n---\n", "utf-8")
    (home / "frame.jinja").write_text("---\nname: f\nabstract: true\n---\n", "utf-8")

    done = judgekit("rubric", "list", "--folder", home)

    bad, good, yaml = done.out.splitlines()
    assert " ".join(good.split()) == f"good 1 criterion 0 tests {home} Of my own."
    assert "does not load: " in bad
    assert "bad.jinja:7: unknown variable 'cases'" in bad
    assert "not valid YAML" in yaml


def test_a_rubric_is_shown_and_rendered(judgekit, folder):
    (folder / "mine.jinja").write_text(RUBRIC.replace("BODY", BODY), "utf-8")

    shown = judgekit("rubric", "show", "mine")
    rendered = judgekit("rubric", "render", "mine", "--cases", "cases.jsonl", "--case", "c2",
                        "--judge", "fake/judge")  # fmt: skip

    assert shown.out.startswith("mine, version 1, digest ")
    assert rendered.out.startswith("--- user\n1 Because 2.\n--- key\n")
    assert rendered.out.endswith(" (model fake/judge)\n")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["show", "qualty"], "did you mean 'quality'?"),
        (["show", "base"], "is abstract: extend it"),
        (["show", "."], "no rubric|no such rubric"),
        (["show", "cases.jsonl"], "no rubric|no such rubric"),
        (["render", "safety", "--case", "c1"], "add --cases FILE"),
        (["render", "safety", "--cases", "cases.jsonl", "--case", "zz"], "no case 'zz'"),
        (["render", "safety", "--mode", "zz"], "has no mode 'zz'"),
        (["render", "safety", "--cases", "."], "this is a folder"),
        (["list", "--folder", "none"], "none"),
        (["list", "--folder", "cases.jsonl"], "cases.jsonl"),
    ],
)
def test_a_wrong_rubric_is_one_line(judgekit, folder, args, message):
    line = one_line(judgekit("rubric", *args))

    assert any(part in line for part in message.split("|"))


# -- cassette ---------------------------------------------------------------------


def test_a_cassette_is_verified_counted_and_shown(judgekit, recorded):
    key = json.loads((recorded / "tape.jsonl").read_text("utf-8").splitlines()[-1])["key"]

    assert judgekit("cassette", "verify", "tape.jsonl", "tape.jsonl").out == (
        "tape.jsonl: 4 records, all valid\n" * 2
    )
    assert "  valid: 4\n" in judgekit("cassette", "stats", "tape.jsonl").out
    shown = judgekit("cassette", "show", "tape.jsonl", key[:12]).out
    assert shown.startswith(f"key {key}\n")
    assert "--- reply, finish stop\n" in shown


def test_the_tape_of_the_example_is_sound(judgekit):
    tape = "cassettes/support_assistant.jsonl"

    assert judgekit("cassette", "verify", EXAMPLE.replace(
        "examples/support_assistant/suite.yaml", tape
    )).code == 0  # fmt: skip


def test_misses_are_explained(judgekit, recorded):
    assert judgekit("cassette", "explain", "suite.yaml").out.startswith("no misses")
    cases = recorded / "cases.jsonl"
    cases.write_text(cases.read_text("utf-8").replace("Because", "Since"), "utf-8")

    done = judgekit("cassette", "explain", "suite.yaml", "--most", "1")
    one = judgekit("cassette", "explain", "suite.yaml", "--case", "c2")

    assert done.code == 3
    assert done.out.startswith("case c0, safety, key ")
    assert "    -Because 0.\n    +Since 0.\n" in done.out
    assert done.out.endswith("and 3 more (--most)\n")
    assert one.out.startswith("case c2, ")
    assert "+Since 2." in one.out


def test_misses_of_a_run_with_other_flags_are_explained(judgekit, recorded):
    flags = ("--judge", "openai/other", "--param", "temperature=0")

    done = judgekit("cassette", "explain", "suite.yaml", "--most", "1", *flags)

    assert done.code == 3
    assert "    -fake/judge\n    +openai/other\n" in done.out
    assert "  params.temperature\n" in done.out
    assert "openai" not in (recorded / "tape.jsonl").read_text("utf-8")


def test_secrets_on_a_tape_are_found_and_not_told(judgekit, recorded):
    assert judgekit("cassette", "scan", "tape.jsonl").code == 0
    cases = recorded / "cases.jsonl"
    cases.write_text(cases.read_text("utf-8").replace("Why 2?", "Mail ann@shop.io?"), "utf-8")

    plain = judgekit("cassette", "scan", "cases.jsonl", "tape.jsonl")
    data = judgekit("cassette", "scan", "cases.jsonl", "--json")

    assert plain.code == data.code == 1
    assert plain.out.startswith(
        "cases.jsonl:3: email in input: a…@….io\n1 found in 2 files: 1 email\n"
    )
    assert "ann@shop.io" not in plain.out + data.out
    assert json.loads(data.out)["counts"] == {"email": 1}
    assert judgekit("cassette", "scan", "cases.jsonl", "--allow", "*@shop.io").code == 0
    assert judgekit("cassette", "scan", "cases.jsonl", "--kind", "card").code == 0


def test_without_a_path_the_folder_of_cassettes_is_scanned(judgekit, folder):
    assert "cassettes: no such file or folder" in one_line(judgekit("cassette", "scan"))
    (folder / "cassettes").mkdir()
    assert judgekit("cassette", "scan").out == "nothing found in 0 files\n"


def test_what_is_not_used_is_counted_and_removed_only_when_told(judgekit, recorded):
    before = (recorded / "tape.jsonl").read_bytes()
    assert "every record is used" in judgekit("cassette", "prune", "suite.yaml").out
    rows = (recorded / "cases.jsonl").read_text("utf-8").splitlines(keepends=True)
    (recorded / "cases.jsonl").write_text("".join(rows[:3]), "utf-8")

    counted = judgekit("cassette", "prune", "suite.yaml")
    assert (recorded / "tape.jsonl").read_bytes() == before
    removed = judgekit("cassette", "prune", "suite.yaml", "--yes")

    assert "remove with --yes" in counted.out
    assert "removed" in removed.out
    assert judgekit("cassette", "verify", "tape.jsonl").out == "tape.jsonl: 3 records, all valid\n"
    assert judgekit("run", "suite.yaml").code == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["verify", "none.jsonl"], "none.jsonl: no such cassette"),
        (["verify", "."], "a folder, not a cassette; name a file in it"),
        (["verify", "cases.jsonl"], "cases.jsonl:1: not a cassette"),
        (["verify", "suite.yaml"], "suite.yaml:1: not a cassette"),
        (["stats", "none.jsonl"], "no such cassette"),
        (["show", "tape.jsonl", "zzz"], "no record with a key that begins with 'zzz'"),
        (["explain", "none.yaml"], "no such suite file"),
        (["prune", "bare.yaml"], "the suite has no cassette"),
        (["explain", "bare.yaml"], "the suite has no cassette"),
    ],
)
def test_a_wrong_cassette_is_one_line(judgekit, recorded, args, message):
    (recorded / "bare.yaml").write_text(
        "cases: cases.jsonl\nmetrics: {length: {maximum: 9}}\n", "utf-8"
    )

    line = one_line(judgekit("cassette", *args))

    assert any(part in line for part in message.split("|"))


def test_the_help_lists_every_command_once_under_a_heading(judgekit):
    shown = judgekit("--help").out
    *_, listed = shown.partition("\nStart:\n")
    blocks = [block.splitlines() for block in f"Start:\n{listed}".split("\n\n")[:-1]]

    panels = {head: [line.split()[0] for line in lines] for head, *lines in blocks}

    assert list(panels) == ["Start:", "Results:", "People:", "Files:", "Special:"]
    assert panels["Start:"] == ["init", "run", "score", "watch", "batch", "doctor"]
    assert panels["Special:"][-2:] == ["pairs", "steer"]  # offered by a package
    names = [name for own in panels.values() for name in own]
    assert sorted(names) == sorted({*COMMANDS, "pairs", "steer"})
    lines = [line for _, *lines in blocks for line in lines]
    assert all(line[11] == " " != line[12] for line in lines)  # one margin for all


@pytest.mark.parametrize("command", [(), ("run",), ("rubric",), ("rubric", "lint"), ("steer",)])
def test_help_is_a_command_with_the_text_of_the_flag(judgekit, command):
    shown = judgekit("help", *command)

    assert (shown.code, shown.out) == (0, judgekit(*command, "--help").out)
    assert f"Usage: {' '.join(('judgekit', *command))} " in shown.out


def test_help_of_no_command_is_one_line(judgekit):
    assert "judgekit has no command 'rnu'; did you mean 'run'?" in one_line(judgekit("help", "rnu"))
