"""Run folders with changed files: one clear line, no traceback, no odd number, no hang.

`benchmarks/tampered_folders.py` runs the same with many more changes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile.tamper import fault

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("seed", [1])
def test_commands_on_changed_run_folders(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGEKIT_HOME", str(tmp_path / "store"))
    (tmp_path / "work").mkdir()

    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile.tamper", str(tmp_path / "work"), str(seed), "80"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert done.returncode == 0, done.stderr
    *faults, last = map(json.loads, done.stdout.splitlines())
    assert last == {"commands": 80}
    assert faults == []


@pytest.mark.parametrize(
    ("code", "out", "err"),
    [
        (4, "", ""),
        (0, "", "Traceback (most recent call last):\nValueError"),
        (2, "", "something\n"),
        (0, "mean nan", ""),
        (1, "mean 1.5e+308", ""),
        (0, "inf ", ""),
        (0, "\x1b[31m", ""),
    ],
)
def test_oracle_notices(code: int, out: str, err: str) -> None:
    assert fault(code, out, err) is not None
    assert fault(2, "", "judgekit: bad/results.jsonl:3: wrong\n") is None
