from __future__ import annotations

import asyncio
import json

import pytest
from pydantic import BaseModel

from judgekit.core.case import Case, Message
from judgekit.core.errors import (
    ConfigError,
    InvalidReply,
    InvalidValue,
    JudgeRefused,
    JudgeUnavailable,
    RubricError,
)
from judgekit.core.request import Reply, Try
from judgekit.core.score import Score
from judgekit.judges.fake import FakeJudge
from judgekit.metrics.prompt_alignment.prompt_alignment import PromptAlignment
from judgekit.metrics.rubric import RubricMetric
from judgekit.rubric.load import load_rubric
from judgekit.runner.evaluation import evaluate_sync, score_sync

CASE = Case(id="c", input="Why?", output="Because it is so.")


@pytest.fixture
def rubric(tmp_path):
    def load(front, body='{{ case.output | fence("answer") }}\n'):
        path = tmp_path / "mine.jinja"
        shown = "{% if criteria %}{% endif %}"
        path.write_text(f"---\nname: mine\n{front}\n---\n{shown}{body}", encoding="utf-8")
        return load_rubric(path)

    return load


ONE = "criteria:\n  a: {text: A.}"
YES = "criteria:\n  a: {text: A., kind: boolean}"
WORDS = "criteria:\n  a: {text: A., options: {good: 1, bad: 0, n/a: null}}"


def said(value, reason="r"):
    return {"a": {"reason": reason, "value": value}}


def in_turn(*answers):
    """Return a judge that gives (or raises) these by sample."""

    def script(request):
        answer = answers[request.sample]
        if isinstance(answer, Exception):
            raise answer
        return answer

    return FakeJudge(script)


def score(rubric, *answers, case=CASE, **options):
    samples = len(answers)
    metric = RubricMetric(rubric, judge=in_turn(*answers), samples=samples, **options)
    return asyncio.run(metric.score(case))


# -- options ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 0}, "samples must be a whole number of at least 1, not 0"),
        ({"history": -1}, "history must be a whole number of at least 0, not -1"),
        ({"scale": 0}, "scale must be a number above 0, such as 5 or 100, not 0"),
        ({"scale": -10}, "scale must be a number above 0, such as 5 or 100, not -10"),
        ({"scale": float("inf")}, "scale must be a number"),
        ({"scale": float("nan")}, "scale must be a number"),
        ({"mode": "strict"}, "rubric 'safety' has no mode 'strict'; known: default"),
    ],
)
def test_an_option_out_of_range_is_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        RubricMetric("safety", judge=FakeJudge(), **options)


def test_an_unknown_rubric_is_refused():
    with pytest.raises(RubricError, match="no rubric named"):
        RubricMetric("no-such-thing", judge=FakeJudge())


@pytest.mark.parametrize("option", [{"samples": "3"}, {"samples": 2.5}, {"history": "x"}])
def test_an_option_of_the_wrong_type_is_refused(option):
    with pytest.raises(ConfigError):
        RubricMetric("safety", judge=FakeJudge(), **option)


def test_a_metric_describes_itself_as_name_and_options(rubric):
    metric = RubricMetric(rubric(ONE), judge=FakeJudge(), samples=2, scale=10)

    assert metric.name == "mine"
    assert metric.options == {
        "rubric": "mine", "mode": "default", "samples": 2, "history": 10, "scale": 10.0,
    }  # fmt: skip
    assert (metric.range, metric.higher_is_better) == ((0.0, 1.0), True)


# -- one reply --------------------------------------------------------------------


def test_a_score_says_where_it_came_from(rubric):
    result = score(rubric(ONE), said(0.25), scale=10)

    assert (result.value, result.shown, result.source) == (0.25, 2.5, "judge")
    assert result.method == "fake/judge by mine@1"
    assert result.meta["model"] == "fake/judge"
    assert result.meta["digest"] == rubric(ONE).digest[:16]
    assert (result.parts[0].answer, result.parts[0].reason) == (0.25, "r")
    assert result.judgments[0].request_key


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("hello", "invalid_reply"),
        ("", "empty"),
        (Reply(tries=(Try(text="{", finish="length"),)), "truncated"),
        (Reply(tries=(Try(refusal="No."),)), "refused"),
        (JudgeUnavailable("down"), "unavailable"),
        (ZeroDivisionError("oops"), "metric_error"),
    ],
)
def test_what_is_no_verdict_is_a_failure_and_never_a_number(rubric, reply, kind):
    metric = RubricMetric(rubric(ONE), judge=in_turn(reply))

    report = evaluate_sync([CASE], [metric])

    result = next(report.results).rows[0].result
    assert (result.type, result.kind) == ("failure", kind)
    assert report.metrics["mine"].mean is None
    assert report.exit_code == 3


