"""Toxicity, bias, refusal: what a judge says, folded into what the metrics promise."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.rubric import RubricMetric
from judgekit.metrics.safety_and_quality.harm import CATEGORIES, Bias, Toxicity
from judgekit.metrics.safety_and_quality.refusal import Refusal
from judgekit.runner.evaluation import evaluate_sync
from tests.metrics.scripted import Scripted

CASE = Case(id="c", input="Why is it late?", output="Because you are a fool.")


NUMBERS = "toxicity@1"
"""Version 1 asks for any probability, later ones for one of five."""


def scored(metric, case=CASE):
    return asyncio.run(metric.score(case))


def categories(**known):
    def say(request):
        return {
            q.id: {"reason": f"about {q.id}", "quotes": [], "value": known.get(q.id, 0.0)}
            for q in request.form.questions
        }

    return Scripted(toxicity=say)


def opinions(*met):
    items = [{"item": f"opinion {n}", "reason": "so", "met": fair} for n, fair in enumerate(met)]
    return Scripted(bias={"opinions": {"quotes": [], "items": items}})


# -- toxicity ------------------------------------------------------------------------


def test_toxicity_is_the_greatest_probability_and_says_of_what():
    score = scored(Toxicity(judge=categories(harassment=0.9, hate=0.3), rubric=NUMBERS))

    assert score.value == 0.9
    assert score.reason == "harassment 0.90, above 0.5: about harassment"
    assert score.details["flagged"] is True
    assert score.details["probabilities"] == {
        **dict.fromkeys(CATEGORIES, 0.0), "harassment": 0.9, "hate": 0.3,
    }  # fmt: skip
    assert {part.id: part.value for part in score.parts}["hate"] == 0.3
    assert not Toxicity.higher_is_better


@pytest.mark.parametrize(("theta", "flagged"), [(0.5, False), (0.4999, True)])
def test_at_theta_an_answer_is_not_flagged(theta, flagged):
    score = scored(Toxicity(judge=categories(violence=0.5), theta=theta, rubric=NUMBERS))

    assert score.details["flagged"] is flagged


def test_the_safety_rate_of_a_run_counts_what_is_at_or_below_theta():
    def say(request):
        value = {"a": 0.5, "b": 0.51, "c": 0.1}[request.about.case]
        return {q.id: {"reason": "r", "quotes": [], "value": value} for q in request.form.questions}

    cases = [CASE.model_copy(update={"id": id}) for id in "abc"]
    metric = Toxicity(judge=Scripted(toxicity=say), rubric=NUMBERS)
    report = evaluate_sync(cases, [metric], gates={"toxicity": {"safety_rate": 0.6}})

    assert report.metrics["toxicity"].figures["safety_rate"] == pytest.approx(2 / 3)
    assert report.figures.gates[0].passed
    assert report.metrics["toxicity"].worst[0].case == "b"
    assert evaluate_sync([], [metric]).metrics["toxicity"].figures["safety_rate"] is None


def test_further_categories_are_asked_like_the_others_under_a_key_of_their_own():
    plain = Toxicity(judge=categories(), rubric=NUMBERS)
    more = Toxicity(
        judge=categories(spam=0.8), categories={"spam": "Is it advertising?"}, rubric=NUMBERS
    )

    score = scored(more)

    assert (score.value, score.details["category"]) == (0.8, "spam")
    (request,) = more.requests(CASE)[1]
    assert "## spam\nIs it advertising?\nAnswer with a number from 0 to 1." in (
        request.messages[0].content
    )
    assert request.key != plain.requests(CASE)[1][0].key
    assert more.made_with["digest"] != plain.made_with["digest"]
    assert len(plain.rubric.criteria) == len(CATEGORIES)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"theta": 2}, "theta must be a number from 0 to 1"),
        ({"categories": {"hate": "x"}}, "'hate': it is taken"),
        ({"categories": {"self harm": "x"}}, "is not a valid name"),
        ({"categories": {"spam": " "}}, "needs a text"),
    ],
)
def test_a_wrong_option_of_toxicity_is_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        Toxicity(judge=FakeJudge(), **options)


def test_several_samples_are_averaged_category_by_category():
    values = iter((0.2, 0.6))

    def say(request):
        value = next(values)
        return {q.id: {"reason": "r", "quotes": [], "value": value} for q in request.form.questions}

    assert scored(
        Toxicity(judge=Scripted(toxicity=say), samples=2, rubric=NUMBERS)
    ).value == pytest.approx(0.4)


def test_the_rubric_by_itself_says_how_good_an_answer_is():
    judge = categories(harassment=0.9)

    assert scored(RubricMetric(NUMBERS, judge=judge)).value == pytest.approx(0.1)


@given(st.dictionaries(st.sampled_from(CATEGORIES), st.floats(0, 1)), st.floats(0, 1))
def test_toxicity_is_on_its_range_and_never_falls_when_a_category_rises(known, more):
    value = scored(Toxicity(judge=categories(**known), rubric=NUMBERS)).value
    raised = known | {"illicit": max(more, known.get("illicit", 0.0))}

    assert value == max([0.0, *known.values()])
    assert scored(Toxicity(judge=categories(**raised), rubric=NUMBERS)).value >= value


@pytest.mark.parametrize(
    ("word", "value", "flagged"),
    [("none", 0, False), ("unlikely", 0.25, False), ("unclear", 0.5, False),
     ("likely", 0.75, True), ("certain", 1, True)],
)  # fmt: skip
def test_a_level_is_a_probability(word, value, flagged):
    words = dict.fromkeys((*CATEGORIES, "spam"), "none") | {"spam": word}
    metric = Toxicity(judge=categories(**words), categories={"spam": "Is it advertising?"})

    score = scored(metric)

    assert (score.value, score.details["flagged"]) == (value, flagged)
    assert score.details["probabilities"]["spam"] == value
    assert "## spam\nIs it advertising?\nAnswer with one of these words:\n- none:" in (
        metric.requests(CASE)[1][0].messages[0].content
    )


# -- bias ----------------------------------------------------------------------------


def test_bias_is_biased_opinions_over_opinions():
    score = scored(Bias(judge=opinions(True, False, False, True)))

    assert score.value == 0.5
    assert score.reason == ("2 of 4 opinions about people are biased: “opinion 1”, “opinion 2”.")
    assert score.parts[0].value == 0.5
    assert not Bias.higher_is_better


def test_fair_opinions_are_no_bias_and_none_at_all_is_not_applicable():
    assert scored(Bias(judge=opinions(True))).value == 0.0
    none = scored(Bias(judge=opinions()))
    assert (none.status, none.value) == ("not_applicable", None)
    assert none.reason == "The answer gives no opinion about people."


@given(st.lists(st.booleans(), min_size=1, max_size=20))
def test_bias_is_on_its_range_and_rises_with_one_more(met):
    value = scored(Bias(judge=opinions(*met))).value

    assert value == met.count(False) / len(met)
    assert scored(Bias(judge=opinions(*met, False))).value >= value


# -- refusal -------------------------------------------------------------------------


def declining(*words):
    said = iter(words)
    return Scripted(
        refusal=lambda _: {"declines": {"reason": "so", "grounds": "", "value": next(said)}}
    )


@pytest.mark.parametrize(("word", "value"), [("declines", 1), ("partly", 0.5), ("complies", 0)])
def test_refusal_is_one_for_an_answer_that_declines(word, value):
    assert scored(Refusal(judge=declining(word))).value == value


def test_of_several_verdicts_on_refusal_the_majority_counts():
    assert (
        scored(Refusal(judge=declining("declines", "complies", "declines"), samples=3)).value == 1
    )
    tie = scored(Refusal(judge=declining("declines", "complies"), samples=2))
    assert tie.status == "abstained"


def test_a_run_shows_the_rate_of_refusal_and_the_rest():
    cases = [CASE.model_copy(update={"id": id}) for id in "abcd"]
    said = {"a": "declines", "b": "partly", "c": "complies", "d": "complies"}
    judge = Scripted(
        refusal=lambda request: {
            "declines": {"reason": "so", "grounds": "", "value": said[request.about.case]}
        }
    )

    report = evaluate_sync(
        cases, [Refusal(judge=judge)], gates={"refusal": {"compliance_rate": 0.6}}
    )

    figures = report.metrics["refusal"].figures
    assert figures == {"refusal_rate": 0.375, "compliance_rate": 0.625}
    assert report.figures.gates[0].passed


# -- all of them ---------------------------------------------------------------------


@pytest.mark.parametrize("metric", [Toxicity, Bias, Refusal])
def test_without_an_answer_nothing_is_asked(metric):
    judge = Scripted()

    with pytest.raises(CaseError):
        scored(metric(judge=judge), CASE.model_copy(update={"output": None}))
    assert judge.asked == []


@pytest.mark.parametrize("metric", [Toxicity, Bias, Refusal])
@pytest.mark.parametrize("output", ["Nein.", "¡No!" * 250_000, "\u202e؟\u0000"])
def test_any_text_is_put_to_the_judge_and_the_score_is_on_the_range(metric, output):
    score = scored(metric(judge=FakeJudge()), CASE.model_copy(update={"output": output}))

    assert score.value is None or 0 <= score.value <= 1
    assert score == scored(metric(judge=FakeJudge()), CASE.model_copy(update={"output": output}))
