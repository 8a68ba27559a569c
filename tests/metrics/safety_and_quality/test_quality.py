"""Accuracy, tone, coherence, turns of a conversation, points, roles."""

from __future__ import annotations

import asyncio
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.case import Case, Message
from judgekit.core.errors import CaseError, ConfigError
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.agents.role_adherence import RoleAdherence, conversation
from judgekit.metrics.safety_and_quality.points import Points
from judgekit.metrics.safety_and_quality.quality import (
    TONES,
    Accuracy,
    Coherence,
    Interactive,
    ToneComplianceJudge,
)
from judgekit.runner.evaluation import evaluate_sync
from tests.metrics.scripted import Scripted, shown

CASE = Case(id="c", input="When was it built?", output="In 1932.", reference=("1932", "'32"))


def scored(metric, case=CASE):
    return asyncio.run(metric.score(case))


def equivalent(value):
    return Scripted(accuracy={"equivalent": {"reason": "said so", "value": value}})


# -- accuracy ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("probability", "value"), [(0.8, 1.0), (0.7999, 0.0), (1.0, 1.0), (0.0, 0.0)]
)
def test_an_answer_is_right_from_tau_on(probability, value):
    score = scored(Accuracy(judge=equivalent(probability)))

    assert score.value == value
    assert score.details["probability"] == probability
    assert score.confidence == max(probability, 1 - probability)
    assert score.ground_truth == ["1932", "'32"]


def test_the_mean_of_a_run_is_the_accuracy():
    def say(request):
        value = 0.9 if "1932" in shown(request, "answer")[0] else 0.1
        return {"equivalent": {"reason": "r", "value": value}}

    cases = [CASE, CASE.model_copy(update={"id": "d", "output": "In 1950."})]
    report = evaluate_sync(cases, [Accuracy(judge=Scripted(accuracy=say))])

    assert report.metrics["accuracy"].mean == 0.5


def test_accuracy_needs_a_reference():
    with pytest.raises(CaseError, match="reference"):
        scored(Accuracy(judge=Scripted()), CASE.model_copy(update={"reference": ()}))


@given(st.floats(0, 1), st.floats(0, 1))
def test_accuracy_is_one_or_nothing_and_falls_with_tau(probability, tau):
    value = scored(Accuracy(judge=equivalent(probability), tau=tau)).value

    assert value == float(probability >= tau)


# -- tone ----------------------------------------------------------------------------


def in_tone(value):
    return Scripted(target_tone={"in_tone": {"reason": "heard", "quotes": [], "value": value}})


@pytest.mark.parametrize("tone", TONES)
def test_the_judge_is_told_what_a_tone_is(tone):
    judge = in_tone(0.7)

    score = scored(ToneComplianceJudge(judge=judge, tone=tone.upper()))

    assert score.value == 0.7
    assert score.reason == f"{tone} 0.70: heard"
    text = judge.asked[0].messages[0].content
    assert f"which is {tone}." in text
    assert f"\n{tone.capitalize()}: " in text


def test_a_tone_of_ones_own_needs_a_meaning():
    judge = in_tone(0.1)
    metric = ToneComplianceJudge(judge=judge, tone="pirate", meaning="As in films.")

    scored(metric)

    assert "What pirate means here: As in films." in judge.asked[0].messages[0].content
    assert metric.options["parameters"] == {"tone": "pirate", "meaning": "As in films."}
    with pytest.raises(ConfigError, match=r"no tone 'pirate' is built in .*; define it with"):
        ToneComplianceJudge(judge=judge, tone="pirate")
    with pytest.raises(ConfigError, match="tone must be a text"):
        ToneComplianceJudge(judge=judge, tone=3)


# -- points --------------------------------------------------------------------------


def with_criteria(*points):
    criteria = [
        {"criterion": f"criterion {n}", "points": p, "tags": []} for n, p in enumerate(points)
    ]
    return CASE.model_copy(update={"expected": {"criteria": criteria}})


def meets(*met):
    def say(request):
        (criterion,) = shown(request, "criterion")
        value = met[int(criterion.split()[1])]
        return {"met": {"reason": criterion, "quotes": [], "value": value}}

    return Scripted(criterion_met=say)


def test_points_are_those_of_met_criteria_over_the_positive_ones():
    score = scored(Points(judge=meets(True, False, True)), with_criteria(5, 3, -4))

    assert score.value == 0.125
    assert score.reason == "1 of 8 points; not as wanted: “criterion 1”, “criterion 2”."
    assert [(p.answer, p.items[0]["met"]) for p in score.parts] == [
        ("met", True), ("not met", False), ("met", False),
    ]  # fmt: skip
    assert math.fsum(p.weight * p.value for p in score.parts) == pytest.approx(score.value)


def test_a_case_is_raw_and_the_data_set_is_clipped():
    def say(request):
        return {"met": {"reason": "r", "quotes": [], "value": True}}

    cases = [with_criteria(1, -3).model_copy(update={"id": "a"}),
             with_criteria(1, -0.5).model_copy(update={"id": "b"})]  # fmt: skip
    report = evaluate_sync(cases, [Points(judge=Scripted(criterion_met=say))])

    assert report.metrics["points"].mean == -0.75
    assert report.metrics["points"].figures["overall"] == 0.0
    assert report.metrics["points"].failed == 0