def test_a_failure_names_the_request_it_failed_on(rubric):
    metric = RubricMetric(rubric(ONE), judge=FakeJudge(lambda _: "hello"))
    _, (request,) = metric.requests(CASE)

    report = evaluate_sync([CASE], [metric])

    assert next(report.results).rows[0].result.key == request.key


def test_an_abstention_is_no_zero(rubric):
    loaded = rubric("criteria:\n  a: {text: A., nullable: true}")

    result = score(loaded, said(None, "cannot tell"))

    assert (result.status, result.value, result.confidence) == ("abstained", None, None)
    assert result.reason == "nothing to score: a abstained"


def test_asking_again_shows_in_the_meta(rubric):
    reply = Reply(tries=(Try(text="no"), Try(text=json.dumps(said(1)))))

    assert score(rubric(ONE), reply).meta["tries"] == 2


TWO = "criteria:\n  a: {text: A., weight: 0.9}\n  b: {text: B., weight: 0.1}"


@pytest.mark.parametrize(
    ("a", "b", "start"),
    [
        (0.5, 0.0, "a 0.50: of a"),
        (1.0, 0.5, "b 0.50: of b"),
        (1.0, 1.0, "every criterion is fully"),
    ],
)
def test_the_reason_is_that_of_the_criterion_that_cost_most(rubric, a, b, start):
    answers = {"a": {"reason": "of a", "value": a}, "b": {"reason": "of b", "value": b}}

    assert score(rubric(TWO), answers).reason.startswith(start)


def test_under_min_the_reason_is_that_of_the_lowest(rubric):
    answers = {"a": {"reason": "of a", "value": 0.5}, "b": {"reason": "of b", "value": 0.0}}

    assert score(rubric(f"combine: min\n{TWO}"), answers).reason.startswith("b 0.00: of b")


def test_unmet_items_are_the_reason_of_a_checklist(rubric):
    items = [
        {"item": "one", "reason": "r", "met": False},
        {"item": "two", "reason": "r", "met": True},
    ]

    result = score(rubric("criteria:\n  a: {text: A., kind: checklist}"), {"a": {"items": items}})

    assert result.reason == "a 0.50: not met: one"


# -- several replies --------------------------------------------------------------


def test_numbers_are_averaged_and_their_spread_is_kept(rubric):
    result = score(rubric(ONE), said(0.2), said(0.4), said(0.9))

    assert result.value == pytest.approx(0.5)
    assert result.details["samples"] == {"a": [0.2, 0.4, 0.9]}
    assert len(result.judgments) == 3


@pytest.mark.parametrize(
    ("answers", "status", "value"),
    [
        (["good", "bad", "good"], "scored", 1.0),
        (["bad", "bad", "good"], "scored", 0.0),
        (["good", "bad"], "abstained", None),
        (["good", "bad", "n/a"], "abstained", None),
        (["n/a", "n/a", "good"], "not_applicable", None),
    ],
)
def test_words_go_by_majority_and_a_tie_abstains(rubric, answers, status, value):
    result = score(rubric(WORDS), *map(said, answers))

    assert (result.status, result.value) == (status, value)


@pytest.mark.parametrize(
    ("text", "answers", "answer", "reason"),
    [
        (WORDS, ["bad", "good", "good"], "good", "says good"),
        (WORDS, ["bad", "good"], None, "the samples are tied: bad 1, good 1"),
        (YES, [False, True, True, True], True, "says True"),
        (YES, [False, True], None, "the samples are tied: no 1, yes 1"),
        (ONE, [0.0, 0.9, 0.6], 0.5, "says 0.6"),
        ("criteria:\n  a: {text: A., minimum: 0, maximum: 10}", [0, 10, 8], 6.0, "says 8"),
        ("criteria:\n  a: {text: A., nullable: true}", [None, None, 0.5], None, "says None"),
    ],
)
def test_parts_and_reason_carry_the_combined_verdict(rubric, text, answers, answer, reason):
    result = score(rubric(text), *(said(a, f"says {a}") for a in answers))

    (part,) = result.parts
    assert (part.answer, part.reason) == (answer, reason)


