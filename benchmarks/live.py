"""What judgekit costs on top of a bare `instructor.from_litellm` loop, recording included.

    python benchmarks/live.py [--rounds 5]

A: instructor and litellm in a loop with a semaphore, answers validated, nothing kept.
B: `evaluate` with a rubric, LiteLLMJudge, LimitedJudge and a Cassette that records every reply
   to the store and, at the end, to a tape.

Both ask the same model for the same prompts and the same response model, from a server in a
process of its own that answers after 200 ms. Each measurement is a fresh process: imports and
32 calls to warm up come first and do not count. Rounds alternate A B A B.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

LATENCY = 0.2
WARM = 32
SETTINGS = ((32, 640), (256, 1024))
"""Calls in flight, calls in all."""
MODEL = "openai/bench"


def made_cases(count: int) -> list[Any]:
    from judgekit.core.case import Case

    words = [
        "The",
        "parcel",
        "leaves",
        "our",
        "store",
        "tomorrow",
        "and",
        "takes",
        "three",
        "days.",
    ]
    return [
        Case(
            id=f"case-{number}",
            input=f"When does order {number} arrive?",
            output=" ".join(words * 12) + f" Your number is {number}.",
        )
        for number in range(count)
    ]


def rubric() -> Any:
    from judgekit.rubric.load import load_rubric

    return load_rubric("quality")


def prepared_answer() -> str:
    from judgekit.judges.fake import FakeJudge
    from judgekit.metrics.rubric import RubricMetric

    judge = FakeJudge()
    metric = RubricMetric(rubric(), judge=judge)
    _, requests = metric.requests(made_cases(1)[0])
    answer = json.loads(asyncio.run(judge.ask(requests[0])).tries[0].text or "")
    for part in answer.values():
        part["reason"] = "The answer states when the parcel arrives and nothing else. " * 2
    return json.dumps(answer)


# -- one measurement, in a process of its own -------------------------------------------


class Stopwatch:
    """CPU of this process and wall time, from `start` on."""

    def start(self) -> None:
        gc.collect()
        self._cpu = self._used()
        self._wall = time.perf_counter()

    def read(self, calls: int) -> dict[str, float]:
        return {
            "wall": time.perf_counter() - self._wall,
            "cpu_ms": (self._used() - self._cpu) / calls * 1000,
        }

    @staticmethod
    def _used() -> float:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return usage.ru_utime + usage.ru_stime


async def bare(base: str, *, flight: int, calls: int) -> dict[str, float]:
    from answer_model import answer_model

    from judgekit.judges import providers
    from judgekit.judges.connections import closing_connections
    from judgekit.judges.fake import FakeJudge
    from judgekit.metrics.rubric import RubricMetric

    litellm = providers.load()
    import instructor

    metric = RubricMetric(rubric(), judge=FakeJudge(model=MODEL))
    prompts = []
    for case in made_cases(calls + WARM):
        request = metric.requests(case)[1][0]
        prompts.append([{"role": m.role, "content": m.content} for m in request.messages])
    response_model = answer_model(request.form)
    client = instructor.from_litellm(litellm.acompletion, mode=instructor.Mode.JSON_SCHEMA)
    slots = asyncio.Semaphore(flight)

    async def ask(messages: list[dict[str, str]]) -> Any:
        async with slots:
            return await client.chat.completions.create(
                model=MODEL,
                messages=messages,
                response_model=response_model,
                api_base=base,
                api_key="none",
                timeout=60,
                max_retries=0,
                num_retries=0,
            )

    async with closing_connections():
        await asyncio.gather(*map(ask, prompts[:WARM]))
        watch = Stopwatch()
        watch.start()
        verdicts = await asyncio.gather(*map(ask, prompts[WARM:]))
        found = watch.read(calls)
    assert len(verdicts) == calls
    return found


async def judged(base: str, *, flight: int, calls: int) -> dict[str, float]:
    from judgekit.cassette.cassette import Cassette
    from judgekit.cassette.store import Store
    from judgekit.judges.connections import closing_connections
    from judgekit.judges.limits import LimitedJudge
    from judgekit.judges.litellm import LiteLLMJudge
    from judgekit.metrics.rubric import RubricMetric
    from judgekit.runner.evaluation import evaluate

    with tempfile.TemporaryDirectory() as folder:
        judge = LiteLLMJudge(MODEL, api_base=base)
        limited = LimitedJudge(judge, concurrency=flight)
        tape = Path(folder) / "tape.jsonl"
        store = Store(Path(folder) / "store")
        cassette = Cassette(limited, tape=tape, store=store, record="new_episodes")
        metric = RubricMetric(rubric(), judge=cassette)
        cases = made_cases(calls + WARM)
        async with closing_connections():
            warm = [metric.requests(case)[1][0] for case in cases[:WARM]]
            await asyncio.gather(*map(judge.ask, warm))
            watch = Stopwatch()
            watch.start()
            report = await evaluate(cases[WARM:], [metric], window=2 * flight)
            cassette.close()
            found = watch.read(calls)
        assert report.figures.metrics[0].scored == calls
        assert len(tape.read_text(encoding="utf-8").splitlines()) >= calls
    return found


# -- rounds -----------------------------------------------------------------------------


def measure(which: str, base: str, flight: int, calls: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--child", which, base, str(flight), str(calls)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def compare(base: str, *, flight: int, calls: int, rounds: int) -> None:
    print(f"\n{flight} in flight, {calls} calls, {LATENCY * 1000:.0f} ms latency")
    found: dict[str, list[dict[str, float]]] = {"A": [], "B": []}
    for number in range(rounds):
        for which in "AB":
            found[which].append(measure(which, base, flight, calls))
        a, b = found["A"][-1], found["B"][-1]
        print(
            f"  round {number + 1}: CPU a call {a['cpu_ms']:.2f} -> {b['cpu_ms']:.2f} ms"
            f" ({b['cpu_ms'] / a['cpu_ms']:.3f}), wall {a['wall']:.2f} -> {b['wall']:.2f} s"
            f" ({b['wall'] / a['wall']:.3f})",
            flush=True,
        )
    for what, bar in (("cpu_ms", 1.10), ("wall", 1.05)):
        ratios = [b[what] / a[what] for a, b in zip(found["A"], found["B"], strict=True)]
        a, b = (median(one[what] for one in found[which]) for which in "AB")
        print(f"  {what}: median {a:.3f} -> {b:.3f}, ratio {median(ratios):.3f} (bar {bar:.2f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--child", nargs=4, metavar=("WHICH", "BASE", "FLIGHT", "CALLS"))
    options = parser.parse_args()
    if options.child:
        which, base, flight, calls = options.child
        work = {"A": bare, "B": judged}[which]
        print(json.dumps(asyncio.run(work(base, flight=int(flight), calls=int(calls)))))
        return
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        answer.write_text(prepared_answer(), encoding="utf-8")
        program = str(Path(__file__).parent / "servers" / "chat.py")
        command = [sys.executable, program, "--latency", str(LATENCY), "--answer", str(answer)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as server:
            assert server.stdout is not None
            assert server.stdin is not None
            base = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
            for flight, calls in SETTINGS:
                compare(base, flight=flight, calls=calls, rounds=options.rounds)
            server.stdin.close()


if __name__ == "__main__":
    main()