def test_no_positive_points_are_not_applicable():
    assert scored(Points(judge=meets(True)), with_criteria(-1)).status == "not_applicable"


@pytest.mark.parametrize(
    "criteria",
    [None, [], "text", [1], [{"criterion": "x"}], [{"criterion": " ", "points": 1}],
     [{"criterion": "x", "points": True}], [{"criterion": "x", "points": "3"}],
     [{"criterion": "x", "points": 1}] * 401],
)  # fmt: skip
def test_criteria_that_are_none_cost_no_call(criteria):
    judge = Scripted()
    case = CASE.model_copy(update={"expected": {"criteria": criteria}})

    with pytest.raises(CaseError, match=r"expected\.criteria"):
        scored(Points(judge=judge), case)
    assert judge.asked == []


@given(st.lists(st.tuples(st.integers(-9, 9), st.booleans()), min_size=1, max_size=8))
def test_points_are_at_most_one_and_rise_with_a_good_criterion_met(points):
    case = with_criteria(*(p for p, _ in points), 5)
    missed = scored(Points(judge=meets(*(m for _, m in points), False)), case).value
    met = scored(Points(judge=meets(*(m for _, m in points), True)), case).value

    assert missed < met <= 1


# -- roles ---------------------------------------------------------------------------

TALK = Case(
    id="tram",
    system="You are Bo, the guide of the tram museum.",
    history=(
        Message(role="user", content="Hello"),
        Message(role="assistant", content="Welcome, passengers."),
        Message(role="user", content="Who should win?"),
        Message(role="assistant", content="The incumbent."),
    ),
    input="And car 17?",
    output="Built in 1911, passengers.",
)


def roles():
    def say(request):
        kept = "incumbent" not in shown(request, "answer")[0]
        return {"in_role": {"reason": "heard", "quotes": [], "value": kept}}

    return Scripted(role_adherence=say)


def test_role_adherence_is_turns_in_the_role_over_assistant_turns():
    judge = roles()

    score = scored(RoleAdherence(judge=judge), TALK)

    assert score.value == pytest.approx(2 / 3)
    assert score.reason == "2 of 3 assistant turns keep to the role; not “The incumbent.”."
    assert [(p.id, p.answer) for p in score.parts] == [
        ("turn 1", "in the role"), ("turn 2", "out of it"), ("turn 3", "in the role"),
    ]  # fmt: skip
    # Each turn is seen with what was said before it, and nothing after it.
    assert [len(shown(r, "user")) for r in judge.asked] == [1, 2, 3]
    assert [shown(r, "answer") for r in judge.asked] == [
        [m.content] for m in conversation(TALK) if m.role == "assistant"
    ]


def test_turns_beyond_the_limit_are_left_out_and_it_is_said():
    score = scored(RoleAdherence(judge=roles(), max_turns=2), TALK)

    assert [part.id for part in score.parts] == ["turn 2", "turn 3"]
    assert score.details["turns_left_out"] == 1


@pytest.mark.parametrize("update", [{"system": " "}, {"output": None, "history": ()}])
def test_without_a_role_or_a_turn_nothing_is_asked(update):
    judge = Scripted()

    with pytest.raises(CaseError):
        scored(RoleAdherence(judge=judge), TALK.model_copy(update=update))
    assert judge.asked == []


# -- the plain rubrics ---------------------------------------------------------------


def test_what_does_not_apply_to_a_turn_leaves_the_sum():
    words = {"memory": "fully", "consistency": "partly", "correction": "no_occasion",
             "progress": "fully"}  # fmt: skip
    answers = {k: {"reason": "r", "value": v} for k, v in words.items()}
    answers["consistency"]["quotes"] = []
    judge = Scripted(interactive=answers)

    score = scored(Interactive(judge=judge), TALK)

    assert score.value == pytest.approx((0.3 + 0.15 + 0.2) / 0.8)
    assert score.confidence == pytest.approx(0.8)


def test_interactive_is_about_a_conversation():
    with pytest.raises(CaseError, match="history"):
        scored(Interactive(judge=Scripted()))


def test_coherence_is_weighed():
    words = {"consistency": "contradictory", "order": "connected", "repetition": "some",
             "wholeness": "complete"}  # fmt: skip
    answers = {k: {"reason": "r", "value": v} for k, v in words.items()}
    answers["consistency"]["quotes"] = []
    judge = Scripted(coherence=answers)

    assert scored(Coherence(judge=judge)).value == pytest.approx(0.3 + 0.075 + 0.15)


@pytest.mark.parametrize("metric", [Accuracy, Coherence, Interactive, ToneComplianceJudge, Points,
                                    RoleAdherence])  # fmt: skip
@pytest.mark.parametrize("output", ["いいえ。", "so " * 330_000])
def test_any_text_is_put_to_the_judge_and_the_score_is_on_the_range(metric, output):
    case = TALK.model_copy(
        update={"output": output, "reference": ("x",), "expected": with_criteria(2, -1).expected}
    )

    score = scored(metric(judge=FakeJudge()), case)

    low, high = metric.range
    assert score.value is None or low <= score.value <= high
    assert score == scored(metric(judge=FakeJudge()), case)
