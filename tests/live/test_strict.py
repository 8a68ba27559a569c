"""`strict` at the servers of the table: equal on both ways, and left out where it is refused.

The judges ask the server of the tests by the rules of the hosted one, as they would its address.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from judgekit.cassette.store import Store
from judgekit.judges.litellm import LiteLLMJudge
from judgekit.judges.sent_schema import rules_of
from judgekit.judges.transport import Server as Hosted

from .asking import judge_of, run, tokens
from .server import Fault, Server, always, error
from .test_ladder import ask, mode_of

pytestmark = pytest.mark.loopback
BOTH_WAYS = pytest.mark.parametrize("via", ["direct", "litellm"])


def hosted(server: Server, model: str = "openai/gpt-4o", **options: Any) -> LiteLLMJudge:
    """Return a judge that sends what the hosted model would get."""
    judge = judge_of(server, **{"mode": None, "timeout": 60, **options})
    judge._calls.schema_rules = rules_of(Hosted(model, None, None, 1, 1, 1, None))
    return judge


def strict_of(body: dict[str, Any]) -> bool | None:
    return (body.get("response_format") or {}).get("json_schema", {}).get("strict")


def no_strict(body: dict[str, Any]) -> Fault | None:
    return error(400, "response_format: strict is not supported") if strict_of(body) else None


@pytest.mark.parametrize("mode", ["json_schema", "tools", "json_object_schema", "json_object"])
@pytest.mark.parametrize(
    "model",
    [
        "openai/gpt-4o",
        "anthropic/claude",
        "azure/gpt-4o",
        "groq/openai/gpt-oss-20b",
        "cerebras/llama",
        "mistral/small",
        "gemini/flash",
    ],
)
def test_both_ways_send_the_same_to_a_hosted_server(
    server: Server, tmp_path: Path, model: str, mode: Any
) -> None:
    sent = []
    for via in ("direct", "litellm"):
        server.forget()
        (tmp_path / via).mkdir()
        run(hosted(server, model, via=via, mode=mode, max_reason=160), ["case-1"], tmp_path / via)
        sent.append([seen.body for seen in server.seen])

    assert sent[0] == sent[1]
    rules = rules_of(Hosted(model, None, None, 1, 1, 1, None))
    assert rules is not None
    assert strict_of(sent[0][0]) is (True if mode == "json_schema" and rules.strict else None)
    tools = sent[0][0].get("tools", [])
    constrained = [tool["function"].get("strict") for tool in tools]
    assert constrained == [True if rules.strict_tools else None] * len(tools)


@BOTH_WAYS
def test_another_server_gets_the_bound_and_no_strict(
    server: Server, tmp_path: Path, via: str
) -> None:
    run(judge_of(server, via=via, timeout=60, max_reason=160), ["case-1"], tmp_path)

    (seen,) = server.seen
    assert strict_of(seen.body) is None
    assert "'maxLength': 160" in str(seen.body)


@BOTH_WAYS
def test_a_server_that_refuses_strict_is_asked_without(
    server: Server, tmp_path: Path, via: str
) -> None:
    server.rule = no_strict
    for probes in (2, 0):  # the second run knows it
        judge, store = hosted(server, via=via), Store(tmp_path / "store")
        judge.knowledge.keep_in(lambda store=store: store)
        server.forget()

        assert ask(judge).mode == "json_schema"

        assert [strict_of(seen.body) for seen in server.seen] == [True, None, None][-probes - 1 :]
        assert judge.negotiation.mode == "json_schema"
        store.close()


@BOTH_WAYS
def test_a_tool_without_strict_where_it_is_refused(server: Server, via: str) -> None:
    def no_strict_tools(body: dict[str, Any]) -> Fault | None:
        strict = [tool for tool in body.get("tools", []) if "strict" in tool["function"]]
        return error(400, "tools.0.function.strict is not supported") if strict else None

    server.rule = no_strict_tools

    assert ask(hosted(server, via=via, mode="tools")).mode == "tools"
    assert {mode_of(seen.body) for seen in server.seen} == {"tools"}


@BOTH_WAYS
def test_a_forced_mode_stays_without_strict(server: Server, via: str) -> None:
    server.rule = no_strict

    assert ask(hosted(server, via=via, mode="json_schema")).mode == "json_schema"
    assert {mode_of(seen.body) for seen in server.seen} == {"json_schema"}


def test_words_about_one_sample_do_not_leave_strict(server: Server, tmp_path: Path) -> None:
    sample = error(400, "response_format: the generated JSON does not match the schema")
    server.plan = {"case-003": always(sample)}

    outcome = run(hosted(server), tokens(6), tmp_path, concurrency=1, window=1)

    assert outcome.kinds == {**dict.fromkeys(tokens(6), "scored"), "case-003": "unavailable"}
    assert {strict_of(seen.body) for seen in server.seen} == {True}
