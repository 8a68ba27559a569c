"""Answers, vectors and log-probabilities from a real server, and what may be wrong with them."""

from __future__ import annotations

import asyncio
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.show import tape_stats, verify_tape
from judgekit.cassette.store import Store
from judgekit.core.errors import (
    CassetteMiss,
    InvalidReply,
    JudgeRefused,
    JudgeRejected,
    JudgeUnavailable,
    RequestRejected,
)
from judgekit.core.replies.logprobs import pair_messages, read_logprobs
from judgekit.core.replies.text import cut_off, read_text
from judgekit.core.replies.vector import read_vector
from judgekit.core.request import ChatMessage, Form, Request
from judgekit.judges.connections import closing_connections
from judgekit.judges.limits import LimitedJudge
from judgekit.judges.plain import Batch

from .asking import MODEL, judge_of
from .endpoints import echo, embeddings, vector_of
from .server import Fault, error

pytestmark = pytest.mark.loopback
CANARY = "sk-canary-0123456789abcdef"


def wanting(want, *texts, **more):
    messages = (
        pair_messages(*texts)
        if want == "logprobs"
        else tuple(ChatMessage(role="user", content=text) for text in texts)
    )
    return Request(messages=messages, form=Form(want=want), model=MODEL, **more)


def asked(judge, *requests):
    """Return what comes of requests asked at the same time: a reply, or what was raised."""

    async def work():
        async with asyncio.timeout(30), closing_connections():
            return await asyncio.gather(*map(judge.ask, requests), return_exceptions=True)

    return asyncio.run(work())


def one(judge, request):
    (came,) = asked(judge, request)
    if isinstance(came, BaseException):
        raise came
    return came


def serving(server, make):
    server.rule = lambda body: Fault(body=make(body))
    return server


# -- answers ------------------------------------------------------------------------


def test_an_answer_is_asked_for_as_it_comes(server):
    server.plan["*"] = iter([Fault(text="Tides follow\nthe moon.")])
    judge = judge_of(server, params={"max_tokens": 9, "temperature": 0}, mode=None)

    reply = one(judge, wanting("text", "Explain tides."))

    assert read_text(reply) == "Tides follow\nthe moon."
    (seen,) = server.seen  # no probe, no second try
    assert seen.body["messages"] == [{"role": "user", "content": "Explain tides."}]
    assert {"response_format", "tools"}.isdisjoint(seen.body)
    assert reply.effective_params == {"max_tokens": 9, "temperature": 0}
    assert reply.usage.input_tokens == 100
    assert reply.model == "fake-model-2026"


def finished(reason, **message):
    def change(body):
        choice = body["choices"][0]
        choice["finish_reason"] = reason
        choice["message"].update(message)

    return Fault(change=change)


@pytest.mark.parametrize(
    ("fault", "raised", "kind"),
    [
        (finished("stop", content=""), InvalidReply, "empty"),
        (finished("stop", content=" \n"), InvalidReply, "empty"),
        (finished("length", content="", reasoning_content="Hm."), InvalidReply, "only_thought"),
        (finished("content_filter", content=""), JudgeRefused, "refused"),
        (finished("stop", content=None, refusal="I will not."), JudgeRefused, "refused"),
    ],
)
def test_no_answer_and_a_refusal_are_told_apart(server, fault, raised, kind):
    server.plan["*"] = iter([fault])

    reply = one(judge_of(server), wanting("text", "Explain tides."))

    with pytest.raises(raised) as caught:
        read_text(reply)
    assert getattr(caught.value, "kind", None) == kind
    assert len(server.seen) == 1


def test_an_answer_that_was_cut_off_is_an_answer_and_says_so(server):
    server.plan["*"] = iter([finished("length", content="Tides foll")])

    reply = one(judge_of(server), wanting("text", "Explain tides."))

    assert (read_text(reply), cut_off(reply)) == ("Tides foll", True)


def test_outages_are_retried_and_one_bad_request_costs_itself(server):
    server.plan["case-a"] = iter([error(500), Fault(text="yes")])
    server.plan["case-b"] = iter([error(400, "that one is no good")])
    judge = judge_of(server)

    first = one(judge, wanting("text", "case-a"))
    (second,) = asked(judge, wanting("text", "case-b"))

    assert read_text(first) == "yes"
    assert isinstance(second, RequestRejected)
    assert "that one is no good" in str(second)


