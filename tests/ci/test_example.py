"""examples/ci: what its files say, and what is recorded."""

from __future__ import annotations

import asyncio
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml

from judgekit.authoring.rubric_test.run import RubricTestSettings, run_tests
from judgekit.cassette.mode import RecordMode
from judgekit.rubric.load import load_rubric
from judgekit.suite.judge_file import JudgeFile
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite
from judgekit.suite.suite import load_suite
from tests.ci.runner import INSTALL

EXAMPLE = Path(__file__).parents[2] / "examples" / "ci"
WORKFLOWS = sorted((EXAMPLE / ".github/workflows").glob("*.yml"))


def workflow(name):
    return yaml.safe_load((EXAMPLE / ".github/workflows" / name).read_text("utf-8"))


def steps_of(said):
    return [step for job in said["jobs"].values() for step in job["steps"]]


# -- what the files say ------------------------------------------------------------


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_read_and_no_more(path):
    said = yaml.safe_load(path.read_text("utf-8"))

    assert said["permissions"] == {"contents": "read"}
    assert not any("permissions" in job for job in said["jobs"].values())
    assert "pull_request_target" not in path.read_text("utf-8")
    for step in steps_of(said):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_action_is_pinned_to_a_commit_and_says_its_version(path):
    lines = [line for line in path.read_text("utf-8").splitlines() if "uses:" in line]

    assert lines
    for line in lines:
        assert re.search(r"uses: actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_nothing_is_put_into_the_text_of_a_script(path):
    scripts = [
        step["run"] for step in steps_of(yaml.safe_load(path.read_text("utf-8"))) if "run" in step
    ]

    assert scripts
    assert not [script for script in scripts if "${{" in script]


def test_pull_requests_see_no_secret_and_a_person_starts_what_does():
    assert "secrets." not in (EXAMPLE / ".github/workflows/judgekit.yml").read_text("utf-8")
    assert "secrets." not in (EXAMPLE / ".gitlab-ci.yml").read_text("utf-8")
    # YAML 1.1 reads the key `on` as true.
    assert list(workflow("re-record.yml")[True]) == ["workflow_dispatch"]
    with_key = [step for step in steps_of(workflow("re-record.yml")) if "secrets." in str(step)]
    assert [step["name"] for step in with_key] == ["Ask the judge"]


def test_every_job_installs_the_package():
    for path in WORKFLOWS:
        for name, job in yaml.safe_load(path.read_text("utf-8"))["jobs"].items():
            assert [s["run"] for s in job["steps"] if s.get("name") == "Install"] == [INSTALL], name
    gitlab = yaml.safe_load((EXAMPLE / ".gitlab-ci.yml").read_text("utf-8"))
    assert gitlab["judgekit"]["before_script"] == [INSTALL]


def test_the_reader_is_told_who_judged():
    text = " ".join((EXAMPLE / "README.md").read_text("utf-8").split())

    assert "authored to illustrate this example" in text
    assert "no model judged it, and no accuracy is implied" in text


# -- what is recorded --------------------------------------------------------------


def test_the_suite_replays_and_uses_every_record():
    suite = load_suite(EXAMPLE / "suite.yaml")

    report = asyncio.run(run_suite(suite))

    assert report.exit_code == 0
    assert [gate.gate.subject for gate in report.figures.gates if "topic" in gate.gate.subject] == [
        "desk_answer where topic=fees"
    ]
    assert suite.cassette is not None
    assert suite.cassette.unused == 0


def test_what_was_wrong_with_a_case_is_said_once(tmp_path):
    report = asyncio.run(run_suite(load_suite(EXAMPLE / "suite.yaml")))
    root = ET.parse(report.export("junit", tmp_path / "junit.xml")).getroot()

    (failure,) = root.findall(".//testcase[@name='fee-waived']/failure")

    assert failure.text is not None
    assert failure.text.splitlines() == [
        "0 is below the threshold 0.7: right 0.00: The assistant waives a fee that only the head "
        "of the desk can waive, and only in writing.",
        '  "I have waived the 6 EUR for you." (in output)',
        "next_step 0: The written request with proof is what the reader needs, and it is missing.",
    ]


def _header(tape):
    """Return the line of a tape that says under which rubrics it was begun."""
    return tape.read_text("utf-8").partition("\n")[0] + "\n"


def test_the_cassettes_are_what_the_verdicts_say(tmp_path):
    suite = load_suite(EXAMPLE / "suite.yaml", Overrides(record="all"))
    assert suite.cassette is not None
    committed = suite.cassette.path
    suite.cassette.path = again = tmp_path / "again.jsonl"
    again.write_text(_header(committed), "utf-8")
    asyncio.run(run_suite(suite))
    judge = JudgeFile(model="manual/example", answers=str(EXAMPLE / "test_verdicts.jsonl"))
    rubric = load_rubric(EXAMPLE / "rubrics/desk_answer.jinja")
    rubrics = EXAMPLE / "cassettes/rubrics/desk_answer.jsonl"
    (tmp_path / "desk_answer.jsonl").write_text(_header(rubrics), "utf-8")

    tested = run_tests(
        rubric, RubricTestSettings(judge=judge, record=RecordMode.ALL, cassettes=tmp_path)
    )

    assert tested.exit_code == 0
    assert again.read_bytes() == committed.read_bytes()
    assert (tmp_path / "desk_answer.jsonl").read_bytes() == rubrics.read_bytes()


def test_no_reason_is_stamped_from_a_template():
    reasons = [
        answer["reason"]
        for name in ("verdicts.jsonl", "test_verdicts.jsonl")
        for line in (EXAMPLE / name).read_text("utf-8").splitlines()
        for answer in json.loads(line)["answers"].values()
    ]

    assert len(set(reasons)) == len(reasons) == 30
