"""Very large runs: seconds, peak memory and size of every step, from few cases to many.

A suite with two computed metrics and one judged by a tape (3 criteria) is replayed, written as a
page, exported, compared, merged from four shards, planned for labels, agreed with labels, and its
tape is maintained. Each step is a process. The last columns are the ratios of a larger size to the
smallest: a ratio of 1 in memory means that memory does not grow with the cases.

    python benchmarks/large_runs.py [--sizes 10000 100000] [--steps run report ...]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SUITE = """\
name: large
cases: cases.jsonl
cassette: tape.jsonl
judge: fake/judge
metrics:
  length: {maximum: 12, unit: words, threshold: 1}
  token_f1: {threshold: 0.4}
  tiny: {rubric: tiny.jinja}
"""
SHARDS = 4


def export(format: str, path: str) -> tuple[str, str]:
    """Return the program of an export; `judgekit report --export` also writes the page."""
    return ("-c", f"import judgekit; judgekit.Report.read('run').export('{format}', '{path}')")


STEPS: dict[str, tuple[str, ...]] = {
    "run": ("run", "suite.yaml", "--out", "run", "--quiet"),
    "report": ("report", "run", "--out", "page.html"),
    "csv": export("csv", "run.csv"),
    "csv-long": export("csv-long", "long.csv"),
    "excel": export("excel", "run.xlsx"),
    "junit": export("junit", "junit.xml"),
    "markdown": export("markdown", "run.md"),
    "compare": ("compare", "run", "other"),
    "compare page": ("compare", "run", "other", "--out", "compared.html"),
    "labels plan": ("labels", "plan", "run", "-n", "200", "--metric", "tiny", "--page", "l.html"),
    "agree": ("agree", "run", "labels.jsonl", "--html", "agree.html"),
    "merge": ("merge", "suite.yaml", *(f"shard-{n}" for n in range(1, SHARDS + 1)), "--out", "all"),
    "cassette stats": ("cassette", "stats", "tape.jsonl"),
    "cassette verify": ("cassette", "verify", "tape.jsonl"),
    "cassette prune": ("cassette", "prune", "suite.yaml"),
    "cassette explain": ("cassette", "explain", "suite.yaml"),
    "index": ("-c", "import judgekit, judgekit.view.index as index; "
              "index.RunIndex.open(judgekit.Report.read('run'))"),
}  # fmt: skip
WRITES = {
    "run": "run/results.jsonl", "report": "page.html", "csv": "run.csv", "excel": "run.xlsx",
    "junit": "junit.xml", "markdown": "run.md", "compare page": "compared.html",
    "labels plan": "l.html", "agree": "agree.html", "merge": "all/report.html",
    "index": "run/results.index",
}  # fmt: skip


def prepare(folder: Path, rows: int) -> None:
    """Write cases, suite, tape and labels."""
    import memory  # stands beside this file

    (folder / "tiny.jinja").write_text(memory.RUBRIC)
    memory.write_cases(folder / "cases.jsonl", rows)
    (folder / "suite.yaml").write_text(SUITE)
    memory.write_tape(folder, rows)
    with (folder / "labels.jsonl").open("w") as file:
        for number in range(0, rows, max(1, rows // 200)):
            label = {"case": f"case-{number:08d}", "metric": "tiny", "value": number % 3 / 2}
            file.write(json.dumps(label) + "\n")


def prepare_runs(folder: Path, steps: list[str]) -> None:
    if {"compare", "compare page"}.intersection(steps):
        text = (folder / "cases.jsonl").read_text()
        changed = folder / "changed.jsonl"
        changed.write_text(text.replace("1, please?", "1?").replace("5 left our", "5 has left our"))
        more = ("--cases", "changed.jsonl", "--only", "token_f1", "--out", "other", "--quiet")
        step(folder, ("run", "suite.yaml", *more), allowed=(0, 1, 3))
    for shard in range(1, SHARDS + 1) if "merge" in steps else ():
        flags = ("--shard", f"{shard}/{SHARDS}", "--out", f"shard-{shard}", "--quiet")
        step(folder, ("run", "suite.yaml", *flags))


def step(folder: Path, args: tuple[str, ...], *, allowed: tuple[int, ...] = (0,)) -> dict[str, Any]:
    """Run one command in a process; return its seconds and its peak memory in MB."""
    command = [sys.executable, *(args if args[0] == "-c" else ("-m", "judgekit", *args))]
    started = time.perf_counter()
    with (folder / "printed").open("wb") as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out)
        _, status, usage = os.wait4(process.pid, 0)
    code = process.returncode = os.waitstatus_to_exitcode(status)
    if code not in allowed:
        print(f"{' '.join(args)}: exit code {code}\n{(folder / 'printed').read_text()[-2000:]}")
    return {
        "seconds": time.perf_counter() - started,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss / 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--steps", nargs="+", default=list(STEPS), choices=list(STEPS))
    parser.add_argument("--prepare", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.prepare:
        prepare(Path(options.prepare[0]), int(options.prepare[1]))
        return
    first: dict[str, dict[str, Any]] = {}
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            # In a process of its own: a child begins with the peak memory of its parent.
            subprocess.run([sys.executable, __file__, "--prepare", name, str(size)], check=True)
            prepare_runs(folder, options.steps)
            if "run" not in options.steps:
                step(folder, STEPS["run"])
            for what in options.steps:
                figures = step(folder, STEPS[what], allowed=(0, 1))
                base = first.setdefault(what, figures)
                written = folder / WRITES.get(what, "printed")
                megabytes = written.stat().st_size / 1e6 if written.exists() else 0
                seconds, cpu, peak = (figures[name] for name in ("seconds", "cpu", "peak"))
                print(
                    f"{size:>8} {what:<16} {seconds:7.1f} s {cpu:7.1f} s CPU {peak:5.0f} MB peak "
                    f"{megabytes:7.2f} MB written  CPU x{cpu / base['cpu']:.1f} "
                    f"peak x{peak / base['peak']:.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
