"""What 11,000 verdicts cost: 1,000 cases of 11 criteria, with judgekit and with other tools.

Every tool asks the same local server, `servers/priced.py`, which counts requests and tokens and
answers in the format that each asks for. Every ten cases are as long as every other ten, so the
figures of 10 and of 20 cases give those of 1,000 exactly. Dollars follow from the
counts at 1 US dollar per million input tokens.

    python benchmarks/price_of_a_verdict.py
        [--autorubric PYTHON] [--inspect PYTHON] [--promptfoo PROGRAM] [--answers 1000 6000]

The interpreters are those of environments that have the tools; without one, its rows are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
SIZES = (10, 20)
CASES = 1_000
REASONS = (60, 400)
"""Characters of a reason."""
RATIOS = (4, 8)
"""Price of an output token, in input tokens."""
CACHED, BATCH = 0.1, 0.5
"""Price of a cached input token, and of a request in a job, as shares of the plain price."""
SENTENCE = "The parcel leaves our store tomorrow and takes three days to arrive at the door. "


class Counts(NamedTuple):
    """What a server counted."""

    requests: float
    tokens: float
    cached: float
    schema: float
    written: float
    batch: float


class Way(NamedTuple):
    """One way to ask about the criteria of cases."""

    name: str
    words: Callable[[Path, str], list[str]]
    """Returns the command for a folder with cases and an address."""
    batches: bool
    """Whether the tool sends batch jobs."""


def write_cases(folder: Path, count: int, answer: int) -> None:
    """Write cases of 11 criteria with answers of so many characters on average.

    The lengths of ten cases in a row differ by less than a step of the cache, so that no tool has
    the luck that its prompts end at a step.
    """
    text = SENTENCE * (answer // len(SENTENCE) + 5)
    rows = [
        {
            "id": f"case-{number:04}",
            "input": f"When does order {number:04} arrive, and what must I do?",
            "output": f"Your number is {number:04}. {text[: answer - 230 + 51 * (number % 10)]}",
            "expected": {
                "criteria": [
                    {
                        "criterion": f"Names step {step:02} of order {number:04}, with its day",
                        "points": 1,
                    }
                    for step in range(11)
                ]
            },
        }
        for number in range(count)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "cases.jsonl").write_text(lines, "utf-8")


def judgekit(calls: str | int, *, short: bool, batch: bool = False) -> Way:
    """Return a way with judgekit; with `short`, the frame is the one beside the peers."""

    def words(folder: Path, base: str) -> list[str]:
        judge = {"model": "openai/bench", "api_base": base, "mode": "json_schema"}
        points = {"metric": "points", "calls": calls}
        points |= {"rubric": str(HERE / "peers" / "short.jinja")} if short else {}
        suite = {"cases": "cases.jsonl", "judge": judge, "record": "new_episodes",
                 "cassette": "tape.jsonl", "metrics": {"verdicts": points}}  # fmt: skip
        (folder / "suite.yaml").write_text(json.dumps(suite), "utf-8")
        run = [sys.executable, "-m", "judgekit", "run", str(folder / "suite.yaml"), "--quiet"]
        return [*run, "--out", str(folder / "run"), *(["--batch"] if batch else [])]

    frame = ", short frame" if short else ""
    return Way(f"judgekit, `calls: {calls}`{frame}", words, batches=True)


def peers(options: argparse.Namespace) -> Iterator[Way]:
    """Yield the ways with other tools."""

    def program(name: str, *more: str, by: str) -> Callable[[Path, str], list[str]]:
        return lambda folder, base: [by, str(HERE / "peers" / name), str(folder), base, *more]

    for calls in ("per_criterion", "per_item") if options.autorubric else ():
        words = program("with_autorubric.py", calls, by=options.autorubric)
        yield Way(f"autorubric, `{calls}`", words, batches=False)
    if options.inspect:
        words = program("with_inspect.py", by=options.inspect)
        yield Way("Inspect, `model_graded_qa`", words, batches=True)
    if options.promptfoo:
        words = program("with_promptfoo.py", options.promptfoo, by=sys.executable)
        yield Way("promptfoo, `llm-rubric`", words, batches=False)


def counted(way: Way, *, cases: int, answer: int, reason: int, exits: int = 0) -> Counts:
    """Run a way once, and return what the server counted."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_cases(folder, cases, answer)
        command = [sys.executable, str(HERE / "servers" / "priced.py"), "--reason", str(reason)]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        base = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        env = {**os.environ, "OPENAI_API_KEY": "none", "JUDGEKIT_HOME": str(folder / "store")}
        done = subprocess.run(
            way.words(folder, base),
            cwd=folder,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        counts, _ = server.communicate("")
        if done.returncode != exits:
            raise SystemExit(f"{way.name}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return Counts(**json.loads(counts.splitlines()[-1]))


def of_all(way: Way, *, answer: int, reason: int) -> Counts:
    """Return the counts for `CASES` cases, by those of two sizes."""
    first, second = (counted(way, cases=n, answer=answer, reason=reason) for n in SIZES)
    steps = (CASES - SIZES[1]) / (SIZES[1] - SIZES[0])
    return Counts(*(b + (b - a) * steps for a, b in zip(first, second, strict=True)))


def dollars(counts: Counts, ratio: int, *, cached: bool = False) -> float:
    """Return the price at 1 dollar per million input tokens."""
    hits = counts.cached if cached else 0.0
    return (counts.tokens - hits * (1 - CACHED) + counts.written * ratio) / 1e6


def row(way: Way, *, answer: int) -> str:
    """Return a row of the table: counts, then live, cached and batch dollars of each column."""
    by_reason = {reason: of_all(way, answer=answer, reason=reason) for reason in REASONS}
    first = by_reason[REASONS[0]]
    cells = [way.name, f"{first.requests:,.0f}", f"{first.tokens / 1e6:.2f}",
             f"{first.schema / 1e6:.2f}", f"{first.cached / 1e6:.2f}"]  # fmt: skip
    for ratio in RATIOS:
        for counts in by_reason.values():
            live = dollars(counts, ratio)
            half = f"{live * BATCH:.2f}" if way.batches else "-"
            cells.append(f"{live:.2f} / {dollars(counts, ratio, cached=True):.2f} / {half}")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print a table for each length of answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--autorubric")
    parser.add_argument("--inspect")
    parser.add_argument("--promptfoo")
    parser.add_argument("--answers", type=int, nargs="*", default=[1_000, 6_000])
    options = parser.parse_args()
    every: list[str | int] = ["each", 1, 8, "all"]
    ways = [judgekit(calls, short=short) for calls in every for short in (False, True)]
    ways += peers(options)
    columns = [f"1:{ratio}, {reason} characters" for ratio in RATIOS for reason in REASONS]
    head = ["", "requests", "M tokens in", "M of schemas", "M cached", *columns]
    for answer in options.answers:
        print(
            f"\nAnswers of {answer:,} characters; dollars live / with a prompt cache / in jobs:\n"
        )
        print(f"| {' | '.join(head)} |\n|{' --- |' + ' --: |' * (len(head) - 1)}")
        for way in ways:
            print(row(way, answer=answer), flush=True)
    batch = judgekit("each", short=False, batch=True)
    jobs = counted(batch, cases=SIZES[0], answer=1_000, reason=60, exits=4)
    live = counted(judgekit("each", short=False), cases=SIZES[0], answer=1_000, reason=60)
    same = (jobs.tokens, jobs.batch) == (live.tokens, live.requests)
    print(f"\nThe same requests in jobs and live: {same}")


if __name__ == "__main__":
    main()
