from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from judgekit.cli import main

ROOT = Path(__file__).parents[2]
EXAMPLE = str(ROOT / "examples" / "support_assistant" / "suite.yaml")
SUITE = """\
name: Small
cases: cases.jsonl
judge: fake/judge
cassette: tape.jsonl
metrics:
  safety: {threshold: 0.5}
  length: {maximum: 9, gate: {mean: 0.5}}
"""


class Done(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def judgekit(capsys, monkeypatch):
    """Run the command line in this process, as its entry point does."""

    def run(*args, stdin=None):
        monkeypatch.setattr(sys, "argv", ["judgekit", *map(str, args)])
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        code = 0
        try:
            main()
        except SystemExit as exc:
            code = exc.code if isinstance(exc.code, int) else 0 if exc.code is None else 1
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        assert "\x1b" not in out + err
        return Done(code, out, err)

    return run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a suite and four cases, to stand in."""
    rows = [{"id": f"c{n}", "input": f"Why {n}?", "output": f"Because {n}."} for n in range(4)]
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    (tmp_path / "suite.yaml").write_text(SUITE, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def recorded(folder, judgekit):
    """The same folder with its tape recorded."""
    assert judgekit("run", "suite.yaml", "--record", "new_episodes").code == 0
    return folder


def one_line(done):
    """Check that an error is one line of ours; return it."""
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("judgekit: ")
    assert done.err.count("\n") == 1
    return done.err.removeprefix("judgekit: ").rstrip("\n")
