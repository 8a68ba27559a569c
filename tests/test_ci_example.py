"""examples/ci: every step of its workflows is run as a runner would, without a network."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from judgekit.cassette.mode import RecordMode
from judgekit.config import load_suite
from judgekit.rubric.load import load_rubric
from judgekit.rubrictest.run import Settings, run_tests
from judgekit.run import run_suite
from judgekit.suitefile import JudgeFile, Overrides

EXAMPLE = Path(__file__).parents[1] / "examples" / "ci"
WORKFLOWS = sorted((EXAMPLE / ".github/workflows").glob("*.yml"))
INSTALL = "pip install judgekit-rubrics"
NEW_ANSWER = "Drinks with a lid are fine, food is not: please eat your pizza outside."


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


def test_the_cassettes_are_what_the_verdicts_say(tmp_path):
    suite = load_suite(EXAMPLE / "suite.yaml", Overrides(record="all"))
    assert suite.cassette is not None
    committed = suite.cassette.path
    suite.cassette.path = again = tmp_path / "again.jsonl"
    asyncio.run(run_suite(suite))
    judge = JudgeFile(model="manual/example", answers=str(EXAMPLE / "test_verdicts.jsonl"))
    rubric = load_rubric(EXAMPLE / "rubrics/desk_answer.jinja")

    tested = run_tests(rubric, Settings(judge=judge, record=RecordMode.ALL, cassettes=tmp_path))

    assert tested.exit_code == 0
    assert again.read_bytes() == committed.read_bytes()
    rubrics = EXAMPLE / "cassettes/rubrics/desk_answer.jsonl"
    assert (tmp_path / "desk_answer.jsonl").read_bytes() == rubrics.read_bytes()


def test_no_reason_is_stamped_from_a_template():
    reasons = [
        answer["reason"]
        for name in ("verdicts.jsonl", "test_verdicts.jsonl")
        for line in (EXAMPLE / name).read_text("utf-8").splitlines()
        for answer in json.loads(line)["answers"].values()
    ]

    assert len(set(reasons)) == len(reasons) == 30


# -- what the steps do -------------------------------------------------------------

OFFLINE = """\
import sys

def refuse(event, args):
    if event in ("socket.connect", "socket.getaddrinfo"):
        raise SystemExit(f"reached for the network: {args[1:]}")

