from __future__ import annotations

import json

import pytest

from judgekit.cassette.store import Store
from judgekit.core.request import ChatMessage, Form, Question, Reply, Request, Try

FORM = Form(questions=(Question(id="q", kind="score", text="Good?"),))


def make_request(text="text", *, system="Judge.", model="fake/judge", **changes):
    messages = [ChatMessage(role="user", content=text)]
    if system is not None:
        messages.insert(0, ChatMessage(role="system", content=system))
    return Request(messages=tuple(messages), model=model, **{"form": FORM, **changes})


def make_reply(value=0.5, *, cost=0.25, **changes):
    text = json.dumps({"q": {"reason": "r", "value": value}})
    return Reply(tries=(Try(text=text, finish="stop"),), cost=cost, **changes)


@pytest.fixture
def store(own_store):
    opened = Store(own_store)
    yield opened
    opened.close()
