"""The pages on robustness, agents and tone: every suite runs, every command does."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from judgekit.catalogue import BUILTIN

DOCS = Path(__file__).parents[2] / "docs" / "metrics"
PAGES = ("robustness", "agents", "tone")
CASES = {
    "robustness": '{"id": "a", "input": "Where is my parcel?", "output": "In Bremen."}\n',
    "tone": '{"id": "a", "input": "It is great!", "output": "It is good. It was bad."}\n',
}


def blocks(page, language):
    text = (DOCS / f"{page}.md").read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_does_what_it_says(page, tmp_path):
    def judgekit(*words):
        done = subprocess.run(
            [sys.executable, "-m", "judgekit", *words],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    cases = "".join(blocks(page, "json")) or CASES[page]
    (tmp_path / "cases.jsonl").write_text(cases, "utf-8")
    for block in blocks(page, "console"):
        judgekit(*shlex.split(block.removeprefix("$ "))[1:])
    if page == "robustness":
        copies = (tmp_path / "copies.jsonl").read_text("utf-8")
        answered = copies.replace('"parent"', '"output":"in bremen","parent"')
        (tmp_path / "answered.jsonl").write_text(answered, "utf-8")
    for block in blocks(page, "yaml"):
        (tmp_path / "suite.yaml").write_text(block, "utf-8")
        assert "computed" in judgekit("run", "suite.yaml")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_speaks_of_metrics_there_are(page):
    text = (DOCS / f"{page}.md").read_text("utf-8")

    for name in re.findall(r"`(\w+_(?:consistency|compliance|adherence|match|correctness))`", text):
        assert name in BUILTIN
