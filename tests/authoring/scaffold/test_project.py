"""What `judgekit init` writes works at once, says who judged, and knows no machine or time."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from judgekit.authoring.rubric_test.run import run_tests
from judgekit.authoring.scaffold.project import (
    HOSTS,
    ProjectPlan,
    next_steps,
    project_files,
    write_project,
)
from judgekit.cassette.show import verify_tape
from judgekit.cassette.tape import Tape
from judgekit.core.errors import ConfigError
from judgekit.core.yaml_file import parse_yaml
from judgekit.rubric.load import load_rubric
from judgekit.suite.run import run_suite
from judgekit.suite.suite import load_suite

JUDGES = {
    "nothing said": ProjectPlan("shop"),
    "hosted": ProjectPlan("shop", judge="openai/gpt-6-luna"),
    "server": ProjectPlan("shop", judge="openai/my-model", api_base="http://localhost:8000/v1"),
    "person": ProjectPlan("shop", judge="manual/alex"),
    "nobody": ProjectPlan("shop", judge="none"),
    "criteria in the row": ProjectPlan("shop", criteria="case"),
}


def run(suite):
    import asyncio

    return asyncio.run(run_suite(load_suite(suite)))


@pytest.mark.parametrize("plan", JUDGES.values(), ids=JUDGES)
def test_it_runs_at_once_and_uses_every_record(tmp_path, plan):
    write_project(tmp_path / "shop", plan)

    report = run(tmp_path / "shop" / "suite.yaml")

    assert report.exit_code == 0
    assert report.figures.cases == 3
    if plan.judge == "none":
        assert "origins" not in report.run
    else:
        assert (report.run["origins"], report.run["unused"]) == ({"tape": 3}, 0)
        assert verify_tape(tmp_path / "shop" / "cassettes" / "suite.jsonl") == 3


@pytest.mark.parametrize("plan", JUDGES.values(), ids=JUDGES)
def test_the_same_plan_makes_the_same_texts_which_name_no_machine_or_time(tmp_path, plan):
    write_project(tmp_path / "a", plan)
    write_project(tmp_path / "elsewhere" / "b", plan)
    texts = {
        str(path.relative_to(tmp_path / "a")): path.read_text("utf-8")
        for path in (tmp_path / "a").rglob("*")
        if path.is_file()
    }

    for name, text in texts.items():
        assert (tmp_path / "elsewhere" / "b" / name).read_text("utf-8") == text
        assert str(tmp_path) not in text
        assert not re.search(r"\b20\d\d-\d\d", text.replace("draft/2020-12", ""))
    assert texts == project_files(plan)


def test_the_verdicts_say_that_no_model_gave_them(tmp_path):
    write_project(tmp_path, ProjectPlan("shop"))

    replies = [record.reply for record in Tape(tmp_path / "cassettes" / "suite.jsonl").records()]
    report = run(tmp_path / "suite.yaml")

    assert {reply.model for reply in replies} == {"manual/template"}
    notice = report.figures.manifest["notice"]
    assert "These verdicts are part of the template; no model gave them" in notice
    assert report.figures.manifest["judge"]["model"] == "manual/template"


def test_the_tests_of_its_rubric_replay(tmp_path):
    write_project(tmp_path, ProjectPlan("shop"))

    tested = run_tests(load_rubric(tmp_path / "rubrics" / "helpful_reply.jinja"))

    assert [outcome.verdict for outcome in tested.outcomes] == ["passed", "passed"]
    assert (tested.exit_code, tested.unused) == (0, ())


def test_every_file_is_of_the_schema_it_names(tmp_path):
    write_project(tmp_path, ProjectPlan("shop"))

    def check(schema, data):
        Draft202012Validator(json.loads(schema.read_text("utf-8"))).validate(data)

    for file in (tmp_path / "suite.yaml", tmp_path / "rubrics" / "helpful_reply.jinja"):
        text = file.read_text("utf-8").removeprefix("---\n").partition("\n---\n")[0]
        schema = re.search(r"\$schema=(\S+)", text)[1]
        check(file.parent / schema, parse_yaml(text, file="x")[0])
    for line in (tmp_path / "cases.jsonl").read_text("utf-8").splitlines():
        check(tmp_path / ".schemas" / "cases.json", json.loads(line))


@pytest.mark.parametrize("plan", JUDGES.values(), ids=JUDGES)
def test_the_judge_in_the_comment_is_one_the_suite_takes(tmp_path, plan):
    write_project(tmp_path, plan)
    suite = tmp_path / "suite.yaml"
    text = suite.read_text("utf-8")
    if plan.judge == "none":
        assert "# judge" not in text
        return
    own = re.search(r"^# (judge: .*)$", text, re.M)[1]

    suite.write_text(text.replace("judge: {model: manual/template}", own), "utf-8")
    judge = load_suite(suite).roles["judge"]

    assert (judge.model, judge.api_base) == (plan.judge or "openai/gpt-6-luna", plan.api_base)


@pytest.mark.parametrize(
    "name",
    ["shop", 'a "b": {c} # d', "@OWN@ x", "yes", "é\u2028\x85\x7f", "- x\n- y", "", "{{ x }}"],
)
def test_any_name_is_kept_as_it_is(tmp_path, name):
    write_project(tmp_path, ProjectPlan(name))

    assert load_suite(tmp_path / "suite.yaml").file.name == name


def test_the_test_it_writes_passes(tmp_path):
    write_project(tmp_path, ProjectPlan("shop"))

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert "1 passed" in done.stdout


def test_a_file_in_the_way_is_named_and_nothing_is_written(tmp_path):
    (tmp_path / "rubrics").mkdir()
    (tmp_path / "rubrics" / "helpful_reply.jinja").write_text("mine", "utf-8")

    with pytest.raises(ConfigError) as caught:
        write_project(tmp_path, ProjectPlan("shop"))

    assert str(caught.value) == (
        f"{tmp_path}/rubrics/helpful_reply.jinja: this file exists; move it, name another folder, "
        "or add --force to replace it"
    )
    assert [path.name for path in tmp_path.rglob("*")] == ["rubrics", "helpful_reply.jinja"]


def test_force_replaces_files_but_never_a_folder(tmp_path):
    (tmp_path / "suite.yaml").write_text("mine", "utf-8")
    write_project(tmp_path, ProjectPlan("shop"), force=True)
    assert run(tmp_path / "suite.yaml").exit_code == 0

    other = tmp_path / "other"
    (other / "suite.yaml").mkdir(parents=True)
    with pytest.raises(ConfigError, match="a file is needed here"):
        write_project(other, ProjectPlan("shop"), force=True)


@pytest.mark.parametrize("place", ["here", "here/shop"])
def test_a_file_where_a_folder_must_be_is_named(tmp_path, place):
    (tmp_path / "here").write_text("a file", "utf-8")

    with pytest.raises(ConfigError, match=r"here(/shop)?: "):
        write_project(tmp_path / place, ProjectPlan("shop"))


def test_a_link_is_never_written_through(tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_text("theirs", "utf-8")
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "suite.yaml").symlink_to(outside)

    with pytest.raises(ConfigError, match="this file exists"):
        write_project(tmp_path / "shop", ProjectPlan("shop"))
    write_project(tmp_path / "shop", ProjectPlan("shop"), force=True)

    assert outside.read_text("utf-8") == "theirs"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("*.log", "*.log\n# Output of runs; safe to delete.\n.judgekit/\nruns/\n"),
        (".judgekit\n", ".judgekit\n# Output of runs; safe to delete.\nruns/\n"),
        (".judgekit/\nruns\n", ".judgekit/\nruns\n"),
        ("", "# Output of runs; safe to delete.\n.judgekit/\nruns/\n"),
    ],
)
def test_a_list_of_ignored_files_gets_the_lines_it_lacks(tmp_path, before, after):
    (tmp_path / ".gitignore").write_text(before, "utf-8")

    write_project(tmp_path, ProjectPlan("shop"))

    assert (tmp_path / ".gitignore").read_text("utf-8") == after


def test_an_unwritable_folder_is_one_line_and_leaves_nothing(tmp_path, monkeypatch):
    calls = []
    opened = Path.open

    def full(self, mode="r", *args, **kwargs):
        if mode == "x":
            calls.append(self)
            if len(calls) == 4:
                raise OSError(28, "No space left on device", str(self))
        return opened(self, mode, *args, **kwargs)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(ConfigError, match="No space left on device"):
        write_project(tmp_path / "deep" / "shop", ProjectPlan("shop"))

    assert list(tmp_path.iterdir()) == []


def test_an_address_without_a_judge_is_refused():
    for judge in (None, "none", "manual/alex"):
        with pytest.raises(ConfigError, match="--judge openai/NAME"):
            project_files(ProjectPlan("shop", judge=judge, api_base="http://localhost:1/v1"))


def test_what_is_next_is_said_in_three_lines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    here = next_steps(
        Path(), ProjectPlan("shop", judge="ollama_chat/qwen3:8b", api_base="http://h:1")
    )
    there = next_steps(Path("my shop"), ProjectPlan("shop"))

    assert [command for command, _ in here] == [
        "judgekit run suite.yaml",
        "judgekit run suite.yaml --judge ollama_chat/qwen3:8b --api-base http://h:1",
        "judgekit rubric new",
    ]
    assert all(command.startswith("cd 'my shop' && judgekit ") for command, _ in there)
    assert there[1][1].endswith("OPENAI_API_KEY")


def test_a_list_of_ignored_files_that_is_a_link_is_not_written_through(tmp_path):
    (tmp_path / "shared").write_text("mine\n", "utf-8")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".gitignore").symlink_to(tmp_path / "shared")

    with pytest.raises(ConfigError, match="is a link"):
        write_project(folder, ProjectPlan("Mine"))

    assert (tmp_path / "shared").read_text("utf-8") == "mine\n"
    assert [path.name for path in folder.iterdir()] == [".gitignore"]


def test_a_project_with_criteria_in_the_row_names_only_files_that_it_has():
    for host, file in HOSTS.items():
        files = project_files(ProjectPlan("shop", criteria="case", ci=host))

        assert not any(name.startswith("rubrics") for name in files)
        assert "judgekit cassette verify" in files[file]
        assert "judgekit rubric" not in files[file]
        assert "@" not in re.sub(r"actions/[\w-]+@", "", files[file])
    with pytest.raises(ConfigError, match="--criteria case: needs a judge"):
        project_files(ProjectPlan("shop", criteria="case", judge="none"))
