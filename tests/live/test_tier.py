"""The flex tier: what is sent, and what happens where the server has no room for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from judgekit.core.errors import ConfigError, JudgeRejected, JudgeUnavailable
from judgekit.core.yaml_file import Lines
from judgekit.judges.litellm import LiteLLMJudge
from judgekit.judges.tier import flex_problem
from judgekit.suite.judge_file import JudgeFile
from judgekit.suite.judges import make_judge
from judgekit.suite.overrides import Overrides
from judgekit.suite.resolved import resolve
from judgekit.suite.run import run_suite_sync
from judgekit.suite.suite import open_suite

from .asking import judge_of, write_suite
from .server import Fault, Server, error
from .test_replies import ask, request

pytestmark = pytest.mark.loopback

LINES = Lines(file="suite.yaml")
FULL = error(429, "Resource unavailable", type="resource_unavailable", code="resource_unavailable")
UNKNOWN = error(400, "Invalid service_tier argument", type="invalid_request_error")


def served(body: dict[str, Any]) -> Fault:
    """Answer a request at the tier that it asks for."""
    tier = body.get("service_tier", "default")
    return Fault(change=lambda reply: reply.update(service_tier=tier))


def tiers(server: Server) -> list[Any]:
    return [seen.body.get("service_tier") for seen in server.seen]


@pytest.mark.parametrize("via", ["direct", "litellm"])
def test_flex_is_asked_for_and_is_no_part_of_the_request(server: Server, via: Any) -> None:
    server.rule = served
    replies = [
        ask(judge_of(server, via=via, tier=tier, params={"seed": 7}), request())
        for tier in ("flex", "standard")
    ]

    assert tiers(server) == ["flex", None]
    assert [reply.tier for reply in replies] == ["flex", None]
    assert replies[0].effective_params == replies[1].effective_params == {"seed": 7}
    first, second = (seen.body for seen in server.seen)
    assert first == {**second, "service_tier": "flex"}


@pytest.mark.parametrize("via", ["direct", "litellm"])
@pytest.mark.parametrize(
    ("fallback", "refused", "sent"),
    [
        ("standard", 1, ["flex", "flex"]),
        ("standard", 99, ["flex", "flex", None]),
        ("none", 99, ["flex", "flex"]),
    ],
)
def test_without_room_the_request_waits_and_falls_back(
    server: Server, via: Any, fallback: Any, refused: int, sent: list[Any]
) -> None:
    left = refused

    def full(body: dict[str, Any]) -> Fault:
        nonlocal left
        if "service_tier" not in body:
            return served(body)
        left -= 1
        return FULL if left >= 0 else served(body)

    server.rule = full
    judge = judge_of(server, via=via, tier="flex", fallback_tier=fallback, retries=1)
    if fallback == "none":
        with pytest.raises(JudgeUnavailable, match="Resource unavailable") as raised:
            ask(judge, request())
        assert raised.value.cost == 0.0
    else:
        assert ask(judge, request()).tier == sent[-1]

    assert tiers(server) == sent


@pytest.mark.parametrize("via", ["direct", "litellm"])
def test_a_server_that_takes_no_flex_says_so(server: Server, via: Any) -> None:
    server.rule = lambda body: UNKNOWN
    with pytest.raises(JudgeRejected) as raised:
        ask(judge_of(server, via=via, tier="flex"), request())

    told = "the server takes no flex tier: HTTP 400: Invalid service_tier argument; remove the tier"
    assert told in str(raised.value)
    assert "\n" not in str(raised.value)
    assert tiers(server) == ["flex"]


def test_a_tier_that_is_refused_later_is_replaced(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    server.rule = served
    judge = judge_of(server, tier="flex")
    ask(judge, request())
    server.rule = lambda body: UNKNOWN if "service_tier" in body else served(body)

    assert [ask(judge, request(f"case-{n}")).tier for n in (2, 3)] == [None, None]
    assert tiers(server) == ["flex", "flex", None, "flex", None]
    assert caplog.text.count("the flex tier has no room") == 1


def test_other_errors_are_those_of_any_tier(server: Server) -> None:
    server.rule = lambda body: error(400, "no such field: messages")
    with pytest.raises(JudgeRejected, match="no such field"):
        ask(judge_of(server, tier="flex"), request())
    server.forget()
    server.rule = lambda body: error(500, "oops")
    with pytest.raises(JudgeUnavailable, match="oops"):
        ask(judge_of(server, tier="flex", retries=1), request())

    assert tiers(server) == ["flex", "flex"]


def test_a_judge_has_15_minutes_for_flex_unless_another_time_is_set() -> None:
    file = {"model": "openai/gpt-5", "tier": "flex"}
    made = [
        make_judge(JudgeFile.model_validate(one), base=Path(), lines=LINES, asking=True)
        for one in (file, {**file, "timeout": 5}, {"model": "openai/gpt-5"})
    ]

    assert [judge.timeout for judge in made] == [900.0, 5.0, 60.0]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("model", "api_base", "problem"),
    [
        ("openai/gpt-5", None, None),
        ("gpt-5", None, None),
        ("gemini/gemini-2.5-pro", None, None),
        ("openai/gpt-4o", None, "this model has no flex tier"),
        ("openai/made-up", None, None),
        ("openai/made-up", "http://localhost:1/v1", None),
        ("anthropic/claude-sonnet-4-5", None, "anthropic has no flex tier"),
        ("groq/openai/gpt-oss-20b", None, "groq has no flex tier"),
        ("ollama_chat/qwen3:8b", "http://localhost:1", "ollama_chat has no flex tier"),
    ],
)
def test_which_models_have_flex(model: str, api_base: str | None, problem: str | None) -> None:
    found = flex_problem(model, api_base)

    assert (found is None) if problem is None else problem in str(found)
    file = JudgeFile(model=model, api_base=api_base, tier="flex")
    if problem is not None:
        with pytest.raises(ConfigError, match="flex tier"):
            make_judge(file, base=Path(), lines=LINES, asking=True)
        make_judge(file, base=Path(), lines=LINES, asking=False)  # a replay asks nothing


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"tier": "fast"}, "tier.* 'fast'"),
        ({"fallback_tier": "standard"}, "fallback_tier follows tier: flex or tier: batch"),
        ({"tier": "flex", "fallback_tier": "flex"}, "is the tier itself"),
        ({"tier": "flex", "fallback_tier": "never"}, "fallback_tier.* 'never'"),
        ({"tier": "batch", "fallback_tier": "none"}, "re-asks of a job are live"),
        ({"tier": "flex", "params": {"service_tier": "flex"}}, "are both set; remove one"),
    ],
)
def test_settings_that_contradict_are_refused(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        LiteLLMJudge("openai/gpt-5", **settings)


def test_a_run_of_one_tier_replays_those_of_others(server: Server, tmp_path: Path) -> None:
    server.rule = served
    suite = write_suite(
        tmp_path, server, ["case-1", "case-2"], mode="json_schema", price={"input": 1, "output": 2}
    )
    rows = []
    for n, (tier, limit) in enumerate((("flex", 1), ("standard", None), ("flex", None))):
        flags = Overrides(record="new_episodes" if n < 2 else "none", tier=tier, limit=limit)
        report = run_suite_sync(open_suite(resolve(suite, flags)), out=tmp_path / f"out{n}")
        rows.append([row.to_json() for row in next(iter(report.results)).rows])

    assert tiers(server) == ["flex", None]
    assert rows[0] == rows[1] == rows[2]
    tape = (tmp_path / "tape.jsonl").read_text("utf-8")
    assert tape.count('"tier":"flex"') == 1


def test_a_flag_sets_the_tier_of_every_judge_behind_a_server(tmp_path: Path) -> None:
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        "judges: {judge: openai/gpt-5, other: fake/x, third: {model: openai/gpt-5, tier: flex, "
        "fallback_tier: none, params: {seed: 1}}}\ncases: cases.jsonl\n"
        "metrics: {length: {maximum: 9}}\n"
    )
    (tmp_path / "cases.jsonl").write_text('{"id": "a", "output": "x"}\n')

    def chosen(tier: str) -> dict[str, tuple[Any, Any]]:
        roles = resolve(suite, Overrides(tier=tier)).roles
        return {role: (judge.tier, judge.fallback_tier) for role, judge in roles.items()}

    standard = ("standard", None)
    assert chosen("flex") == {"judge": ("flex", None), "other": standard, "third": ("flex", "none")}
    assert chosen("standard") == dict.fromkeys(("judge", "other", "third"), standard)
    with pytest.raises(ConfigError, match="--tier flax: no tier 'flax'; did you mean 'flex'"):
        chosen("flax")
