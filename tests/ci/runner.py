"""A runner of GitHub Actions, as far as the workflows of this project need one; no network."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.forks import in_shell

INSTALL = "pip install judgekit-rubrics"
"""The step that is not run: everything is there already."""

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
        self.values["github.token"] = ""
        hook = folder / "offline" / "sitecustomize.py"
        hook.parent.mkdir(parents=True)
        hook.write_text(OFFLINE, "utf-8")
        (folder / "event.json").write_text('{"pull_request": {"number": 7}}', "utf-8")

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
            if not self.wanted(step.get("if"), failed, done):
                continue
            if "uses" in step:
                self.act(step, work)
            elif step["run"] != INSTALL:
                ran = self.run(step, work, summary)
                done[ran.name] = ran
                failed |= ran.code != 0
        return done, summary.read_text("utf-8"), work

    def wanted(self, condition, failed, done):
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

    def filled(self, text: str) -> str:
        values = {**self.values, "secrets.OPENAI_API_KEY": "sk-not-a-key"}
        return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda found: values[found[1]], str(text))

    def run(self, step, work: Path, summary: Path) -> Step:
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=work,
            env={
                **in_shell(),
                "HOME": str(self.folder),
                "PYTHONPATH": str(self.folder / "offline"),
                "JUDGEKIT_HOME": str(self.folder / "store"),
                "CI": "true",
                "GITHUB_ACTIONS": "true",
                "GITHUB_EVENT_NAME": self.event,
                "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
                "GITHUB_WORKSPACE": str(work),
                "GITHUB_STEP_SUMMARY": str(summary),
                **{name: self.filled(value) for name, value in step.get("env", {}).items()},
            },
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        return Step(step["name"], done.stdout, done.stderr, done.returncode)

    def act(self, step, work: Path) -> None:
        given = {name: self.filled(value) for name, value in step.get("with", {}).items()}
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


def pull_request(repository, change):
    """Merge a branch as GitHub does to check it: the first parent is the base."""
    git(repository, "checkout", "--quiet", "-b", "work")
    change(repository)
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "--allow-empty", "-m", "Change")
    git(repository, "checkout", "--quiet", "main")
    git(repository, "merge", "--quiet", "--no-ff", "work", "-m", "Merge")


def codes(done):
    return {name: step.code for name, step in done.items()}
