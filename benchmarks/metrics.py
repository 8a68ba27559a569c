"""Computed metrics over 100,000 cases: rows a second of CPU, and peak memory beside 10,000.

Cases come from a JSON Lines file and results go to a run folder, as in a run. Each metric and
size is a process of its own.

    python benchmarks/metrics.py [METRIC ...] [--sizes 10000 100000]
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

METRICS = {
    "exact_match": {},
    "token_f1": {},
    "contains": {"all_of": ["order"]},
    "length": {"maximum": 40, "unit": "words"},
    "rouge": {},
    "similarity": {},
    "lexical_accuracy": {},
    "facts_covered": {},
    "contrastive_alignment": {
        "positive_examples": ["Cheers, it left on Monday.", "Righto, tomorrow then."],
        "negative_examples": ["Hey, it shipped Monday.", "Sure thing, tomorrow."],
    },
    "difference": {},
    "tone_consistency": {},
    "refusal_rules": {},
    "coherence_rules": {},
    "generation": {"kind": "text"},
    "requirement_coverage": {},
    "alignment_rules": {},
    "bleu": {},
    "chrf": {},
    "adversarial_robustness": {},
    "robustness_continuous": {},
    "tool_call_correctness": {},
    "trajectory_match": {},
    "safety_patterns": {},
    "stability": {},
    "authenticity": {
        "persona": {
            "exemplars": ["It left on Monday and arrives tomorrow."],
            "traits": {"formality": "formal"},
            "lexicon": {"preferred": ["order"], "avoided": ["dude"]},
        }
    },
}
CALL = {"name": "find_order", "arguments": {"fast": True}}
OPENINGS = ("Thank you for writing.", "Good morning.", "Sorry for the wait.", "Of course.")
ENDINGS = ("tomorrow", "on Friday", "within two days", "before the weekend", "next week")


def row(number: int) -> dict[str, object]:
    opening, ending = OPENINGS[number % 4], ENDINGS[number % 5]
    return {
        "id": f"case-{number:08d}",
        "input": f"What is the state of order {number}, please? Answer in two sentences.",
        "output": f"{opening} Order {number} left our store on Monday and should arrive {ending}.",
        "reference": f"Order {number} left on Monday. It should arrive {ending}.",
        "baseline": f"Order {number} has left.",
        "parent": f"case-{number // 2:08d}",
        "history": [{"role": "assistant", "content": opening, "tool_calls": [CALL]}],
        "expected": {
            "facts": ["left on Monday"],
            "original_input": f"What is the state of order {number}?",
            "tool_calls": [CALL],
        },
    }


def measure(metric: str, folder: Path) -> dict[str, float]:
    from judgekit import create_metric, load_cases
    from judgekit.runner.evaluation import evaluate

    made = create_metric(metric, **METRICS[metric])
    before = time.process_time()
    report = asyncio.run(evaluate(load_cases(folder / "cases.jsonl"), [made], out=folder / "run"))
    seconds = time.process_time() - before
    assert not report.figures.incomplete, report.figures.incomplete
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"peak": peak, "rate": report.figures.cases / seconds}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("metrics", nargs="*", default=list(METRICS), metavar="METRIC")
    options.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    options.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.one:
        print(json.dumps(measure(chosen.metrics[0], chosen.one)))
        return
    for metric in chosen.metrics:
        told = []
        for size in chosen.sizes:
            with tempfile.TemporaryDirectory() as name:
                with (Path(name) / "cases.jsonl").open("w") as file:
                    for number in range(size):
                        file.write(json.dumps(row(number)) + "\n")
                command = [sys.executable, __file__, metric, "--one", name]
                found = json.loads(subprocess.check_output(command))
            peak, rate = found["peak"] / 1e6, found["rate"]
            told.append(f"{size:,} rows: {rate:,.0f} a second of CPU, {peak:.0f} MB")
        print(f"{metric:<22} {'; '.join(told)}", flush=True)


if __name__ == "__main__":
    main()
