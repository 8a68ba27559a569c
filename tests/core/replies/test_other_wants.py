"""Requests that want no verdict: their keys, and those of all others, which did not change."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from judgekit.cassette.explain import Explainer
from judgekit.cassette.record import Record, decode, encode
from judgekit.cassette.show import verify_tape
from judgekit.core.errors import JudgeRejected
from judgekit.core.replies.logprobs import pair_messages, read_logprobs
from judgekit.core.replies.text import read_text
from judgekit.core.replies.vector import read_vector
from judgekit.core.request import ChatMessage, Form, Request
from judgekit.judges.fake import FakeJudge
from judgekit.judges.manual import ManualJudge
from tests.each import each

CASSETTES = sorted(Path(__file__).parents[3].joinpath("cassettes").rglob("*.jsonl"))


def request(want="text", text="hello"):
    messages = (
        pair_messages("Say", text)
        if want == "logprobs"
        else (ChatMessage(role="user", content=text),)
    )
    return Request(messages=messages, form=Form(want=want), model="fake/judge")


def test_a_verdict_is_wanted_unless_something_else_is_said():
    assert Form().canonical == "{}"
    assert Form(want="verdict").canonical == "{}"
    assert Form(want="embedding").canonical == '{"want":"embedding"}'


def test_what_is_wanted_is_part_of_the_key():
    assert len({request(want).key for want in ("verdict", "text", "embedding")}) == 3


@each("tape", CASSETTES, ids=lambda path: path.stem)
def test_records_of_before_keep_their_keys(tape):
    assert verify_tape(tape) > 0


@pytest.mark.parametrize("want", ["text", "embedding", "logprobs"])
def test_a_record_goes_round(want):
    asked = request(want)
    reply = asyncio.run(FakeJudge().ask(asked))

    line = encode(asked, reply)[0]

    assert decode(line, parts={}, where="here") == Record(asked.key, asked, reply)
    assert f'"kind":"{"chat" if want == "text" else want}"' in line


def test_a_fake_judge_makes_up_whatever_is_wanted():
    ask = FakeJudge().ask

    assert "fake" in read_text(asyncio.run(ask(request("text"))))
    assert len(read_vector(asyncio.run(ask(request("embedding"))))) == 16
    reply = asyncio.run(ask(request("logprobs", " hello you")))
    assert len(read_logprobs(reply, prompt="Say", continuation=" hello you").logprobs) == 2


@pytest.mark.parametrize("text", ["", " ", "a  b ", "\n", "  x"])
def test_a_fake_tokeniser_takes_any_text(text):
    reply = asyncio.run(FakeJudge().ask(request("logprobs", text or "x")))

    read_logprobs(reply, prompt="Say", continuation=text or "x")


@pytest.mark.parametrize("want", ["text", "embedding", "logprobs"])
def test_a_person_gives_verdicts_only(want):
    with pytest.raises(JudgeRejected, match="verdicts only"):
        asyncio.run(ManualJudge("alex").ask(request(want)))


def test_a_miss_says_that_something_else_was_recorded():
    asked = request("text")
    explainer = Explainer([Record("0" * 64, request("embedding"), None)])

    assert "wanted (embedding recorded, text asked)" in explainer.explain(asked).line()