def test_a_checklist_shows_the_sample_nearest_to_the_verdict(rubric):
    def items(*met):
        return {"a": {"items": [{"item": str(n), "reason": "r", "met": m}
                                for n, m in enumerate(met)]}}  # fmt: skip

    text = "criteria:\n  a: {text: A., kind: checklist}"
    result = score(rubric(text), items(False, False), items(True, True), items(True, True))

    (part,) = result.parts
    assert part.value == pytest.approx(2 / 3)
    assert [item["met"] for item in part.items] == [True, True]


def test_yes_and_no_go_by_majority(rubric):
    loaded = rubric("criteria:\n  a: {text: A., kind: boolean}")

    assert score(loaded, said(True), said(False), said(True)).value == 1.0


def test_numbers_that_mostly_abstain_abstain(rubric):
    loaded = rubric("criteria:\n  a: {text: A., nullable: true}")

    assert score(loaded, said(None), said(None), said(1)).status == "abstained"
    assert score(loaded, said(None), said(0), said(1)).value == 0.5


BAD = "no verdict"


@pytest.mark.parametrize(
    ("answers", "value"), [([said(0.4), BAD, said(0.6)], 0.5), ([BAD, said(0.4), said(0.4)], 0.4)]
)
def test_a_majority_of_valid_replies_is_enough(rubric, answers, value):
    assert score(rubric(ONE), *answers).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("answers", "error"),
    [
        ([said(1), BAD], InvalidReply),
        ([said(1), BAD, BAD], InvalidReply),
        ([said(1), JudgeUnavailable("down"), BAD], JudgeUnavailable),
        ([JudgeRefused("no"), JudgeRefused("no"), said(1)], JudgeRefused),
    ],
)
def test_without_a_majority_there_is_no_score(rubric, answers, error):
    with pytest.raises(error):
        score(rubric(ONE), *answers)


def test_a_mistake_in_one_sample_is_not_outvoted(rubric):
    with pytest.raises(ZeroDivisionError):
        score(rubric(ONE), said(1), said(1), ZeroDivisionError())


def test_each_sample_has_a_key_of_its_own_and_the_first_that_of_a_single_one(rubric):
    many = RubricMetric(rubric(ONE), judge=FakeJudge(), samples=3).requests(CASE)[1]
    (one,) = RubricMetric(rubric(ONE), judge=FakeJudge()).requests(CASE)[1]

    assert len({request.key for request in many}) == 3
    assert many[0].key == one.key


# -- what the judge sees ----------------------------------------------------------

TALK = tuple(
    Message(role="user" if n % 2 == 0 else "assistant", content=f"turn {n}") for n in range(14)
)


@pytest.mark.parametrize(
    ("history", "shown"), [(0, []), (1, [13]), (10, range(4, 14)), (99, range(14))]
)
def test_only_so_many_earlier_messages_are_shown(history, shown):
    case = CASE.model_copy(update={"history": TALK})
    _, (request,) = RubricMetric("safety", judge=FakeJudge(), history=history).requests(case)

    text = request.messages[-1].content
    assert [n for n in range(14) if f"turn {n}\n" in text] == list(shown)


def test_who_asks_is_not_part_of_the_key(rubric):
    one = RubricMetric(rubric(ONE), judge=FakeJudge(), name="x").requests(CASE)[1][0]
    other = RubricMetric(rubric(ONE), judge=FakeJudge(), scale=10).requests(
        CASE.model_copy(update={"id": "d", "labels": {"human": 1}})
    )[1][0]

    assert one.key == other.key
    assert (one.about.case, one.about.metric, one.about.rubric) == ("c", "x", "mine")


def test_a_template_that_fails_on_a_case_costs_that_row(rubric):
    loaded = rubric(ONE, "{{ case.output }} {{ case.metadata.topic }}")
    metric = RubricMetric(loaded, judge=FakeJudge())
    cases = [CASE, CASE.model_copy(update={"id": "d", "metadata": {"topic": "x"}})]

    report = evaluate_sync(cases, [metric])

    first, second = (scored.rows[0].result for scored in report.results)
    assert (first.type, first.kind) == ("failure", "metric_error")
    assert "mine.jinja:6" in first.message
    assert second.type == "score"


class Reasonless(RubricMetric):
    def reason(self, *_):
        return None


class Undetailed(RubricMetric):
    def details(self, *_):
        return {"x": float("nan")}


