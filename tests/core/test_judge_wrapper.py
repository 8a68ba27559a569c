from __future__ import annotations

import asyncio

import pytest

from judgekit.core.errors import ConfigError
from judgekit.core.judge_wrapper import BaseJudge, JudgeWrapper, RequestBuilder, as_judge
from judgekit.core.request import About, ChatMessage, Form, Reply, Try
from judgekit.judges.fake import FakeJudge

REPLY = Reply(tries=(Try(text="{}"),))


class Small:
    model = "own/model"

    async def ask(self, request):
        return REPLY


class Large(Small):
    identity = "weights-7"
    params = {"seed": 1}  # noqa: RUF012
    mode = "tools"

    def __init__(self):
        self.closed = False
        self.store = None

    def findings(self):
        return {"server": "s"}

    def keep_in(self, store, *, anew=False):
        self.store = store

    async def identified(self, reply):
        return reply.model_copy(update={"server": "s"})

    def close(self):
        self.closed = True


def test_an_object_with_model_and_ask_becomes_a_judge_with_defaults():
    judge = as_judge(Small())

    assert (judge.model, judge.identity, dict(judge.params), judge.mode) == (
        "own/model", None, {}, None,
    )  # fmt: skip
    assert judge.findings() == {}
    assert judge.synchronous is False
    assert asyncio.run(judge.identified(REPLY)) is REPLY
    judge.keep_in(lambda: None)
    judge.close()


def test_an_object_keeps_the_members_it_has_behind_a_wrapper():
    class Wrapper(JudgeWrapper):
        async def ask(self, request):
            return await self.judge.ask(request)

    given = Large()
    judge = Wrapper(given)

    assert (judge.identity, judge.params, judge.mode) == ("weights-7", {"seed": 1}, "tools")
    assert judge.findings() == {"server": "s"}
    assert asyncio.run(judge.identified(REPLY)).server == "s"
    judge.keep_in(str)
    judge.close()
    assert (given.store, given.closed) == (str, True)


def test_a_judge_with_all_members_is_taken_as_it_is():
    judge = FakeJudge()

    assert as_judge(judge) is judge
    assert isinstance(judge, BaseJudge)


@pytest.mark.parametrize(
    ("value", "message"),
    [(7, "judge is a int; a judge is"), (Small, "judge is a class; a judge is")],
)
def test_an_object_that_is_no_judge_is_refused(value, message):
    with pytest.raises(ConfigError, match=message):
        RequestBuilder(value)


def test_a_model_string_is_a_judge():
    assert RequestBuilder("openai/x").judge.model == "openai/x"


def test_requests_carry_identity_parameters_and_forced_mode():
    messages = (ChatMessage(role="user", content="x"),)

    request = RequestBuilder(Large()).request(
        messages=messages, form=Form(), sample=2, about=About()
    )

    assert (request.model, request.identity, request.params, request.mode, request.sample) == (
        "own/model", "weights-7", {"seed": 1}, "tools", 2,
    )  # fmt: skip
