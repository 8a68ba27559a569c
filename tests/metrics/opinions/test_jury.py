"""Juries, samples in balanced orders, parts of criteria, and readouts, from request to row."""

from __future__ import annotations

import asyncio
import random

import pytest

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError, InvalidReply, JudgeRejected, JudgeUnavailable
from judgekit.core.jury import Jury
from judgekit.core.request import Reply, Try
from judgekit.core.score import Row
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.registry import create_metric
from judgekit.metrics.rubric import RubricMetric
from judgekit.rubric.load import load_rubric

CASE = Case(id="c", input="Why?", output="Because.")
CRITERIA = """\
  tone: {text: How is the tone?, options: {good: 1, fair: 0.5, bad: 0}}
  polite: {text: Is it polite?, kind: boolean}
  length: {text: How long is it?, minimum: 0, maximum: 10}
"""


@pytest.fixture
def rubric(tmp_path):
    def load(criteria=CRITERIA, more=""):
        path = tmp_path / "mine.jinja"
        head = "---\nname: mine\nextends: base\ndescription: Judge it.\n"
        path.write_text(f"{head}criteria:\n{criteria}{more}---\n", encoding="utf-8")
        return load_rubric(path)

    return load


def verdict(**values):
    return {id: {"reason": f"{id} is {value}", "value": value} for id, value in values.items()}


def judge(*answers, model="fake/judge"):
    """Return a judge that gives (or raises) these by sample, for the criteria it is asked."""

    def script(request):
        answer = answers[request.sample % len(answers)]
        if isinstance(answer, Exception):
            raise answer
        return {q.id: verdict(**answer)[q.id] for q in request.form.questions}

    return FakeJudge(script, model=model)


def jury(*members, **options):
    named = {f"m{n}": judge(answer, model=f"fake/{n}") for n, answer in enumerate(members)}
    return Jury(named, **options)


def score(rubric, asked, **options):
    return asyncio.run(RubricMetric(rubric, judge=asked, **options).score(CASE))


GOOD = {"tone": "good", "polite": True, "length": 4.0}
FAIR = {"tone": "fair", "polite": True, "length": 6.0}
BAD = {"tone": "bad", "polite": False, "length": 10.0}


def values(found):
    return {part.id: part.value for part in found.parts}


# -- the vote -------------------------------------------------------------------------


def test_a_jury_decides_words_by_majority_and_averages_numbers(rubric):
    found = score(rubric(), jury(GOOD, GOOD, BAD))

    assert values(found) == {"tone": 1.0, "polite": 1.0, "length": pytest.approx(0.6)}
    assert [part.answer for part in found.parts] == ["good", True, pytest.approx(6.0)]
    assert found.parts[0].reason == "tone is good"


def test_a_tie_of_judges_abstains(rubric):
    found = score(rubric(), jury(GOOD, BAD))

    tone, polite, _ = found.parts
    assert (tone.status, tone.value, tone.answer) == ("abstained", None, None)
    assert tone.reason == "the judges are tied: good 1, bad 1"
    assert polite.status == "abstained"


def test_a_tie_of_all_criteria_is_the_reason(rubric):
    found = score(rubric("  tone: {text: T., options: {good: 1, bad: 0}}\n"),
                  jury({"tone": "good"}, {"tone": "bad"}))  # fmt: skip

    assert (found.status, found.value) == ("abstained", None)
    assert found.reason == "nothing to score: tone: tie 1 to 1 of the judges: good, bad"


def test_the_mean_of_a_jury_is_over_values(rubric):
    found = score(rubric(), jury(GOOD, FAIR, BAD, vote="mean"))

    assert values(found)["tone"] == pytest.approx(0.5)
    assert values(found)["polite"] == pytest.approx(2 / 3)


def test_weights_decide_a_weighted_vote(rubric):
    weights = {"m0": 3.0, "m1": 1.0, "m2": 1.0}
    found = score(rubric(), jury(BAD, GOOD, GOOD, vote="weighted", weights=weights))

    assert values(found) == {"tone": 0.0, "polite": 0.0, "length": pytest.approx(0.76)}
    nothing = {"m0": 0.0, "m1": 1.0, "m2": 1.0}
    assert values(score(rubric(), jury(BAD, GOOD, GOOD, vote="weighted", weights=nothing))) == {
        "tone": 1.0,
        "polite": 1.0,
        "length": pytest.approx(0.4),
    }


