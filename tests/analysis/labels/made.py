"""Runs with given values of criteria, to label and to measure."""

from __future__ import annotations

import math

from judgekit.core.case import Case
from judgekit.core.errors import InvalidReply
from judgekit.core.judgment import Judgment
from judgekit.core.score import Opinion, Part, Score
from judgekit.runner.evaluation import evaluate_sync

CRITERIA = [
    {"id": "polite", "kind": "boolean", "text": "Is it polite?", "weight": 1.0},
    {
        "id": "level",
        "kind": "score",
        "text": "How good is it?",
        "labels": ["bad", "fair", "good"],
        "weight": 1.0,
        "levels": [
            {"label": "bad", "value": 0.0},
            {"label": "fair", "value": 0.5},
            {"label": "good", "value": 1.0},
        ],
    },
    {"id": "share", "kind": "score", "text": "How much of it?", "maximum": 10.0, "weight": 1.0},
]
RUBRIC = {"name": "tone", "digest": "0" * 16, "metrics": ["tone"], "criteria": CRITERIA}


def answer(criterion, value):
    """Return the answer that has a value."""
    if criterion == "level":
        return ["bad", "fair", "good"][round(value * 2)]
    return bool(value) if criterion == "polite" else value


class Given:
    """Scores a case by the numbers in its metadata."""

    name = "tone"
    range = (0.0, 1.0)
    higher_is_better = True

    def __init__(self, rubric=RUBRIC):
        self.options = {}
        self.made_with = {"rubric": rubric["name"], "digest": rubric["digest"], "model": "judge"}

    async def score(self, case):
        if case.metadata.get("fails"):
            raise InvalidReply("no JSON")
        values = case.metadata["values"]
        opinions = case.metadata.get("opinions", ())
        weights = case.metadata.get("weights") or {name: 1 / len(values) for name in values}
        return Score(
            value=min(1.0, max(0.0, math.fsum(weights[name] * values[name] for name in values))),
            parts=tuple(
                Part(
                    id=name,
                    value=value,
                    answer=answer(name, value),
                    weight=weights[name],
                    reason=case.metadata.get("reason", ""),
                )
                for name, value in values.items()
            ),
            source="judge",
            judgments=(Judgment(request_key="0" * 64),),
            meta=self.made_with,
            opinions=tuple(Opinion(sample=n, value=value) for n, value in enumerate(opinions)),
        )


def made_run(folder, rows, *, text="", rubric=RUBRIC, **manifest):
    """Write a run folder with a case `c0`, `c1`, ... for each row of metadata; return it."""
    cases = [
        Case(id=f"c{n}", input="Why?", output=f"Because {n}.{text}", metadata=row)
        for n, row in enumerate(rows)
    ]
    manifest = {"rubrics": [rubric], **manifest}
    evaluate_sync(cases, [Given(rubric)], out=folder, manifest=manifest)
    return folder
