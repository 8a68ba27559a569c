from __future__ import annotations

import asyncio

import pytest

from judgekit.core.errors import ConfigError
from judgekit.core.judge_settings import JudgeSettings
from judgekit.core.judge_wrapper import BaseJudge, JudgeWrapper, RequestBuilder, as_judge
from judgekit.core.request import About, ChatMessage, Form, Reply, Try
from judgekit.judges.fake import FakeJudge

REPLY = Reply(tries=(Try(text="{}"),))


class Small:
    model = "own/model"

    async def ask(self, request):
        return REPLY


class Server:
    """What a judge learnt about its server."""

    def __init__(self):
        self.store = None

    async def identified(self, reply):
        return reply.model_copy(update={"server": "s"})

    def findings(self):
        return {"server": "s"}

    def keep_in(self, store, *, ignore_stored=False):
        self.store = store, ignore_stored


SETTINGS = JudgeSettings(identity="weights-7", params={"seed": 1}, mode="tools")


class Large(Small):
    settings = SETTINGS

    def __init__(self):
        self.closed = False
        self.knowledge = Server()

    def close(self):
        self.closed = True


class Older(Small):
    """A judge with the members of before `settings` and `knowledge`."""

    identity = "weights-7"
    params = {"seed": 1}  # noqa: RUF012
    mode = "tools"
    store = None

    async def identified(self, reply):
        return reply.model_copy(update={"server": "s"})

    def keep_in(self, store, *, anew=False):
        self.store = store, anew


class OlderBase(BaseJudge):
    """The same as a subclass of the base class, with an attribute of the instance."""

    model = "own/model"
    params = {"seed": 1}  # noqa: RUF012
    mode = "tools"
    store = None
    identified, keep_in = Older.identified, Older.keep_in

    def __init__(self):
        self.identity = "weights-7"

    async def ask(self, request):
        return REPLY


class Wrapper(JudgeWrapper):
    async def ask(self, request):
        return await self.judge.ask(request)


def test_an_object_with_model_and_ask_becomes_a_judge_with_defaults():
    judge = as_judge(Small())

    assert (judge.model, judge.settings) == ("own/model", JudgeSettings())
    assert judge.knowledge is None
    assert judge.synchronous is False
    judge.close()


def test_an_object_keeps_the_members_it_has_behind_a_wrapper():
    given = Large()
    judge = Wrapper(given)

    assert judge.settings is SETTINGS
    assert judge.knowledge is given.knowledge
    judge.close()
    assert given.closed


@pytest.mark.parametrize("kind", [Older, OlderBase])
def test_a_judge_with_the_older_members_still_works(kind):
    given = kind()
    judge = Wrapper(given)

    with pytest.warns(DeprecationWarning, match="attributes identity, params, mode; give it"):
        assert judge.settings == SETTINGS
    with pytest.warns(DeprecationWarning, match="methods identified, keep_in; give it"):
        knowledge = judge.knowledge
    assert asyncio.run(knowledge.identified(REPLY)).server == "s"
    assert knowledge.findings() == {}
    knowledge.keep_in(str, ignore_stored=True)
    assert given.store == (str, True)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", [Older, OlderBase, Large])
def test_older_judges_have_the_same_keys(kind):
    messages = (ChatMessage(role="user", content="x"),)
    keys = set()
    for judge in (kind(), Wrapper(Large())):
        builder = RequestBuilder(judge)
        keys.add(builder.request(messages=messages, form=Form(), sample=0, about=About()).key)

    assert len(keys) == 1


def test_an_older_wrapper_replaces_a_part_of_the_settings():
    class Renamed(Wrapper):
        identity = "weights-8"

    with pytest.warns(DeprecationWarning, match="Renamed has attributes identity"):
        settings = Renamed(Large()).settings

    assert settings == JudgeSettings(identity="weights-8", params={"seed": 1}, mode="tools")


def test_members_can_be_read_under_their_older_names():
    judge = Wrapper(Large())

    with pytest.warns(DeprecationWarning, match=r"judge\.identity is now judge\.settings"):
        assert judge.identity == "weights-7"
    with pytest.warns(DeprecationWarning, match=r"judge\.findings\(\) is now judge\.knowledge"):
        assert judge.findings() == {"server": "s"}
    with pytest.warns(DeprecationWarning, match="is now judge"):
        assert as_judge(FakeJudge()).findings() == {}
    with pytest.raises(AttributeError, match="'Wrapper' object has no attribute 'price'"):
        judge.price  # noqa: B018 - reading it is the test


def test_a_judge_with_all_members_is_taken_as_it_is():
    judge = FakeJudge()

    assert as_judge(judge) is judge
    assert isinstance(judge, BaseJudge)


@pytest.mark.parametrize(
    ("value", "message"),
    [(7, "judge is 7; a judge is"), (Small, "judge is the class Small; create one")],
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
