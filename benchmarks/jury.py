"""Juries: what a replay with three judges costs, against a replay with one of them.

A row is one case with one rubric: a request and a reply for each judge, the vote, the distribution
of the answers, the agreement of the judges, and the line in the results. Replies are random and all
different, so judges often disagree. `cold` is the first pass of a fresh process, with everything
that it opens and loads after `import judgekit`: for a jury also numpy, for the intervals of kappa.
`warm` is the second pass. A jury reads three times as many replies, so the ratio of the rates would
be a third if nothing else cost anything.

    python benchmarks/jury.py [--rows 1000] [--rounds 5] [--rubric quality ...]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from replay import REASON, case_of

ONE = """---
name: one_question
extends: base
description: A single question.
criteria: {polite: {text: Is the answer polite?, kind: boolean}}
---
"""
RUBRICS = ("one_question", "safety", "quality", "toxicity", "prompt_alignment")


def reply_of(request) -> str:
    draw = random.Random(request.key)
    answers: dict[str, object] = {}
    for place, question in enumerate(request.form.questions):
        reason = REASON.format(draw.randrange(10**6) + place)
        if question.kind == "checklist":
            met = draw.random() < 0.7
            answers[question.id] = {
                "items": [{"item": "names the order", "reason": reason, "met": met}]
            }
            continue
        value: object = draw.randint(0, 10) / 10
        if question.labels or question.kind == "boolean":
            value = draw.choice(question.labels or (True, True, False))
        details = {detail.name: DETAILS[detail.kind] for detail in question.details}
        quotes = {"quotes": []} if question.quotes else {}
        answers[question.id] = {"reason": reason, **quotes, **details, "value": value}
    for detail in request.form.details:
        answers[detail.name] = DETAILS[detail.kind]
    return json.dumps(answers)


DETAILS = {"text": "A refund.", "boolean": True, "list": []}


def metric_of(folder: Path, rubric: str, tape, *, judges: int):
    from judgekit import FakeJudge, Jury, RubricMetric

    replies = reply_of if tape.record != "none" else None
    members = {f"judge {n}": tape.for_judge(FakeJudge(replies, model=f"fake/{n}")) for n in "123"}
    judge = members["judge 1"] if judges == 1 else Jury(members)
    return RubricMetric(folder / "one.jinja" if rubric == "one_question" else rubric, judge=judge)


def record(folder: Path, rubric: str, rows: int) -> None:
    from judgekit import Cassette, FakeJudge

    path = folder / f"{rubric}.jsonl"
    with Cassette.open(
        path, FakeJudge(reply_of), record="new_episodes", store=folder / "store"
    ) as tape:
        metric = metric_of(folder, rubric, tape, judges=3)

        async def all_rows() -> None:
            for number in range(rows):
                await metric.score(case_of(number))

        asyncio.run(all_rows())


def replay(folder: Path, rubric: str, rows: int, judges: int) -> list[float]:
    """Return microseconds of processor time for a row, cold and warm."""
    from judgekit import Cassette, FakeJudge
    from judgekit.runner.evaluation import evaluate

    cases = [case_of(number) for number in range(rows)]
    spent = []
    started = time.thread_time()
    metric = metric_of(
        folder, rubric, Cassette(FakeJudge(), tape=folder / f"{rubric}.jsonl"), judges=judges
    )
    for _ in range(2):
        report = asyncio.run(evaluate(cases, [metric], out=folder / f"run-{judges}"))
        spent.append((time.thread_time() - started) / rows * 1e6)
        assert report.metrics[metric.name].judged >= 0.9 * rows, report.figures.incomplete
        started = time.thread_time()
    return spent


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=1_000)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--rubric", nargs="*", default=RUBRICS)
    options.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.one:
        folder, judges = Path(chosen.one[0]), int(chosen.one[1])
        print(json.dumps(replay(folder, chosen.rubric[0], chosen.rows, judges)))
        return
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "one.jinja").write_text(ONE)
        for rubric in chosen.rubric:
            record(Path(name), rubric, chosen.rows)
            command = [sys.executable, __file__, "--rows", str(chosen.rows), "--rubric", rubric]
            spent: dict[int, list[list[float]]] = {1: [], 3: []}
            for _ in range(chosen.rounds):
                for judges, values in spent.items():
                    one = [*command, "--one", name, str(judges)]
                    values.append(json.loads(subprocess.check_output(one)))
            for place, what in enumerate(("cold", "warm")):
                alone, jury = ([v[place] for v in values] for values in spent.values())
                ratio = statistics.median(a / b for a, b in zip(alone, jury, strict=True))
                print(
                    f"{rubric:<18}{what:<6}{statistics.median(alone):6.0f} us a row with one judge,"
                    f"{statistics.median(jury):6.0f} with three: {ratio:.3f} of its rate"
                )


if __name__ == "__main__":
    main()
