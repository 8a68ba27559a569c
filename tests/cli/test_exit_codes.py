"""Exit codes keep their meaning when standard error is full."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")
TEMPLATE = """\
---
name: r
version: 1
extends: base
description: Whether an answer is right.
requires: [output]
criteria:
  right: {kind: boolean, text: Is it right?}
---
{% block evidence %}{{ "\\ud800" }}{{ case.output }}{% endblock %}
"""


def run(folder: Path, *words: str, full: bool = False) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "judgekit", *words]
    if not full:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    with FULL.open("w") as stderr:
        return subprocess.run(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=stderr, text=True, timeout=120
        )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    (tmp_path / "cases.jsonl").write_text('{"id": "a", "input": "i", "output": "one two"}\n')
    for name, most in (("met", 9), ("missed", 1)):
        metrics = f"metrics: {{length: {{maximum: {most}, gate: {{mean: 1}}}}}}"
        (tmp_path / f"{name}.yaml").write_text(f"cases: cases.jsonl\n{metrics}\n")
    return tmp_path


@pytest.mark.thorough
@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    ("name", "code"),
    [
        pytest.param("met", 0, marks=pytest.mark.thorough),
        ("missed", 1),
        pytest.param("absent", 2, marks=pytest.mark.thorough),
    ],
)
def test_full_standard_error(folder: Path, name: str, code: int) -> None:
    words = ("run", f"{name}.yaml", "--no-out")

    assert run(folder, *words).returncode == code
    for flags in ((), ("-v",)):
        assert run(folder, *words, *flags, full=True).returncode == code


def test_half_a_character_in_a_template_is_one_line(folder: Path) -> None:
    (folder / "r.jinja").write_text(TEMPLATE)

    done = run(folder, "rubric", "render", "r.jinja")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "judgekit: the request contains half a character (\\ud800); "
        "remove it from the template or the case\n"
    )
