"""Start-up: whole processes, in turns, against the least a program of this kind can cost.

`bare` is a Typer program that imports jinja2, pydantic and diskcache and runs a command;
`bare --help` prints its help; `pass` is `python -c pass`. `one case replayed` runs the support
example, a suite of three rubrics, over one case; `... of one rubric` leaves two of them out.
`bare, one case` does the same job with these libraries alone (see `bare_case.py`).
Beside the time on the clock stands the processor time of the process: on a busy machine the
first measures the neighbours.

The last lines are about a live run: the processor time until the first request arrives at a
server, against `bare` with aiohttp and one POST. They need Linux.

    python benchmarks/startup.py [--rounds 7] [--live]
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import re
import resource
import socket
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
BARE_LIVE = """
import asyncio, sys, typer, jinja2, pydantic, diskcache, aiohttp
app = typer.Typer()
async def post(url):
    async with aiohttp.ClientSession() as session:
        async with session.post(url, json={"model": "bench"}) as response:
            await response.read()
@app.command()
def hello(url: str) -> None:
    asyncio.run(post(url))
app()
"""
BARE_CASE = Path(__file__).with_name("bare_case.py")
ONE = "... of one rubric"
SUITE = "examples/support_assistant/suite.yaml"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--live", action="store_true", help="only the live runs")
    chosen = options.parse_args()
    rounds = chosen.rounds
    # An installed program has its byte code; without it the compiler is what is measured.
    env = {name: v for name, v in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if chosen.live:
        with tempfile.TemporaryDirectory() as name:
            live(Path(name), rounds, env)
        return
    with tempfile.TemporaryDirectory() as name:
        bare = Path(name) / "bare.py"
        bare.write_text(BARE)
        fill_bare_case(Path(name))
        subprocess.run([sys.executable, BARE_CASE, name], capture_output=True, check=True)
        python = sys.executable
        run = [python, "-m", "judgekit"]
        commands = {
            "pass": [python, "-c", "pass"],
            "import judgekit": [python, "-c", "import judgekit"],
            "bare": [python, str(bare)],
            "bare --help": [python, str(bare), "--help"],
            "bare, one case": [python, str(BARE_CASE), name],
            "judgekit --help": [*run, "--help"],
            "one case replayed": [*run, "run", SUITE, "--limit", "1", "--no-out", "-q"],
            ONE: [*run, "run", SUITE, "--limit", "1", "--only", "safety", "--no-out", "-q"],
        }
        times: dict[str, list[float]] = {what: [] for what in commands}
        spent: dict[str, list[float]] = {what: [] for what in commands}
        for turn in range(rounds + 1):
            for what, command in commands.items():
                started, before = time.perf_counter(), _processor()
                subprocess.run(command, cwd=ROOT, env=env, capture_output=True, check=False)
                if turn:  # the first round warms the disk
                    times[what].append(time.perf_counter() - started)
                    spent[what].append(_processor() - before)
    against = {
        "import judgekit": ["pass"],
        "judgekit --help": ["bare"],
        "one case replayed": ["bare, one case", "bare"],
        ONE: ["bare, one case", "bare"],
    }
    for what in commands:
        clock, work = (statistics.median(v[what]) * 1000 for v in (times, spent))
        line = f"{what:<20}{clock:7.0f} ms, {work:4.0f} ms of work"
        for floor in against.get(what, ()):
            clock, work = (_paired(v[what], v[floor]) for v in (times, spent))
            line += f"   {clock:.2f} x {floor} ({work:.2f} x its work)"
        print(line)
    with tempfile.TemporaryDirectory() as name:
        live(Path(name), rounds, env)


def fill_bare_case(folder: Path) -> None:
    """Write the first case of the suite, its prompts as templates, and its recorded replies."""
    import diskcache
    import jinja2

    from judgekit.suite.suite import load_suite

    suite = load_suite(ROOT / SUITE)
    case = next(suite.cases())
    fields = {"input": case.input, "output": case.output, "system": case.system}
    (folder / "case.json").write_text(json.dumps(fields))
    with diskcache.Cache(str(folder / "cache")) as cache:  # noqa: TID251 - without judgekit
        for metric in suite.metrics:
            (judged, _) = metric.children()
            _, (request,) = judged.requests(case)
            template = "\n".join(message.content for message in request.messages)
            for name, text in fields.items():
                template = template.replace(text or "", f"[[{name}]]")
            template = template.replace("{", "(").replace("}", ")")
            template = re.sub(r"\[\[(input|output|system)\]\]", r"{{ case.\1 }}", template)
            (folder / f"{judged.rubric.name}.jinja").write_text(template)
            prompt = jinja2.Template(template).render(case=fields)
            reply = asyncio.run(judged.judge.ask(request))
            cache[hashlib.sha256(prompt.encode()).hexdigest()] = reply.tries[-1].text


def live(folder: Path, rounds: int, env: dict[str, str]) -> None:
    """Print the processor time of live runs until their first request."""
    bare = folder / "bare_live.py"
    bare.write_text(BARE_LIVE)
    (folder / "cases.jsonl").write_text('{"input": "Is it?", "output": "It is."}\n')
    with socket.create_server(("127.0.0.1", 0)) as server:
        base = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        run = [sys.executable, "-m", "judgekit", "run", "--record", "new_episodes", "--no-out"]
        commands = {"bare live": [sys.executable, str(bare), base]}
        for via in ("direct", "litellm"):
            suite = folder / f"{via}.yaml"
            judge = f"{{model: openai/bench, api_base: '{base}', via: {via}}}"
            suite.write_text(f"cases: cases.jsonl\njudge: {judge}\nmetrics: {{quality: {{}}}}\n")
            commands[f"live, {via}"] = [*run, str(suite)]
        spent: dict[str, list[float]] = {what: [] for what in commands}
        for turn in range(rounds + 1):
            for what, command in commands.items():
                used = _until_request(server, command, env)
                if turn:
                    spent[what].append(used)
    for what, values in spent.items():
        ratio = _paired(values, spent["bare live"])
        print(f"{what:<20}{statistics.median(values) * 1000:20.0f} ms of work   {ratio:.2f} x bare")


def _until_request(server: socket.socket, command: list[str], env: dict[str, str]) -> float:
    """Return the processor seconds of a program until it sends a request; it gets no answer."""
    with subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL) as process:
        connection, _ = server.accept()
        with connection:
            connection.recv(1)
            fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            process.kill()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _processor() -> float:
    """Return the processor seconds of the processes that have ended so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _paired(values: list[float], floors: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(values, floors, strict=True))


if __name__ == "__main__":
    main()