# -- vectors ------------------------------------------------------------------------


def test_texts_asked_at_once_go_in_one_call_and_come_back_in_order(server):
    def shuffled(body):
        made = embeddings(body)
        made["data"].reverse()
        return made

    serving(server, shuffled)
    texts = [f"text number {number}" for number in range(64)]

    replies = asked(
        judge_of(server, params={"dimensions": 4}), *(wanting("embedding", t) for t in texts)
    )

    assert [list(read_vector(reply)) for reply in replies] == [vector_of(text) for text in texts]
    assert len(server.seen) == 1
    assert server.seen[0].path.endswith("/embeddings")
    assert server.seen[0].body["input"] == texts
    assert server.seen[0].body["dimensions"] == 4
    assert replies[0].usage is None  # the server says what all of them took


def test_a_text_alone_knows_its_tokens_and_shares_add_up_to_what_was_paid(server):
    serving(server, embeddings)
    judge = judge_of(server, price=(2.0, 0.0))

    alone = one(judge, wanting("embedding", "a text"))
    together = asked(judge, *(wanting("embedding", "x" * n) for n in (1, 2, 5)))

    assert alone.usage.input_tokens == 10
    assert alone.cost == pytest.approx(2e-5)
    assert math.fsum(reply.cost for reply in together) == pytest.approx(6e-5)


def test_a_text_that_is_not_taken_costs_itself_alone(server):
    def rule(body):
        if "poison" in body["input"]:
            return error(400, "one of these is too long")
        return Fault(body=embeddings(body))

    server.rule = rule
    texts = [*(f"text {number}" for number in range(15)), "poison"]

    came = asked(judge_of(server), *(wanting("embedding", text) for text in texts))

    assert [list(read_vector(reply)) for reply in came[:-1]] == [vector_of(t) for t in texts[:-1]]
    assert isinstance(came[-1], RequestRejected)


def spoilt(change):
    def make(body):
        made = embeddings(body)
        change(made)
        return made

    return make


def put(value):
    def change(made):
        made["data"][0]["embedding"] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        put([1.0, math.nan]),
        put([1.0, math.inf]),
        put([1e300, 1.0]),
        put([]),
        put([0.5] * 70_000),
        put(["a", 1.0]),
        lambda made: made["data"].pop(),
        lambda made: made["data"].append(dict(made["data"][0])),
        lambda made: made["data"][0].update(index=7),
    ],
    ids=["nan", "inf", "too-large", "empty", "too-long", "text", "missing", "twice", "numbered"],
)
def test_a_vector_that_cannot_be_is_a_failure(server, change):
    serving(server, spoilt(change))

    with pytest.raises(InvalidReply):
        read_vector(one(judge_of(server), wanting("embedding", "a text")))


@pytest.mark.parametrize("index", [[0], {"a": 1}, "0", 0.5, True, None])
def test_a_malformed_response_fails_its_texts_and_no_others(server, index):
    def rule(body):
        made = embeddings(body)
        if "text 5" in body["input"]:
            for entry in made["data"]:
                entry["index"] = index
            made["data"] = made["data"] if index is not None else None
        return Fault(body=made)

    server.rule = rule
    texts = [f"text {number}" for number in range(130)]

    came = asked(judge_of(server), *(wanting("embedding", text) for text in texts))

    failed = [reply.tries[-1].fault for reply in came if reply.tries[-1].fault is not None]
    assert len(failed) in (64, 2)  # as many as went in one call
    assert {fault.kind for fault in failed} == {"invalid_reply"}
    assert all(reply.cost is None for reply in came)


def test_an_error_of_the_sender_fails_its_texts_and_no_others():
    async def send(texts):
        if "text 5" in texts:
            raise ZeroDivisionError("odd")
        return texts if "text 70" not in texts else texts[1:]

    async def takes_others():
        return True

    async def work():
        batch = Batch(send, takes_others)
        texts = [f"text {number}" for number in range(130)]
        async with asyncio.timeout(60):
            return await asyncio.gather(*map(batch.ask, texts), return_exceptions=True)

    came = asyncio.run(work())

    assert {type(one) for one in came} == {str, ZeroDivisionError, ValueError}
    assert sum(isinstance(one, str) for one in came) == 2


