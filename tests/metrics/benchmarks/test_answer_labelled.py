"""Answers in labelled texts, and how many of them the rules read.

`answers_labelled.jsonl` and `answers_held_out.jsonl` were never used to write a rule;
`answers_harder.jsonl` was. The rates stand in docs/metrics/benchmarks.md.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from judgekit.metrics.benchmarks.answer import find_answer
from judgekit.metrics.benchmarks.choice import Choices
from judgekit.metrics.benchmarks.generation import CONFIDENCE, confidence_key
from judgekit.metrics.benchmarks.wording import read_number
from judgekit.metrics.tokens import answer_form

DATA = Path(__file__).parents[2] / "data"


def rows(name):
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def verdict(row):
    found = find_answer(row["text"], kind=row["kind"], choices=Choices(tuple(row["choices"])))
    wanted = row["answer"]
    if found is None or wanted is None:
        return "nothing, rightly" if found is wanted else "missed" if wanted else "imagined"
    form = read_number if row["kind"] == "number" else answer_form
    return "right" if form(found.text) == form(wanted) else "wrong"


def counted(name):
    counts: dict[str, Counter[str]] = {}
    for row in rows(name):
        counts.setdefault(row["kind"], Counter())[verdict(row)] += 1
    return counts


def test_the_mistakes_are_those_that_were_counted():
    assert counted("answers_labelled.jsonl") == {
        "choice": {"right": 30, "nothing, rightly": 5, "missed": 2, "wrong": 2, "imagined": 1},
        "number": {"right": 30, "nothing, rightly": 1, "wrong": 2},
        "yes_no": {"right": 14, "nothing, rightly": 3, "missed": 1},
        "text": {"right": 12, "wrong": 5},
    }


@pytest.mark.parametrize(
    ("name", "size", "least", "most_invented"),
    [("answers_harder.jsonl", 179, 0.96, 2), ("answers_held_out.jsonl", 161, 0.95, 1)],
)
def test_negations_and_corrections_are_read(name, size, least, most_invented):
    counts = sum(counted(name).values(), Counter())

    assert counts.total() == size
    assert (counts["right"] + counts["nothing, rightly"]) / size >= least
    # An answer that the text does not give is worse than none.
    assert counts["wrong"] + counts["imagined"] <= most_invented


def test_the_confidence_is_the_rate_on_texts_no_rule_was_written_for():
    right: dict[str, list[bool]] = {}
    for row in rows("answers_labelled.jsonl") + rows("answers_held_out.jsonl"):
        choices = Choices(tuple(row["choices"]))
        found = find_answer(row["text"], kind=row["kind"], choices=choices)
        right.setdefault(confidence_key(found), []).append(
            verdict(row) in ("right", "nothing, rightly")
        )

    assert {
        way: round((sum(hits) + 1) / (len(hits) + 2), 2) for way, hits in right.items()
    } == CONFIDENCE


def test_the_held_out_texts_were_not_tuned_on():
    tuned = {row["text"].casefold() for row in rows("answers_harder.jsonl")}

    assert not [row for row in rows("answers_held_out.jsonl") if row["text"].casefold() in tuned]
