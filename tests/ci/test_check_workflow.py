"""The workflow of this repository runs what a contributor runs, and so do the hooks."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / ".github/workflows/check.yml").read_text("utf-8")
JOBS = yaml.safe_load(TEXT)["jobs"]


def commands(job):
    return "\n".join(step.get("run", "") for step in JOBS[job]["steps"])


def test_it_runs_the_ci_script_on_every_python():
    versions = ["3.11", "3.12", "3.13", "3.14"]

    assert ".ci/run" in commands("check").splitlines()
    assert JOBS["check"]["strategy"]["matrix"]["os"] == ["ubuntu-latest", "macos-latest"]
    assert [JOBS[job]["strategy"]["matrix"]["python"] for job in JOBS] == [versions] * 2


def test_windows_runs_the_commands_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    run = commands("windows").splitlines()

    for target in ("lint", "types", "layers"):
        (lines,) = re.findall(rf"^{target}: [^\n]*\n((?:\t[^\n]*\n)+)", makefile, re.MULTILINE)
        for line in lines.splitlines():
            assert line.strip().removeprefix("$(BIN)/") in run


def test_the_tests_for_windows_exist():
    named = re.findall(r"\btests/[\w/.]+", commands("windows"))

    assert len(named) > 5
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_actions_are_pinned_and_may_only_read():
    assert yaml.safe_load(TEXT)["permissions"] == {"contents": "read"}
    for line in TEXT.splitlines():
        if "uses:" in line:
            assert re.search(r"uses: actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line


def test_it_names_no_package_host():
    assert not re.search(r"https?://|index-url|extra-index", TEXT)


def test_hooks_run_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (repo,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]

    assert repo["repo"] == "local"
    for hook in repo["hooks"]:
        assert hook["language"] == "system"
        make, target = hook["entry"].split()
        assert make == "make"
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