sys.addaudithook(refuse)
"""


class Step(NamedTuple):
    """What a step printed, and its exit code."""

    name: str
    out: str
    err: str
    code: int


class Runner:
    """A runner of GitHub Actions, as far as these workflows need one."""

    def __init__(self, repository: Path, folder: Path, *, event: str, **values: str) -> None:
        self.repository = repository
        self.folder = folder
        self.event = event
        self.values = {f"inputs.{name}": value for name, value in values.items()}
        self.artifacts = folder / "artifacts"
        hook = folder / "offline" / "sitecustomize.py"
        hook.parent.mkdir(parents=True)
        hook.write_text(OFFLINE, "utf-8")

    def job(self, job, label: str, **matrix: object) -> tuple[dict[str, Step], str, Path]:
        """Run a job in a fresh checkout: its steps by name, its summary, where it ran."""
        work = self.folder / f"work-{label}"
        git(self.folder, "clone", "--quiet", str(self.repository), str(work))
        summary = self.folder / f"summary-{label}.md"
        summary.touch()
        shards = job.get("strategy", {}).get("matrix", {}).get("shard", [])
        self.values |= {f"matrix.{name}": str(value) for name, value in matrix.items()}
        self.values["strategy.job-total"] = str(len(shards))
        done: dict[str, Step] = {}
        failed = False
        for step in job["steps"]:
            if not self._wanted(step.get("if"), failed, done):
                continue
            if "uses" in step:
                self._act(step, work)
            elif step["run"] != INSTALL:
                ran = self._run(step, work, summary)
                done[ran.name] = ran
                failed |= ran.code != 0
        return done, summary.read_text("utf-8"), work

    def _wanted(self, condition, failed, done):
        if condition is None:
            return not failed
        terms = condition.removeprefix("${{ ").removesuffix(" }}").split(" && ")
        known = {
            "!cancelled()": True,
            "github.event_name == 'pull_request'": self.event == "pull_request",
            "steps.scan.outcome == 'success'": all(
                step.code == 0 for name, step in done.items() if "shared" in name
            ),
        }
        return all(known[term] for term in terms)

    def _filled(self, text: str) -> str:
        values = {**self.values, "secrets.OPENAI_API_KEY": "sk-not-a-key"}
        return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda found: values[found[1]], str(text))

    def _run(self, step, work: Path, summary: Path) -> Step:
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=work,
            env={
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "HOME": str(self.folder),
                "PYTHONPATH": str(self.folder / "offline"),
                "JUDGEKIT_HOME": str(self.folder / "store"),
                "CI": "true",
                "GITHUB_ACTIONS": "true",
                "GITHUB_EVENT_NAME": self.event,
                "GITHUB_WORKSPACE": str(work),
                "GITHUB_STEP_SUMMARY": str(summary),
                **{name: self._filled(value) for name, value in step.get("env", {}).items()},
            },
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        return Step(step["name"], done.stdout, done.stderr, done.returncode)

    def _act(self, step, work: Path) -> None:
        given = {name: self._filled(value) for name, value in step.get("with", {}).items()}
        action = step["uses"].partition("@")[0]
        if action == "actions/upload-artifact":
            paths = [work / path for path in given["path"].split()]
            target = self.artifacts / given["name"]
            for path in paths:
                if path.is_dir():
                    # One path is the root of the artifact; several keep their names.
                    inside = target if len(paths) == 1 else target / path.relative_to(work)
                    shutil.copytree(path, inside)
                elif path.exists():
                    inside = target / path.relative_to(work)
                    inside.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, inside)
        elif action == "actions/download-artifact":
            for found in self.artifacts.glob(given["pattern"]):
                shutil.copytree(found, work / given["path"] / found.name)
        else:
            assert action in ("actions/checkout", "actions/setup-python")


def git(folder, *words):
    who = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def test_a_step_that_reaches_for_the_network_is_stopped(tmp_path):
    script = "import socket; socket.create_connection(('127.0.0.1', 9))"
    runner = Runner(tmp_path, tmp_path / "runner", event="push")

    done = runner._run(
        {"name": "call", "run": f'python -c "{script}"'}, tmp_path, tmp_path / "none"
    )

    assert done.code == 1
    assert "reached for the network" in done.err


@pytest.fixture
def repository(tmp_path):
    """The example in a repository of its own, on its main branch."""
    folder = tmp_path / "repository"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("runs", ".judgekit", "base"))
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "Begin")
    return folder


def pull_request(repository, change):
    """Merge a branch as GitHub does to check it: the first parent is the base."""
    git(repository, "checkout", "--quiet", "-b", "work")
    change(repository)
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "--allow-empty", "-m", "Change")
    git(repository, "checkout", "--quiet", "main")
    git(repository, "merge", "--quiet", "--no-ff", "work", "-m", "Merge")


def answer_anew(folder):
    path = folder / "cases.jsonl"
    text = path.read_text("utf-8")
    old = "Enjoy your pizza, and please take the box with you afterwards!"
    assert old in text
    path.write_text(text.replace(old, NEW_ANSWER), "utf-8")


def record_anew(folder):
    path = folder / "verdicts.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for row in rows:
        if row["case"] == "room-eating":
            row["answers"]["right"] = {
                "reason": "Lidded drinks yes, food no: as the rules have it.",
                "quotes": ["Drinks with a lid are fine, food is not"],
                "value": "all",
            }
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    asyncio.run(run_suite(load_suite(folder / "suite.yaml", Overrides(record="new_episodes"))))


def check(repository, folder, *, event="pull_request"):
    """Run the workflow of pull requests: the steps of all jobs, and the summary of the report."""
    runner = Runner(repository, folder / "runner", event=event)
    jobs = workflow("judgekit.yml")["jobs"]
    done = dict(runner.job(jobs["rubrics"], "rubrics")[0])
    for shard in jobs["score"]["strategy"]["matrix"]["shard"]:
        steps, said, _ = runner.job(jobs["score"], f"shard-{shard}", shard=shard)
        assert not said
        done |= {f"{name} {shard}": step for name, step in steps.items()}
    steps, summary, work = runner.job(jobs["report"], "report")
    return done | steps, summary, work, runner.artifacts / "judgekit"


def codes(done):
    return {name: step.code for name, step in done.items()}


def test_a_good_pull_request_passes_with_summary_page_and_junit(repository, tmp_path):
    def change(folder):
        answer_anew(folder)
        record_anew(folder)

    pull_request(repository, change)

    done, summary, work, artifact = check(repository, tmp_path)

    assert codes(done) == dict.fromkeys(
        [
            "Cassettes are sound",
            "Rubrics are clean",
            "Rubrics pass their tests",
            "Score a part of the cases 1",
            "Score a part of the cases 2",
            "Check the gates",
            "Compare with the base branch",
        ],
        0,
    ), "\n".join(step.err for step in done.values())
    assert "**Passed**" in summary
    assert summary.index("**Passed**") < summary.index("runs/base against runs/all")
    assert "1 of 12 differ from the base's" in summary
    said = done["Check the gates"].out
    assert "::warning title=desk_answer%3A fee-waived,file=cases.jsonl,line=7::" in said
    assert "::error" not in said
    assert sorted(p.name for p in artifact.iterdir()) == [
        "compare.html",
        "junit.xml",
        "results.csv",
        "runs",
    ]
    assert "<!doctype html>" in (artifact / "runs/all/report.html").read_text("utf-8")[:100].lower()
    root = ET.parse(artifact / "junit.xml").getroot()
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("42", "3", "0")
    assert len((artifact / "results.csv").read_text("utf-8").splitlines()) == 1 + 3 * 12

    whole = tmp_path / "whole"
    assert asyncio.run(run_suite(load_suite(work / "suite.yaml"), out=whole)).exit_code == 0
    for name in ("results.jsonl", "report.json", "tape.jsonl"):
        assert (artifact / "runs/all" / name).read_bytes() == (whole / name).read_bytes()


def test_an_answer_nobody_recorded_fails_and_the_report_is_there_all_the_same(repository, tmp_path):
    pull_request(repository, answer_anew)

    done, summary, _, artifact = check(repository, tmp_path)

    parts = [code for name, code in codes(done).items() if name.startswith("Score")]
    assert sorted(parts) == [0, 3]
    assert done["Check the gates"].code == 3
    assert "::error title=desk_answer%3A room-eating,file=cases.jsonl,line=11::cassette_miss" in (
        done["Check the gates"].out
    )
    assert done["Compare with the base branch"].code == 0
    assert "**Incomplete**" in summary
    assert "runs/base against runs/all" in summary
    root = ET.parse(artifact / "junit.xml").getroot()
    assert int(root.get("errors")) > 0


def test_a_missed_gate_fails_the_report_only(repository, tmp_path):
    def change(folder):
        path = folder / "suite.yaml"
        text = path.read_text("utf-8")
        assert "mean: 0.6}" in text
        path.write_text(text.replace("mean: 0.6}", "mean: 0.9}"), "utf-8")

    pull_request(repository, change)

    done, summary, _, _ = check(repository, tmp_path)

    assert {name for name, code in codes(done).items() if code} == {"Check the gates"}
    assert done["Check the gates"].code == 1
    assert "**1 gate missed**" in summary
    assert "::error title=judgekit%3A desk_answer::desk_answer where topic=fees" in (
        done["Check the gates"].out
    )


def test_the_first_pull_request_has_nothing_to_compare_with(tmp_path):
    repository = tmp_path / "repository"
    repository.mkdir()
    git(repository, "init", "--quiet")
    git(repository, "commit", "--quiet", "--allow-empty", "-m", "Begin")
    pull_request(
        repository,
        lambda folder: shutil.copytree(
            EXAMPLE,
            folder,
            dirs_exist_ok=True,
            ignore=shutil.ignore_patterns("runs", ".judgekit", "base"),
        ),
    )

    done, summary, _, artifact = check(repository, tmp_path)

    assert not any(codes(done).values())
    assert "there is nothing to compare with" in summary
    assert not (artifact / "compare.html").exists()


def test_a_push_is_compared_with_nothing(repository, tmp_path):
    done, summary, _, artifact = check(repository, tmp_path, event="push")

    assert not any(codes(done).values())
    assert "Compare with the base branch" not in done
    assert "against" not in summary
    assert (artifact / "junit.xml").exists()


def test_a_regression_fails_where_that_is_wanted(repository, tmp_path):
    def change(folder):
        path = folder / "cases.jsonl"
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for row in rows:
            row["output"] += " " + " ".join(["really"] * 40)
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")

    pull_request(repository, change)
    runner = Runner(repository, tmp_path / "runner", event="pull_request")
    work = tmp_path / "work"
    git(tmp_path, "clone", "--quiet", str(repository), str(work))
    asyncio.run(run_suite(load_suite(work / "suite.yaml"), out=work / "runs/all"))
    (step,) = [
        step
        for step in workflow("judgekit.yml")["jobs"]["report"]["steps"]
        if step.get("name") == "Compare with the base branch"
    ]
    summary = tmp_path / "summary.md"

    found = runner._run({**step, "env": {"COMPARE_FLAGS": "--fail-on regressions"}}, work, summary)

    assert found.code == 1, found.err
    assert "**brief**" in summary.read_text("utf-8")


def test_re_recording_hands_over_a_cassette_that_replays(repository, tmp_path):
    runner = Runner(
        repository, tmp_path / "runner", event="workflow_dispatch", judge="fake/judge", record="all"
    )

    done, summary, _ = runner.job(workflow("re-record.yml")["jobs"]["record"], "record")

    assert not any(codes(done).values()), [step.err for step in done.values()]
    assert "judge fake/judge" in summary
    handed = runner.artifacts / "cassette"
    assert (handed / "runs/recorded/report.html").exists()
    assert "sk-not-a-key" not in "".join(
        path.read_text("utf-8") for path in runner.artifacts.rglob("*") if path.is_file()
    )
    suite = (repository / "suite.yaml").read_text("utf-8")
    mine = "judge: {model: manual/example, answers: verdicts.jsonl}"
    assert mine in suite
    (repository / "suite.yaml").write_text(suite.replace(mine, "judge: fake/judge"), "utf-8")
    shutil.copytree(handed / "cassettes", repository / "cassettes", dirs_exist_ok=True)
    report = asyncio.run(run_suite(load_suite(repository / "suite.yaml")))
    assert not report.figures.incomplete


def test_gitlab_gets_junit(repository, tmp_path):
    said = yaml.safe_load((EXAMPLE / ".gitlab-ci.yml").read_text("utf-8"))["judgekit"]
    runner = Runner(repository, tmp_path / "runner", event="push")
    work = tmp_path / "work"
    git(tmp_path, "clone", "--quiet", str(repository), str(work))

    script = {"name": "script", "run": "\n".join(said["script"])}
    done = runner._run(script, work, tmp_path / "none")

    assert done.code == 0, done.err
    junit = work / said["artifacts"]["reports"]["junit"]
    assert ET.parse(junit).getroot().get("tests") == "42"
    assert (work / said["artifacts"]["paths"][0] / "report.html").exists()
