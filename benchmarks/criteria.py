"""Criteria in the row: requests and input tokens over HTTP, and the size of large cases.

`calls` runs cases of 11 criteria against a local server with each setting of `calls`. `sizes` runs
cases of 400 criteria at depth 6 with a fake judge. Each run is a process of its own.

    python benchmarks/criteria.py [--cases 1000] [--sizes 10 40]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
WORDS = "The parcel leaves our store tomorrow and takes three days to arrive at the door. " * 12


def row(number: int, criteria: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"case-{number}",
        "input": f"When does order {number} arrive, and what must I do?",
        "output": f"{WORDS}Your number is {number}.",
        "expected": {"criteria": criteria},
    }


def flat(number: int) -> list[dict[str, Any]]:
    texts = (f"Names step {step} of order {number}, with its day and place" for step in range(11))
    return [{"criterion": text, "points": 1, "tags": ["axis:steps"]} for text in texts]


def tree(number: int) -> list[dict[str, Any]]:
    """Return 400 criteria below 5 levels of nodes."""
    below: list[dict[str, Any]] = [
        {"criterion": f"Names detail {leaf} of order {number}", "points": 1 + leaf % 5}
        for leaf in range(400)
    ]
    for level in range(5):
        size = 1 if level == 4 else 3
        below = [
            {"criterion": f"Part {level}.{n}", "points": 1 + n % 3, "of": below[n : n + size]}
            for n in range(0, len(below), size)
        ]
    return below


def run(folder: str, server: str) -> None:
    """Run the suite of a folder; print its peak memory in MB."""
    from judgekit.suite.run import run_suite_sync

    report = run_suite_sync(Path(folder) / "suite.yaml", out=Path(folder) / "run")
    assert not report.metrics["points"].failed, report.metrics["points"].first_failure
    if not server:
        from judgekit.report.export.export import export

        for name in ("csv", "json", "junit", "markdown"):
            export(report, name, Path(folder) / f"export.{name}")
        (Path(folder) / "terminal.txt").write_text(
            str(next(report.results).rows[0].result), "utf-8"
        )
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


def measured(make: Any, count: int, calls: Any, *, over_http: bool) -> dict[str, Any]:
    """Return requests, tokens, peak memory and sizes of files of a run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = (json.dumps(row(n, make(n))) for n in range(count))
        (folder / "cases.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
        judge: Any = "fake/judge"
        server = None
        if over_http:
            command = [sys.executable, str(HERE / "servers" / "criteria.py")]
            server = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            assert server.stdout is not None
            base = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
            judge = {"model": "openai/bench", "api_base": base, "mode": "json_schema"}
        suite = {"cases": "cases.jsonl", "judge": judge, "record": "new_episodes",
                 "cassette": "tape.jsonl", "limits": {"concurrency": 64},
                 "metrics": {"points": {"calls": calls}}}  # fmt: skip
        (folder / "suite.yaml").write_text(json.dumps(suite))
        code = f"import sys; sys.path.insert(0, {str(HERE.parent)!r}); "
        code += f"from benchmarks.criteria import run; run({name!r}, {'http' * over_http!r})"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(done.stderr)
        found: dict[str, Any] = {"calls": calls, "peak MB": int(done.stdout.split()[-1])}
        if server is not None:
            counts, _ = server.communicate("")
            return found | json.loads(counts.splitlines()[-1])
        files = [*folder.glob("export.*"), folder / "terminal.txt", *(folder / "run").iterdir()]
        return found | {file.name: file.stat().st_size // 1000 for file in files}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10, 40])
    options = parser.parse_args()
    first = 0
    for calls in ("each", 8, "all") if options.cases else ():
        figures = measured(flat, options.cases, calls, over_http=True)
        first = first or figures["tokens"]
        print(options.cases, "cases", figures, f"share {figures['tokens'] / first:.3f}", flush=True)
    for size in options.sizes:
        print(size, "cases, kB:", measured(tree, size, 8, over_http=False), flush=True)
