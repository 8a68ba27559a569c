"""Answers in texts that were labelled after the rules were written, and the count of mistakes.

The counts are those of the first run; the rules were not changed to suit these texts.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from judgekit.metrics.benchmarks.answer import find_answer
from judgekit.metrics.benchmarks.choice import Choices
from judgekit.metrics.benchmarks.number import read_number
from judgekit.metrics.tokens import answer_form

DATA = Path(__file__).parents[2] / "data" / "answers_labelled.jsonl"
ROWS = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]


def verdict(row):
    found = find_answer(row["text"], kind=row["kind"], choices=Choices(tuple(row["choices"])))
    wanted = row["answer"]
    if found is None or wanted is None:
        return "nothing, rightly" if found is wanted else "missed" if wanted else "imagined"
    form = read_number if row["kind"] == "number" else answer_form
    return "right" if form(found.text) == form(wanted) else "wrong"


def test_the_mistakes_are_those_that_were_counted():
    counts: dict[str, Counter[str]] = {}
    for row in ROWS:
        counts.setdefault(row["kind"], Counter())[verdict(row)] += 1

    assert len(ROWS) >= 100
    assert counts == {
        "choice": {"right": 29, "nothing, rightly": 5, "missed": 3, "wrong": 2, "imagined": 1},
        "number": {"right": 29, "nothing, rightly": 1, "wrong": 3},
        "yes_no": {"right": 12, "nothing, rightly": 3, "missed": 3},
        "text": {"right": 12, "wrong": 5},
    }
