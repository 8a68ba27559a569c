from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from judgekit.core.errors import CaseError, InvalidReply, JudgeRefused
from judgekit.core.judgment import (
    MAX_REASON,
    parse_try,
    read_answers,
    read_reply,
)
from judgekit.core.reply_schema import MAX_ITEMS, reply_schema
from judgekit.core.request import Detail, Form, Question, Reply, Try
from tests.each import each

SCORE = Question(id="q", kind="score", text="t")
STARS = Question(id="q", kind="score", text="t", minimum=1, maximum=5)
LEVEL = Question(id="q", kind="score", text="t", labels=("good", "bad"))
CHOICE = Question(id="q", kind="choice", text="t", labels=("safe", "unsafe"))
TRUTH = Question(id="q", kind="boolean", text="t")
FIXED = Question(id="q", kind="checklist", text="t", items=("one", "two"))
FOUND = Question(id="q", kind="checklist", text="t")
QUOTED = Question(id="q", kind="boolean", text="t", quotes=True)
DETAILED = Question(
    id="q",
    kind="score",
    text="t",
    details=(
        Detail(name="why"),
        Detail(name="sure", kind="boolean"),
        Detail(name="n", kind="list"),
    ),
)


def nullable(question):
    return question.model_copy(update={"nullable": True})


def value(given_value, **more):
    return {"reason": "r", "value": given_value, **more}


def items(*met):
    return {"items": [{"item": item, "reason": "r", "met": m} for item, m in met]}


def read(question, answer):
    answers, _ = read_answers({question.id: answer}, form=Form(questions=(question,)))
    return answers[question.id]


@each(
    ("question", "answer"),
    [
        (SCORE, value(0)),
        (SCORE, value(1)),
        (SCORE, value(0.25)),
        (STARS, value(1)),
        (STARS, value(4.5)),
        (LEVEL, value("good")),
        (CHOICE, value("unsafe")),
        (TRUTH, value(True)),
        (TRUTH, value(False)),
        (FIXED, items(("two", True), ("one", False))),
        (FOUND, items()),
        (FOUND, items(("x", True), ("x", False))),
        (QUOTED, value(True, quotes=[])),
        (QUOTED, value(True, quotes=["a", "b"])),
        (DETAILED, value(1, why="w", sure=False, n=["x"])),
        (nullable(SCORE), value(None)),
        (nullable(CHOICE), value(None)),
        (nullable(TRUTH), value(None)),
        (SCORE, {"value": 1, "reason": "after is taken too"}),
    ],
)
def test_a_fitting_answer_is_taken(question, answer):
    taken = read(question, answer)

    assert taken.value == answer.get("value")
    if "items" in answer:
        assert [dict(i) for i in taken.items] == answer["items"]
    if "quotes" in answer:
        assert list(taken.quotes) == answer["quotes"]