class Telling(RubricMetric):
    def details(self, variant, judgment, folded):
        return {"said": [answer.reason for answer in judgment.answers.values()]}

    def reason(self, judgment, folded, parts):
        return " ".join(judgment.answers)


def test_a_subclass_sees_the_answers_of_a_judgment(rubric):
    metric = Telling(rubric(ONE), judge=in_turn(said(1)))

    score = score_sync(CASE, metric)

    assert score.reason == " ".join(part.id for part in score.parts)
    assert score.details == {"said": [part.reason for part in score.parts]}
    assert score.judgments[0].answers == {}


@pytest.mark.parametrize("kind", [Reasonless, Undetailed])
def test_what_a_subclass_adds_is_checked(rubric, kind):
    metric = kind(rubric(ONE), judge=in_turn(said(1)))

    (row,) = next(evaluate_sync([CASE], [metric]).results).rows

    assert (row.result.type, row.result.kind) == ("failure", "metric_error")


def test_a_subclass_is_checked_although_its_base_class_is_not():
    class Mine(PromptAlignment):
        pass

    assert PromptAlignment.validated
    assert not Undetailed.validated
    assert not Mine.validated


# -- a score made without checks is the score the checks would let through --------


@pytest.mark.parametrize(
    ("front", "answer"),
    [
        (ONE, said(0.25)),
        (ONE.replace("A.", "A., nullable: true"), said(None)),
        (WORDS, said("n/a")),
        (WORDS.replace("A.", "A., quotes: true"), {"a": {**said("good")["a"], "quotes": ["so"]}}),
        (
            "criteria:\n  a: {text: A., kind: checklist}",
            {"a": {"items": [{"item": "x", "met": True, "reason": "\x07"}]}},
        ),
        (
            ONE.replace("A.", "A., details: {why: W., sure: {kind: boolean, text: S.}}")
            + "\ndetails: {all: {kind: list, text: A.}}",
            {"a": {**said(1)["a"], "why": "w", "sure": True}, "all": ["x", "y"]},
        ),
    ],
)
def test_a_score_is_what_pydantic_makes_of_its_fields(rubric, front, answer):
    made = score(rubric(front), answer)

    dumped = made.model_dump()
    again = Score.model_validate(dumped)

    assert made == again
    assert repr(made) == repr(again)
    assert made.model_dump_json(exclude_defaults=True) == again.model_dump_json(
        exclude_defaults=True
    )
    assert made.model_copy(update={"scale": 2.0}).model_dump() == {**dumped, "scale": 2.0}
    assert made.model_fields_set == set(Score.model_fields)
    with pytest.raises(InvalidValue):
        made.value = 0.5


# -- a response model of one's own ------------------------------------------------


class Verdict(BaseModel):
    reason: str
    value: float


class Stars(BaseModel):
    stars: int


def test_a_response_model_replaces_the_criteria(rubric):
    metric = RubricMetric(
        rubric(ONE),
        judge=FakeJudge(lambda _: {"reason": "fine", "value": 0.5}),
        response_model=Verdict,
    )

    result = asyncio.run(metric.score(CASE))

    assert (result.value, result.reason) == (0.5, "fine")
    assert result.details == {"reason": "fine", "value": 0.5}


def test_the_author_says_what_a_response_is_worth(rubric):
    metric = RubricMetric(
        rubric(ONE),
        judge=FakeJudge(lambda _: {"stars": 4}),
        response_model=Stars,
        value=lambda stars: (stars.stars - 1) / 4,
    )

    assert asyncio.run(metric.score(CASE)).value == 0.75


@pytest.mark.parametrize(
    ("reply", "kind"),
    [({"reason": "x"}, "invalid_reply"), ({"reason": "x", "value": 7}, "metric_error")],
)
def test_a_response_that_is_wrong_costs_the_row(rubric, reply, kind):
    metric = RubricMetric(rubric(ONE), judge=FakeJudge(lambda _: reply), response_model=Verdict)

    report = evaluate_sync([CASE], [metric])

    assert next(report.results).rows[0].result.kind == kind


def test_a_subclass_may_add_to_what_a_score_is_made_with():
    class Prompted(RubricMetric):
        @property
        def made_with(self):
            return {**super().made_with, "prompt": "v2"}

    metric = Prompted("quality", judge=FakeJudge())

    assert metric.info().made_with["prompt"] == "v2"
    assert metric.info().made_with["rubric"] == "quality"
