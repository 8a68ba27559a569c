"""`--json`: one object, whose form `docs/json.md` describes."""

from __future__ import annotations

import json
import re

import pytest
import typer

from judgekit.cli.app import app
from judgekit.core.json_document import json_document
from tests.cli.conftest import EXAMPLE, one_line
from tests.docs.page import ROOT
from tests.docs.test_named import commands

PAGE = (ROOT / "docs" / "json.md").read_text("utf-8")
COMMANDS = {" ".join(path[1:]): command for path, command in commands(typer.main.get_command(app))}
LINES = "evaluate"
"""The command whose `--json` prints lines."""


def rows(head):
    """Return the cells of the rows of a table of the page."""
    _, _, after = PAGE.partition(f"| {head} |")
    lines = after.partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def words(cell):
    return re.findall(r"`([^`]+)`", cell)


KINDS = {
    command: (words(kind)[0], words(keys[0]) if keys else [])
    for cell, kind, *keys in rows("command | `judgekit` | other keys")
    for command in words(cell)
}
REASONS = {command for cell, _ in rows("command | why") for command in words(cell)}


def is_command(command):
    """Return whether a command does something itself, and is not only a group."""
    group = hasattr(command, "list_commands")
    return not group or (command.invoke_without_command and bool(command.params))


def test_every_command_has_json_or_a_reason_not_to():
    verbs = {name for name, command in COMMANDS.items() if name and is_command(command)}
    with_json = {name for name in verbs if any(p.name == "json" for p in COMMANDS[name].params)}

    assert with_json - {LINES} == {name for name in KINDS if " --" not in name}
    assert verbs - with_json | {LINES} == REASONS


ARGS = {
    "run": ["suite.yaml"],
    "merge": ["suite.yaml", "part", "--out", "merged"],
    "report": ["run"],
    "run --plan": ["suite.yaml"],
    "score": ["-m", "length", "--option", "maximum=3", "-o", "hi"],
    "batch": [],
    "batch wait": [],
    "batch collect": [],
    "doctor": ["suite.yaml"],
    "compare": ["run", "part", "--allow-same"],
    "rank": ["run", "part", "--metric", "length", "--draws", "100"],
    "agree": ["run", "labels.jsonl"],
    "correct": ["run", "labels.jsonl"],
    "labels plan": ["run", "-n", "2"],
    "labels import": ["labels.jsonl"],
    "labels check": ["labels.jsonl", "run"],
    "rubric lint": ["quality"],
    "rubric lint --rules": [],
    "cases lint": ["cases.jsonl"],
    "cases lint --rules": [],
    "persona lint": [EXAMPLE.replace("support_assistant/suite.yaml", "brand_voice/tamarind.yaml")],
    "rubric list": [],
    "rubric show": ["quality"],
    "rubric render": ["quality"],
    "rubric render --diff": ["quality@1", "quality"],
    "rubric test": ["refusal"],
    "rubric diff": ["quality@1", "quality"],
    "rubric upgrade": ["suite.yaml"],
    "rubric stats": ["run"],
    "cases sanitize": ["cases.jsonl", "--dry-run"],
    "cases criteria": ["points.jsonl"],
    "cassette verify": ["tape.jsonl"],
    "cassette stats": ["tape.jsonl"],
    "cassette show": ["tape.jsonl", ""],
    "cassette scan": ["tape.jsonl"],
    "cassette explain": ["suite.yaml"],
    "cassette prune": ["suite.yaml"],
    "metrics": [],
    "metrics show": ["length"],
}
ELSEWHERE = {"batch cancel", "persona calibrate", "persona diagnose", "persona scenarios"}
"""Commands whose tests print JSON beside what it needs: jobs, or calibrated personas."""


@pytest.fixture
def project(recorded, judgekit):
    row = {"id": "p", "input": "Why?", "output": "So.",
           "expected": {"criteria": [{"text": "Is it right?", "points": 1}]}}  # fmt: skip
    (recorded / "points.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    judgekit("run", "--out", "run")
    judgekit("run", "--out", "part", "--shard", "1/1")
    label = {"case": "c0", "metric": "safety", "answers": {"harm": {"value": "none"}}}
    (recorded / "labels.jsonl").write_text(json.dumps(label) + "\n", "utf-8")
    tape = (recorded / "tape.jsonl").read_text("utf-8").splitlines()
    ARGS["cassette show"][1] = json.loads(tape[-1])["key"]
    return recorded


def test_each_command_prints_the_object_of_the_page(project, judgekit):
    printed = {}
    for command, args in ARGS.items():
        done = judgekit(*command.split(), *args, "--json")
        assert done.out, (command, done.err)
        assert done.code in (0, 1), (command, done.err)
        first, second, *keys = json.loads(done.out)
        assert (first, second) == ("judgekit", "version"), command
        printed[command] = json.loads(done.out)["judgekit"], keys

    assert printed == {command: KINDS[command] for command in KINDS if command not in ELSEWHERE}


@pytest.mark.parametrize(
    "command",
    sorted(set(ARGS) - {"batch", "batch wait", "doctor", "metrics", "rubric list"}),
)
def test_wrong_input_is_one_line_on_standard_error(folder, judgekit, command):
    verb = command.partition(" --rules")[0].replace(" --diff", " --diff quality")
    args = {"score": ["-m", "nothing-like-it"], "labels plan": ["missing", "-n", "1"],
            "rank": ["missing", "gone"], "compare": ["missing", "gone"],
            "agree": ["missing", "gone"], "correct": ["missing", "gone"],
            "merge": ["missing.yaml", "gone", "--out", "x"], "cassette show": ["missing", "a"],
            "cases sanitize": ["missing.jsonl", "--dry-run"],
            "rubric diff": ["missing", "gone"]}  # fmt: skip

    line = one_line(judgekit(*verb.split(), *args.get(command, ["missing"]), "--json"))

    assert "missing" in line or "nothing-like-it" in line


def test_json_before_the_command_of_a_group_is_refused(judgekit):
    assert "at the end: judgekit batch wait ... --json" in one_line(
        judgekit("batch", "--json", "wait")
    )


def test_a_document_is_json_whatever_is_in_it():
    value = {"b": [float("nan"), {"c": float("-inf")}], "a": "é\u2028::stop", "version": 3}

    text = json_document("kind", value)

    assert json.loads(text, parse_constant=lambda name: pytest.fail(name)) == {
        "judgekit": "kind", "version": 3, "a": "é\u2028::stop", "b": [None, {"c": None}]
    }  # fmt: skip
    assert text.startswith('{\n "judgekit": "kind",\n "version": 3,\n "a"')