@pytest.mark.parametrize(
    "fault",
    [
        error(500),
        Fault(body=b"<html>busy</html>"),
        Fault(cut=20, body={"data": []}),
        Fault(reset=True),
    ],
    ids=["500", "html", "cut", "reset"],
)
@pytest.mark.parametrize("want", ["embedding", "logprobs", "text"])
def test_an_outage_is_one_whatever_is_wanted(server, want, fault):
    server.rule = lambda body: fault
    texts = ("a", " b") if want == "logprobs" else ("a",)

    with pytest.raises((JudgeUnavailable, InvalidReply, JudgeRejected)):
        read_text(one(judge_of(server), wanting(want, *texts)))


# -- log-probabilities -----------------------------------------------------------------


def test_log_probabilities_of_a_continuation(server):
    serving(server, echo)

    reply = one(judge_of(server), wanting("logprobs", "The capital is", " Paris of course"))

    found = read_logprobs(reply, prompt="The capital is", continuation=" Paris of course")
    assert found.logprobs == (-1.5, -0.75, -1.75)
    assert not found.shared
    (seen,) = server.seen
    assert seen.path.endswith("/completions")
    assert not seen.path.endswith("/chat/completions")
    assert seen.body["prompt"] == "The capital is Paris of course"
    assert (seen.body["echo"], seen.body["logprobs"], seen.body["max_tokens"]) == (True, 1, 1)


def test_a_token_across_the_boundary_is_counted_and_said(server):
    serving(server, echo)

    reply = one(judge_of(server), wanting("logprobs", "The cap", "ital is"))

    found = read_logprobs(reply, prompt="The cap", continuation="ital is")
    assert found.logprobs == (-2.0, -0.75)
    assert found.shared


def test_a_mark_of_the_beginning_is_no_part_of_the_text(server):
    serving(server, lambda body: echo(body, begin="<s>"))

    reply = one(judge_of(server), wanting("logprobs", "", "Paris it is"))

    found = read_logprobs(reply, prompt="", continuation="Paris it is")
    assert found.logprobs == (-1.25, -0.75, -0.75)
    assert not found.unknown


def without_echo(body):
    made = echo(body)
    made["choices"][0]["text"] = " and"
    return made


def without_figures(body):
    made = echo(body)
    made["choices"][0]["logprobs"] = None
    return made


@pytest.mark.parametrize("make", [without_echo, without_figures])
def test_a_server_that_ignores_echo_is_told_so(server, make):
    serving(server, make)

    with pytest.raises(JudgeUnavailable, match="log-probabilities are unavailable"):
        one(judge_of(server), wanting("logprobs", "The capital is", " Paris"))
    assert len(server.seen) == 1  # it would say the same again


def figures(**change):
    def make(body):
        made = echo(body)
        told = made["choices"][0]["logprobs"]
        for name, alter in change.items():
            told[name] = alter(told[name])
        return made

    return make


@pytest.mark.parametrize(
    "make",
    [
        figures(token_logprobs=lambda told: [*told[:2], math.nan, *told[3:]]),
        figures(token_logprobs=lambda told: [*told[:2], 0.5, *told[3:]]),
        figures(token_logprobs=lambda told: [*told[:2], None, *told[3:]]),
        figures(token_logprobs=lambda told: told[:-1]),
        figures(
            **dict.fromkeys(("tokens", "token_logprobs", "text_offset"), lambda told: told[:3])
        ),
        figures(tokens=lambda told: [*told[:2], "XXXX", *told[3:]]),
        figures(
            tokens=lambda told: [*told[:2], "XXXX", *told[3:]], text_offset=lambda told: told[1:]
        ),
    ],
    ids=["nan", "positive", "null", "shorter", "cut-short", "other-tokens", "other-places"],
)
def test_figures_that_cannot_be_are_a_failure(server, make):
    serving(server, make)

    prompt, continuation = "The capital is", " Paris of course"
    reply = one(judge_of(server), wanting("logprobs", prompt, continuation))

    with pytest.raises(InvalidReply):
        read_logprobs(reply, prompt=prompt, continuation=continuation)


