"""Bounds of reasons: sent to the judge, never a reason for an invalid reply."""

from __future__ import annotations

import json

import pytest

from judgekit.core.errors import ConfigError, InvalidReply
from judgekit.core.judge_settings import JudgeSettings
from judgekit.core.judgment import parse_try, read_reply
from judgekit.core.jury import Jury
from judgekit.core.repetition import repeated_end
from judgekit.core.reply_schema import reply_schema
from judgekit.core.request import Detail, Form, Question, Reply, Try
from judgekit.judges.absent import AbsentJudge
from judgekit.judges.manual import ManualJudge
from judgekit.metrics.rubric import RubricMetric

FORM = Form(
    questions=(
        Question(id="right", kind="boolean", text="Is it right?", quotes=True),
        Question(id="parts", kind="checklist", text="Which parts?"),
    ),
    details=(Detail(name="notes", kind="list"), Detail(name="sure", kind="boolean")),
)


def texts(schema):
    """Return the path of every text in a schema -> its maximum length."""
    lengths = {}

    def visit(part, path):
        if isinstance(part, dict):
            if part.get("type") == "string":
                lengths[path] = part.get("maxLength")
            for name, inner in part.items():
                visit(inner, name if name not in ("items", "properties") else f"{path} {name}")
        elif isinstance(part, list):
            for inner in part:
                visit(inner, path)

    visit(schema, "")
    return set(lengths.values())


def test_the_default_changes_neither_key_nor_schema() -> None:
    assert FORM.bounded(None) is FORM
    assert "max_reason" not in FORM.canonical
    assert texts(reply_schema(FORM).json_schema) == {None}


def test_every_text_has_its_bound_in_the_schema() -> None:
    bounded = FORM.bounded(160)

    schema = reply_schema(bounded).json_schema

    assert texts(schema) == {160, 1000}
    answer = schema["$defs"]["Answer0"]["properties"]
    assert (answer["reason"]["maxLength"], answer["quotes"]["maxItems"]) == (160, 20)
    assert json.loads(bounded.canonical)["max_reason"] == 160
    assert bounded is FORM.bounded(160)
    assert set(schema) == set(reply_schema(FORM).json_schema)


def test_only_forms_with_questions_in_a_chat_are_bounded() -> None:
    for form in (FORM.of_api("decisions"), Form(want="text"), Form(json_schema={"type": "object"})):
        assert form.bounded(160) is form


def reply(length):
    long = "a" * length
    item = {"item": long, "reason": long, "met": True}
    right = {"reason": long, "quotes": [long], "value": True}
    whole = {"right": right, "parts": {"items": [item]}, "notes": [long], "sure": True}
    return Reply(tries=(Try(text=json.dumps(whole), finish="stop"),))


def test_a_longer_text_is_cut_and_valid() -> None:
    judgment = read_reply(reply(300), form=FORM.bounded(160), request_key="")

    cut = "a" * 160 + "…"
    right, parts = judgment.answers["right"], judgment.answers["parts"]
    assert (right.value, right.reason) == (True, cut)
    assert judgment.details == {"notes": [cut], "sure": True}
    assert parts.items[0]["reason"] == cut
    # What is compared with the case or judged in turn stays whole.
    assert (right.quotes, parts.items[0]["item"]) == (("a" * 300,), "a" * 300)
    assert read_reply(reply(160), form=FORM.bounded(160), request_key="").answers["right"].reason


def truncated(text, form=FORM):
    with pytest.raises(InvalidReply) as error:
        parse_try(Try(text=text, finish="length"), form)
    assert error.value.kind == "truncated"
    return str(error.value)


def test_a_loop_is_told_apart_from_a_small_limit() -> None:
    loop = '{"right": {"reason": "It is right. ' + "The answer is right, and step 3 is right. " * 30
    plain = '{"right": {"reason": "' + " ".join(str(number**3) for number in range(300))

    assert "repeats 'is right. The answer is right, and step 3'" in truncated(loop)
    assert "max_reason, such as 160" in truncated(loop)
    assert "although max_reason is 160" in truncated(loop, FORM.bounded(160))
    assert truncated(plain).endswith("raise max_tokens")
    assert "repeats 'white space'" in truncated('{"right": ' + " \n" * 4000)


def test_a_loop_over_entries_of_a_list_gets_no_advice_about_reasons() -> None:
    entry = '{"item": "The user asks twice.", "reason": "Both were met.", "met": false}, '

    for form in (FORM, FORM.bounded(160)):
        message = truncated('{"points": {"items": [' + entry * 20, form)
        assert "entries of a list; name the items in the rubric" in message
        assert "max_reason" not in message


def test_counting_loops_and_whole_phrases() -> None:
    counting = "".join(f"Step {number}: check it again. " for number in range(100, 200))
    assert repeated_end(counting) is not None
    assert repeated_end("x" * 199) is None
    assert repeated_end("x" * 200) == "x"
    assert repeated_end("a sentence of some length, " * 2) is None


@pytest.mark.parametrize("value", [0, 19, 20_001, 1.5, True, "160"])
def test_a_bound_out_of_range_is_one_clear_line(value) -> None:
    with pytest.raises(ConfigError, match=r"max_reason (is|must be) a whole number"):
        Jury(AbsentJudge("openai/judge"), max_reason=value)


def keys(judge, **settings):
    from judgekit.core.case import Case

    case = Case(id="a", input="When?", output="At nine.")
    metric = RubricMetric("quality", judge=judge, **settings)
    return [request.key for request in metric.requests(case)[1]]


def test_a_metric_overrides_the_judge_and_every_request_has_the_bound() -> None:
    plain, own = AbsentJudge("openai/judge"), AbsentJudge("openai/b", JudgeSettings(max_reason=100))
    jury = Jury({"a": plain, "b": own})
    for calls in ("all", "each", 2):
        usual = keys(jury, calls=calls, samples=2, order="balanced")
        bounded = keys(jury, calls=calls, samples=2, order="balanced", max_reason=160)
        assert not set(usual) & set(bounded)
        assert len(set(bounded)) == len(usual)
    assert keys(plain, max_reason=100) == keys(
        AbsentJudge("openai/judge", JudgeSettings(max_reason=100))
    )
    assert keys(own) != keys(AbsentJudge("openai/b"))


@pytest.mark.parametrize(
    "judge",
    [
        AbsentJudge("openai/d", JudgeSettings(api="decisions")),
        AbsentJudge("recorded/v", JudgeSettings(api="recorded")),
        ManualJudge("ann"),
    ],
)
def test_judges_that_write_no_reasons_keep_their_keys(judge) -> None:
    assert keys(judge, max_reason=160) == keys(judge)