def test_members_combine_their_samples_before_they_vote(rubric):
    one = judge(GOOD, GOOD, BAD, model="fake/a")
    other = judge(GOOD, BAD, BAD, model="fake/b")
    third = judge(BAD, BAD, BAD, model="fake/c")

    found = score(rubric(), Jury([one, other, third], samples=3))

    # By single answers, bad has six of nine as well; by members it has two of three.
    assert values(found)["tone"] == 0.0
    assert [(o.member, o.sample) for o in found.opinions][:4] == [
        ("fake/a", 0),
        ("fake/b", 0),
        ("fake/c", 0),
        ("fake/a", 1),
    ]


def test_members_keep_their_weights_after_their_samples(rubric):
    low, high = {**GOOD, "length": 0.0}, {**GOOD, "length": 10.0}
    members = [judge(high, model="fake/a"), judge(low, model="fake/b")]

    def length(**weights):
        asked = Jury(dict(zip("ab", members, strict=True)), samples=2, vote="weighted",
                     weights=weights)  # fmt: skip
        return values(score(rubric(), asked))["length"]

    assert length(a=3.0, b=1.0) == pytest.approx(0.75)
    # A judge without weight still has an answer, so that half of the judges are not silent.
    assert length(a=1.0, b=0.0) == pytest.approx(1.0)


def test_half_of_the_judges_without_a_number_leave_none(rubric):
    criteria = "  length: {text: How long is it?, maximum: 10, nullable: true}\n"
    number, nothing = {"length": 4.0}, {"length": None}

    half = score(rubric(criteria), jury(number, nothing))
    most = score(rubric(criteria), jury(number, number, nothing))

    assert (half.parts[0].status, half.parts[0].value) == ("abstained", None)
    assert (most.parts[0].status, most.parts[0].value) == ("scored", pytest.approx(0.4))


def test_requests_of_each_order_say_what_they_are_about(rubric):
    asked = []

    def script(request):
        asked.append((request.model, request.sample, request.about.order))
        return verdict(**GOOD)

    members = [FakeJudge(script, model=f"fake/{name}") for name in "ab"]
    score(rubric(), Jury(members, samples=2, order="balanced"))

    assert asked == [
        (f"fake/{name}", sample, order)
        for sample, order in enumerate(("written", "reversed"))
        for name in "ab"
    ]


def test_equal_words_of_other_judges_keep_their_own_reasons(rubric):
    """A vote on the same words is computed once; the reasons belong to the case."""

    def script(request):
        word = "good" if request.about.case != "x" else "bad"
        return {"tone": {"reason": f"about {request.about.case}", "value": word}}

    members = {name: FakeJudge(script, model=f"fake/{name}") for name in "abc"}
    metric = RubricMetric(
        rubric("  tone: {text: T, options: {good: 1, bad: 0}}\n"), judge=Jury(members)
    )

    found = [asyncio.run(metric.score(Case(id=id, output="o"))) for id in ("1", "x", "2")]

    assert [one.parts[0].reason for one in found] == ["about 1", "about x", "about 2"]
    assert [one.value for one in found] == [1.0, 0.0, 1.0]


# -- rows -----------------------------------------------------------------------------


def test_a_row_keeps_the_answer_reason_and_failure_of_every_member(rubric):
    found = score(rubric(), jury(GOOD, JudgeUnavailable("the server is down"), FAIR))

    first, second, third = found.opinions
    assert first.answers == GOOD
    assert first.values["tone"] == 1.0
    assert (second.failure, second.message) == ("unavailable", "the server is down")
    assert second.judgments == ()
    assert second.value is None
    (place,) = third.judgments
    assert found.judgments[place].answers["tone"].reason == "tone is fair"
    row = Row(case="c", metric="mine", result=found)
    assert Row.model_validate_json(row.to_bytes()) == row


def test_a_row_below_the_quorum_fails(rubric):
    down = JudgeUnavailable("the server is down")
    with pytest.raises(JudgeUnavailable, match="down"):
        score(rubric(), jury(GOOD, down, InvalidReply("no JSON")))
    with pytest.raises(JudgeUnavailable, match="down"):
        score(rubric(), jury(GOOD, down, GOOD, quorum=3))

    assert score(rubric(), jury(GOOD, down, InvalidReply("no JSON"), quorum=1)).value is not None


def test_a_member_with_too_few_samples_does_not_count(rubric):
    broken = judge(GOOD, InvalidReply("a"), InvalidReply("b"), model="fake/broken")
    whole = judge(BAD, model="fake/whole")

    assert values(score(rubric(), Jury([broken, whole], samples=3, quorum=1)))["tone"] == 0.0
    with pytest.raises(InvalidReply):
        score(rubric(), Jury([broken, whole], samples=3))


