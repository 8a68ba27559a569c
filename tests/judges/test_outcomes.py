"""What providers' errors mean, by the table."""

from __future__ import annotations

import json

import pytest

from judgekit.judges import outcomes
from judgekit.judges.outcomes import (
    ErrorBody,
    error_body,
    error_in_success,
    finish_in,
    finish_means,
    meaning_of,
    refusal_in,
    status_for,
)

TABLE = json.loads(outcomes._DATA.read_text("utf-8"))


def openai(message, code=None, type="invalid_request_error", **more):
    return {"error": {"message": message, "type": type, "code": code, **more}}


def raw(text):
    return {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": text}}}


MEANINGS = [
    (400, openai("Your credit balance is too low to access the Anthropic API."), "account"),
    (400, openai("Organization has been restricted.", "organization_restricted"), "account"),
    (400, openai("`x` has been decommissioned", "model_decommissioned"), "account"),
    (400, [{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}],
     "account"),
    (400, {"error": {"message": "no", "details": [{"reason": "API_KEY_INVALID"}]}}, "account"),
    (402, openai("Insufficient Balance"), "account"),
    (402, None, "account"),
    (403, openai("Country, region, or territory not supported",
                 "unsupported_country_region_territory"), "account"),
    (403, {"code": "x", "error": "Your team has used all available credits or"}, "account"),
    (404, {"error": {"message": "no", "code": "DeploymentNotFound"}}, "account"),
    (412, openai("Account x is suspended, possibly due to reaching the monthly limit"), "account"),
    (429, openai("You exceeded your current quota", "insufficient_quota"), "account"),
    (429, {"error": {"code": "1113", "message": "余额不足"}}, "account"),
    (200, {"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, "account"),
    (200, {"error_code": 17, "error_msg": "Open api daily request limit reached"}, "account"),
    (400, openai("Failed to generate JSON.", "json_validate_failed", failed_generation="{"),
     "invalid_reply"),
    (400, openai("x", "data_inspection_failed"), "refused"),
    (400, openai("Content Exists Risk"), "refused"),
    (400, {"error": {"code": "1301", "message": "内容可能包含不安全或敏感内容"}},
     "refused"),
    (400, openai("x", None, None, innererror={"code": "ResponsibleAIPolicyViolation"}), "refused"),
    (403, {"error": {"code": 403, "message": "Your chosen model requires moderation on OpenAI and "
                     "your input was flagged"}}, "refused"),
    (421, openai("content filter"), "refused"),
    (200, {"base_resp": {"status_code": 1026, "status_msg": "input new_sensitive"}}, "refused"),
    (400, openai("prompt is too long: 214393 tokens > 200000 maximum"), "context"),
    (400, raw('{"error":{"message":"max context length is 8192 tokens"}}'), "context"),
    (413, openai("Request too large on tokens per minute", "rate_limit_exceeded"), "unavailable"),
    (200, {"error": {"message": "The server is overloaded"}}, "unavailable"),
    (200, {"error_code": 336100, "error_msg": "the server is busy"}, "unavailable"),
    (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
     "unavailable"),
    (400, openai("temperature must be at most 2", param="temperature"), None),
    (403, openai("forbidden"), None),
    (400, openai("The text says: he had insufficient light"), None),
]  # fmt: skip


@pytest.mark.parametrize(("status", "data", "meaning"), MEANINGS)
def test_what_an_error_means(status, data, meaning):
    assert meaning_of(status, error_body(data)) == meaning


def test_words_of_a_dropped_reply_are_not_those_of_the_provider():
    data = openai("Failed.", "json_validate_failed", failed_generation="credit balance is too low")

    error = error_body(data)

    assert error.generation == "credit balance is too low"
    assert meaning_of(400, error) == "invalid_reply"


ANSWER = {"message": {"role": "assistant", "content": "{}"}, "finish_reason": "stop"}
HIDDEN = [
    ({"choices": [ANSWER]}, False),
    ({"choices": [ANSWER], "base_resp": {"status_code": 0, "status_msg": ""}}, False),
    ({"choices": [ANSWER], "error": None}, False),
    ({"choices": [ANSWER], "code": 0}, False),
    ({"choices": [{**ANSWER, "finish_reason": "whatever"}]}, False),
    ({"choices": []}, False),
    ({"data": [{"embedding": [0.1]}]}, False),
    ({"error": {"message": "x"}, "choices": []}, True),
    ({"error": "overloaded"}, True),
    ({"choices": None, "base_resp": {"status_code": 1002, "status_msg": "rate limit"}}, True),
    ({"error_code": 336100, "error_msg": "busy"}, True),
    ({"choices": [{**ANSWER, "error": {"code": 502, "message": "upstream"}}]}, True),
    ({"choices": [{**ANSWER, "finish_reason": "error"}]}, True),
    ({"choices": [{**ANSWER, "native_finish_reason": "insufficient_system_resource"}]}, True),
    ({"choices": [{"message": {"content": ""}, "finish_reason": "whatever"}]}, True),
    ({"promptFeedback": {"blockReason": "SAFETY"}}, True),
]


@pytest.mark.parametrize(("data", "hidden"), HIDDEN)
def test_errors_in_responses_with_a_success_status(data, hidden):
    assert (error_in_success(data) is not None) == hidden


@pytest.mark.parametrize(
    ("codes", "status"),
    [
        (("502",), 502),
        (("invalid_request_error",), 400),
        (("overloaded_error",), 529),
        (("True",), None),
        (("0",), None),
        (("99999999999999999999",), None),
        ((), None),
    ],
)
def test_the_status_that_an_error_stands_for(codes, status):
    assert status_for(ErrorBody(codes)) == status


@pytest.mark.parametrize(
    "data",
    [None, 1, [], [1, 2], "x", {}, {"error": 7}, {"error": {"metadata": {"raw": "[" * 9_000}}},
     {"error": {"code": True, "message": None, "details": ["x", None]}}, {"base_resp": "x"}],
)  # fmt: skip
def test_odd_bodies_mean_nothing(data):
    assert meaning_of(400, error_body(data)) is None


def test_finish_reasons_of_protocols():
    assert finish_in({"candidates": [{"finishReason": "SAFETY"}]}) == "SAFETY"
    assert finish_means("model_context_window_exceeded") == "length"
    assert finish_in({"choices": []}) is None
    assert finish_means(["stop"]) is None


def test_a_refusal_of_the_responses_api():
    part = {"type": "refusal", "refusal": "I cannot help."}

    assert refusal_in({"output": [{"type": "message", "content": [part]}]}) == "I cannot help."
    assert refusal_in({"output": [{"content": [{"type": "refusal", "refusal": " "}]}]}) is None


def test_every_row_has_a_source_and_something_to_match():
    for row in TABLE["outcomes"]:
        assert row["source"].strip()
        assert row["provider"].strip()
        assert row.get("codes") or row.get("words")
        assert all(word == word.lower() for word in row.get("words", ()))
    reasons = [word for row in TABLE["finishes"] for word in row["reasons"]]
    assert len(reasons) == len(set(reasons))
