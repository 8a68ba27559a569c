"""The metric points: one case through groups, further requests, samples, orders and juries."""

import json
import math

import pytest

from judgekit import (
    Case,
    FakeJudge,
    Jury,
    Reply,
    create_metric,
    evaluate_sync,
    run_suite_sync,
)
from judgekit.core.errors import CaseError, ConfigError, InvalidReply, JudgeRefused
from judgekit.core.request import Try
from judgekit.core.synchronous import run_inline
from judgekit.metrics.safety_and_quality.points import Points
from judgekit.report.display import tag_lines
from judgekit.rubric.load import load_rubric
from tests.metrics.scripted import shown


def case_of(*items, **fields):
    fields = {"input": "Is it safe?", "output": "Yes, one tablet.", **fields}
    return Case(id=fields.pop("id", "c"), expected={"criteria": list(items)}, **fields)


def forty(change=None):
    texts = [f"criterion {n}" for n in range(40)]
    if change is not None:
        texts[change] = "another text"
    return case_of(*({"criterion": text, "points": 1} for text in texts))


def answer_to(question, *, value=None):
    if value is None:
        value = {"boolean": True, "score": question.maximum}.get(question.kind)
        value = question.labels[-1] if question.labels else value
    return {"reason": f"about {question.text}", "quotes": [], "value": value}


def answers(request, *, without=(), values=None):
    values = values or {}
    return {
        question.id: answer_to(question, value=values.get(question.text))
        for question in request.form.questions
        if question.text not in without
    }


def scored(metric, case):
    return run_inline(metric.score(case))


class Script(FakeJudge):
    """A judge that never waits."""

    synchronous = True


def texts(request):
    return [question.text for question in request.form.questions]


ROW = (
    {"criterion": "Names the dose", "points": 5, "tags": ["axis:accuracy"]},
    {"criterion": "Fits a layperson", "points": 3, "levels": {"no": 0, "partly": 0.5, "yes": 1}},
    {"criterion": "Advises to stop a drug", "points": -8, "required": True},
    {
        "criterion": "Is complete",
        "points": 4,
        "of": [
            {"criterion": "Names the maximum", "points": 1},
            {"criterion": "Names alternatives", "points": 3, "score": {"min": 0, "max": 10}},
        ],
    },
)
VALUES = {
    "Names the dose": True,
    "Fits a layperson": "partly",
    "Advises to stop a drug": False,
    "Names the maximum": False,
    "Names alternatives": 5,
}


def test_a_row_with_every_kind():
    judge = Script(lambda request: answers(request, values=VALUES))
    metric = Points(judge=judge, calls=3, by=["axis"], pass_="required")

    score = scored(metric, case_of(*ROW))

    assert score.value == (5 + 3 * 0.5 + 4 * 0.375) / 12
    assert [texts(request) for request in judge.asked] == [
        ["Names the dose", "Fits a layperson", "Advises to stop a drug"],
        ["Names the maximum", "Names alternatives"],
    ]
    assert [[q.id for q in r.form.questions] for r in judge.asked] == [["c1", "c2", "c3"],
                                                                      ["c1", "c2"]]  # fmt: skip
    assert [(p.id, p.answer, p.value) for p in score.parts] == [
        ("criterion 1", "met", 1.0),
        ("criterion 2", "partly", 0.5),
        ("criterion 3", "not met", 0.0),
        ("criterion 4.1", "not met", 0.0),
        ("criterion 4.2", 5.0, 0.5),
    ]
    assert math.fsum(p.weight * p.value for p in score.parts) == pytest.approx(score.value)
    assert score.details["pass"] is True
    assert score.details["tags"] == {"axis:accuracy": 1.0}
    assert score.details["tree"][3]["value"] == 0.375
    assert score.method == "fake/judge by criterion_met@2"
    assert score.confidence is None


def test_the_answer_comes_before_the_criteria():
    judge = Script(answers)
    scored(Points(judge=judge, calls="all"), case_of(*ROW, history=[
        {"role": "user", "content": "Hello"}]))  # fmt: skip
    (request,) = judge.asked
    text = request.messages[-1].content

    places = [text.index(piece) for piece in ("Hello", "Is it safe?", "Yes, one tablet.", "## c1")]
    assert places == sorted(places)
    assert shown(request, "criterion") == texts(request)


def test_requests_about_a_case_begin_alike():
    judge = Script(answers)
    scored(Points(judge=judge, calls=8), forty())

    heads = {request.messages[-1].content.partition("## c1")[0] for request in judge.asked}
    assert len(judge.asked) == 5
    assert len(heads) == 1


