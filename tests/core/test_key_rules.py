from __future__ import annotations

import pytest

from benchmarks.old_keys import GeneratedJudge
from judgekit.core.judge_wrapper import RequestBuilder
from judgekit.core.key_rules import (
    KEY_RULES,
    all_keys,
    judge_identity,
    older_forms,
    unkeyed_fields,
    unkeyed_table,
)
from judgekit.core.request import About, ChatMessage, Form, Question, Request, request_from

ABOUT = About()
FORM = Form(questions=(Question(id="q", kind="score", text="Good?"),))


def built(model="openai/judge", *, api=None, about=ABOUT, **params):
    judge = GeneratedJudge(model, params, api)
    messages = (ChatMessage(role="user", content="text"),)
    return RequestBuilder(judge).request(messages=messages, form=FORM, sample=0, about=about)


def as_sent(model="openai/judge", **params):
    messages = (ChatMessage(role="user", content="text"),)
    return Request(messages=messages, form=FORM, model=model, params=params)


def test_parameters_that_cannot_change_a_reply_are_not_in_the_key():
    request = built(temperature=0, user="ann", service_tier="flex", metadata={"team": {"a": 1}})

    assert request.key == as_sent(temperature=0).key
    assert request.unkeyed == {
        "user": "ann",
        "service_tier": "flex",
        "metadata": {"team": {"a": 1}},
    }
    assert "ann" not in request.canonical


@pytest.mark.parametrize("model", ["openrouter/m", "litellm_proxy/m", "unknown/m", "judge"])
@pytest.mark.parametrize("name", ["service_tier", "metadata"])
def test_a_parameter_by_which_a_provider_may_choose_a_model_stays(model, name):
    assert built(model, **{name: "x"}).key == as_sent(model, **{name: "x"}).key
    assert built(model, **{name: "x"}).key != built(model).key


def test_the_older_key_is_that_of_the_request_as_it_was_sent():
    params = {"seed": 7, "user": "ann", "timeout": 5}
    request = built(**params)

    assert list(all_keys(request)) == [request.key, as_sent(**params).key]
    assert [form.rule.name for form in older_forms(request)] == ["parameters"]


def test_requests_without_such_parameters_have_no_older_form():
    assert list(older_forms(built(temperature=0, seed=1))) == []
    assert list(older_forms(built("fake/judge"))) == []


@pytest.mark.parametrize("other", [{"case": "b"}, {"rubric": "s"}, {"metric": "n"}, {"order": "x"}])
def test_a_recorded_verdict_has_the_key_of_its_place_in_the_file(other):
    place = {"case": "a", "rubric": "r", "metric": "m"}
    one = built("recorded/v", api="recorded", about=About(**place))
    two = built("recorded/v", api="recorded", about=About(**{**place, **other}))

    assert one.key != two.key
    assert [form.shared for form in older_forms(one)] == [True]
    assert list(all_keys(one))[1] == list(all_keys(two))[1]
    assert judge_identity(one) == "0123456789abcdef"


def test_a_request_restored_from_a_tape_keeps_its_key():
    one = built("recorded/v", api="recorded", about=About(case="a"))
    (older,) = older_forms(one)
    for request in (one, older.request):
        data = {
            "messages": [{"role": "user", "content": "text"}],
            "form": request.form.model_dump(exclude_defaults=True),
            "model": request.model,
            "identity": request.identity,
        }
        assert request_from(data).key == request.key


def test_every_row_of_the_table_has_a_reason_and_a_source():
    for row in unkeyed_table():
        assert row.reason.endswith(".")
        assert row.source
        assert row.fields
    assert "user" in unkeyed_fields("anthropic/m")
    assert "temperature" not in unkeyed_fields("openai/m")


def test_rules_are_in_the_order_of_their_generations():
    generations = [rule.generation for rule in KEY_RULES]

    assert generations == list(range(2, 2 + len(KEY_RULES)))
    assert len({rule.name for rule in KEY_RULES}) == len(KEY_RULES)
