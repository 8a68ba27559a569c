"""What the original returns, and what of it is ours: a row for every recorded figure."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from judgekit.core.errors import ConfigError
from judgekit.metrics.embedding.trait import Sides
from judgekit.metrics.personalization.difference import (
    difference,
    jaccard,
    on_1_100,
)
from judgekit.metrics.personalization.personalization import overall_personalization
from judgekit.metrics.safety_and_quality.coherence_rules import coherence

VECTORS = json.loads((Path(__file__).parents[2] / "data" / "wisent.json").read_text("utf-8"))

HERE = {
    "jaccard", "difference", "contrastive_alignment", "contrastive_alignment_batch",
    "contrastive_alignment_error", "personalization_overall", "personalization_overall_documented",
}  # fmt: skip
"""Matched by this file."""
COMPARED = {
    "quality": "heuristic numbers without a judge; compared on direction below",
    "coherence_gate": "calls every answer of few words incoherent; compared on direction below",
    "refusal_score_regex": "compared on direction in test_refusal_rules.py",
    "refusal_keyword": "compared on direction in test_refusal_rules.py",
}
DECLINED = {
    "judge_number_parse": "takes the first number in a judge's text; ours answers a form",
    "normalize_text": "its form for matching differs from SQuAD's, which exact_match takes",
    "user_label": "unpacks a label of its own data format",
    "factory_selection": "picks a class by keywords; ours are named",
    "diversity": "measures generators of prompts, which are not ours",
    "fnv1a64": "a hash of its generators; digests here are sha256",
}
ELSEWHERE = {
    "choice_extraction", "exact_match", "token_f1", "token_f1_choices", "binary_verdict_parse",
}  # fmt: skip
"""Held by the tests of the metrics that read answers."""


def of(metric):
    return [row for row in VECTORS if row["metric"] == metric]


def test_every_figure_has_its_place():
    assert {row["metric"] for row in VECTORS} == HERE | set(COMPARED) | set(DECLINED) | ELSEWHERE


@pytest.mark.parametrize("row", of("jaccard"), ids=lambda row: row["id"])
def test_jaccard(row):
    found = jaccard(row["inputs"]["a"], row["inputs"]["b"], compat="wisent")

    assert found == pytest.approx(row["expected"]["similarity"], abs=1e-9)


def mean_difference(baselines, steered, *, compat):
    """The figure of Wisent for lists: the mean over pairs; 50 without a pair."""
    pairs = list(zip(baselines, steered, strict=False))
    found = [difference(*pair, compat=compat) for pair in pairs]
    return sum(found) / len(found) if found else 50.0


@pytest.mark.parametrize("row", of("difference"), ids=lambda row: row["id"])
def test_difference(row):
    baseline, steered = row["inputs"]["baseline"], row["inputs"]["steered"]
    made = mean_difference if isinstance(baseline, list) else difference

    for compat in (None, "wisent"):
        found = made(baseline, steered, compat=compat)
        assert found == pytest.approx(row["expected"]["difference"], abs=1e-9)


@pytest.mark.parametrize("row", of("contrastive_alignment"), ids=lambda row: row["id"])
def test_contrastive_alignment(row):
    inputs, expected = row["inputs"], row["expected"]
    sides = Sides(inputs["positive_vectors"], inputs["negative_vectors"])
    found = sides.contrast(inputs["response_vector"])

    assert found.alignment == pytest.approx(expected["alignment_0_1"], abs=1e-6)
    assert on_1_100(found.alignment) == pytest.approx(expected["alignment_1_100"], abs=1e-6)


@pytest.mark.parametrize("row", of("contrastive_alignment_batch"), ids=lambda row: row["id"])
def test_contrastive_alignment_of_several(row):
    inputs = row["inputs"]
    sides = Sides(inputs["positive_vectors"], inputs["negative_vectors"])
    # 0 if there are none, as in Wisent.
    alignments = [sides.contrast(each).alignment for each in inputs["response_vectors"]] or [0.0]
    found = sum(alignments) / len(alignments)

    assert found == pytest.approx(row["expected"]["alignment_0_1"], abs=1e-6)


@pytest.mark.parametrize("row", of("contrastive_alignment_error"), ids=lambda row: row["id"])
def test_a_side_without_examples_is_said(row):
    sides = [[[1.0]] * len(row["inputs"][side] or ()) for side in ("positive", "negative")]

    with pytest.raises(ConfigError, match="contrastive alignment needs"):
        Sides(*sides)


@pytest.mark.parametrize("row", of("personalization_overall"), ids=lambda row: row["id"])
def test_overall_is_on_one_scale(row):
    inputs = row["inputs"]
    shares = (
        inputs["difference_1_100"] / 100,
        inputs["quality_0_100"] / 100,
        inputs["alignment_0_1"],
    )

    assert overall_personalization(*shares) == pytest.approx(row["expected_if_all_on_0_1"])
    on_100 = overall_personalization(shares[0], shares[1], on_1_100(inputs["alignment_0_1"]) / 100)
    assert 100 * on_100 == pytest.approx(row["expected_if_all_on_1_100"])


@pytest.mark.parametrize("row", of("personalization_overall_documented"), ids=lambda row: row["id"])
def test_overall_as_documented(row):
    found = overall_personalization(**row["inputs"])

    assert found == pytest.approx(row["expected"]["overall"])


SHORT = "few words are no fault: what is too short depends on the question"
DIFFERENT = {
    "qual-003": SHORT,
    "gate-003": SHORT,
    "gate-025": SHORT,
    "qual-019": "a long word that can be said is no gibberish",
    "gate-019": "a long word that can be said is no gibberish",
    "gate-016": "a run of exclamation marks is said, where the gate lets it pass",
}
"""Where ours says something else, and why."""


def test_direction_of_coherence_against_the_original(capsys):
    confusion = Counter()
    differ = set()
    for row in VECTORS:
        if row["metric"] not in ("quality", "coherence_gate"):
            continue
        expected = row["expected"]
        theirs = expected["coherent"] if "coherent" in expected else expected["quality"] > 99
        ours = coherence(row["inputs"]["text"]).value == 1.0
        confusion[f"ours {'sound' if ours else 'faulty'}, theirs {theirs}"] += 1
        if ours is not theirs:
            differ.add(row["id"])
    with capsys.disabled():
        print(f"\ncoherence, ours against Wisent's: {dict(sorted(confusion.items()))}")

    assert differ == set(DIFFERENT)
