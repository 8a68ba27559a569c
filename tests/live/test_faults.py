"""Every way a server can misbehave: the right kind of row, the calls counted, nothing lost."""

from __future__ import annotations

import copy
import itertools
from pathlib import Path
from typing import Any

import pytest

from judgekit.cassette.tape import Tape
from judgekit.core.errors import JudgeRejected
from judgekit.core.score import Failure

from .asking import judge_of, run
from .server import Fault, Server, always, error

pytestmark = pytest.mark.loopback
BOTH_WAYS = pytest.mark.parametrize("via", ["direct", "litellm"])


def said(**changes: Any) -> Fault:
    """Return a completion whose message has other fields."""
    return Fault(change=lambda body: body["choices"][0]["message"].update(changes))


def stopped(finish: str, **message: Any) -> Fault:
    def change(body: dict[str, Any]) -> None:
        body["choices"][0]["finish_reason"] = finish
        body["choices"][0]["message"].update(message)

    return Fault(change=change)


def contradict(body: dict[str, Any]) -> None:
    """Add a second choice that says the opposite of the first."""
    other = copy.deepcopy(body["choices"][0])
    other["index"] = 1
    other["message"]["content"] = other["message"]["content"].replace("true", "false")
    body["choices"].append(other)


def called(*names: str) -> Fault:
    """Return a completion that calls tools, each with a good answer."""

    def change(body: dict[str, Any]) -> None:
        message = body["choices"][0]["message"]
        said = message["content"] or message["tool_calls"][0]["function"]["arguments"]
        message["content"] = None
        message["tool_calls"] = [
            {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": said}}
            for n, name in enumerate(names)
        ]

    return Fault(change=change)


def parts(body: dict[str, Any]) -> None:
    """Send the content as a list of parts, as some servers do."""
    message = body["choices"][0]["message"]
    text = message["content"]
    message["content"] = [{"type": "text", "text": half} for half in (text[:9], text[9:])]


OUTAGES = {
    "429": error(429, "slow down", headers={"Retry-After": "0"}),
    "429_without_a_date": error(429, "slow down"),
    "408": error(408, "too slow"),
    "409": error(409, "busy"),
    "500": error(500, "oops"),
    "502_html": Fault(502, body=b"<html>bad gateway</html>", headers={"Content-Type": "text/html"}),
    "503": error(503, "loading the model"),
    "529": error(529, "overloaded"),
    "reset": Fault(reset=True),
    "body_cut_off": Fault(cut=40),
    "timeout": Fault(delay=30),
    "slow_drip": Fault(drip=0.1),
    "html": Fault(body=b"<html>log in</html>", headers={"Content-Type": "text/html"}),
    "malformed_body": Fault(body=b'{"choices": [{"mess'),
    "empty_body": Fault(body=b""),
    "array_for_a_body": Fault(body=b"[1, 2]"),
    "error_in_a_200": Fault(body={"error": {"message": "model crashed", "code": 500}}),
    "gzip_that_is_none": Fault(headers={"Content-Encoding": "gzip"}),
}
"""No answer came: tried again, never recorded."""

INVALID = {
    "malformed": (Fault(text=lambda good: good[:-5]), "invalid_reply"),
    "wrong_schema": (Fault(text='{"right": {"reason": "x", "value": "so so"}}'), "invalid_reply"),
    "wrong_type": (Fault(text=lambda good: good.replace("true", '"yes"')), "invalid_reply"),
    "number_for_a_boolean": (Fault(text=lambda good: good.replace("true", "1")), "invalid_reply"),
    "array": (Fault(text="[]"), "invalid_reply"),
    "not_json": (Fault(text="It is fine, I think."), "invalid_reply"),
    "two_objects": (Fault(text=lambda good: good + good), "invalid_reply"),
    "key_twice": (Fault(text=lambda good: good[:-1] + ',"polite":1}'), "invalid_reply"),
    "nan": (Fault(text=lambda good: good.replace("true", "NaN")), "invalid_reply"),
    "huge_number": (Fault(text=lambda good: good.replace("true", "1e999")), "invalid_reply"),
    "deep": (Fault(text='{"right":' * 50_000), "invalid_reply"),
    "empty": (Fault(text=""), "empty"),
    "blank": (Fault(text=" \n"), "empty"),
    "null_content": (said(content=None), "empty"),
    "no_choices": (Fault(change=lambda body: body.update(choices=[])), "empty"),
    "null_choices": (Fault(change=lambda body: body.update(choices=None)), "invalid_reply"),
    "text_for_choices": (Fault(change=lambda body: body.update(choices="yes")), "invalid_reply"),
    "no_message": (
        Fault(change=lambda body: body["choices"][0].pop("message")),
        "invalid_reply",
    ),
    "number_for_content": (said(content=7), "invalid_reply"),
    "object_for_content": (said(content={"text": "yes"}), "invalid_reply"),
    "picture_for_content": (said(content=[{"type": "image_url"}]), "invalid_reply"),
    "text_for_usage": (Fault(change=lambda body: body.update(usage="many")), "invalid_reply"),
    "list_for_usage": (Fault(change=lambda body: body.update(usage=[1, 2])), "invalid_reply"),
    "two_choices": (Fault(change=lambda body: contradict(body)), "invalid_reply"),
    "two_tool_calls": (called("Verdict", "Verdict"), "invalid_reply"),
    "other_tool": (called("delete_files"), "invalid_reply"),
    "too_large": (Fault(text=lambda good: good + " " * 9_000_000), "invalid_reply"),
}
"""Not an answer to the question: asked once more, with what is wrong."""

FINAL = {
    "refusal": (said(content=None, refusal="I cannot help with that."), "refused"),
    "filtered": (stopped("content_filter", content=None), "refused"),
    "filtered_with_an_answer": (stopped("content_filter"), "refused"),
    "policy": (
        error(400, "rejected by our safety system", code="content_policy_violation"),
        "refused",
    ),
    "azure_policy": (
        error(400, "The prompt triggered the content management policy.", code="content_filter"),
        "refused",
    ),
    "truncated": (stopped("length"), "truncated"),
    "too_long": (
        error(
            400,
            "This model's maximum context length is 4096 tokens, however you asked for 9000.",
            type="invalid_request_error",
            code="context_length_exceeded",
        ),
        "invalid_case",
    ),
    "413": (error(413, "Request too large"), "invalid_case"),
}
"""Asking again would bring the same: one call."""

FINE = {
    "fenced": Fault(text=lambda good: f"Sure:\n```json\n{good}\n```\nDone."),
    "prose": Fault(text=lambda good: f"Here you are: {good}"),
    "thinking": Fault(text=lambda good: f"<think>{{maybe}} no</think>\n{good}"),
    "control_characters": Fault(text=lambda good: good.replace("Because.", "a\x06b")),
    "half_a_character": Fault(text=lambda good: good.replace("Because.", "\ud800")),
    "half_an_escape": Fault(text=lambda good: good.replace("Because.", r"\ud800")),
    "long_reasons": Fault(text=lambda good: good.replace("Because.", "why " * 120_000)),
    "list_of_parts": Fault(change=parts),
    "no_usage": Fault(change=lambda body: body.pop("usage")),
    "no_finish": stopped(None),  # type: ignore[arg-type]
    "unheard_of_finish": stopped("eos"),
}
"""Odd, but an answer."""


def token(name: str) -> str:
    return f"case-{name}"


@BOTH_WAYS
def test_outage_once_costs_one_more_call(server: Server, tmp_path: Path, via: str) -> None:
    server.plan = {token(name): [fault] for name, fault in OUTAGES.items()}

    outcome = run(
        judge_of(server, via=via, timeout=1.5), server.plan, tmp_path, concurrency=8, window=64
    )

    assert set(outcome.kinds.values()) == {"scored"}
    assert {name: server.calls(name) for name in server.plan} == dict.fromkeys(server.plan, 2)


@BOTH_WAYS
def test_outage_that_lasts_is_an_unavailable_row(server: Server, tmp_path: Path, via: str) -> None:
    server.plan = {token(name): always(fault) for name, fault in OUTAGES.items()}
    good = [f"case-good{number}" for number in range(20)]

    outcome = run(
        judge_of(server, via=via, retries=2, timeout=1),
        [*server.plan, *good],
        tmp_path,
        concurrency=8,
        window=64,
    )

    assert list(outcome.kinds) == [*server.plan, *good]
    assert outcome.kinds == {
        **dict.fromkeys(server.plan, "unavailable"),
        **dict.fromkeys(good, "scored"),
    }
    assert {name: server.calls(name) for name in server.plan} == dict.fromkeys(server.plan, 3)
    assert len(outcome.cassette.not_from_tape) == len(good)


def test_messages_of_outages_are_short_and_free_of_places(server: Server, tmp_path: Path) -> None:
    server.plan = {token(name): always(fault) for name, fault in OUTAGES.items()}

    outcome = run(
        judge_of(server, retries=0, timeout=0.5), server.plan, tmp_path, concurrency=8, window=64
    )

    for row in outcome.rows.values():
        assert isinstance(row, Failure)
        assert 0 < len(row.message) <= 400
        assert "Traceback" not in row.message
        assert ".py" not in row.message
        assert "litellm" not in row.message.lower()


@BOTH_WAYS
def test_invalid_answer_once_is_asked_again_once(server: Server, tmp_path: Path, via: str) -> None:
    server.plan = {token(name): [fault] for name, (fault, _) in INVALID.items()}

    outcome = run(judge_of(server, via=via), server.plan, tmp_path)

    assert set(outcome.kinds.values()) == {"scored"}
    assert {name: server.calls(name) for name in server.plan} == dict.fromkeys(server.plan, 2)
    assert {row.judgments[0].tries for row in outcome.rows.values()} == {2}


@pytest.mark.parametrize("reasks", [0, 2])
def test_answer_that_stays_invalid_is_a_row_of_its_kind(
    server: Server, tmp_path: Path, reasks: int
) -> None:
    server.plan = {token(name): always(fault) for name, (fault, _) in INVALID.items()}

    outcome = run(judge_of(server, reasks=reasks), server.plan, tmp_path)

    assert outcome.kinds == {token(name): kind for name, (_, kind) in INVALID.items()}
    assert {server.calls(name) for name in server.plan} == {1 + reasks}


@BOTH_WAYS
def test_final_answers_are_not_asked_for_again(server: Server, tmp_path: Path, via: str) -> None:
    server.plan = {token(name): always(fault) for name, (fault, _) in FINAL.items()}

    outcome = run(judge_of(server, via=via), server.plan, tmp_path)

    assert outcome.kinds == {token(name): kind for name, (_, kind) in FINAL.items()}
    assert {name: server.calls(name) for name in server.plan} == dict.fromkeys(server.plan, 1)


@BOTH_WAYS
def test_odd_answers_are_answers(server: Server, tmp_path: Path, via: str) -> None:
    server.plan = {token(name): always(fault) for name, fault in FINE.items()}

    outcome = run(judge_of(server, via=via), server.plan, tmp_path, out=tmp_path / "out")

    assert set(outcome.kinds.values()) == {"scored"}
    assert {server.calls(name) for name in server.plan} == {1}
    repairs = {name: row.judgments[0].repairs for name, row in outcome.rows.items()}
    assert repairs["case-fenced"] == ("fence",)
    assert repairs["case-prose"] == ("prose",)
    assert "control_characters" in repairs["case-control_characters"]


def test_everything_at_once_loses_no_case(server: Server, tmp_path: Path) -> None:
    plans: dict[str, list[Fault]] = {}
    outages = [fault for name, fault in OUTAGES.items() if name not in ("timeout", "slow_drip")]
    small = [fault for name, (fault, _) in INVALID.items() if name != "too_large"]
    pairs = itertools.product(outages, small)
    for number, (outage, invalid) in enumerate(itertools.islice(pairs, 0, None, 5)):
        plans[f"case-{number:03d}"] = [outage, invalid, outage]
    server.plan = {**plans}

    outcome = run(judge_of(server), plans, tmp_path, concurrency=64, window=128)

    assert list(outcome.kinds) == list(plans)
    assert set(outcome.kinds.values()) == {"scored"}
    assert {server.calls(name) for name in plans} == {4}


def test_recorded_failures_are_replayed_and_outages_asked_again(
    server: Server, tmp_path: Path
) -> None:
    server.plan = {
        "case-refused": always(FINAL["refusal"][0]),
        "case-empty": always(INVALID["empty"][0]),
        "case-down": always(OUTAGES["500"]),
    }
    first = run(judge_of(server), server.plan, tmp_path)
    server.forget()

    second = run(judge_of(server), server.plan, tmp_path)

    assert first.kinds == second.kinds
    assert {seen.token for seen in server.seen} == {"case-down"}


@BOTH_WAYS
@pytest.mark.parametrize("mode", ["tools", "json_object", "text"])
def test_other_output_modes_fare_the_same(
    server: Server, tmp_path: Path, mode: Any, via: str
) -> None:
    server.plan = {
        "case-good": (),
        "case-refused": always(said(content=None, tool_calls=None, refusal="No.")),
        "case-empty": always(said(content="", tool_calls=None)),
        "case-invalid": [Fault(text=lambda good: good[:-5])],
        "case-truncated": always(stopped("length")),
        "case-fenced": always(Fault(text=lambda good: f"```json\n{good}\n```")),
        "case-plain": always(said(content=None)) if mode != "tools" else (),
        "case-down": always(OUTAGES["500"]),
    }

    outcome = run(judge_of(server, via=via, mode=mode), server.plan, tmp_path)

    assert outcome.kinds == {
        "case-good": "scored",
        "case-refused": "refused",
        "case-empty": "empty",
        "case-invalid": "scored",
        "case-truncated": "truncated",
        "case-fenced": "scored",
        "case-plain": "scored" if mode == "tools" else "empty",
        "case-down": "unavailable",
    }
    sent = next(seen.body for seen in server.seen if seen.token == "case-good")
    assert ("tools" in sent) == (mode == "tools")
    assert sent.get("response_format") == (
        {"type": "json_object"} if mode == "json_object" else None
    )


def test_what_is_final_is_recorded_and_replayed_as_the_same_failure(
    server: Server, tmp_path: Path
) -> None:
    faults = {**FINAL, **INVALID}
    server.plan = {token(name): always(fault) for name, (fault, _) in faults.items()}
    first = run(judge_of(server), server.plan, tmp_path)
    server.forget()

    replayed = run(judge_of(server), server.plan, tmp_path)

    assert server.calls() == 0
    assert replayed.kinds == {token(name): kind for name, (_, kind) in faults.items()}
    told = [
        {case: row.message for case, row in outcome.rows.items() if isinstance(row, Failure)}
        for outcome in (first, replayed)
    ]
    assert told[0] == told[1]
    tape = Tape(tmp_path / "tape.jsonl")
    assert len(list(tape.records())) == len(faults)
    tape.close()


def test_only_the_tool_that_was_offered_counts(server: Server, tmp_path: Path) -> None:
    server.plan = {
        "case-good": (),
        "case-other": always(called("delete_files")),
        "case-two": always(called("Verdict", "Verdict")),
        "case-nameless": always(said(tool_calls=[{"id": "1", "type": "function"}])),
    }

    outcome = run(judge_of(server, mode="tools", reasks=0), server.plan, tmp_path)

    assert outcome.kinds == {
        "case-good": "scored",
        "case-other": "invalid_reply",
        "case-two": "invalid_reply",
        "case-nameless": "invalid_reply",
    }
    row = outcome.rows["case-other"]
    assert isinstance(row, Failure)
    assert row.message == "the response calls the tool 'delete_files', instead of 'Verdict'"


def test_several_answers_are_not_asked_for(server: Server, tmp_path: Path) -> None:
    with pytest.raises(JudgeRejected, match=r"params\.n asks for several answers"):
        run(judge_of(server, params={"n": 2}), ["case-1"], tmp_path)

    assert server.calls() == 0


@BOTH_WAYS
def test_a_malformed_response_costs_what_it_says(server: Server, tmp_path: Path, via: str) -> None:
    server.plan = {"case-1": always(said(content=7))}
    judge = judge_of(server, via=via, reasks=0, price=(1.0, 10.0))

    outcome = run(judge, ["case-1", "case-2"], tmp_path, max_cost=1.0, concurrency=1)

    assert outcome.kinds == {"case-1": "invalid_reply", "case-2": "scored"}
    assert outcome.cassette.ledger.spent == pytest.approx(2 * (100 * 1.0 + 20 * 10.0) / 1e6)