def test_an_error_that_stops_the_run_is_no_missing_opinion(rubric):
    with pytest.raises(JudgeRejected):
        score(rubric(), jury(GOOD, GOOD, JudgeRejected("wrong key")))


def test_one_judge_asked_once_has_no_opinions(rubric):
    found = score(rubric(), judge(GOOD))

    assert found.opinions == ()
    assert all(part.distribution is None for part in found.parts)
    assert b"opinions" not in Row(case="c", metric="mine", result=found).to_bytes()


# -- orders ---------------------------------------------------------------------------


def test_balanced_orders_are_part_of_the_request(rubric):
    asked = judge(GOOD)
    score(rubric(), asked, samples=4, order="balanced")

    shown = [[q.id for q in r.form.questions] for r in asked.asked]
    words = [next(q.labels for q in r.form.questions if q.id == "tone") for r in asked.asked]
    assert shown[0] == ["tone", "polite", "length"]
    assert words[0] == ("good", "fair", "bad")
    assert shown[1] == shown[0][::-1]
    assert words[1] == words[0][::-1]
    assert shown[3] == shown[2][::-1]
    assert words[3] == words[2][::-1]
    assert len({r.key for r in asked.asked}) == 4
    system = asked.asked[1].messages[0].content
    assert system.index("## length") < system.index("## tone")
    assert system.index("- bad") < system.index("- good")


def test_sample_0_is_that_of_the_written_order(rubric):
    plain, balanced = judge(GOOD), judge(GOOD)
    score(rubric(), plain)
    score(rubric(), balanced, samples=2, order="balanced")

    assert plain.asked[0].key == balanced.asked[0].key


def test_answers_in_another_order_reach_their_criteria(rubric):
    found = score(rubric(), judge(GOOD, GOOD, BAD), samples=3, order="balanced")

    assert [part.id for part in found.parts] == ["tone", "polite", "length"]
    assert found.parts[0].answer == "good"
    assert [opinion.order for opinion in found.opinions] == ["written", "reversed", "shuffled 1"]


@pytest.mark.thorough
@pytest.mark.parametrize(("order", "away"), [("balanced", 0.0), ("written", 0.2)])
def test_balanced_orders_cancel_a_preference_for_the_first_option(rubric, order, away):
    """A judge chooses the first option with probability .7; the truth is one half."""
    draw = random.Random(11)
    two = rubric("  side: {text: Which side?, options: {left: 1, right: 0}}\n")

    def script(request):
        labels = request.form.questions[0].labels
        return {"side": {"reason": "r", "value": labels[draw.random() > 0.7]}}

    metric = RubricMetric(two, judge=FakeJudge(script), samples=4, order=order, readout="expected")
    cases = [Case(id=str(n), output="o") for n in range(1_500)]
    mean = sum(asyncio.run(_all(metric, cases))) / len(cases)

    # The standard error of the mean is .006.
    assert mean - 0.5 == pytest.approx(away, abs=0.02)


async def _all(metric, cases):
    return [(await metric.score(case)).value for case in cases]


def test_a_metric_with_several_steps_is_asked_in_orders():
    def script(request):
        if request.about.rubric == "statements":
            return {"statements": {"items": [{"item": "It floats.", "reason": "r", "met": True}]}}
        question = request.form.questions[0]
        answer = {"reason": "r", "quotes": [], "contradicted": False, "value": 0.5}
        return {question.id: {k: v for k, v in answer.items() if k != "quotes" or question.quotes}}

    asked = FakeJudge(script)
    metric = create_metric("faithfulness", judge=Jury(asked, samples=3, order="balanced"))
    case = Case(id="c", input="?", output="It floats.", context=("It floats.",))

    found = asyncio.run(metric.score(case))

    assert sum(r.about.rubric == "statements" for r in asked.asked) == 1
    assert [(o.of, o.sample) for o in found.opinions] == [("2", 0), ("2", 1), ("2", 2)]
    assert [found.judgments[o.judgments[0]].request_key for o in found.opinions] == [
        r.key for r in asked.asked[1:]
    ]
    assert metric.options["samples"] == 3
    assert metric.options["order"] == "balanced"


# -- calls ----------------------------------------------------------------------------


def test_each_criterion_in_its_own_call(rubric):
    asked = judge(GOOD)
    found = score(
        rubric(more="details: {note: {text: A note.}}\n"), FakeJudge(_with_note), calls="each"
    )
    score(rubric(), asked, calls=2)

    assert values(found) == {"tone": 1.0, "polite": 1.0, "length": 0.4}
    assert found.details["note"] == "n"
    assert len(found.judgments) == 3
    assert [[q.id for q in r.form.questions] for r in asked.asked] == [
        ["tone", "polite"],
        ["length"],
    ]


