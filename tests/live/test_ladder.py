"""How a judge is found to take the form it fills in, against servers that differ."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judgekit.cassette.store import Store
from judgekit.core.errors import JudgeRejected, RequestRejected
from judgekit.core.request import Reply
from judgekit.judges.connections import closing_connections
from judgekit.judges.litellm import LiteLLMJudge
from judgekit.judges.output_mode import MODES, SCHEMA_OUTSIDE_PROMPT, Mode

from .asking import judge_of, run, tokens
from .server import Fault, Server, always, error
from .test_replies import request

pytestmark = pytest.mark.loopback

REFUSALS: dict[str, Callable[[str], Fault]] = {
    "400 by name": lambda mode: error(400, f"{WORD[mode]} is not supported by this model"),
    "404 by name": lambda mode: error(404, f"No endpoints found that support {WORD[mode]}"),
    "422 by name": lambda mode: error(422, f"body.{WORD[mode]}: Input should be 'text'"),
    "500 by name": lambda mode: error(500, f"[{{'loc': ('body', '{WORD[mode]}', 'type')}}]"),
    "400 without a name": lambda mode: error(400, "invalid request"),
    "404 without a name": lambda mode: error(404, "not found"),
    "500 without a name": lambda mode: error(500, "internal error"),
}
WORD = {
    "json_schema": "response_format",
    "json_object_schema": "response_format",
    "tools": "tools",
    "json_object": "response_format",
    "text": "anything",
}


def mode_of(body: dict[str, Any]) -> Mode:
    """Return the rung a request was sent on, told by nothing but the request."""
    if body.get("tools"):
        return "tools"
    form = body.get("response_format") or {}
    if form.get("type") == "json_schema":
        return "json_schema"
    if form.get("type") == "json_object":
        return "json_object_schema" if "schema" in form else "json_object"
    return "text"


def modes(server: Server) -> list[Mode]:
    return [mode_of(seen.body) for seen in server.seen]


def ladder_of(server: Server, **options: Any) -> LiteLLMJudge:
    return judge_of(server, **{"mode": None, **options})


def ask(judge: LiteLLMJudge, token: str = "case-1") -> Reply:
    async def asking() -> Reply:
        async with closing_connections():
            return await judge.ask(request(token))

    return asyncio.run(asking())


@pytest.mark.parametrize("said", REFUSALS)
@pytest.mark.parametrize("refused", range(len(MODES)))
def test_first_rung_that_is_not_refused_is_taken(server: Server, refused: int, said: str) -> None:
    """For every k: the first k rungs are refused."""
    fault = REFUSALS[said]

    def rule(body: dict[str, Any]) -> Fault | None:
        mode = mode_of(body)
        return fault(mode) if MODES.index(mode) < refused else None

    server.rule = rule
    judge = ladder_of(server, retries=0)

    reply = ask(judge)

    assert reply.mode == MODES[refused] == judge.negotiation.mode
    assert [step.partition(":")[0] for step in judge.negotiation.steps] == list(MODES[:refused])
    assert modes(server)[-1] == MODES[refused]
    assert len(reply.tries) == 1
    if said.endswith("by name"):
        assert modes(server) == [*MODES[: refused + 1], MODES[refused]]


def prose(body: dict[str, Any]) -> str:
    return "The answer is right: I would say yes."


@pytest.mark.parametrize("ignored", sorted(SCHEMA_OUTSIDE_PROMPT))
def test_rung_that_is_accepted_and_ignored_is_found_out(server: Server, ignored: Mode) -> None:
    first = MODES.index(ignored)

    def rule(body: dict[str, Any]) -> Fault | None:
        mode = mode_of(body)
        if mode in SCHEMA_OUTSIDE_PROMPT and MODES.index(mode) < first:
            return error(400, f"{WORD[mode]} is not supported")
        return Fault(change=talkative) if mode == ignored else None

    server.rule = rule
    judge = ladder_of(server)

    reply = ask(judge)

    assert reply.mode == MODES[first + 1]
    assert judge.negotiation.steps[-1] == f"{ignored}: accepted and ignored"


def talkative(body: dict[str, Any]) -> None:
    body["choices"][0]["message"] = {"role": "assistant", "content": "The answer is right: yes."}


def another_object(body: dict[str, Any]) -> None:
    text = '{"right": true, "verdict": "yes", "score": 1.0}'
    body["choices"][0]["message"] = {"role": "assistant", "content": text}


def test_json_of_another_shape_is_no_proof(server: Server) -> None:
    server.rule = lambda body: (
        Fault(change=another_object) if mode_of(body) in SCHEMA_OUTSIDE_PROMPT else None
    )
    judge = ladder_of(server)

    assert ask(judge).mode == "json_object"
    assert [step.rpartition(": ")[2] for step in judge.negotiation.steps] == [
        "accepted and ignored"
    ] * 3


def test_weak_judge_is_asked_as_text_and_its_rows_fail(server: Server, tmp_path: Path) -> None:
    server.rule = lambda body: Fault(change=talkative)

    outcome = run(ladder_of(server, reasks=0), ["case-1"], tmp_path)

    assert outcome.kinds == {"case-1": "invalid_reply"}


def test_judge_that_refuses_every_rung_is_rejected_in_one_line(server: Server) -> None:
    server.rule = lambda body: error(400, f"{WORD[mode_of(body)]} is not supported here")

    with pytest.raises(JudgeRejected) as caught:
        ask(ladder_of(server))

    assert str(caught.value) == (
        f"openai/judge at 127.0.0.1:{server.port}: no way of asking is taken, the last as plain "
        "text: HTTP 400: anything is not supported here"
    )
    assert modes(server) == list(MODES)


@pytest.mark.parametrize("status", [401, 402, 403])
def test_credentials_are_no_question_of_rungs(server: Server, status: int) -> None:
    server.rule = lambda body: error(status, "no response_format for you")

    with pytest.raises(JudgeRejected, match="no response_format for you"):
        ask(ladder_of(server))

    assert server.calls() == 1


@pytest.mark.parametrize("fault", [error(404, "no such model"), error(400, "go away")])
def test_judge_that_takes_nothing_is_rejected_after_two_calls(server: Server, fault: Fault) -> None:
    server.rule = lambda body: fault

    with pytest.raises(JudgeRejected, match=r"no such model|go away"):
        ask(ladder_of(server))

    assert modes(server) == ["json_schema", "text"]


@pytest.mark.parametrize(
    "fault", [error(503, "busy"), error(429, "slow down"), error(500, "oops"), Fault(reset=True)]
)
def test_outage_while_probing_is_an_outage(server: Server, tmp_path: Path, fault: Fault) -> None:
    server.rule = lambda body: fault
    judge = ladder_of(server, retries=1)

    outcome = run(judge, ["case-1"], tmp_path)
    assert outcome.kinds == {"case-1": "unavailable"}
    message: str = outcome.rows["case-1"].message  # type: ignore[union-attr]
    assert message.startswith(f"openai/judge at 127.0.0.1:{server.port}: ")
    assert judge.negotiation.mode is None

    server.rule = None
    assert ask(judge).mode == "json_schema"


def test_one_hiccup_costs_no_rung(server: Server) -> None:
    faults = iter([error(500, "oops")])
    server.rule = lambda body: next(faults, None)

    assert ask(ladder_of(server, retries=0)).mode == "json_schema"


def test_many_rows_wait_for_one_probe(server: Server, tmp_path: Path) -> None:
    server.latency = 0.05
    judge = ladder_of(server)

    outcome = run(judge, tokens(20), tmp_path, concurrency=20)

    assert set(outcome.kinds.values()) == {"scored"}
    assert server.calls("") == 1
    assert server.calls() == 21


def test_rung_is_kept_in_the_store_and_not_probed_again(server: Server, tmp_path: Path) -> None:
    server.rule = lambda body: (
        error(400, "response_format is not supported") if body.get("response_format") else None
    )
    first, second = ladder_of(server), ladder_of(server)

    run(first, tokens(2), tmp_path)
    probes = server.calls("")
    run(second, ["case-new"], tmp_path)

    assert (first.negotiation.mode, second.negotiation.mode) == ("tools", "tools")
    assert first.knowledge.findings()["mode_from"] == "probe"
    assert second.knowledge.findings()["mode_from"] == "store"
    assert server.calls("") == probes
    assert second.knowledge.findings()["steps"] == first.knowledge.findings()["steps"]


@pytest.mark.parametrize(
    "row",
    [
        "not JSON",
        "{}",
        '{"format": 1, "model": "openai/judge", "mode": "pickle", "steps": []}',
        '{"format": 2, "model": "openai/judge", "mode": "text", "steps": []}',
        '{"format": 1, "model": "openai/other", "mode": "text", "steps": []}',
        '{"format": 1, "model": "openai/judge", "mode": "text", "steps": [], "run": "rm -rf /"}',
        '{"format": 1, "model": "openai/judge", "mode": "text", "steps": ' + '["x"]' * 1000 + "}",
    ],
)
def test_what_the_store_holds_is_not_trusted(server: Server, tmp_path: Path, row: str) -> None:
    judge = ladder_of(server)
    store = Store(tmp_path / "store")
    store.put(judge.negotiation._name, row)
    judge.knowledge.keep_in(lambda: store)

    assert ask(judge).mode == "json_schema"
    assert judge.negotiation.source == "probe"
    store.close()


def test_another_server_under_the_same_name_is_probed(server: Server, tmp_path: Path) -> None:
    run(ladder_of(server), ["case-1"], tmp_path)
    with Server() as other:
        run(ladder_of(other), ["case-2"], tmp_path)

        assert other.calls("") == 1


def restarted(
    server: Server, tmp_path: Path, rule: Callable[[dict[str, Any]], Fault | None]
) -> Any:
    """Run once on the top rung, then again at the server as it is after a restart."""
    run(ladder_of(server), ["case-1"], tmp_path)
    server.forget()
    server.rule = rule
    judge = ladder_of(server)
    return judge, run(judge, tokens(6), tmp_path, concurrency=3)


def test_rung_that_is_refused_later_is_left_without_losing_a_row(
    server: Server, tmp_path: Path
) -> None:
    judge, outcome = restarted(
        server,
        tmp_path,
        lambda body: (
            error(400, "json_schema is not supported") if mode_of(body) == "json_schema" else None
        ),
    )

    assert set(outcome.kinds.values()) == {"scored"}
    assert judge.negotiation.mode == "json_object_schema"
    assert judge.knowledge.findings()["mode_from"] == "use"
    assert server.calls("") == 1


def test_rung_that_is_ignored_later_is_left_without_losing_a_row(
    server: Server, tmp_path: Path
) -> None:
    judge, outcome = restarted(
        server,
        tmp_path,
        lambda body: Fault(change=talkative) if mode_of(body) == "json_schema" else None,
    )

    assert set(outcome.kinds.values()) == {"scored"}
    assert judge.negotiation.mode == "json_object_schema"
    assert "though it once was not" in judge.negotiation.steps[-1]


def test_one_bad_answer_is_no_reason_to_leave_a_rung(server: Server, tmp_path: Path) -> None:
    server.plan = {token: [Fault(text="no")] * 2 for token in tokens(3)}
    judge = ladder_of(server)

    run(judge, tokens(3), tmp_path, concurrency=1)

    assert judge.negotiation.mode == "json_schema"
    assert server.calls("") == 1


def test_forced_mode_is_not_probed_and_not_left(server: Server) -> None:
    server.rule = lambda body: error(400, "tools are not supported") if body.get("tools") else None

    with pytest.raises(JudgeRejected, match=r"forces judge\.mode tools"):
        ask(judge_of(server, mode="tools"))

    assert modes(server) == ["tools", "tools"]  # the request, and a probe


def test_case_that_is_not_taken_on_a_known_rung_is_its_own_row(server: Server) -> None:
    server.plan = {"case-bad": always(error(400, "unsupported character"))}
    judge = ladder_of(server)

    with pytest.raises(RequestRejected, match="other requests are taken"):
        ask(judge, "case-bad")
    assert ask(judge, "case-good").mode == "json_schema"


def cut_off(text: str) -> Callable[[dict[str, Any]], None]:
    def change(body: dict[str, Any]) -> None:
        body["choices"][0]["finish_reason"] = "length"
        body["choices"][0]["message"]["content"] = text

    return change


@pytest.mark.parametrize(
    ("text", "mode", "kept"),
    [
        ('{"zq4": {"reason": "very very', "json_schema", True),
        ("The form has", "json_object_schema", True),
        ("", "json_schema", False),
    ],
)
def test_probe_that_is_cut_off_tells_by_its_beginning(
    server: Server, tmp_path: Path, text: str, mode: Mode, kept: bool
) -> None:
    server.rule = lambda body: (
        Fault(change=cut_off(text))
        if mode_of(body) == "json_schema" and "Fill in" in str(body["messages"])
        else None
    )
    judge = ladder_of(server)
    store = Store(tmp_path / "store")
    judge.knowledge.keep_in(lambda: store)

    assert ask(judge).mode == mode
    assert (store.get(judge.negotiation._name) is not None) is kept
    store.close()


def kept(tmp_path: Path, server: Server) -> tuple[LiteLLMJudge, Store]:
    """Return a judge that keeps what it learns in a store."""
    judge, store = ladder_of(server, retries=0), Store(tmp_path / "store")
    judge.knowledge.keep_in(lambda: store)
    return judge, store


def test_a_rung_that_errors_left_is_not_kept(server: Server, tmp_path: Path) -> None:
    server.rule = lambda body: error(500, "bad sample") if mode_of(body) != "text" else None
    judge, store = kept(tmp_path, server)
    assert ask(judge).mode == "text"
    store.close()
    server.rule = None

    judge, store = kept(tmp_path, server)
    assert ask(judge).mode == "json_schema"
    store.close()
    judge, store = kept(tmp_path, server)
    server.forget()

    assert ask(judge).mode == "json_schema"
    assert len(server.seen) == 1
    store.close()


def test_a_kept_rung_that_fails_is_probed_again(server: Server, tmp_path: Path) -> None:
    judge, store = kept(tmp_path, server)
    assert ask(judge).mode == "json_schema"
    store.close()
    server.rule = lambda body: error(500, "no grammar") if mode_of(body) == "json_schema" else None
    judge, store = kept(tmp_path, server)

    assert ask(judge).mode == "json_object_schema"
    assert judge.knowledge.findings()["mode_from"] == "probe"
    store.close()


def test_plain_text_from_the_store_is_climbed_from_when_it_fails(
    server: Server, tmp_path: Path
) -> None:
    server.rule = lambda body: (
        error(400, "no response_format, no tools")
        if set(body) & {"response_format", "tools"}
        else None
    )
    judge, store = kept(tmp_path, server)
    assert ask(judge).mode == "text"
    store.close()
    server.rule = lambda body: Fault(text="Hm.") if mode_of(body) == "text" else None
    judge, store = kept(tmp_path, server)

    assert ask(judge).mode == "json_schema"
    store.close()


SAMPLE = error(400, "The response_format failed: the generated JSON does not match the schema")


def test_words_about_the_format_of_one_sample_do_not_change_the_mode(
    server: Server, tmp_path: Path
) -> None:
    server.plan = {"case-005": always(SAMPLE)}
    judge = ladder_of(server)

    outcome = run(judge, tokens(10), tmp_path, concurrency=1, window=1)

    assert outcome.kinds == {**dict.fromkeys(tokens(10), "scored"), "case-005": "unavailable"}
    assert set(modes(server)) == {"json_schema"}
    assert server.calls("case-005") == 1


def test_a_form_that_the_server_rejects_with_any_content_changes_the_mode(
    server: Server, tmp_path: Path
) -> None:
    def no_levels(body: dict[str, Any]) -> Fault | None:
        unsupported = mode_of(body) == "json_schema" and "wholly" in str(body["response_format"])
        return (
            error(400, "the JSON schema has features that are not supported")
            if unsupported
            else None
        )

    server.rule = no_levels

    outcome = run(ladder_of(server), tokens(10), tmp_path, concurrency=4)

    assert set(outcome.kinds.values()) == {"scored"}
    # One probe of the form, shared by all calls in flight.
    asked = [seen for seen in server.seen if mode_of(seen.body) == "json_schema"]
    assert sum(seen.token is None for seen in asked) <= 2


def test_a_request_that_a_mode_answers_with_nothing_is_asked_in_a_weaker_one(
    server: Server, tmp_path: Path
) -> None:
    def nothing_if_long(body: dict[str, Any]) -> Fault | None:
        constrained = mode_of(body) in ("json_schema", "json_object_schema")
        return Fault(text="") if constrained and "case-003" in str(body) else None

    server.rule = nothing_if_long
    judge = ladder_of(server, reasks=1)

    outcome = run(judge, tokens(6), tmp_path, concurrency=1, window=1)

    assert set(outcome.kinds.values()) == {"scored"}
    asked = [mode_of(seen.body) for seen in server.seen if seen.token == "case-003"]
    assert asked == ["json_schema", "json_schema", "tools"]
    assert {mode_of(seen.body) for seen in server.seen if seen.token == "case-005"} == {
        "json_schema"
    }
