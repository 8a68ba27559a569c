"""Start-up: whole processes, in turns, against the least a program of this kind can cost.

`bare` is a Typer program that imports jinja2, pydantic and diskcache and runs a command;
`bare --help` prints its help; `pass` is `python -c pass`.

    python benchmarks/startup.py [--rounds 7]
"""

from __future__ import annotations

import argparse
import os
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
            "one case replayed": [*run, "run", SUITE, "--limit", "1", "-q"],
        }
        # An installed program has its byte code; without it the compiler is what is measured.
        env = {name: v for name, v in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        times: dict[str, list[float]] = {what: [] for what in commands}
        for turn in range(rounds + 1):
            for what, command in commands.items():
                started = time.perf_counter()
                subprocess.run(command, cwd=ROOT, env=env, capture_output=True, check=False)
                if turn:  # the first round warms the disk
                    times[what].append(time.perf_counter() - started)
    against = {"import judgekit": "pass", "judgekit --help": "bare", "one case replayed": "bare"}
    for what, values in times.items():
        line = f"{what:<20}{statistics.median(values) * 1000:7.0f} ms"
        if what in against:
            pairs = zip(values, times[against[what]], strict=True)
            line += f"   {statistics.median(a / b for a, b in pairs):.2f} x {against[what]}"
        print(line)


if __name__ == "__main__":
    main()