def test_pieces_of_a_character_are_found_by_their_places(server):
    whole = "say é now"

    def make(body):
        made = echo(body)
        made["choices"][0]["text"] = whole + " x"
        made["choices"][0]["logprobs"] = {
            "tokens": ["say", " �", "�", " now", " x"],
            "token_logprobs": [None, -1.0, -2.0, -3.0, -4.0],
            "text_offset": [0, 3, 3, 5, 9],
        }
        return made

    serving(server, make)

    reply = one(judge_of(server), wanting("logprobs", "say", " é now"))

    found = read_logprobs(reply, prompt="say", continuation=" é now")
    assert found.logprobs == (-1.0, -2.0, -3.0)


# -- recorded and replayed ------------------------------------------------------------


def all_of_them():
    return [
        wanting("text", "Explain tides."),
        wanting("embedding", "a text"),
        wanting("logprobs", "The capital is", " Paris"),
    ]


def serve_all(body):
    if "input" in body:
        return Fault(body=embeddings(body))
    if "prompt" in body:
        return Fault(body=echo(body))
    return Fault(text="The moon pulls.")


def record(server, folder, **options):
    server.rule = serve_all
    judge = LimitedJudge(judge_of(server, api_key=CANARY, **options))
    with Cassette(
        judge, tape=folder / "tape.jsonl", store=Store(folder / "store"), record="new_episodes"
    ) as cassette:
        return asked(cassette, *all_of_them())


def test_everything_asked_lands_on_the_tape_and_replays_without_a_server(server, tmp_path):
    live = record(server, tmp_path)

    calls = server.calls()
    tape = tmp_path / "tape.jsonl"
    kinds = [json.loads(line).get("kind") for line in tape.read_text().splitlines()[1:]]
    assert sorted(kind for kind in kinds if kind) == ["chat", "embedding", "logprobs"]
    assert verify_tape(tape) == 3
    assert "answer: 1" in tape_stats(tape).text()
    with Cassette.open(tape, judge_of(server)) as replay:
        assert asked(replay, *all_of_them()) == live
        with pytest.raises(CassetteMiss, match="message 1"):
            one(replay, wanting("embedding", "another text"))
    assert server.calls() == calls == 3


def test_the_key_is_on_no_tape_and_in_no_store(server, tmp_path):
    server.echo = True
    record(server, tmp_path)

    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert CANARY.encode() not in path.read_bytes(), path


def test_a_replay_loads_no_provider(server, tmp_path):
    record(server, tmp_path)
    code = """
import asyncio, sys
from judgekit import Cassette, LiteLLMJudge, Request
from judgekit.core.request import ChatMessage, Form
with Cassette.open(sys.argv[1], LiteLLMJudge("openai/judge")) as tape:
    asking = Request(messages=(ChatMessage(role="user", content="a text"),),
                     form=Form(want="embedding"), model="openai/judge")
    print(len(asyncio.run(tape.ask(asking)).tries))
assert {"litellm", "instructor", "openai"}.isdisjoint(sys.modules), "a provider was loaded"
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "tape.jsonl")],
        capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2],
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr


def test_a_record_that_says_it_is_of_another_kind_is_damaged(server, tmp_path):
    from judgekit.core.canonical import digest
    from judgekit.core.errors import CassetteCorrupt

    record(server, tmp_path)
    tape = tmp_path / "tape.jsonl"
    lines = tape.read_text().splitlines()
    for number, line in enumerate(lines):
        if '"kind":"embedding"' in line:
            data = line[: line.rindex(',"sha256"')].replace('"kind":"embedding"', '"kind":"chat"')
            body = data + "}"
            lines[number] = f'{data},"sha256":"{digest(body)}"}}'
    tape.write_text("\n".join(lines) + "\n")

    with pytest.raises(CassetteCorrupt, match="kind is 'chat'"):
        verify_tape(tape)
