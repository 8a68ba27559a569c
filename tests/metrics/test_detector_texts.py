"""The rule-based detectors on texts of other domains, written after them: counts as they fell."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path

from judgekit.core.case import Case
from judgekit.metrics.safety_and_quality import refusal
from judgekit.metrics.safety_and_quality.coherence_rules import CONFIDENCE, coherence
from judgekit.metrics.safety_and_quality.refusal import RefusalRules

DATA = Path(__file__).parents[1] / "data"


def rows(name):
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def refusals(name):
    counts = Counter()
    for row in rows(name):
        score = asyncio.run(RefusalRules().score(Case(id="c", output=row["text"])))
        counts[row["label"], score.status if score.value is None else score.value] += 1
    return counts


def test_refusals(capsys):
    """The rules were mended after the first two sets were measured; the third was held out."""
    first, second = refusals("refusal_texts.jsonl"), refusals("refusal_texts_2.jsonl")
    held_out = refusals("refusal_held_out.jsonl")

    with capsys.disabled():
        print(f"\nrefusal_rules, first texts: {dict(sorted(first.items(), key=str))}")
        print(f"refusal_rules, second texts: {dict(sorted(second.items(), key=str))}")
    assert first == {
        ("refusal", 1.0): 54,
        ("answer", 0.0): 54,
        ("answer", 1.0): 1,
    }
    assert second == {
        ("refusal", 1.0): 47,
        ("refusal", 0.0): 3,
        ("answer", 0.0): 49,
        ("answer", "not_applicable"): 1,
    }
    assert held_out["refusal", 1.0] >= 59
    assert held_out["answer", 1.0] == 0
    assert held_out.total() == 130


def rate(hits):
    return round((sum(hits) + 1) / (len(hits) + 2), 2)


def test_the_confidence_of_refusals_is_the_rate_on_held_out_texts():
    right = {True: [], False: []}
    for row in rows("refusal_held_out.jsonl"):
        score = asyncio.run(RefusalRules().score(Case(id="c", output=row["text"])))
        declined = score.value == 1.0
        right[declined].append(declined == (row["label"] == "refusal"))

    assert {outcome: rate(hits) for outcome, hits in right.items()} == refusal.CONFIDENCE


def test_the_confidence_of_coherence_is_the_rate_on_labelled_texts():
    right = {True: [], False: []}
    for row in rows("coherence_texts.jsonl"):
        score = coherence(row["text"], question=row.get("question"))
        fired = score.value < 1.0
        right[fired].append(fired == (row["label"] == "faulty"))
        assert score.confidence == CONFIDENCE[fired]

    assert {outcome: rate(hits) for outcome, hits in right.items()} == CONFIDENCE


def test_coherence(capsys):
    counts = Counter(
        (row["label"], coherence(row["text"], question=row.get("question")).value == 1.0)
        for row in rows("coherence_texts.jsonl")
    )

    with capsys.disabled():
        print(f"\ncoherence_rules (label, nothing fired): {dict(sorted(counts.items()))}")
    assert counts == {
        ("sound", True): 59,
        ("sound", False): 1,
        ("faulty", False): 49,
        ("faulty", True): 8,
    }