@each(
    ("question", "answer", "fault"),
    [
        (SCORE, value(1.01), "q.value: Input should be less than or equal to 1"),
        (SCORE, value(-0.01), "q.value: Input should be greater than or equal to 0"),
        (STARS, value(0), "q.value: Input should be greater than or equal to 1"),
        (SCORE, value(True), "q.value: Input should be a valid number"),
        (SCORE, value(False), "q.value: Input should be a valid number"),
        (STARS, value(True), "q.value: Input should be a valid number"),
        (nullable(SCORE), value(True), "q.value: Input should be a valid number"),
        (SCORE, value("0.5"), "q.value: Input should be a valid number"),
        (SCORE, value(None), "q.value: Input should be a valid number"),
        (SCORE, value([1]), "q.value: Input should be a valid number"),
        (LEVEL, value("Good"), "q.value: Input should be 'good' or 'bad'"),
        (LEVEL, value("good enough"), "q.value: Input should be 'good' or 'bad'"),
        (LEVEL, value(0), "q.value: Input should be 'good' or 'bad'"),
        (LEVEL, value(None), "q.value: Input should be 'good' or 'bad'"),
        (CHOICE, value("un-safe"), "q.value: Input should be 'safe' or 'unsafe'"),
        (TRUTH, value(1), "q.value: Input should be a valid boolean"),
        (TRUTH, value("true"), "q.value: Input should be a valid boolean"),
        (TRUTH, value(None), "q.value: Input should be a valid boolean"),
        (SCORE, {"value": 1}, "q.reason: Field required"),
        (SCORE, {"reason": "r"}, "q.value: Field required"),
        (SCORE, value(1, reason=None), "q.reason: Input should be a valid string"),
        (SCORE, value(1, score=2), "q.score: Extra inputs are not permitted"),
        (SCORE, value(1, quotes=[]), "q.quotes: Extra inputs are not permitted"),
        (SCORE, 1, "q: Input should be"),
        (SCORE, None, "q: Input should be"),
        (QUOTED, value(True), "q.quotes: Field required"),
        (QUOTED, value(True, quotes="x"), "q.quotes: Input should be a valid list"),
        (QUOTED, value(True, quotes=[1]), "q.quotes.0: Input should be a valid string"),
        (FIXED, items(("one", True)), "q.items: List should have at least 2 items"),
        (FIXED, items(("one", True), ("one", True)), "q: answer each listed item once"),
        (FIXED, items(("one", True), ("three", True)), "q.items.1.item: Input should be 'one'"),
        (FOUND, items(*[("x", True)] * (MAX_ITEMS + 1)), "q.items: List should have at most 200"),
        (FOUND, items(("x", "yes")), "q.items.0.met: Input should be a valid boolean"),
        (FOUND, items(("x", 1)), "q.items.0.met: Input should be a valid boolean"),
        (FOUND, {"items": [{"item": "x", "met": True}]}, "q.items.0.reason: Field required"),
        (FOUND, {**items(), "value": 1}, "q.value: Extra inputs are not permitted"),
        (FOUND, {**items(), "reason": "r"}, "q.reason: Extra inputs are not permitted"),
        (DETAILED, value(1, why="w", sure=True), "q.n: Field required"),
        (DETAILED, value(1, why=1, sure=True, n=[]), "q.why: Input should be a valid string"),
        (DETAILED, value(1, why="w", sure=0, n=[]), "q.sure: Input should be a valid boolean"),
        (DETAILED, value(1, why="w", sure=True, n="x"), "q.n: Input should be a valid list"),
    ],
)  # fmt: skip
def test_an_answer_that_does_not_fit_is_named(question, answer, fault):
    with pytest.raises(InvalidReply) as caught:
        read(question, answer)

    assert str(caught.value).startswith(fault)
    assert caught.value.kind == "invalid_reply"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_is_none_is_refused(number):
    text = '{"q":{"reason":"r","value":X}}'.replace("X", number)
    reply = Reply(tries=(Try(text=text),))

    with pytest.raises(InvalidReply):
        read_reply(reply, form=Form(questions=(STARS,)), request_key="k")


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        ({}, "q: Field required"),
        ({"q": value(1), "extra": 1}, "extra: Extra inputs are not permitted"),
        ({"Q": value(1)}, "q: Field required (and 1 more)"),
    ],
)
def test_the_form_wants_its_questions_and_no_others(data, fault):
    with pytest.raises(InvalidReply) as caught:
        read_answers(data, form=Form(questions=(SCORE,)))

    assert str(caught.value) == fault


def test_details_of_the_whole_verdict_are_read():
    form = Form(questions=(SCORE,), details=(Detail(name="summary"),))

    answers, details = read_answers({"q": value(1), "summary": "s"}, form=form)

    assert (answers["q"].value, details) == (1, {"summary": "s"})


@pytest.mark.parametrize("question", [SCORE, LEVEL, CHOICE, TRUTH, QUOTED, DETAILED])
def test_the_schema_asks_for_the_reason_first_and_the_value_last(question):
    schema = reply_schema(Form(questions=(question,))).json_schema

    (answer,) = (d for name, d in schema["$defs"].items() if name.startswith("Answer"))
    names = list(answer["properties"])
    assert names[0] == "reason"
    assert names[-1] == "value"
    assert answer["required"] == names
    assert answer["additionalProperties"] is False


def test_the_schema_of_an_item_asks_for_the_reason_before_the_verdict():
    schema = reply_schema(Form(questions=(FIXED,))).json_schema

    item = schema["$defs"]["Item0"]
    assert list(item["properties"]) == ["item", "reason", "met"]
    assert item["properties"]["item"]["enum"] == ["one", "two"]


