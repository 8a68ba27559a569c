"""Headers about rate limits: durations, dates, and values that a server must not send."""

from __future__ import annotations

import pytest

from judgekit.judges.rate_headers import Allowed, read_allowed, read_retry_after, read_seconds

DATE = {"date": "Mon, 23 Nov 2026 10:00:00 GMT"}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1s", 1.0),
        ("20ms", 0.02),
        ("6m0s", 360.0),
        ("2m59.56s", 179.56),
        ("1h2m3s", 3723.0),
        ("1d", 86_400.0),
        ("1.5", 1.5),
        (" 7 ", 7.0),
        ("-3", -3.0),
        ("2026-11-23T10:00:30Z", 30.0),
        ("Mon, 23 Nov 2026 10:01:00 GMT", 60.0),
        ("2026-11-23T10:00:30", 30.0),
    ],
)
def test_duration_and_date_are_seconds(text: str, seconds: float) -> None:
    assert read_seconds(text, DATE) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        " ",
        "soon",
        "nan",
        "inf",
        "-inf",
        "1e999",
        "1.2.3s",
        "9" * 65,
        "1s1s",
        "١s\0",
        "0x1",
    ],
)
def test_other_values_are_ignored(text: str | None) -> None:
    assert read_seconds(text, DATE) is None


def test_openai_and_anthropic_name_their_limits_differently() -> None:
    openai = {
        "x-ratelimit-limit-tokens": "150000",
        "x-ratelimit-remaining-tokens": "149984",
        "x-ratelimit-reset-tokens": "6ms",
    }
    anthropic = {
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "49",
        "anthropic-ratelimit-requests-reset": "2026-11-23T10:00:02Z",
        **DATE,
    }

    assert read_allowed(openai, "tokens") == Allowed(150_000, 149_984, 0.006)
    assert read_allowed(openai, "requests") is None
    assert read_allowed(anthropic, "requests") == Allowed(50, 49, 2.0)


def test_impossible_figures_stay_within_their_limits() -> None:
    def read(limit: str, remaining: str, reset: str) -> Allowed | None:
        values = {"limit": limit, "remaining": remaining, "reset": reset}
        headers = {f"x-ratelimit-{name}-requests": value for name, value in values.items()}
        return read_allowed(headers, "requests")

    assert read("10", "-5", "-1s") is None
    assert read("10", "-5", "-1") == Allowed(10, 0, 0)
    assert read("10", "1e300", "1") == Allowed(10, 10, 1)
    assert read("0", "0", "1") is None
    assert read("nan", "1", "1") is None
    assert read("100, 100;window=60", "1", "1") is None


def test_retry_after_is_never_negative() -> None:
    assert read_retry_after({"retry-after": "3"}) == 3
    assert read_retry_after({"retry-after": "Mon, 23 Nov 2026 10:00:09 GMT", **DATE}) == 9
    assert read_retry_after({"retry-after": "Mon, 23 Nov 2020 10:00:09 GMT", **DATE}) == 0
    assert read_retry_after({}) is None


def test_retry_after_may_be_a_number_in_the_exception_of_a_library() -> None:
    assert read_retry_after({"retry-after": 20}) == 20  # type: ignore[dict-item]
    assert read_retry_after({"retry-after": float("inf")}) is None  # type: ignore[dict-item]
