"""The folds of the quality metrics against the figures of the definitions and of the scorers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.score import round_half_up
from judgekit.metrics import shares
from tests.each import each

VECTORS = json.loads(
    (Path(__file__).parents[1] / "data" / "quality_definitions.json").read_text("utf-8")
)
# What the scorers give for no verdicts at all. Ours are not applicable unless told a number; that
# of toxicity is their quirk: nothing said counts as most toxic.
EMPTY = {"faithfulness": 0, "hallucination": 0, "toxicity": 1, "bias": 0, "answer_relevancy": 0}
ELSEWHERE = {
    "facts_covered": "tests/metrics/embedding",
    "facts_covered_semantic": "tests/metrics/embedding",
    "accuracy": "tests/metrics/embedding",
    "semantic_accuracy": "tests/metrics/embedding",
    "tone_compliance": "tests/metrics/embedding",
    "tone_compliance_cosine": "tests/metrics/embedding",
    "adversarial_robustness": "tests/metrics/robustness/test_robustness.py",
    "robustness_continuous": "tests/metrics/robustness/test_robustness.py",
    "attack_success_rate": "tests/metrics/robustness/test_robustness.py",
}


def folded(vector):
    metric, inputs, parameters = vector["metric"], vector["inputs"], vector["parameters"]
    match metric:
        case "faithfulness_ratio":
            return {"value": shares.faithfulness_ratio(inputs["supported"], inputs["total"])}
        case "completeness_ratio":
            return {"value": shares.completeness_ratio(inputs["covered"], inputs["required"])}
        case "toxicity_max":
            toxic = shares.toxicity_max(inputs["categories"], theta=parameters["theta"])
            return {"score": toxic.score, "flagged": toxic.flagged}
        case "safety_rate":
            return {"value": shares.safety_rate(inputs["scores"], theta=parameters["theta"])}
        case "rubric_all_required":
            criteria = [(c["satisfied"], c["required"]) for c in inputs["criteria"]]
            value = shares.rubric_all_required(criteria)
        case "answer_similarity":
            given = {name: inputs[name] for name in ("contradictions", "extra")}
            value = shares.answer_similarity(inputs["match_types"], **given, empty=0.0)
        case "adversarial_robustness_judge":
            value = shares.noise_robustness(
                inputs["llm_score"], inputs["impact_levels"], major_issues=inputs["major_issues"]
            )
        case "answer_relevancy":
            value = shares.answer_relevancy(
                inputs["verdicts"],
                unsure=parameters["uncertaintyWeight"],
                empty=EMPTY[metric],
            )
        case _:
            value = getattr(shares, metric)(inputs["verdicts"], empty=EMPTY[metric])
    return {"score": round_half_up(value * parameters.get("scale", 1))}


@each("vector", [v for v in VECTORS if v["metric"] not in ELSEWHERE], ids=lambda v: v["id"])
def test_a_fold_gives_the_recorded_figure(vector):
    said = folded(vector)

    for name, expected in vector["expected"].items():
        assert said[name] == (
            expected if expected is None else pytest.approx(expected, abs=vector["tolerance"])
        )


@pytest.mark.parametrize(
    ("fold", "verdicts", "expected"),
    [
        (shares.faithfulness, ["yes", "unsure", "no"], 1 / 3),
        (shares.faithfulness, ["Yes"], 0.0),
        (shares.hallucination, ["yes", "no", "no", "no"], 0.25),
        (shares.toxicity, [" YES ", "no"], 0.5),
        (shares.bias, ["Yes"], 1.0),
        (shares.answer_relevancy, ["yes", "unsure", "maybe", "no"], 0.325),
    ],
)
def test_verdicts_are_counted_as_worked_by_hand(fold, verdicts, expected):
    assert fold(verdicts) == pytest.approx(expected)


@pytest.mark.parametrize("name", EMPTY)
def test_nothing_of_nothing_is_no_number_unless_one_is_named(name):
    assert getattr(shares, name)([]) is None
    assert getattr(shares, name)([], empty=0.0) == 0.0


def test_at_the_bound_an_answer_is_not_toxic_and_counts_as_safe():
    assert shares.toxicity_max({"hate": 0.5, "violence": 0.1}) == (0.5, False, "hate")
    assert shares.toxicity_max({"hate": 0.5001}).flagged
    assert shares.toxicity_max({}) is None
    assert shares.safety_rate([0.5, 0.51], theta=0.5) == 0.5
    assert shares.safety_rate([]) is None


@pytest.mark.parametrize(
    ("relevant", "expected"),
    [
        ([True, True, False], 1.0),
        ([False, True], 0.5),
        ([False, True, True], (1 / 2 + 2 / 3) / 2),
        ([False, False], None),
        ([], None),
    ],
)
def test_precision_is_weighed_by_rank(relevant, expected):
    assert shares.context_precision(relevant) == (expected and pytest.approx(expected))


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([(5, True), (3, True)], 1.0),
        ([(5, True), (3, False), (-4, True)], 0.125),
        ([(5, False), (-10, True)], -2.0),
        ([(-1, True)], None),
        ([], None),
    ],
)
def test_points_are_not_clipped(points, expected):
    assert shares.points_ratio(points) == expected


def test_without_a_required_criterion_all_of_them_count():
    assert shares.rubric_all_required([(True, True), (False, False)]) == 1.0
    assert shares.rubric_all_required([(True, False), (False, False)]) == 0.0


@pytest.mark.parametrize(("part", "whole"), [(2, 1), (-1, 1)])
def test_more_than_the_whole_is_refused(part, whole):
    with pytest.raises(ValueError, match="is not a share"):
        shares.ratio(part, whole)


@given(st.lists(st.sampled_from(["yes", "no", "unsure", "YES", "", "ja"]), min_size=1))
def test_every_share_is_on_the_unit_interval_and_one_more_yes_never_lowers_it(verdicts):
    for name in EMPTY:
        fold = getattr(shares, name)
        assert 0 <= fold(verdicts) <= 1
        assert fold([*verdicts, "yes"]) >= fold(verdicts)


@given(st.lists(st.booleans(), min_size=1))
def test_precision_gains_when_a_relevant_passage_moves_up(relevant):
    value = shares.context_precision(relevant)
    if value is None:
        return
    assert 0 < value <= 1
    assert shares.context_precision(sorted(relevant, reverse=True)) == 1.0
    assert shares.context_precision(sorted(relevant)) <= value


@given(st.lists(st.sampled_from(sorted(shares.MATCHES))), st.integers(0, 9), st.integers(0, 9))
def test_similarity_falls_with_every_contradiction_and_addition(matches, contradictions, extra):
    value = shares.answer_similarity(matches, contradictions=contradictions, extra=extra, empty=0.0)

    assert 0 <= value <= 1
    for more in ({"contradictions": contradictions + 1}, {"extra": extra + 1}):
        given = {"contradictions": contradictions, "extra": extra, **more}
        assert shares.answer_similarity(matches, **given, empty=0.0) <= value


@given(st.floats(0, 1), st.lists(st.sampled_from(sorted(shares.IMPACTS))), st.integers(0, 9))
def test_noise_robustness_is_never_above_the_judges_figure(judged, impacts, issues):
    value = shares.noise_robustness(judged, impacts, major_issues=issues)

    assert 0 <= value <= judged
    assert shares.noise_robustness(judged, impacts, major_issues=issues + 1) <= value


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: shares.answer_similarity(["similar"]),
        lambda: shares.answer_similarity(["exact"], extra=-1),
        lambda: shares.noise_robustness(0.5, ["some"]),
        lambda: shares.noise_robustness(1.5, []),
        lambda: shares.noise_robustness(float("nan"), []),
    ],
)
def test_a_wrong_judgement_is_refused(wrong):
    with pytest.raises(ValueError, match=r"unknown|negative|from 0 to 1"):
        wrong()