def test_questions_stand_in_the_schema_in_the_order_of_the_form():
    ids = ["z.last", "a.first", "m"]
    form = Form(questions=tuple(Question(id=id, kind="score", text="t") for id in ids))

    assert list(reply_schema(form).json_schema["properties"]) == ids


def test_words_stand_in_the_schema_in_the_order_of_their_own_question():
    def enum(*labels):
        question = Question(id="q", kind="choice", text="t", labels=labels, nullable=True)
        schema = reply_schema(Form(questions=(question,))).json_schema
        return schema["$defs"]["Answer0"]["properties"]["value"]["anyOf"][0]["enum"]

    # Python keeps one `Literal[...] | None` for all orders of the same words.
    assert enum("bad", "good", "fair") == ["bad", "good", "fair"]
    assert enum("good", "fair", "bad") == ["good", "fair", "bad"]


def test_a_word_that_is_given_twice_stands_once_in_the_schema():
    question = Question(id="q", kind="choice", text="t", labels=("a", "b", "a"))
    schema = reply_schema(Form(questions=(question,))).json_schema

    assert schema["$defs"]["Answer0"]["properties"]["value"]["enum"] == ["a", "b"]


def test_equal_forms_share_a_schema_but_not_with_other_questions_or_an_order_of_their_own():
    other = SCORE.model_copy(update={"text": "Another?"})
    orders = [{"a": 1, "b": 2}, {"b": 2, "a": 1}]
    own = [reply_schema(Form(json_schema=order)).text for order in orders]

    assert reply_schema(Form(questions=(SCORE,))) is reply_schema(Form(questions=(SCORE,)))
    assert reply_schema(Form(questions=(SCORE,))) is not reply_schema(Form(questions=(other,)))
    assert own == ['{"a": 1, "b": 2}', '{"b": 2, "a": 1}']


def test_bounds_stand_in_the_schema():
    schema = reply_schema(Form(questions=(STARS,))).json_schema

    assert schema["$defs"]["Answer0"]["properties"]["value"]["minimum"] == 1
    assert schema["$defs"]["Answer0"]["properties"]["value"]["maximum"] == 5


# -- replies ----------------------------------------------------------------------

FORM = Form(questions=(SCORE,))
GOOD = json.dumps({"q": value(0.5)})


def judged(**last):
    reply = Reply(tries=(Try(**last),), model="served")
    return read_reply(reply, form=FORM, request_key="k")


@pytest.mark.parametrize(
    ("last", "kind"),
    [
        ({"text": GOOD[:-4], "finish": "length"}, "truncated"),
        ({"text": GOOD, "finish": "length"}, "truncated"),
        ({"text": GOOD, "finish": "max_tokens"}, "truncated"),
        ({"text": None, "finish": "length"}, "truncated"),
        ({"text": None, "finish": "stop"}, "empty"),
        ({"text": "", "finish": "stop"}, "empty"),
        ({"text": " \n", "finish": None}, "empty"),
        ({"text": "I would say 8 out of 10.", "finish": "stop"}, "invalid_reply"),
        ({"text": "[1]", "finish": "stop"}, "invalid_reply"),
        ({"text": "null", "finish": "stop"}, "invalid_reply"),
        ({"text": '{"q":{"reason":"r","value":2}}', "finish": "stop"}, "invalid_reply"),
        ({"text": '{"q":1,"q":2}', "finish": "stop"}, "invalid_reply"),
        ({"text": GOOD + GOOD, "finish": "stop"}, "invalid_reply"),
    ],
)
def test_the_ways_not_to_answer_are_told_apart(last, kind):
    with pytest.raises(InvalidReply) as caught:
        judged(**last)

    assert caught.value.kind == kind


@pytest.mark.parametrize(
    "last",
    [
        {"refusal": "I cannot judge this."},
        {"refusal": "No.", "text": GOOD},
        {"finish": "content_filter"},
        {"finish": "content_filter", "text": " "},
        {"finish": "safety", "text": None},
    ],
)
def test_a_refusal_is_no_invalid_reply(last):
    with pytest.raises(JudgeRefused, match="declined"):
        judged(**last)


