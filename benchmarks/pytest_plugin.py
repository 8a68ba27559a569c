"""Judged tests in pytest: 1,000 parametrised ones from a cassette against 1,000 empty ones.

    python benchmarks/pytest_plugin.py [--tests 1000] [--rounds 5]

Whole pytest processes, in turns; the figure is the median of the paired ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUBRIC = """---
name: kind
extends: base
description: Is the answer kind?
criteria:
  kind: {text: "Does it greet?", kind: boolean, quotes: true}
  short: {text: "Is it short?", levels: {short: 1.0, long: 0.0}}
---
"""
JUDGED = """
import pytest

@pytest.mark.judgekit_cases("cases.jsonl")
def test_kind(judgekit, case):
    judgekit.check(case, "kind")
"""
EMPTY = """
import json, pathlib, pytest
ROWS = pathlib.Path(__file__).with_name("cases.jsonl").read_text("utf-8").splitlines()

@pytest.mark.parametrize("case", [json.loads(row) for row in ROWS], ids=lambda row: row["id"])
def test_kind(case):
    pass
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tests", type=int, default=1000)
    options.add_argument("--rounds", type=int, default=5)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rubrics").mkdir()
        (folder / "rubrics/kind.jinja").write_text(RUBRIC, "utf-8")
        rows = [{"id": f"c{n}", "output": f"Hello {n}."} for n in range(chosen.tests)]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "cases.jsonl").write_text(lines, "utf-8")
        (folder / "test_judged.py").write_text(JUDGED, "utf-8")
        (folder / "test_empty.py").write_text(EMPTY, "utf-8")
        timed(folder, "test_judged.py", "--judgekit-judge", "fake/judge")
        ratios = []
        for _ in range(chosen.rounds):
            empty, judged = timed(folder, "test_empty.py"), timed(folder, "test_judged.py")
            ratios.append(judged / empty)
            print(f"empty {empty:.2f} s, judged {judged:.2f} s, ratio {judged / empty:.2f}")
        print(f"median ratio {statistics.median(ratios):.2f} (bar 3)")


def timed(folder: Path, *words: str) -> float:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
        cwd=folder,
        env={**environment, "JUDGEKIT_HOME": str(folder / "store")},
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