def test_one_changed_criterion_asks_one_group_again():
    first, second = Script(answers), Script(answers)
    scored(Points(judge=first, calls=8), forty())
    scored(Points(judge=second, calls=8), forty(change=17))

    changed = {r.key for r in second.asked} - {r.key for r in first.asked}
    (request,) = (request for request in second.asked if request.key in changed)
    assert "another text" in texts(request)


def test_a_missing_item_is_a_further_request_for_it_alone():
    def forgetful(request):
        several = len(request.form.questions) > 1
        return answers(request, without={"criterion 3"} if several else ())

    judge = Script(forgetful)
    score = scored(Points(judge=judge, calls=8), forty())

    assert [texts(r) for r in judge.asked if len(r.form.questions) == 1] == [["criterion 3"]]
    assert len(judge.asked) == 6
    assert len({request.key for request in judge.asked}) == 6
    assert score.value == 1.0
    assert score.parts[3].items[0]["reason"] == "about criterion 3"


@pytest.mark.parametrize(
    "bad",
    [
        {"reason": "r", "quotes": [], "value": "maybe"},
        {"reason": "r", "quotes": []},
        "yes",
        None,
        {"reason": "r", "quotes": [], "value": True, "extra": 1},
    ],
)
def test_an_invalid_answer_is_asked_again_alone(bad):
    def odd(request):
        reply = answers(request)
        return {**reply, "c2": bad} if len(reply) > 1 else reply

    judge = Script(odd)
    score = scored(Points(judge=judge, calls="all"), case_of(*ROW))

    assert [texts(r) for r in judge.asked[1:]] == [["Fits a layperson"]]
    assert score.parts[1].answer == "yes"


def test_a_doubled_item_is_asked_again_alone():
    def doubled(request):
        reply = json.dumps(answers(request))
        if len(request.form.questions) == 1:
            return reply
        return reply[:-1] + ', "c1": {"reason": "r", "quotes": [], "value": false}}'

    judge = Script(doubled)
    score = scored(Points(judge=judge, calls="all"), case_of(*ROW))

    assert [texts(r) for r in judge.asked[1:]] == [["Names the dose"]]
    assert score.parts[0].answer == "met"


def cut(request):
    if len(request.form.questions) > 2:
        return Reply(tries=(Try(text='{"c1": {"reas', finish="length"),))
    return answers(request)


def test_a_cut_reply_becomes_two_requests_for_its_halves():
    judge = Script(cut)
    score = scored(Points(judge=judge, calls="all"), case_of(*ROW))

    assert [len(texts(request)) for request in judge.asked] == [5, 3, 2, 1, 2]
    assert score.value is not None
    assert len(score.parts) == 5


def test_a_single_criterion_that_is_cut_is_truncated():
    judge = Script(lambda _: Reply(tries=(Try(text="{", finish="length"),)))

    with pytest.raises(InvalidReply) as caught:
        scored(Points(judge=judge, calls=2), case_of(*ROW))
    assert caught.value.kind == "truncated"


def test_a_criterion_that_the_judge_declines_is_open_and_not_zero():
    def declines(request):
        if "Advises to stop a drug" in texts(request):
            return Reply(tries=(Try(refusal="I cannot help with that", finish="stop"),))
        return answers(request)

    judge = Script(declines)
    score = scored(Points(judge=judge, calls="all", pass_="required"), case_of(*ROW))

    part = score.parts[2]
    assert (part.status, part.value, part.weight) == ("abstained", None, 0.0)
    assert "declined" in part.items[0]["reason"]
    assert score.value == 1.0
    assert score.confidence == 12 / 20
    assert score.details["open"] == ["3"]
    assert "pass" not in score.details  # the open criterion decides it
    assert "Left open: “Advises to stop a drug”." in score.reason


def test_declining_everything_is_a_refusal():
    judge = Script(lambda _: Reply(tries=(Try(refusal="no", finish="stop"),)))

    with pytest.raises(JudgeRefused):
        scored(Points(judge=judge, calls="all"), case_of(*ROW))


def test_a_nullable_criterion_may_be_left_open():
    items = ({"criterion": "a", "points": 1}, {"criterion": "b", "points": 3, "nullable": True})

    def open_(request):
        reply = answers(request)
        for question in request.form.questions:
            if question.text == "b":
                reply[question.id]["value"] = None
        return reply

    score = scored(Points(judge=Script(open_), calls="all"), case_of(*items))

    assert (score.value, score.confidence) == (1.0, 0.25)


