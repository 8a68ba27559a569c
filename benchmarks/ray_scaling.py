"""How runs on Ray scale: 1, 2 and 4 workers against a server that answers after 200 ms.

    python benchmarks/ray_scaling.py [--seconds 20] [--in-flight 16] [--rounds 3]

Every worker has the same number of concurrent calls and of cases, so that ideal runs take equally
long. Each round runs 1, 2 and 4 workers on one Ray, after a run that lets the workers import their
libraries. The table has medians: calls a second, their share of the ideal rate, and the share of
the rate of one worker times the workers. "shared" is the same with `max_cost`, for which every
call asks the actor with the limits.

The rest are the figures of the estimate in docs/scale.md: seconds and bytes for each case.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from judgekit.datasets import load_cases
from judgekit.datasets.shard import Shard, Sharding
from judgekit.judges.fake import FakeJudge
from judgekit.ray.cluster import load_ray
from judgekit.ray.run import run_on_ray
from judgekit.report.folder import RESULTS, TAPE
from judgekit.suite.overrides import Overrides
from judgekit.suite.suite import load_suite

LATENCY = 0.2
WORKERS = (1, 2, 4)
WORDS = ["The", "parcel", "leaves", "our", "store", "tomorrow", "and", "takes", "three", "days."]
REASON = "It says when the parcel arrives, and nothing else. " * 2


def write_cases(path: Path, count: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            case = {
                "id": f"case-{number}",
                "input": f"When does order {number} arrive?",
                "output": " ".join(WORDS * 12) + f" Your number is {number}.",
            }
            file.write(json.dumps(case) + "\n")


def write_suite(folder: Path, port: int, *, calls: int, shared: bool) -> Path:
    limits: dict[str, Any] = {"concurrency": calls, "max_failures": 10**6}
    if shared:
        limits["max_cost"] = 1e6
    suite = {
        "cases": "cases.jsonl",
        "judge": {
            "model": "openai/bench",
            "api_base": f"http://127.0.0.1:{port}/v1",
            "mode": "json_schema",
            "price": {"input": 0.1, "output": 0.4},
        },
        "cassette": "tape.jsonl",
        "metrics": {"polite": {"criteria": {"polite": "Is it polite and to the point?"}}},
        "limits": limits,
    }
    path = folder / "suite.yaml"
    path.write_text(json.dumps(suite), encoding="utf-8")
    return path


def run(port: int, *, workers: int, cases: int, in_flight: int, shared: bool) -> dict[str, Any]:
    """Run a suite in a new folder; return rates and bytes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["JUDGEKIT_HOME"] = str(folder / "store")
        write_cases(folder / "cases.jsonl", cases)
        suite = write_suite(folder, port, calls=in_flight * workers, shared=shared)
        out = folder / "run"
        report = run_on_ray(suite, Overrides(record="new_episodes"), out=out, workers=workers)
        if report.metrics["polite"].scored != cases:
            raise SystemExit(f"{cases - report.metrics['polite'].scored} rows have no score")
        facts = report.run["ray"]
        return {
            "rate": cases / facts["seconds"],
            "merge": facts["seconds_of_merge"] / cases,
            "results": (out / RESULTS).stat().st_size / cases,
            "tape": (out / TAPE).stat().st_size / cases,
        }


def reading(count: int = 100_000) -> float:
    """Return the CPU seconds to read a case and find its shard."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "cases.jsonl")
        write_cases(path, count)
        start = time.process_time()
        for _ in Sharding(Shard(1, 16)).of(load_cases(path)):
            pass
        return (time.process_time() - start) / count


def answer() -> str:
    """Return a reply to the rubric of the suite, with a reason of usual length."""
    with tempfile.TemporaryDirectory() as name:
        write_cases(Path(name, "cases.jsonl"), 1)
        suite = load_suite(write_suite(Path(name), 1, calls=1, shared=False))
        (metric,) = suite.metrics
        _, requests = metric.requests(next(suite.cases()))  # type: ignore[attr-defined]
        suite.close()
    reply = json.loads(asyncio.run(FakeJudge().ask(requests[0])).tries[0].text or "")
    for part in reply.values():
        part["reason"] = REASON
    return json.dumps(reply)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--in-flight", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="+", default=WORKERS)
    options = parser.parse_args()
    ideal = options.in_flight / LATENCY
    each = round(ideal * options.seconds)
    ray = load_ray()
    with tempfile.TemporaryDirectory() as name:
        file = Path(name, "answer.json")
        file.write_text(answer(), encoding="utf-8")
        command = [str(Path(__file__).parent / "servers" / "chat.py"), "--answer", str(file)]
        server = subprocess.Popen(
            [sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        try:
            port = int(server.stdout.readline())  # type: ignore[union-attr]
            # The workers wait for the server most of the time, so four may share two processors.
            ray.init(
                "local", num_cpus=max(options.workers), include_dashboard=False, log_to_driver=False
            )
            common = {"in_flight": options.in_flight}
            warm = max(options.workers)
            run(port, workers=warm, cases=64 * warm, shared=False, **common)
            figures: dict[tuple[int, bool], list[dict[str, Any]]] = {}
            for _ in range(options.rounds):
                for workers in options.workers:
                    for shared in (False, True):
                        measured = run(
                            port, workers=workers, cases=each * workers, shared=shared, **common
                        )
                        figures.setdefault((workers, shared), []).append(measured)
        finally:
            ray.shutdown()
            server.kill()
            server.wait()
    print(f"{'workers':>8} {'limits':>7} {'calls/s':>8} {'of ideal':>9} {'linear':>7}")
    for shared in (False, True):
        one = median(f["rate"] for f in figures[options.workers[0], shared])
        for workers in options.workers:
            rate = median(f["rate"] for f in figures[workers, shared])
            linear = rate / (one * workers / options.workers[0])
            kind = "shared" if shared else "own"
            share = rate / (ideal * workers)
            print(f"{workers:>8} {kind:>7} {rate:>8.1f} {share:>9.2f} {linear:>7.2f}")
    rounds = [one for several in figures.values() for one in several]
    for what in ("merge", "results", "tape"):
        value = median(one[what] for one in rounds)
        unit = "ms" if what == "merge" else "bytes"
        print(f"{what}: {value * 1e3 if what == 'merge' else value:.3g} {unit} a case")
    print(f"reading: {reading() * 1e6:.1f} us of CPU a case")


if __name__ == "__main__":
    main()
