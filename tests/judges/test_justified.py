"""Which recorded replies today's table of outcomes would not record."""

from __future__ import annotations

import json

import pytest

from judgekit.core.errors import CaseError, InvalidReply, JudgeRefused
from judgekit.core.request import Fault, Reply, Try, Usage
from judgekit.judges.justified import unjustified

OTHERS = "the judge took other requests but not this one: "


def case(message):
    return Try(fault=Fault.of(CaseError(message)))


UNJUSTIFIED = [
    (case(f"{OTHERS}HTTP 400: Your credit balance is too low"), "HTTP 400"),
    (case(f"{OTHERS}HTTP 400: messages hold an unsupported character"), "HTTP 400"),
    (case(f"{OTHERS}HTTP 422: overloaded"), "HTTP 422"),
    (case("the model took other requests but not this one: HTTP 422: no"), "HTTP 422"),
    (case("the judge took this form, but not for this case: HTTP 400: json_schema"), "HTTP 400"),
    (case(f"{OTHERS}litellm raised TypeError: x"), "without a status"),
    (Try(fault=Fault.of(JudgeRefused(
        "the provider's content policy declined: account has been suspended"))), "account"),
    (Try(text="", finish="error"), "finish error"),
    (Try(text=None, finish="insufficient_system_resource"), "outage"),
    (Try(text=None, finish=None), "outage"),
    (Try(text=json.dumps({"choices": None, "message": "Overloaded"}),
         fault=Fault(message="the response is malformed: choices is null, not a list")),
     "malformed"),
]  # fmt: skip
JUSTIFIED = [
    Try(text="{}", finish="stop"),
    Try(text="", finish="stop"),
    Try(text="", finish="length"),
    Try(text=None, finish="content_filter"),
    Try(text=None, refusal="no", finish=None),
    case(f"{OTHERS}HTTP 400: This model's maximum context length is 8192 tokens"),
    case(f"{OTHERS}HTTP 400: messages: text content blocks must be non-empty"),
    case("too long for the judge's context window: 9000 tokens"),
    case("too large for the judge: 413"),
    case("the case has no output"),
    Try(fault=Fault.of(JudgeRefused("the provider's content policy declined: filtered"))),
    Try(fault=Fault.of(JudgeRefused("a person declined"))),
    Try(fault=Fault.of(InvalidReply("not JSON"))),
    Try(text='{"choices": [{}], "usage": {"completion_tokens": 9}}',
        fault=Fault(message="the response is malformed: a choice without a message")),
]  # fmt: skip


@pytest.mark.parametrize(("attempt", "words"), UNJUSTIFIED)
def test_what_is_not_about_the_case_is_not_justified(attempt, words):
    assert words in unjustified(Reply(tries=(Try(text="{"), attempt), mode="json_schema"))


@pytest.mark.parametrize("attempt", JUSTIFIED)
def test_the_rest_is_justified(attempt):
    assert unjustified(Reply(tries=(attempt,), mode="json_schema")) is None


def test_a_model_that_wrote_tokens_has_answered():
    reply = Reply(tries=(Try(text=""),), mode="text", usage=Usage(output_tokens=3))

    assert unjustified(reply) is None


def test_the_last_try_counts():
    reply = Reply(tries=(Try(text="", finish="error"), Try(text="{}", finish="stop")))

    assert unjustified(reply) is None
