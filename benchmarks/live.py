"""Live calls: raw aiohttp, judgekit directly and through litellm, instructor, and autoevals.

    python benchmarks/live.py [--rounds 5] [--autoevals PYTHON] [--only raw,direct]

raw       aiohttp in a loop with a semaphore; the body of the reply is read as JSON.
direct    `evaluate` with a rubric, LiteLLMJudge, LimitedJudge and a Cassette that records every
          reply to the store and, at the end, to a tape; requests go out over aiohttp.
litellm   the same through litellm and instructor.
bare      instructor and litellm in a loop with a semaphore, answers validated, nothing kept.
autoevals LLMClassifier with the same prompts, in an environment with autoevals and openai.

All send the same prompts to a server in a process of its own that answers after 200 ms, and run
with the garbage collector as `judgekit run` sets it. Each measurement is a fresh process: imports
and 32 calls to warm up come first and do not count, and
neither do probes. The programs take turns, and ratios are medians of ratios of one round.
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

from judgekit.cli import YOUNG_OBJECTS

LATENCY = 0.2
WARM = 32
SETTINGS = ((32, 6400), (256, 6400))
"""Calls in flight, calls in all."""
SLOW = {"bare": 10, "litellm": 10, "autoevals": 4}
"""By what the calls of slow programs are divided."""
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


def prompts_and_form(count: int) -> tuple[list[list[dict[str, str]]], Any]:
    from judgekit.judges.fake import FakeJudge
    from judgekit.metrics.rubric import RubricMetric

    metric = RubricMetric(rubric(), judge=FakeJudge(model=MODEL))
    prompts = []
    for case in made_cases(count):
        request = metric.requests(case)[1][0]
        prompts.append([{"role": m.role, "content": m.content} for m in request.messages])
    return prompts, request.form


async def raw(base: str, *, flight: int, calls: int) -> dict[str, float]:
    import aiohttp

    from judgekit.core.reply_schema import reply_schema

    prompts, form = prompts_and_form(calls + WARM)
    schema = {"name": "Verdict", "schema": reply_schema(form).json_schema}
    wanted = {"type": "json_schema", "json_schema": schema}
    slots = asyncio.Semaphore(flight)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask(messages: list[dict[str, str]]) -> Any:
            body = {"model": "bench", "messages": messages, "response_format": wanted}
            async with slots, session.post(f"{base}/chat/completions", json=body) as response:
                return (await response.json())["choices"][0]["message"]["content"]

        await asyncio.gather(*map(ask, prompts[:WARM]))
        watch = Stopwatch()
        watch.start()
        texts = await asyncio.gather(*map(ask, prompts[WARM:]))
        found = watch.read(calls)
    assert len(texts) == calls
    return found


async def bare(base: str, *, flight: int, calls: int) -> dict[str, float]:
    from answer_model import answer_model

    from judgekit.judges import via_litellm
    from judgekit.judges.connections import closing_connections

    litellm = via_litellm.load_litellm()
    import instructor

    prompts, form = prompts_and_form(calls + WARM)
    response_model = answer_model(form)
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


async def judged(base: str, *, flight: int, calls: int, via: Any) -> dict[str, float]:
    from judgekit.cassette.cassette import Cassette
    from judgekit.cassette.store import Store
    from judgekit.judges.connections import closing_connections
    from judgekit.judges.limits import LimitedJudge
    from judgekit.judges.litellm import LiteLLMJudge
    from judgekit.metrics.rubric import RubricMetric
    from judgekit.runner.evaluation import evaluate

    with tempfile.TemporaryDirectory() as folder:
        judge = LiteLLMJudge(MODEL, api_base=base, via=via)
        limited = LimitedJudge(judge, concurrency=flight)
        tape = Path(folder) / "tape.jsonl"
        store = Store(Path(folder) / "store")
        cassette = Cassette(limited, tape=tape, store=store, record="new_episodes")
        metric = RubricMetric(rubric(), judge=cassette)
        cases = made_cases(calls + WARM)
        async with closing_connections():
            warm = [metric.requests(case)[1][0] for case in cases[:WARM]]
            replies = await asyncio.gather(*map(judge.ask, warm))
            await judge.identified(replies[0])  # the probe for the model's name
            watch = Stopwatch()
            watch.start()
            report = await evaluate(cases[WARM:], [metric], window=2 * flight)
            cassette.close()
            found = watch.read(calls)
        assert report.figures.metrics[0].scored == calls
        assert len(tape.read_text(encoding="utf-8").splitlines()) >= calls
    return found


AUTOEVALS = """
import asyncio, gc, json, resource, sys, time
from autoevals.llm import LLMClassifier
gc.set_threshold(100_000, 10, 10)
base, flight, calls, prompts = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
prompts = json.load(open(prompts, encoding="utf-8"))
from openai import AsyncOpenAI
from autoevals import init
init(client=AsyncOpenAI(base_url=base, api_key="none", max_retries=0))
classifier = LLMClassifier(
    "judge", "{{output}}", {"yes": 1, "no": 0}, model="bench", use_cot=True)
