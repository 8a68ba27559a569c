"""Exports and merge: seconds and peak memory of each, from few rows to many.

Every row is scored by token F1 against a threshold that half of them miss. The results are made
once; each format and size is then a process of its own, and so is merging four shards of them.

    python benchmarks/exports.py [--sizes 10000 100000]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FORMATS = ("report", "junit", "markdown", "csv", "parquet", "github", "merge")
"""`report` only reads the report: what the others are to be held against."""
SHARDS = 4
SUITE = """\
cases: cases.jsonl
metrics:
  token_f1: {threshold: 0.6, gate: {mean: 0.1}}
"""


def write_cases(path: Path, rows: int) -> None:
    with path.open("w") as file:
        for number in range(rows):
            right = f"Order {number} left on Monday."
            said = right if number % 2 else f"I do not know where order {number} is, @anyone <b>."
            row = {"id": f"case-{number:08d}", "input": "Where?", "output": said}
            file.write(json.dumps({**row, "reference": right, "metadata": {"n": number}}) + "\n")


def make(folder: Path, rows: int) -> None:
    write_cases(folder / "cases.jsonl", rows)
    (folder / "suite.yaml").write_text(SUITE)
    judgekit(folder, "run", "suite.yaml", "--out", "whole", "--quiet")
    for shard in range(1, SHARDS + 1):
        flags = ("--shard", f"{shard}/{SHARDS}", "--out", f"shard-{shard}", "--quiet")
        judgekit(folder, "run", "suite.yaml", *flags)


def judgekit(folder: Path, *args: str) -> None:
    command = [sys.executable, "-m", "judgekit", *args]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def measure(format: str, folder: Path) -> None:
    """Write one export in this process; print seconds and peak memory."""
    from judgekit.report.report import Report

    started = time.perf_counter()
    if format == "merge":
        from judgekit.suite.merge import merge_shards

        shards = [folder / f"shard-{n}" for n in range(1, SHARDS + 1)]
        merge_shards(folder / "suite.yaml", shards, out=folder / "merged")
    else:
        report = Report.read(folder / "whole")
        if format == "github":
            from judgekit.report.export.findings import findings_of
            from judgekit.report.export.github import add_summary

            add_summary(report, findings_of(report), folder / "summary.md")
        elif format != "report":
            report.export(format, folder / f"export.{format}")
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "peak": peak}))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--one", nargs=2, metavar=("FORMAT", "FOLDER"))
    chosen = parser.parse_args()
    if chosen.one:
        measure(chosen.one[0], Path(chosen.one[1]))
        return
    print("rows      format    seconds  peak MiB")
    for rows in chosen.sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make(folder, rows)
            for format in FORMATS:
                command = [sys.executable, __file__, "--one", format, name]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                found = json.loads(done.stdout)
                print(f"{rows:<9,} {format:<9} {found['seconds']:>7.1f}  {found['peak']:>8.0f}")
            for file in ("results.jsonl", "report.json"):
                merged = (folder / "merged" / file).read_bytes()
                assert merged == (folder / "whole" / file).read_bytes(), file


if __name__ == "__main__":
    main()
