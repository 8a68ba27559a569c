"""What `cache` and `tier` do to the bill of a run, on a server that charges as providers do.

    python -m benchmarks.prompt_cache [CASES]

Asks about 11 criteria of each case (1,000 by default), one in a request, with a short and a long
answer to judge. The server keeps prefixes from 1,024 tokens on, charges 1.25 times the input for
what it keeps and a tenth for what it reads, and half of everything at the flex tier. A row says how
many requests came, the tokens, the dollars of its bill, and what the run reported.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import deque
from pathlib import Path
from typing import Any, cast

from judgekit.suite.overrides import Overrides
from judgekit.suite.resolved import resolve
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import open_suite
from tests.live.billing import Provider
from tests.live.server import Server

CRITERIA = 11
LENGTHS = {"short": 20, "long": 500}
"""Words of an answer, each of two tokens."""
CLAUDE, OPENAI = "litellm_proxy/claude-sonnet-4-5", "openai/gpt-5.6"
PRICES = {CLAUDE: (3.0, 15.0, 0.3, 3.75), OPENAI: (4.0, 20.0, 0.4, 5.0)}
"""Dollars per million tokens: input, output, read, written, as in litellm's table."""
MARKS = {CLAUDE: "cache_control", OPENAI: "prompt_cache_breakpoint"}
RUNS = (
    (CLAUDE, "none", "standard"), (CLAUDE, "auto", "standard"),
    (OPENAI, "none", "standard"), (OPENAI, "auto", "standard"),
    (OPENAI, "none", "flex"), (OPENAI, "auto", "flex"),
)  # fmt: skip


def bill(
    folder: Path, model: str, *, cache: str, tier: str, cases: int, words: int
) -> tuple[Provider, dict[str, Any]]:
    """Run a suite; return the provider with its bill, and what the run reported."""
    criteria = [{"criterion": f"Names fact {n}.", "points": 1} for n in range(CRITERIA)]
    expected = {"criteria": criteria}
    with (folder / "cases.jsonl").open("w", encoding="utf-8") as file:
        for number in range(cases):
            answer = f"{number}: " + "because " * words
            row = {"id": f"c{number}", "input": "Why?", "output": answer, "expected": expected}
            file.write(json.dumps(row) + "\n")
    price = PRICES[model]
    provider = Provider(mark=MARKS[model], price=price)
    provider.bodies = cast(list[dict[str, Any]], deque[Any](maxlen=0))
    os.environ["JUDGEKIT_HOME"] = str(folder / "home")
    with Server() as server:
        server.rule = provider
        judge: dict[str, Any] = {"model": model, "mode": "json_schema", "cache": cache}
        if model == OPENAI:  # without an address, the price is that of the table, with its tiers
            os.environ |= {"OPENAI_BASE_URL": server.base, "OPENAI_API_KEY": "none"}
            judge["tier"] = tier
        else:
            names = ("input", "output", "cache_read", "cache_write")
            judge |= {"api_base": server.base, "price": dict(zip(names, price, strict=True))}
        suite = {
            "cases": "cases.jsonl",
            "judge": judge,
            "metrics": {"points": {"calls": 1}},
            "limits": {"concurrency": 8},
        }
        path = folder / "suite.yaml"
        path.write_text(json.dumps(suite), "utf-8")
        opened = open_suite(resolve(path, Overrides(record="new_episodes")))
        report = run_suite_sync(opened, out=folder / "out", page=False)
    return provider, report.run


def main() -> int:
    """Print a row for each run; return 1 if a run reported another cost than the bill has."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    wrong = 0
    print("| model | answer | cache | tier | requests | read | written | bill | reported | saved |")
    print("| --- | --- | --- | --- | --: | --: | --: | --: | --: | --: |")
    for length, words in LENGTHS.items():
        for model, cache, tier in RUNS:
            with tempfile.TemporaryDirectory() as folder:
                made = bill(Path(folder), model, cache=cache, tier=tier, cases=cases, words=words)
            provider, run = made
            saved = run.get("saved", 0.0)
            figures = (provider.dollars, run["spent"], saved)
            wrong += abs(provider.dollars - run["spent"]) > 1e-5
            wrong += abs(provider.plain - provider.dollars - saved) > 1e-5
            counts = (f"{n:,}" for n in (provider.calls, provider.read, provider.written))
            cells = (model, length, cache, tier, *counts, *(f"{one:.4f}" for one in figures))
            print(f"| {' | '.join(cells)} |", flush=True)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
