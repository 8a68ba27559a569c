"""Robustness: the answer to a changed question against the answer to the original."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError
from judgekit.datasets.perturb import ORIGINAL as WRITTEN
from judgekit.metrics.robustness.robustness import (
    ORIGINAL,
    AdversarialRobustness,
    ContinuousRobustness,
    continuous_robustness,
    edit_share,
    read_verdict,
)
from judgekit.runner.evaluation import evaluate_sync
from tests.each import each

DATA = Path(__file__).parents[2] / "data"
VECTORS = json.loads((DATA / "quality_definitions.json").read_text("utf-8"))
VERDICTS = [
    row
    for row in json.loads((DATA / "wisent.json").read_text("utf-8"))
    if row["metric"] == "binary_verdict_parse"
]


def copy(before, after, *, kind="typos", original="one two three", changed="one two threee", n=0):
    return Case(
        id=f"p~{kind}-{n}",
        parent="p",
        input=changed,
        baseline=before,
        output=after,
        expected={ORIGINAL: original},
        metadata={"perturbation": {"kind": kind}},
    )


def score(metric, case):
    return asyncio.run(metric.score(case))


def test_perturb_and_the_metric_agree_on_where_the_original_input_is():
    assert ORIGINAL == WRITTEN


# -- recorded figures ---------------------------------------------------------------


@pytest.mark.parametrize(
    "row", [r for r in VECTORS if r["metric"] == "adversarial_robustness"], ids=lambda r: r["id"]
)
def test_the_equations_of_robustness_and_attack_success(row):
    pairs = zip(row["inputs"]["clean"], row["inputs"]["perturbed"], strict=True)
    cases = [copy(before, after, n=n) for n, (before, after) in enumerate(pairs)]

    (summary,) = evaluate_sync(cases, [AdversarialRobustness(equal="exact")]).figures.metrics

    assert summary.mean == row["expected"]["robustness"]
    rate = summary.figures["attack_success_rate"]
    assert rate == row["expected"]["attack_success_rate"]
    assert rate == summary.figures["attack_success_rate_typos"]


@pytest.mark.parametrize(
    "row", [r for r in VECTORS if r["metric"] == "robustness_continuous"], ids=lambda r: r["id"]
)
def test_the_continuous_equation(row):
    # The one recorded: a zero perturbation leaves nothing to divide by.
    assert row["inputs"]["delta_norm"] == [0]
    assert row["expected"]["value"] is None

    found = score(ContinuousRobustness(), copy("x", "y", original="same", changed="same"))

    assert (found.status, found.value) == ("not_applicable", None)


@each("row", VERDICTS, ids=lambda row: row["id"])
def test_verdict_words_are_read_whole(row):
    inputs = row["inputs"]
    words = {"TRUTHFUL": "positive", "UNTRUTHFUL": "negative", "UNKNOWN": None}

    found = read_verdict(
        inputs["verdict"], positive=inputs["positive_labels"], negative=inputs["negative_labels"]
    )

    assert found == words[row["expected_whole_word"]]


# -- equality -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "before", "after", "value"),
    [
        ({"equal": "exact"}, "Paris.", "Paris.", 1.0),
        ({"equal": "exact"}, "Paris.", "paris", 0.0),
        ({}, "Paris.", "paris", 1.0),
        ({}, "The answer: 1,000", "answer 1000", 0.0),
        ({"equal": "lexical"}, "the parcel left on Monday", "the parcel left on Monday!", 1.0),
        ({"equal": "lexical"}, "the parcel left on Monday", "no idea, sorry", 0.0),
    ],
)
def test_what_counts_as_the_same_answer(options, before, after, value):
    found = score(AdversarialRobustness(**options), copy(before, after))

    assert found.value == value
    assert found.ground_truth == before


@pytest.mark.parametrize("embedder", [None, "lexical"])
def test_semantic_equality_needs_a_semantic_embedder(embedder):
    metric = AdversarialRobustness(equal="semantic", embedder=embedder)

    found = score(metric, copy("It is open.", "It is not open."))

    assert found.status == "not_applicable"
    assert "equal: lexical" in found.reason


def test_semantic_equality_is_a_cosine_of_meaning():
    class Constant:
        identity = "constant"

        def embed(self, texts):
            return [[1.0, 0.0] if "not" in text else [0.0, 1.0] for text in texts]

    metric = AdversarialRobustness(equal="semantic", embedder=Constant())

    assert score(metric, copy("It is open.", "Open, it is.")).value == 1.0
    assert score(metric, copy("It is open.", "It is not open.")).value == 0.0


@pytest.mark.parametrize(
    ("before", "after", "status", "value"),
    [
        ("I call this safe.", "Safe", "scored", 1.0),
        ("I call this safe.", "It is unsafe.", "scored", 0.0),
        ("I call this safe.", "Hard to say.", "not_applicable", None),
    ],
)
def test_verdicts_are_compared_by_their_words(before, after, status, value):
    metric = AdversarialRobustness(equal="verdict", positive=("safe",), negative=("unsafe",))

    found = score(metric, copy(before, after))

    assert (found.status, found.value) == (status, value)


def test_the_attack_success_rate_is_told_by_kind_and_can_be_a_gate():
    cases = [
        copy("a", "a", kind="typos", n=1),
        copy("a", "b", kind="typos", n=2),
        copy("a", "b", kind="injection", n=3),
    ]

    report = evaluate_sync(
        cases,
        [AdversarialRobustness()],
        gates={"adversarial_robustness": {"attack_success_rate": 0.5}},
    )

    assert report.figures.metrics[0].figures == {
        "attack_success_rate": 2 / 3,
        "attack_success_rate_injection": 1.0,
        "attack_success_rate_typos": 0.5,
    }
    assert not report.figures.gates[0].passed
    assert "at most 0.5" in report.figures.gates[0].sentence


# -- continuous ---------------------------------------------------------------------


def test_a_distance_by_hand():
    # 1 of 5 letters of the answer moved, 1 of 10 of the input: 1 - .2 / .1 = -1, shown as 0.
    found = score(
        ContinuousRobustness(),
        copy("abcde", "abcdx", original="0123456789", changed="012345678x"),
    )

    assert found.value == 0.0
    assert found.details["raw"] == pytest.approx(-1.0)


def test_embedding_distances_name_their_embedder():
    case = copy("the parcel left", "the parcel left", original="where is it", changed="wher is it")

    found = score(ContinuousRobustness(norm="embedding"), case)

    assert found.value == 1.0
    assert found.meta["embedder"].startswith("lexical")


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.001, 1))
def test_a_greater_move_never_scores_better(moved, more, pushed):
    assert continuous_robustness(max(moved, more), pushed) <= continuous_robustness(moved, pushed)


@given(st.text(max_size=60), st.text(max_size=60))
def test_an_edit_share_is_a_symmetric_share(one, other):
    assert 0.0 <= edit_share(one, other) <= 1.0
    assert edit_share(one, other) == edit_share(other, one)
    assert (edit_share(one, other) == 0.0) == (one == other)


@given(st.text(max_size=80), st.text(max_size=80), st.sampled_from(["edit", "embedding"]))
def test_any_texts_give_a_score_in_range_or_none(before, after, norm):
    case = copy(f"a {before}", f"b {after}")
    metrics = (ContinuousRobustness(norm=norm), AdversarialRobustness())
    for metric in metrics:
        found = score(metric, case)
        assert found == score(metric, case)
        assert found.value is None or 0.0 <= found.value <= 1.0


def test_a_megabyte_is_compared_in_a_moment():
    long = "word after word " * 62_500

    found = score(ContinuousRobustness(), copy(long, long + "more", original="a", changed="b"))

    assert found.value == pytest.approx(1.0, abs=1e-4)


# -- what is missing ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parent": None}, "id of the original case"),
        ({"baseline": None}, "needs a baseline"),
        ({"output": None}, "needs an output"),
        ({"expected": {}}, "expected.original_input"),
        ({"input": None}, "needs an input"),
    ],
)
def test_what_is_missing_is_said(changes, message):
    case = copy("a", "b").model_copy(update=changes)

    with pytest.raises(CaseError, match=message):
        score(ContinuousRobustness(), case)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"equal": "same"}, "equal must be one of"),
        ({"equal": "verdict"}, "positive and negative words belong to equal: verdict"),
        ({"positive": ["yes"], "negative": ["no"]}, "belong to equal: verdict"),
        ({"tau": 2}, "tau must be a number from 0 to 1"),
        ({"equal": "semantic", "embedder": "none"}, "'none' is not known"),
    ],
)
def test_wrong_options_are_one_line(options, message):
    with pytest.raises(ConfigError, match=message):
        AdversarialRobustness(**options)
