"""The tutorial, done by the letter in an empty folder: every file written, every command run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "author-a-rubric.md").read_text("utf-8")
STEP = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"`([\w./]+)`[^`\n]*:\s*\Z")
TOY = "http://127.0.0.1:8642/v1"


def steps():
    """Yield (language, text, file it is to be put in)."""
    for found in STEP.finditer(TEXT):
        named = NAMED.search(TEXT[: found.start()])
        yield found[1], found[2], named[1] if named else None


def commands(text):
    """Yield each command of a console block with the lines it is said to print."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown.splitlines()


def follows(shown, printed):
    """Return whether what was printed is what is shown; `...` is any text."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\n"
        for line in shown
    )
    return re.fullmatch(pattern, printed) is not None


@pytest.fixture
def toy():
    with subprocess.Popen(
        [sys.executable, str(ROOT / "examples/local_judge/toy_server.py"), "0"],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1]
        process.terminate()


@pytest.mark.loopback
def test_the_tutorial_does_what_it_says(toy, tmp_path):
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    ran = 0
    for language, text, file in steps():
        if language != "console":
            assert file is not None, text
            path = tmp_path / file
            path.parent.mkdir(exist_ok=True)
            path.write_text(text.replace(TOY, toy), "utf-8")
            continue
        for command, shown in commands(text):
            words = shlex.split(command)
            assert words[0] == "judgekit"
            if words[1:3] == ["rubric", "diff"]:
                change_weights(tmp_path)
            done = subprocess.run(
                [sys.executable, "-m", *words],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                encoding="utf-8",
                check=False,
            )
            assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
            assert follows(shown, done.stdout), f"{command}\n{done.stdout}\n{done.stderr}"
            ran += 1
    assert ran == TEXT.count("\n$ ")


def change_weights(folder):
    """Do what section 6 asks the reader to do."""
    rubric = folder / "rubrics" / "bug_summary.jinja"
    shutil.copy(rubric, folder / "rubrics_before.jinja")
    text = rubric.read_text("utf-8")
    for old, new in (("0.2\n    kind", "0.1\n    kind"), ("0.3\n    kind", "0.2\n    kind"),
                     ("0.5\n    quotes", "0.7\n    quotes")):  # fmt: skip
        assert text.count(f"weight: {old}") == 1
        text = text.replace(f"weight: {old}", f"weight: {new}")
    rubric.write_text(text, "utf-8")


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert (ROOT / "docs" / target).exists(), target
