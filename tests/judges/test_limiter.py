"""The limiter against simulated servers: use of the allowance, refused calls, lies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from judgekit.judges.pace import Limiter
from judgekit.judges.rate_headers import CallEnd

from .pacing import HiddenLimit, simulate


def auto(**limits: Any) -> Limiter:
    every: dict[str, Any] = {"concurrency": "auto", "rpm": "auto", "tpm": "auto", **limits}
    return Limiter("server", every["concurrency"], every["rpm"], every["tpm"], 60.0)


LIMITS = {"rpm": {"rpm": 120}, "tpm": {"tpm": 60_000}, "both": {"rpm": 200, "tpm": 60_000}}
SERVERS: dict[str, dict[str, Any]] = {
    "refills all the time": {},
    "saves up one second": {"span": 1.0},
    "refills every minute": {"window": True},
    "refills every ten seconds": {"window": True, "span": 10.0},
}


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("name", ["refills all the time", "refills every minute"])
def test_headers_are_followed_from_the_start(name: str, limits: Any) -> None:
    server = HiddenLimit(headers=True, **SERVERS[name], **limits)
    between = simulate(server, auto(), minutes=10)

    outcome = between(0, 10)

    assert outcome.used >= 0.9
    assert outcome.refused <= 0.01


@pytest.mark.parametrize("rpm", [5, 10, 30])
@pytest.mark.parametrize("retry_after", [True, False])
def test_few_calls_a_minute_in_headers_are_used_and_none_is_refused(
    rpm: float, retry_after: bool
) -> None:
    server = HiddenLimit(rpm=rpm, headers=True, window=True, retry_after=retry_after)

    outcome = simulate(server, auto(), minutes=15)(5, 15)

    assert outcome.used >= 0.9
    assert outcome.refused == 0


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("server", SERVERS.values(), ids=SERVERS)
def test_hidden_limit_is_learnt_from_refusals(server: dict[str, Any], limits: Any) -> None:
    if server.get("span") == 1.0 and "tpm" in limits:
        pytest.skip("one second of these tokens is not enough for three calls")
    between = simulate(HiddenLimit(**server, **limits), auto(), minutes=15)

    outcome = between(5, 15)

    assert outcome.used >= 0.9
    assert outcome.refused <= 0.01


def test_server_that_does_not_say_when_to_come_back_is_tried_by_single_calls() -> None:
    server = HiddenLimit(rpm=120, window=True, retry_after=False)

    outcome = simulate(server, auto(), minutes=15)(5, 15)

    assert outcome.used >= 0.9
    assert outcome.refused <= 0.01


@pytest.mark.parametrize("headers", [True, False])
@pytest.mark.parametrize("after", [60.0, 180.0])
def test_limit_may_change(headers: bool, after: float) -> None:
    server = HiddenLimit(rpm=120, headers=headers)
    change = {5: lambda: server.limits.update(requests=after)}

    outcome = simulate(server, auto(), minutes=22, at=change)(12, 22)

    assert outcome.used >= 0.9
    assert outcome.refused <= 0.01


def test_estimates_that_are_wrong_are_settled() -> None:
    server = HiddenLimit(tpm=90_000, headers=True)

    outcome = simulate(server, auto(), minutes=10, estimate=3.0)(0, 10)

    assert outcome.used >= 0.9
    assert outcome.refused <= 0.01


def test_given_limit_is_kept_and_used() -> None:
    server = HiddenLimit(rpm=1e6)
    limiter = Limiter("server", None, 120.0, None, 60.0)

    outcome = simulate(server, limiter, minutes=10)(0, 10)

    assert outcome.calls == pytest.approx(1200, abs=2)


def test_given_tokens_are_kept_and_used() -> None:
    server = HiddenLimit(tpm=60_000)
    limiter = Limiter("server", None, None, 60_000.0, 60.0)

    outcome = simulate(server, limiter, minutes=10)(1, 10)

    assert outcome.used == pytest.approx(1, abs=0.01)


def start_all(limiter: Limiter, now: float, since: float) -> list[int]:
    """Start the calls that may start now; the first has waited since some time."""
    calls = []
    while limiter.wait(1, now=now, since=since) == 0:
        calls.append(limiter.start(1, now=now, since=since))
        since = now
    return calls


def test_concurrency_follows_the_server() -> None:
    limiter = auto(rpm=None, tpm=None)
    now = since = 0.0
    late = refused = most = 0
    for _ in range(400):
        calls = start_all(limiter, now, since)
        most, since = max(most, len(calls)), now
        now += 0.2
        for place, call in enumerate(calls):
            status = 200 if place < 20 else 429
            limiter.end(call, CallEnd(status, {}, 1, 0.2), now=now)
            late += most > 20
            refused += most > 20 and status == 429
        now += limiter.wait(1, now=now, since=since)

    assert 20 < most <= 64
    assert refused <= 0.03 * late
    assert 18 <= (limiter.calls.value or 0) <= 22


def test_rising_latency_lowers_the_concurrency() -> None:
    limiter = auto(rpm=None, tpm=None)
    now = since = 0.0
    for _ in range(300):
        calls = start_all(limiter, now, since)
        since = now
        seconds = 0.2 * max(1.0, len(calls) / 10)  # a queue in front of ten workers
        now += seconds
        for call in calls:
            limiter.end(call, CallEnd(200, {}, 1, seconds), now=now)

    assert 10 <= (limiter.calls.value or 0) <= 60


def exchange(
    limiter: Limiter, headers: Mapping[str, str], *, now: float, status: int = 200
) -> float:
    """Make one call as soon as it may start; return the time after it."""
    since = now
    while wait := limiter.wait(10, now=now, since=since):
        assert wait <= 60
        now += wait
    call = limiter.start(10, now=now, since=since)
    limiter.end(call, CallEnd(status, headers, 10, 0.1), now=now)
    return now


def says(limit: str, remaining: str, reset: str) -> dict[str, str]:
    values = {"limit": limit, "remaining": remaining, "reset": reset}
    return {f"x-ratelimit-{name}-requests": value for name, value in values.items()}


LIES = {
    "a year": says("10", "0", "31536000s"),
    "nothing, for ever": says("1e300", "0", "1e308"),
    "negative": says("-1", "-1", "-1"),
    "not a number": says("nan", "nan", "nan"),
    "without end": says("inf", "inf", "inf"),
    "no time": says("10", "0", "0"),
    "much": says("1" * 60, "1" * 60, "1"),
}


@pytest.mark.parametrize("headers", LIES.values(), ids=LIES)
def test_headers_that_lie_neither_stop_the_run_nor_unleash_it(headers: dict[str, str]) -> None:
    limiter = auto()
    now = 0.0
    for _ in range(100):
        now = exchange(limiter, headers, now=now)

    assert now <= 3 * 60
    assert (limiter.calls.value or math.inf) <= 256


def test_retry_after_that_is_longer_than_max_wait_is_no_pause() -> None:
    limiter = auto()

    exchange(limiter, {"retry-after": "86400"}, now=0.0, status=429)

    assert limiter.wait(10, now=0.0, since=0.0) <= 60


def test_refusal_pauses_all_calls() -> None:
    limiter = Limiter("server", None, 6000.0, None, 60.0)
    now = exchange(limiter, {}, now=5.0)

    for _ in range(2):  # the first may be about its request alone
        now = exchange(limiter, {"retry-after": "20"}, now=now, status=429)

    assert limiter.wait(10, now=now + 15, since=now) == pytest.approx(5)


def test_learnt_limits_are_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="judgekit"):
        simulate(HiddenLimit(rpm=200), auto(), minutes=3)

    lines = [record.getMessage() for record in caplog.records]
    assert any(line.startswith("server: learnt ") and "requests a minute" in line for line in lines)
    assert len(lines) < 60
