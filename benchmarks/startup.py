"""Start-up: whole processes, in turns, against the least a program of this kind can cost.

`bare` is a Typer program that imports jinja2, pydantic and diskcache and runs a command;
`bare --help` prints its help; `pass` is `python -c pass`. `one case replayed` runs the support
example, a suite of three rubrics, over one case; `... of one rubric` leaves two of them out.
Beside the time on the clock stands the processor time of the process: on a busy machine the
first measures the neighbours.

    python benchmarks/startup.py [--rounds 7]
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
BARE = """
import typer, jinja2, pydantic, diskcache
app = typer.Typer()
@app.command()
def hello(name: str = "x") -> None:
    print("hi", name)
app()
"""
ONE = "... of one rubric"
SUITE = "examples/support_assistant/suite.yaml"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=7)
    rounds = options.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        bare = Path(name) / "bare.py"
        bare.write_text(BARE)
        python = sys.executable
        run = [python, "-m", "judgekit"]
        commands = {
            "pass": [python, "-c", "pass"],
            "import judgekit": [python, "-c", "import judgekit"],
            "bare": [python, str(bare)],
            "bare --help": [python, str(bare), "--help"],
            "judgekit --help": [*run, "--help"],
            "one case replayed": [*run, "run", SUITE, "--limit", "1", "--no-out", "-q"],
            ONE: [*run, "run", SUITE, "--limit", "1", "--only", "safety", "--no-out", "-q"],
        }
        # An installed program has its byte code; without it the compiler is what is measured.
        env = {name: v for name, v in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        times: dict[str, list[float]] = {what: [] for what in commands}
        spent: dict[str, list[float]] = {what: [] for what in commands}
        for turn in range(rounds + 1):
            for what, command in commands.items():
                started, before = time.perf_counter(), _processor()
                subprocess.run(command, cwd=ROOT, env=env, capture_output=True, check=False)
                if turn:  # the first round warms the disk
                    times[what].append(time.perf_counter() - started)
                    spent[what].append(_processor() - before)
    against = {"import judgekit": "pass", "judgekit --help": "bare", "one case replayed": "bare"}
    against[ONE] = "bare"
    for what in commands:
        clock, work = (statistics.median(v[what]) * 1000 for v in (times, spent))
        line = f"{what:<20}{clock:7.0f} ms, {work:4.0f} ms of work"
        if what in against:
            floor = against[what]
            clock, work = (_paired(v[what], v[floor]) for v in (times, spent))
            line += f"   {clock:.2f} x {floor}, {work:.2f} x its work"
        print(line)


def _processor() -> float:
    """Return the processor seconds of the processes that have ended so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _paired(values: list[float], floors: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(values, floors, strict=True))


if __name__ == "__main__":
    main()
