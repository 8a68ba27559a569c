"""A simulated run and simulated labels: the true answers are known."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from judgekit import evaluate_sync
from judgekit.core.case import Case
from judgekit.core.errors import InvalidReply
from judgekit.core.judgment import Judgment
from judgekit.core.score import Part, Score

WORDS = ("bad", "fair", "good")
PEOPLE = ("ann", "bob", "cyd")


class TruthMetric:
    """Answers what the output of the case says; an output `failed` is an invalid reply."""

    name = "tone"
    range = (0.0, 1.0)
    higher_is_better = True

    def __init__(self) -> None:
        self.options: dict[str, Any] = {}

    async def score(self, case: Case) -> Score:
        if case.output == "failed":
            raise InvalidReply("no JSON")
        given = json.loads(case.output or "")
        level, polite, share = WORDS.index(given["level"]) / 2, given["polite"], given["share"]
        reason = given.get("reason", f"It is {given['level']}.")
        parts = (
            Part(id="level", value=level, answer=given["level"], weight=0.5, reason=reason),
            Part(id="polite", value=float(polite), answer=polite, weight=0.5),
            Part(id="share", value=share / 10, answer=share, weight=0),
        )
        judgments = (Judgment(request_key="0" * 64),)
        return Score(value=(level + polite) / 2, parts=parts, source="judge",
                     judgments=judgments, meta={"model": "fake/judge"})  # fmt: skip


def study(
    folder: Path,
    *,
    cases: int = 60,
    right: float = 0.85,
    judge: float = 0.85,
    people: tuple[str, ...] = PEOPLE,
    threshold: float | None = None,
    failed: int = 0,
    change: Callable[[int, dict[str, Any]], dict[str, Any] | None] = lambda n, label: label,
) -> tuple[Path, Path]:
    """Write a run and its labels, and return their paths.

    Args:
        folder: where to write.
        cases: how many; six systems answer every prompt.
        right: how often a labeller gives the true answer.
        judge: how often the judge does.
        people: the labellers.
        threshold: of the metric.
        failed: how many of the first cases have a reply without a verdict.
        change: gets the number of the case and its label; returns the label, or `None`.
    """
    draw = random.Random(cases)

    def answers(level: int, *, right: float) -> dict[str, Any]:
        level = level if draw.random() < right else draw.randrange(3)
        polite = (level > 0) if draw.random() < right else draw.random() < 0.5
        share = round(max(0, min(10, level * 4 + draw.gauss(0, 1))))
        return {"level": WORDS[level], "polite": polite, "share": share}

    truths = [min(2, int(draw.random() * 2 + (n % 6) / 5)) for n in range(cases)]
    given = [
        Case(id=f"c{n}", input=f"Question {n // 6}",
             output="failed" if n < failed else json.dumps(answers(truth, right=judge)),
             metadata={"prompt": f"p{n // 6}", "user": n % 15, "bot": f"m{n % 6}"})
        for n, truth in enumerate(truths)
    ]  # fmt: skip
    thresholds = {} if threshold is None else {"tone": threshold}
    evaluate_sync(given, [TruthMetric()], thresholds=thresholds, out=folder / "run")
    lines = []
    for n, truth in enumerate(truths):
        for who in people:
            values = answers(truth, right=right)
            label = {"case": f"c{n}", "metric": "tone", "labeller": who, "values": values}
            if (line := change(n, label)) is not None:
                lines.append(json.dumps(line) + "\n")
    (folder / "labels.jsonl").write_text("".join(lines), "utf-8")
    return folder / "run", folder / "labels.jsonl"
