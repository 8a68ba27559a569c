"""Replay: judgments a second on one core, warm and from a cold tape.

Each judgment is a row of its own: 8 criteria, a reply of about 1.6 kB, all distinct. A row is
rendered, keyed, looked up, validated, folded and written. `cold` is the first pass of a fresh
process, the opening of tape and rubric counted, imports not; `warm` is the second pass. As a
floor, every process also runs the bare steps without judgekit: a Jinja render of the same text,
sha256, a look-up in a dict of JSON lines, pydantic validation, a JSON dump.

    python benchmarks/replay.py [--rows 10000] [--rounds 5]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REASON = "The answer names the order and the next step, and leaves out how long it takes ({}). "


def case_of(number: int):
    from judgekit.core.case import Case

    return Case(
        id=f"case-{number}",
        system="You help customers of a shop. Be brief, be kind, end with the ticket link.",
        input=f"Order {number} has not arrived, it has been nine days now. What can I do? " * 2,
        output=f"I am sorry that order {number} is late. Please open a ticket; we answer within "
        f"a day and send the parcel again or refund you, as you like. " * 3,
    )


def reply_of(request) -> str:
    salt = int(request.key[:6], 16)
    answers = {}
    for place, question in enumerate(request.form.questions):
        reason = REASON.format(salt + place)
        if question.kind == "checklist":
            answers[question.id] = {
                "items": [
                    {"item": f"names order {salt}", "reason": "it does", "met": True},
                    {"item": "gives a date", "reason": "it gives none", "met": False},
                ]
            }
            continue
        answers[question.id] = {"reason": reason}
        for detail in question.details:
            answers[question.id][detail.name] = {"text": "A refund.", "boolean": True, "list": []}[
                detail.kind
            ]
        answers[question.id]["value"] = (salt >> place) % 11 / 10
    answers["overall_assessment"] = REASON.format("overall") * 2
    return json.dumps(answers)


def record(folder: Path, rows: int) -> None:
    from judgekit import Cassette, FakeJudge, PromptAlignment

    with Cassette.open(
        folder / "tape.jsonl", FakeJudge(reply_of), record="new_episodes", store=folder
    ) as judge:
        metric = PromptAlignment(judge=judge)

        async def all_rows() -> None:
            for number in range(rows):
                await metric.score(case_of(number))

        asyncio.run(all_rows())


def replay(folder: Path, rows: int) -> dict[str, float]:
    """Two passes in this process, the first of them cold."""
    import judgekit
    from judgekit.judges.fake import FakeJudge
    from judgekit.runner.evaluation import evaluate

    cases = [case_of(number) for number in range(rows)]
    judgekit.Cassette, judgekit.PromptAlignment  # noqa: B018 - imports are not counted
    figures = {}
    started = time.process_time()
    judge = judgekit.Cassette(FakeJudge(), tape=folder / "tape.jsonl")
    metric = judgekit.PromptAlignment(judge=judge)
    for name in ("cold", "warm"):
        report = asyncio.run(evaluate(cases, [metric], out=folder / f"run-{os.getpid()}"))
        taken = time.process_time() - started
        assert report.metrics["prompt_alignment"].judged == rows, report.figures.incomplete
        figures[name] = rows / taken
        started = time.process_time()
    figures["floor"] = floor(folder, cases, metric)
    return figures


def floor(folder: Path, cases: list, metric) -> float:
    """The same steps with nothing around them."""
    import hashlib

    from answer_model import answer_model
    from jinja2 import Environment

    _, (request,) = metric.requests(cases[0])
    model = answer_model(request.form)
    template = Environment().from_string(
        request.messages[0].content.replace("{", "(") + "{{ system }}{{ input }}{{ output }}"
    )
    replies = [reply_of(metric.requests(case)[1][0]) for case in cases]
    keys = []
    for case in cases:
        text = template.render(system=case.system, input=case.input, output=case.output)
        keys.append(hashlib.sha256(json.dumps([text, "model"]).encode()).hexdigest())
    tape = dict(zip(keys, replies, strict=True))
    started = time.process_time()
    with (folder / f"floor-{os.getpid()}").open("w") as out:
        for case in cases:
            text = template.render(system=case.system, input=case.input, output=case.output)
            key = hashlib.sha256(json.dumps([text, "model"]).encode()).hexdigest()
            verdict = model.model_validate_json(tape[key])
            out.write(verdict.model_dump_json() + "\n")
    return len(cases) / (time.process_time() - started)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=10_000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.one:
        print(json.dumps(replay(chosen.one, chosen.rows)))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        record(folder, chosen.rows)
        size = (folder / "tape.jsonl").stat().st_size
        print(f"{chosen.rows} records, {size / chosen.rows / 1000:.1f} kB each on the tape")
        rounds = []
        for _ in range(chosen.rounds):
            command = [sys.executable, __file__, "--rows", str(chosen.rows), "--one", name]
            rounds.append(json.loads(subprocess.check_output(command)))
    for what in ("cold", "warm", "floor"):
        values = [figures[what] for figures in rounds]
        ratio = statistics.median(figures[what] / figures["floor"] for figures in rounds)
        print(
            f"{what:<6}{statistics.median(values):8.0f} a second of CPU "
            f"({min(values):.0f} to {max(values):.0f}), {ratio:.2f} of the floor"
        )


if __name__ == "__main__":
    main()
