"""Every step of the workflows of examples/ci does what it is there for."""

from __future__ import annotations

import asyncio
import json
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml

from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite
from judgekit.suite.suite import load_suite
from tests.ci.runner import Runner, codes, git, pull_request

EXAMPLE = Path(__file__).parents[2] / "examples" / "ci"
NEW_ANSWER = "Drinks with a lid are fine, food is not: please eat your pizza outside."


def workflow(name):
    return yaml.safe_load((EXAMPLE / ".github/workflows" / name).read_text("utf-8"))


def test_a_step_that_reaches_for_the_network_is_stopped(tmp_path):
    script = "import socket; socket.create_connection(('127.0.0.1', 9))"
    runner = Runner(tmp_path, tmp_path / "runner", event="push")

    done = runner.run({"name": "call", "run": f'python -c "{script}"'}, tmp_path, tmp_path / "none")

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
    assert summary.index("**Passed**") < summary.index("base runs/base, new runs/all")
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
    assert len((artifact / "results.csv").read_text("utf-8").splitlines()) == 1 + 12

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
    assert "base runs/base, new runs/all" in summary
    root = ET.parse(artifact / "junit.xml").getroot()
    assert int(root.get("errors")) > 0


def test_a_missed_gate_fails_the_report_only(repository, tmp_path):
    def change(folder):
        path = folder / "suite.yaml"
        text = path.read_text("utf-8")
        held = "{where: {topic: fees}, coverage: 1}"
        assert held in text
        path.write_text(text.replace(held, "{where: {topic: fees}, mean: 0.9}"), "utf-8")

    pull_request(repository, change)

    done, summary, _, _ = check(repository, tmp_path)

    assert {name for name, code in codes(done).items() if code} == {"Check the gates"}
    assert done["Check the gates"].code == 1
    assert "**1 gate missed**" in summary
    assert "::error title=judgekit%3A desk_answer::desk_answer where topic=fees" in (
        done["Check the gates"].out
    )


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_a_push_is_compared_with_nothing(repository, tmp_path):
    done, summary, _, artifact = check(repository, tmp_path, event="push")

    assert not any(codes(done).values())
    assert "Compare with the base branch" not in done
    assert "against" not in summary
    assert (artifact / "junit.xml").exists()


@pytest.mark.thorough
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

    found = runner.run({**step, "env": {"COMPARE_FLAGS": "--fail-on regressions"}}, work, summary)

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


@pytest.mark.thorough
def test_gitlab_gets_junit(repository, tmp_path):
    said = yaml.safe_load((EXAMPLE / ".gitlab-ci.yml").read_text("utf-8"))["judgekit"]
    runner = Runner(repository, tmp_path / "runner", event="push")
    work = tmp_path / "work"
    git(tmp_path, "clone", "--quiet", str(repository), str(work))

    script = {"name": "script", "run": "\n".join(said["script"])}
    done = runner.run(script, work, tmp_path / "none")

    assert done.code == 0, done.err
    junit = work / said["artifacts"]["reports"]["junit"]
    assert ET.parse(junit).getroot().get("tests") == "42"
    assert (work / said["artifacts"]["paths"][0] / "report.html").exists()