def test_negate_turns_the_share_around_in_each_layout():
    items = [{"criterion": "is rude", "points": 2, "negate": True}]
    for calls in ("each", "all"):
        judge = Script(lambda r: {q.id: answer_to(q) for q in r.form.questions})
        score = scored(Points(judge=judge, calls=calls), case_of(*items))

        assert (score.value, score.parts[0].answer) == (0.0, "met")
        assert score.parts[0].items[0]["met"] is False


def test_a_reference_is_shown_with_its_criterion():
    judge = Script(answers)
    item = {"criterion": "Names the dose", "points": 1, "reference": "Take 200 mg."}
    scored(Points(judge=judge), case_of(item, reference="the answer of the case"))

    (request,) = judge.asked
    assert shown(request, "example") == ["Take 200 mg."]
    assert "the answer of the case" not in request.messages[-1].content


# -- layouts --------------------------------------------------------------------------


def test_plain_criteria_are_asked_one_by_one_with_version_1():
    judge = Script(answers)
    score = scored(Points(judge=judge), case_of(ROW[0], ROW[2]))

    assert [texts(request) for request in judge.asked] == [
        [load_rubric("criterion_met@1").criteria[0].question.text]
    ] * 2
    assert score.method == "fake/judge by criterion_met@1"


def test_other_kinds_are_asked_one_by_one_with_version_2():
    judge = Script(answers)
    score = scored(Points(judge=judge), case_of(*ROW))

    assert [len(texts(request)) for request in judge.asked] == [1] * 5
    assert score.method == "fake/judge by criterion_met@2"


def test_the_manifest_names_the_options_only_if_set():
    plain = Points(judge=Script())
    other = create_metric("points", judge=Script(), calls=8, by=["axis"], **{"pass": "any"})

    assert not {"calls", "by", "pass", "pass_"} & plain.options.keys()
    assert (other.options["calls"], other.options["by"], other.options["pass"]) == (
        8, ["axis"], "any"
    )  # fmt: skip
    assert (plain.asks_further, other.asks_further) == (False, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"calls": 0}, "calls is one of all, each, or a number"),
        ({"calls": True}, "calls is one of all, each, or a number"),
        ({"calls": "some"}, "calls is one of"),
        ({"pass": "most"}, "pass is one of all, any, required, or the least value"),
        ({"pass": math.inf}, "pass is one of"),
        ({"by": [1]}, "by must be a list of texts"),
        ({"calls": 2, "rubric": "fact_stated"}, "calls: 2; extend criterion_met@2 instead"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ConfigError, match=message.replace("@", ".")):
        create_metric("points", judge=Script(), **options)


def test_a_rubric_for_yes_and_no_does_not_ask_for_levels():
    with pytest.raises(CaseError, match=r"does not support number 2 \(levels\); extend"):
        scored(Points(judge=Script(), rubric="fact_stated"), case_of(*ROW))


def test_an_own_rubric_may_be_the_frame(tmp_path):
    path = tmp_path / "strict.jinja"
    path.write_text(
        "---\nname: strict\nextends: criterion_met@2\ncriteria:\n"
        "  met: {kind: boolean, text: Is it met?}\n---\n"
        "{% block persona %}\nYou are a pharmacist.\n{% endblock %}\n"
    )
    judge = Script(lambda r: {q.id: {"reason": "r", "value": True} for q in r.form.questions})
    score = scored(Points(judge=judge, rubric=path), case_of(ROW[0], ROW[2]))

    assert judge.asked[0].messages[0].content.startswith("You are a pharmacist.")
    assert score.method == "fake/judge by strict@1"


def test_a_suite_names_an_own_frame(tmp_path):
    front = "---\nname: short\nextends: criterion_met@2\n---\n"
    frame = front + "{% block persona %}\nBe brief.\n{% endblock %}\n"
    (tmp_path / "short.jinja").write_text(frame)
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        "cases: [{id: a, output: x, expected: {criteria: [{criterion: Is it x, points: 1}]}}]\n"
        "judge: fake/judge\nrecord: new_episodes\n"
        "metrics: {checks: {metric: points, rubric: short.jinja, calls: 8}}\n"
    )
    (row,) = next(run_suite_sync(suite).results).rows
    assert row.result.method == "fake/judge by short@1"


# -- samples, orders, juries ------------------------------------------------------------


