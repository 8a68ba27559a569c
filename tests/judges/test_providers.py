from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from judgekit.core.errors import CaseError, JudgeRefused, JudgeRejected
from judgekit.core.sanitiser import Sanitiser
from judgekit.judges.prices import listed_price
from judgekit.judges.providers import reason_for_litellm
from judgekit.judges.translation import BadRequest, Outage, one_line, translate
from judgekit.judges.transport import Server


class Foreign(Exception):
    """An error with the fields litellm's have."""

    def __init__(self, text: str, status: int | None = None, **headers: str) -> None:
        super().__init__(text)
        if status is not None:
            self.status_code = status
        self.litellm_response_headers = {k.replace("_", "-"): v for k, v in headers.items()}


def named(name: str, *arguments: Any) -> Exception:
    made: Exception = type(name, (Foreign,), {})(*arguments)
    return made


@pytest.mark.parametrize("status", [408, 409, 424, 425, 429, 498, 500, 502, 503, 504, 529])
def test_statuses_that_pass_are_outages(status: int) -> None:
    assert type(translate(Foreign("busy", status))) is Outage


@pytest.mark.parametrize("status", [401, 402, 407])
def test_statuses_about_the_account_reject(status: int) -> None:
    assert str(translate(Foreign("no", status))) == f"HTTP {status}: no"
    assert type(translate(Foreign("no", status))) is JudgeRejected


@pytest.mark.parametrize("status", [0, 42, 101, 400, 403, 404, 405, 410, 418, 422, 451, 600, 999])
def test_other_statuses_may_be_about_one_request(status: int) -> None:
    rejection = translate(Foreign("no", status))

    assert type(rejection) is BadRequest
    assert rejection.about_form == (status in (400, 404, 422, 600, 999))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (named("ContextWindowExceededError", "too long", 400), CaseError),
        (Foreign("large", 413), CaseError),
        (named("ContentPolicyViolationError", "no", 400), JudgeRefused),
        (Foreign("triggering Azure's content management policy", 400), JudgeRefused),
        (Foreign("insufficient_quota: pay", 429), JudgeRejected),
        (Foreign("The api_key client option must be set", 500), JudgeRejected),
        (Foreign("json_schema in response_format is not supported", 500), BadRequest),
        (named("Timeout", "late"), Outage),
        (named("APIConnectionError", "gone"), Outage),
        (TimeoutError(), Outage),
        (TypeError("got an unexpected keyword"), BadRequest),
    ],
)
def test_errors_by_what_they_say(error: Exception, kind: type[Exception]) -> None:
    assert type(translate(error)) is kind


def test_error_without_words_is_named() -> None:
    assert str(translate(TimeoutError())) == "TimeoutError"


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("2", 2.0),
        ("0.5", 0.5),
        ("-1", 0.0),
        ("1m20s", 80.0),
        ("soon", None),
        ("nan", None),
        ("inf", None),
    ],
)
def test_retry_after_in_seconds(said: str, seconds: float | None) -> None:
    error = translate(Foreign("busy", 429, retry_after=said))

    assert isinstance(error, Outage)
    assert error.retry_after == seconds


def test_retry_after_as_a_date() -> None:
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)

    error = translate(Foreign("busy", 429, retry_after=when))

    assert isinstance(error, Outage)
    assert error.retry_after is not None
    assert 55 < error.retry_after <= 60


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("litellm.RateLimitError: RateLimitError: OpenAIException - slow\ndown", "slow down"),
        ("litellm.Timeout: Timeout Error: late", "late"),
        ("bad Traceback (most recent call last): File '/home/me/x.py'", "bad"),
        ("key sk-abcdefgh12345678 is wrong", "key [key] is wrong"),
        ("Authorization: Bearer abcdefghijkl", "Authorization: [key]"),
        ("x\x1b[31mred", "x�[31mred"),
        ("y" * 400, "y" * 297 + "..."),
    ],
)
def test_one_line(text: str, line: str) -> None:
    assert one_line(text) == line


def test_secrets_of_any_shape_are_left_out() -> None:
    assert one_line("it was hunter22!", sanitiser=Sanitiser(("", "hunter22"))) == "it was [key]!"


def test_price_list_is_read_without_importing_litellm() -> None:
    price = listed_price("openai/gpt-4o-mini")

    assert price is not None
    assert 0 < price[0] < price[1]
    assert listed_price("openai/nobody-knows") is None


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("groq/x", "litellm asks it for a schema by a tool call"),
        ("mistral/x", "litellm renames its parameters and forces no tool"),
        ("openrouter/a/x", "litellm asks it for the cost of each call"),
    ],
)
def test_a_provider_that_is_left_to_litellm_says_why(model, why):
    server = Server(model, "http://localhost/v1", None, 1, 1, 1, None)
    assert reason_for_litellm(server, {}) == why


def test_a_refusal_of_litellm_itself_is_no_error_of_the_server():
    class UnsupportedParamsError(Exception):
        status_code = 400

    error = translate(
        UnsupportedParamsError(
            "litellm.UnsupportedParamsError: anthropic does not support parameters: ['seed'], "
            "for model=claude. To drop these, set `litellm.drop_params=True`"
        )
    )

    assert isinstance(error, BadRequest)
    assert "litellm does not send this request" in str(error)
    assert "does not support parameters: ['seed']" in str(error)
    assert "drop_params" not in str(error)
    assert "HTTP" not in str(error)
