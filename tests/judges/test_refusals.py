"""A request that is always refused costs the others little; a busy server is asked less."""

from __future__ import annotations

import math
from typing import Any

import pytest

from judgekit.judges.refusals import Refusals, RefusedRequest

from .virtual import Refusing, always, run


def test_a_request_is_alone_if_others_pass_between_its_refusals() -> None:
    counts = Refusals()
    bad, other = RefusedRequest(counts), RefusedRequest(counts)

    def alone(*statuses: int) -> bool:
        for status in statuses:
            bad.note(status)
        return bad.alone

    assert not alone(429)  # the first refusal may be a limit
    assert bad.leaves
    assert not alone(429)  # nothing passed
    assert not bad.leaves
    other.note(200)
    assert alone(503)
    for status in (*[200] * 5, 429):
        other.note(status)
    assert not alone(429)  # another one is refused, too
    other.note(500)
    assert alone(429)
    assert not alone(200)


def test_one_request_that_was_refused_once_leaves_its_slot() -> None:
    counts = Refusals()
    first, second = RefusedRequest(counts), RefusedRequest(counts)

    first.note(429)
    second.note(429)
    assert (first.leaves, second.leaves) == (True, False)
    first.end()

    third = RefusedRequest(counts)
    third.note(429)
    assert third.leaves


LIMITS: dict[str, dict[str, Any]] = {
    "one call": {"concurrency": 1},
    "eight calls": {},
    "rpm": {"rpm": 600.0},
    "auto": {"concurrency": "auto", "rpm": "auto", "tpm": "auto"},
}
CASES = 64


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
def test_one_request_that_is_always_refused_costs_others_less_than_a_tenth(limits: Any) -> None:
    plain = run(Refusing(always(())), CASES, **limits)
    for place, retry_after in ((0, None), (30, "20")):
        server = Refusing(always([place], retry_after=retry_after))

        ended = run(server, CASES, **limits)

        assert ended.others <= 1.1 * plain.others
        assert list(ended.kinds.values()).count("scored") == CASES - 1
        assert ended.kinds[f"case-{place:05d}"] == "unavailable"
        if limits.get("concurrency") != "auto":
            assert server.most == limits.get("concurrency", 8)


def test_limits_that_requests_of_their_own_lowered_are_raised_again() -> None:
    plain = run(Refusing(always(())), CASES, rpm="auto")

    ended = run(Refusing(always([7, 8])), CASES, rpm="auto")

    # Two are refused at once, so there is one pause, and fewer calls until both are alone.
    assert ended.others <= plain.others + 3.0


def test_refusals_told_in_a_200_are_refusals() -> None:
    plain = run(Refusing(always(())), CASES, concurrency=1)
    server = Refusing(always([3]), http=200)

    ended = run(server, CASES, concurrency=1)

    assert ended.others <= 1.1 * plain.others
    assert ended.kinds["case-00003"] == "unavailable"
    assert [token for _, token, _ in server.calls[3:5]] == ["case-00003", "case-00004"]


def test_a_server_with_a_limit_is_still_asked_less() -> None:
    state = {"left": 5.0, "at": 0.0}

    def bucket(token: str, now: float) -> dict[str, str] | None:
        state["left"] = min(5.0, state["left"] + 5.0 * (now - state["at"]))
        state["at"] = now
        if state["left"] < 1:
            return {"retry-after": str(math.ceil((1 - state["left"]) / 5.0))}
        state["left"] -= 1
        return None

    server = Refusing(bucket)
    ended = run(server, 100, concurrency="auto", rpm="auto")

    assert set(ended.kinds.values()) == {"scored"}
    assert len(server.calls) <= 100 + 6


def test_a_closed_server_is_asked_by_the_calls_in_flight_and_one_more() -> None:
    opens = 40.0

    def window(token: str, now: float) -> dict[str, str] | None:
        return {"retry-after": f"{opens - now:.3f}"} if 5 < now < opens else None

    server = Refusing(window)
    ended = run(server, 100, rpm=6000.0)

    assert set(ended.kinds.values()) == {"scored"}
    assert sum(status != 200 for *_, status in server.calls) <= 8 + 1
    assert ended.others > opens


def test_a_server_that_is_down_is_asked_one_more_time() -> None:
    server = Refusing(lambda token, now: {})

    ended = run(server, 40, concurrency=1, retries=2, max_outages=2)

    assert len(server.calls) <= 2 * 3 + 1
    kinds = list(ended.kinds.values())
    assert (kinds.count("unavailable"), kinds.count("not_run")) == (2, 38)