def test_samples_vote_on_each_criterion():
    def by_sample(request):
        values = {**VALUES, "Names the dose": request.sample < 2}
        return answers(request, values=values)

    judge = Script(by_sample)
    score = scored(Points(judge=Jury(judge, samples=3), calls=3), case_of(*ROW))

    assert len(judge.asked) == 6
    assert score.parts[0].answer == "met"
    assert score.parts[0].distribution.probability(True) == pytest.approx(2 / 3)
    assert [opinion.values["criterion 1"] for opinion in score.opinions] == [1.0, 1.0, 0.0]
    assert score.opinions[2].value == pytest.approx((3 * 0.5 + 4 * 0.375) / 12)
    assert score.value == pytest.approx(score.opinions[0].value)


def test_balanced_orders_reverse_the_criteria_within_a_group():
    judge = Script(lambda request: answers(request, values=VALUES))
    jury = Jury(judge, samples=2, order="balanced")
    score = scored(Points(judge=jury, calls=3), case_of(*ROW))

    first, second = judge.asked[0], judge.asked[2]
    assert texts(second) == texts(first)[::-1]
    assert first.form.questions[1].labels == second.form.questions[1].labels[::-1]
    assert score.opinions[0].values == score.opinions[1].values
    assert [opinion.order for opinion in score.opinions] == ["written", "reversed"]


def test_a_jury_needs_its_quorum_and_each_member_its_own_further_requests():
    def forgetful(request):
        return answers(request, without={"Names the dose"} if len(texts(request)) > 1 else ())

    def broken(_):
        return "no JSON"

    one, two, three = (
        Script(script, model=f"fake/{n}") for n, script in enumerate([answers, forgetful, broken])
    )
    score = scored(Points(judge=Jury([one, two, three]), calls="all"), case_of(*ROW))

    assert [len(judge.asked) for judge in (one, two, three)] == [1, 2, 1]
    assert [opinion.failure for opinion in score.opinions] == [None, None, "invalid_reply"]
    with pytest.raises(InvalidReply):
        scored(Points(judge=Jury([one, three]), calls="all"), case_of(*ROW))


def test_a_run_has_figures_of_what_passes():
    cases = [case_of(*ROW, id="a"), case_of(*ROW, id="b", output="No.")]

    def say(request):
        stops = "No." in request.messages[-1].content
        return answers(request, values={**VALUES, "Advises to stop a drug": stops})

    metric = Points(judge=FakeJudge(say), calls=8, pass_="required")
    report = evaluate_sync(cases, [metric])

    assert report.metrics["points"].figures["passed"] == 0.5
    assert metric.figures["passed"] is True


def test_four_hundred_criteria_six_levels_deep():
    def level(depth, count):
        if depth == 1:
            return [{"criterion": f"leaf {n}", "points": 1} for n in range(count)]
        below = level(depth - 1, count)
        return [{"criterion": f"node {depth}", "points": 1, "of": below}]

    case = case_of(*level(6, 400))
    judge = Script(answers)
    score = scored(Points(judge=judge, calls=8), case)

    assert (score.value, len(score.parts), len(judge.asked)) == (1.0, 400, 50)
    judge = Script(answers)
    assert scored(Points(judge=judge, calls="all"), case).value == 1.0
    assert len(judge.asked) == 1


def test_a_run_has_the_values_of_tags_and_of_criteria_that_recur():
    def say(request):
        number = int(request.about.output)
        return answers(request, values={"Names the dose": number % 4 != 0})

    cases = [
        case_of(
            {"criterion": "Names the dose", "points": 2, "tags": ["axis:accuracy"]},
            {"criterion": f"Only in {n}", "points": 2, "tags": ["axis:accuracy", "other"]},
            {"criterion": "Only in some", "points": -1} if n < 20 else dict(ROW[0]),
            id=f"c{n}",
            output=str(n),
        )
        for n in range(40)
    ]
    metric = Points(judge=FakeJudge(say), calls="all", by=["axis", "other"])
    summary = evaluate_sync(cases, [metric]).metrics["points"]

    accuracy, other = summary.tags
    assert [accuracy.tag, other.tag] == ["axis:accuracy", "other"]
    assert (accuracy.scored, other.mean) == (40, 1.0)
    assert accuracy.low < accuracy.mean < accuracy.high < 1.0
    # By the text, wherever it is in the list: 40 times first, and 20 times last.
    assert [(one.id, one.scored) for one in summary.criteria] == [("Names the dose", 60)]
    assert summary.criteria[0].mean == pytest.approx(0.75)
    assert "axis:accuracy 0." in "".join(tag_lines(summary))