@pytest.mark.parametrize("finish", ["content_filter", "refusal", "safety"])
def test_a_filtered_reply_is_refused_even_if_it_holds_an_answer(finish):
    with pytest.raises(JudgeRefused, match=finish):
        judged(text=GOOD, finish=finish)


@pytest.mark.parametrize(
    ("kind", "raised"),
    [("invalid_reply", InvalidReply), ("invalid_case", CaseError), ("refused", JudgeRefused)],
)
def test_a_fault_counts_whatever_the_text_says(kind, raised):
    with pytest.raises(raised, match="two choices"):
        judged(text=GOOD, finish="stop", fault={"kind": kind, "message": "two choices"})


@pytest.mark.parametrize(
    ("text", "repairs"),
    [
        (GOOD, ()),
        (f"```json\n{GOOD}\n```", ("fence",)),
        (f"<think>Is it {{0}}?</think>\n{GOOD}", ("thinking",)),
        (f"Here it is: {GOOD}", ("prose",)),
        (GOOD.replace('"r"', '"line\nbreak"'), ("control_characters",)),
    ],
)
def test_liberties_taken_are_named(text, repairs):
    judgment = judged(text=text, finish="stop")

    assert judgment.answers["q"].value == 0.5
    assert judgment.repairs == repairs


def test_the_last_try_counts_and_their_number_is_kept():
    reply = Reply(tries=(Try(text="no"), Try(text=GOOD)), model="served")

    judgment = read_reply(reply, form=FORM, request_key="k")

    assert (judgment.tries, judgment.model, judgment.request_key) == (2, "served", "k")


def test_a_long_reason_is_cut_and_control_characters_are_replaced():
    text = json.dumps({"q": value(1, reason="\x1b[31m" + "x" * 30_000)})

    reason = judged(text=text).answers["q"].reason

    assert reason.startswith("\ufffd[31mx")
    assert len(reason) == MAX_REASON + 1


class Own(BaseModel):
    verdict: str
    value: float


def test_a_response_model_of_ones_own_is_validated():
    form = Form(json_schema=Own.model_json_schema())
    good = Reply(tries=(Try(text='{"verdict":"fine","value":0.5}'),))
    bad = Reply(tries=(Try(text='{"verdict":"fine"}'),))

    judgment = read_reply(good, form=form, request_key="k", response_model=Own)

    assert judgment.data == {"verdict": "fine", "value": 0.5}
    with pytest.raises(InvalidReply, match="value: Field required"):
        read_reply(bad, form=form, request_key="k", response_model=Own)


def test_a_schema_without_a_model_takes_any_object():
    reply = Reply(tries=(Try(text='{"x":[1]}'),))

    judgment = read_reply(reply, form=Form(json_schema={"type": "object"}), request_key="k")

    assert judgment.data == {"x": [1]}


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_in_our_own_words(text):
    with contextlib.suppress(InvalidReply, JudgeRefused):
        assert 0 <= judged(text=text).answers["q"].value <= 1


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["reason", "value", "items", "quotes"]), inner)
        ),
        max_leaves=5,
    )
)
def test_any_json_in_place_of_an_answer_is_read_or_refused(answer):
    for question in (SCORE, LEVEL, TRUTH, FIXED, FOUND, QUOTED):
        try:
            taken = read(question, answer)
        except InvalidReply:
            continue
        assert not isinstance(taken.value, bool) or question.kind == "boolean"


# -- a valid attempt is parsed once ---------------------------------------------------


def test_a_valid_attempt_is_parsed_once(monkeypatch):
    from judgekit.core import judgment as module

    attempt = Try(text=GOOD)
    first = parse_try(attempt, FORM)
    monkeypatch.setattr(module, "parse_reply", None)

    assert parse_try(attempt, FORM) is first
    assert attempt == Try(text=GOOD)
    assert attempt.model_dump(exclude_defaults=True) == {"text": GOOD}


def test_an_attempt_is_parsed_again_for_another_form():
    attempt = Try(text=GOOD)
    parse_try(attempt, FORM)

    with pytest.raises(InvalidReply, match=r"q\.value"):
        parse_try(attempt, Form(questions=(STARS,)))
