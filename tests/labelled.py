"""Suites with a judge that errs, and labels of people for a part of the cases."""

from __future__ import annotations

import json
import random

from judgekit.core.case import output_digest
from judgekit.core.errors import InvalidReply
from judgekit.judges.fake import FakeJudge
from judgekit.suite.suite import build_suite

LEVELS = ("good", "fair", "bad")
METRIC = {
    "criteria": {
        "polite": {"text": "Is the answer polite?", "kind": "boolean"},
        "tone": {"text": "How is the tone?", "levels": {"good": 1, "fair": 0.5, "bad": 0}},
    },
    "threshold": 0.5,
}


def answers(request):
    """Return what the output says the judge answers; `broken` is no verdict."""
    polite, tone, *_ = request.about.output.split()
    if polite == "broken":
        raise InvalidReply("not JSON")
    return {
        "polite": {"reason": "so", "value": polite == "True"},
        "tone": {"reason": "so", "value": tone},
    }


def write_run(folder, *, count=200, every=3, seed=1, broken=0, labellers=("ann",)):
    """Write cases.jsonl and labels.jsonl; return the cases and what a person says of each."""
    rng = random.Random(seed)
    cases, truth, labels = [], [], []
    for n in range(count):
        polite, tone = rng.random() < 0.6, rng.choice(LEVELS)
        judged = polite or rng.random() < 0.25
        shown = tone if rng.random() < 0.8 else "good"
        output = f"{judged} {shown} of {n} by {seed}"
        if n < broken:
            output = f"broken {shown} {n}"
        cases.append({"id": f"c{n}", "output": output, "metadata": {"user": f"u{n % 20}"}})
        truth.append((polite, tone))
        for labeller in labellers if n % every == 0 else ():
            labels.append(
                {"case": f"c{n}", "metric": "reply", "labeller": labeller,
                 "values": {"polite": polite, "tone": tone},
                 "output_digest": output_digest(output)}
            )  # fmt: skip
    write_lines(folder / "cases.jsonl", cases)
    write_lines(folder / "labels.jsonl", labels)
    return cases, truth


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def read_lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def suite(folder, *, gate=None, limits=None, **keys):
    """Return a suite over the files of a folder."""
    metric = {**METRIC, **({"gate": gate} if gate else {})}
    data = {"cases": "cases.jsonl", "judge": "fake/judge", "metrics": {"reply": metric}, **keys}
    data["limits"] = limits or {"max_failures": 1000}
    return build_suite(data, base=folder, judge=FakeJudge(answers))