slots = asyncio.Semaphore(flight)
async def ask(text):
    async with slots:
        return await classifier.eval_async(output=text, expected="")
def used():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
async def main():
    await asyncio.gather(*map(ask, prompts[:32]))
    gc.collect()
    cpu, wall = used(), time.perf_counter()
    await asyncio.gather(*map(ask, prompts[32:]))
    seconds = time.perf_counter() - wall
    print(json.dumps({"wall": seconds, "cpu_ms": (used() - cpu) / calls * 1000}))
asyncio.run(main())
"""


# -- rounds -----------------------------------------------------------------------------


def measure(which: str, base: str, flight: int, calls: int, python: str) -> dict[str, float]:
    command = [python, __file__, "--child", which, base, str(flight), str(calls)]
    if which == "autoevals":
        with tempfile.TemporaryDirectory() as folder:
            prompts = Path(folder) / "prompts.json"
            texts = ["\n".join(m["content"] for m in p) for p in prompts_and_form(calls + WARM)[0]]
            prompts.write_text(json.dumps(texts), encoding="utf-8")
            command = [python, "-c", AUTOEVALS, base, str(flight), str(calls), str(prompts)]
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    else:
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def compare(base: str, options: argparse.Namespace, *, flight: int, calls: int) -> None:
    print(f"\n{flight} in flight, {calls} calls, {LATENCY * 1000:.0f} ms latency")
    found: dict[str, list[dict[str, float]]] = {which: [] for which in options.only}
    for number in range(options.rounds):
        for which in options.only:
            count = max(calls // options.divide // SLOW.get(which, 1), 4 * flight)
            python = options.autoevals if which == "autoevals" else sys.executable
            one = measure(which, base, flight, count, python)
            one["rate"] = count / one["wall"]
            one["share"] = one["rate"] * LATENCY / flight
            found[which].append(one)
            print(
                f"  round {number + 1}: {which:<9} {one['cpu_ms']:6.2f} ms of CPU a call,"
                f" {one['rate']:6.0f} calls/s, {one['share']:.2f} of the ideal rate",
                flush=True,
            )
    for which, results in found.items():
        line = f"  {which:<9} {median(one['cpu_ms'] for one in results):6.2f} ms"
        line += f", {median(one['share'] for one in results):.2f} of the ideal rate"
        for other in ("raw", "autoevals", "bare"):
            if other in found and other != which:
                pairs = list(zip(results, found[other], strict=True))
                cpu = median(a["cpu_ms"] / b["cpu_ms"] for a, b in pairs)
                rate = median(a["rate"] / b["rate"] for a, b in pairs)
                line += f"; {cpu:.2f} x the CPU and {rate:.2f} x the rate of {other}"
        print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--divide", type=int, default=1, help="divide all calls by this")
    parser.add_argument("--autoevals", help="interpreter with autoevals and openai")
    parser.add_argument("--only", default="raw,direct,litellm,bare,autoevals")
    parser.add_argument("--child", nargs=4, metavar=("WHICH", "BASE", "FLIGHT", "CALLS"))
    options = parser.parse_args()
    if options.child:
        which, base, flight, calls = options.child
        gc.set_threshold(YOUNG_OBJECTS, 10, 10)
        size = {"flight": int(flight), "calls": int(calls)}
        work = {"raw": raw, "bare": bare}.get(which)
        running = judged(base, via=which, **size) if work is None else work(base, **size)
        print(json.dumps(asyncio.run(running)))
        return
    options.only = options.only.split(",")
    if "autoevals" in options.only and options.autoevals is None:
        print("SKIPPED autoevals: name an interpreter that has it, --autoevals PYTHON")
        options.only.remove("autoevals")
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
                compare(base, options, flight=flight, calls=calls)
            server.stdin.close()


if __name__ == "__main__":
    main()
