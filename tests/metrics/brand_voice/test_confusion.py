"""The detectors on texts written after them, in domains no example has: the counts as they fell.

The texts were labelled by the person who wrote them, and the detectors were not changed after.
Whoever mends a detector writes new texts.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from judgekit.metrics.brand_voice.patterns import built_in_patterns, find_violations
from judgekit.metrics.brand_voice.persona import Trait
from judgekit.metrics.brand_voice.traits import find_traits

TEXTS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data" / "voice_texts.jsonl")
    .read_text("utf-8")
    .splitlines()
]
VOICED = [row for row in TEXTS if "formality" in row]
SAFETY = [row for row in TEXTS if "violation" in row]


def heard(row, kind):
    (found,) = find_traits(row["text"], [Trait(kind, row[kind])])
    return found


def formality():
    """Return labelled -> heard, or "nothing"."""
    counts = Counter()
    for row in VOICED:
        found = heard(row, "formality")
        counts[row["formality"], found.detected[0] if found.detected else "nothing"] += 1
    return dict(sorted(counts.items()))


def tone():
    """Return labelled -> whether it is among the tones heard."""
    counts = Counter()
    for row in VOICED:
        matched = heard(row, "tone").matched
        said = {True: "heard", False: "others heard", None: "nothing heard"}[matched]
        counts[row["tone"], said] += 1
    return dict(sorted(counts.items()))


def violations():
    """Return labelled -> found, of each category, and of texts without fault."""
    counts = Counter()
    lists = built_in_patterns()
    for row in SAFETY:
        found = {violation.category for violation in find_violations([row["text"]], lists)}
        label = row["violation"]
        said = "found" if (label in found if label else found) else "not found"
        counts[label or "no fault", said] += 1
    return dict(sorted(counts.items()))


def test_there_are_enough_texts():
    assert len(TEXTS) >= 100
    assert len({row["text"] for row in TEXTS}) == len(TEXTS)


def test_formality_as_it_fell():
    """Where it speaks it is right on 20 of 34, and never takes one end for the other.

    19 of 33 as it first fell: the check of the language, shared with the tone metrics, took "no"
    for Spanish, and one casual text for no English. That was mended there, not here.
    """
    assert formality() == {
        ("business_casual", "business_casual"): 3,
        ("business_casual", "casual"): 1,
        ("business_casual", "nothing"): 21,
        ("casual", "business_casual"): 13,
        ("casual", "casual"): 11,
        ("casual", "nothing"): 1,
        ("formal", "formal"): 6,
        ("formal", "nothing"): 14,
    }


def test_tone_as_it_fell():
    """Where it hears anything, the labelled tone is among it in 45 of 46."""
    assert tone() == {
        ("conversational", "heard"): 13,
        ("conversational", "nothing heard"): 2,
        ("friendly", "heard"): 14,
        ("friendly", "nothing heard"): 2,
        ("professional", "heard"): 11,
        ("professional", "nothing heard"): 12,
        ("professional", "others heard"): 1,
        ("technical", "heard"): 7,
        ("technical", "nothing heard"): 8,
    }


def test_violations_as_they_fell():
    """Of 32 violations 13 are found, and one of 24 faultless texts is taken for one."""
    assert violations() == {
        ("custom_policy", "found"): 3,
        ("custom_policy", "not found"): 3,
        ("medical_and_financial_misinformation", "found"): 2,
        ("medical_and_financial_misinformation", "not found"): 8,
        ("no fault", "found"): 1,
        ("no fault", "not found"): 23,
        ("offensive_language", "found"): 3,
        ("offensive_language", "not found"): 6,
        ("violence_and_self_harm", "found"): 5,
        ("violence_and_self_harm", "not found"): 2,
    }
