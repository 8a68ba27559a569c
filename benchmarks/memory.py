"""Memory: peak resident size of a whole run, from few rows to many, and what a row adds.

`computed` scores rows by token F1; `judged` replays a recorded judgment of 3 criteria for each
row. Cases come from a JSON Lines file, results go to a run folder, no page is made. Each size is
a process of its own.

    python benchmarks/memory.py [--kind computed|judged] [--sizes 10000 1000000]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUBRIC = """---
name: tiny
criteria:
  helps: {text: "Does it help?", kind: boolean}
  right: {text: "Is it right?", kind: boolean}
  brief: {text: "Is it brief?", kind: boolean}
---
{% for c in criteria %}{{ c.id }}: {{ c.text }} {% endfor %}
{{ case.input | fence("question") }}
{{ case.output | fence("answer") }}
"""


def row(number: int) -> dict[str, str]:
    return {
        "id": f"case-{number:08d}",
        "input": f"What is the state of order {number}, please?",
        "output": f"Order {number} left our store on Monday and should be with you tomorrow.",
        "reference": f"Order {number} left on Monday.",
    }


def write_cases(path: Path, rows: int) -> None:
    with path.open("w") as file:
        for number in range(rows):
            file.write(json.dumps(row(number)) + "\n")


def write_tape(folder: Path, rows: int) -> None:
    """Write the tape of all rows the way a merge would, without holding it in memory."""
    from judgekit.cassette.record import encode
    from judgekit.cassette.tape import HEADER
    from judgekit.judges.fake import FakeJudge
    from judgekit.metrics.rubric import RubricMetric

    metric = RubricMetric(folder / "tiny.jinja", judge=FakeJudge())
    spool, parts = folder / "spool", {}
    from judgekit.core.case import Case
    from judgekit.core.request import Reply, Try

    names = ("helps", "right", "brief")
    verdict = {name: {"reason": "It does, plainly.", "value": True} for name in names}
    reply = Reply(tries=(Try(text=json.dumps(verdict), finish="stop"),), model="fake/judge")
    with spool.open("w") as file:
        for number in range(rows):
            _, (request,) = metric.requests(Case(**row(number)))
            _, line, named = encode(request, reply)
            parts.update(named)
            file.write(line + "\n")
    subprocess.run(
        ["sort", "-o", str(spool), "-S", "200M", str(spool)], check=True, env={"LC_ALL": "C"}
    )
    with (folder / "tape.jsonl").open("w") as tape:
        tape.write(HEADER + "\n")
        for name in sorted(parts):
            tape.write(parts[name] + "\n")
        with spool.open() as lines:
            tape.writelines(lines)
    spool.unlink()


def measure(kind: str, folder: Path) -> dict[str, float]:
    from judgekit import Cassette, FakeJudge, RubricMetric, create_metric, load_cases
    from judgekit.runner.evaluation import evaluate

    if kind == "judged":
        judge = Cassette(FakeJudge(), tape=folder / "tape.jsonl")
        metric = RubricMetric(folder / "tiny.jinja", judge=judge)
    else:
        metric = create_metric("token_f1")
    started = time.process_time()
    report = asyncio.run(evaluate(load_cases(folder / "cases.jsonl"), [metric], out=folder / "run"))
    if kind == "judged":
        judge.write_used(folder / "run" / "tape.jsonl")
    assert not report.figures.incomplete, report.figures.incomplete
    return {
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "rate": report.figures.cases / (time.process_time() - started),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--kind", choices=("computed", "judged"), default="computed")
    options.add_argument("--sizes", type=int, nargs="+", default=[10_000, 1_000_000])
    options.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.one:
        print(json.dumps(measure(chosen.kind, chosen.one)))
        return
    peaks = {}
    for size in chosen.sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "tiny.jinja").write_text(RUBRIC)
            write_cases(folder / "cases.jsonl", size)
            if chosen.kind == "judged":
                write_tape(folder, size)
            command = [sys.executable, __file__, "--kind", chosen.kind, "--one", name]
            found = json.loads(subprocess.check_output(command))
        peaks[size] = found["peak"]
        rate = f"{found['rate']:,.0f} rows a second of CPU"
        print(f"{size:>9} rows: {found['peak'] / 1e6:6.1f} MB, {rate}")
    (low, first), *_, (high, last) = peaks.items()
    print(f"{(last - first) / (high - low):.1f} bytes a row beyond the base")


if __name__ == "__main__":
    main()