def _with_note(request):
    answers = {q.id: verdict(**GOOD)[q.id] for q in request.form.questions}
    return {**answers, **{detail.name: "n" for detail in request.form.details}}


def test_all_calls_about_a_case_begin_with_the_same_text(rubric):
    asked = judge(GOOD)
    score(rubric(), asked, calls="each")

    texts = [r.messages[-1].content for r in asked.asked]
    assert len({r.messages[0] for r in asked.asked}) == 1
    case = texts[0][: texts[0].index("# Criteria")]
    assert "Because." in case
    assert all(text.startswith(case) for text in texts)
    assert "## tone" in texts[0]
    assert "## polite" not in texts[0]


def test_an_answer_missing_from_one_part_fails_the_row(rubric):
    def script(request):
        if request.form.questions[0].id == "polite":
            raise InvalidReply("no JSON")
        return {q.id: verdict(**GOOD)[q.id] for q in request.form.questions}

    asked = FakeJudge(script)
    with pytest.raises(InvalidReply):
        score(rubric(), asked, calls="each")
    assert len(asked.asked) == 3


# -- readouts -------------------------------------------------------------------------


def test_a_readout_of_samples(rubric):
    answers = judge(GOOD, FAIR, FAIR, BAD)

    expected = score(rubric(), answers, samples=4, readout="expected")
    mode = score(rubric(), answers, samples=4, readout="mode")
    yes = score(rubric(), answers, samples=4, readout="yes")

    assert values(expected) == {"tone": 0.5, "polite": 0.75, "length": pytest.approx(0.65)}
    assert values(mode) == {"tone": 0.5, "polite": 1.0, "length": pytest.approx(0.6)}
    assert values(yes)["polite"] == 0.75
    assert values(yes)["tone"] == 0.5
    tone = expected.parts[0].distribution
    assert dict(tone.items()) == {"good": 0.25, "fair": 0.5, "bad": 0.25}
    assert tone.source == "samples"


def test_an_expected_value_keeps_the_reason_of_a_sample_near_it(rubric):
    found = score(rubric(), judge(GOOD, BAD), samples=2, readout="expected")

    assert found.parts[0].reason in ("tone is good", "tone is bad")


# -- mistakes -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vote": "majorty"}, "did you mean 'majority'"),
        ({"order": "random"}, "order is one of written, balanced, not 'random'"),
        ({"calls": "one"}, "calls is one of all, each, or a number of criteria"),
        ({"calls": 0}, "calls must be a whole number of at least 1, not 0"),
        ({"readout": "mean"}, "readout is one of expected, mode, yes"),
        ({"quorum": 3}, "quorum must be a whole number from 1 to 2, not 3"),
        ({"vote": "weighted"}, "vote weighted needs weights"),
        ({"weights": {"m0": 1, "m1": 1}}, "weights need vote weighted"),
        ({"vote": "weighted", "weights": {"m0": 1}}, "m1 has none"),
        ({"vote": "weighted", "weights": {"m0": 1, "mm": 1}}, "no judge 'mm' in the jury"),
        ({"vote": "weighted", "weights": {"m0": -1, "m1": 1}}, "must be a number of at least 0"),
        ({"vote": "weighted", "weights": {"m0": 0, "m1": 0}}, "all are 0"),
    ],
)
def test_a_wrong_setting_is_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        jury(GOOD, BAD, **options)


def test_a_jury_of_wrong_members_is_refused(rubric):
    with pytest.raises(ConfigError, match="same model; name them"):
        Jury([judge(GOOD), judge(GOOD)])
    with pytest.raises(ConfigError, match="a jury cannot be a member"):
        Jury([jury(GOOD, BAD)])
    with pytest.raises(ConfigError, match="1 to 100 judges, not 0"):
        Jury([])


def test_a_jury_answers_by_rubrics_alone():
    metric = create_metric("perplexity", judge=jury(GOOD, BAD))
    with pytest.raises(ConfigError, match="needs a single judge"):
        asyncio.run(metric.score(CASE))


def test_an_empty_reply_of_one_member_is_its_failure(rubric):
    empty = FakeJudge(lambda _: Reply(tries=(Try(text=" "),)), model="fake/empty")
    members = {"a": judge(GOOD), "b": judge(GOOD, model="fake/b"), "c": empty}

    found = score(rubric(), Jury(members))

    assert [o.failure for o in found.opinions] == [None, None, "empty"]
