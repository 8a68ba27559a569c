"""Who waits for whom before a prompt cache is warm, and what is marked."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from judgekit.core.errors import (
    BudgetExceeded,
    CaseError,
    ConfigError,
    JudgeRejected,
    JudgeUnavailable,
    RequestRejected,
)
from judgekit.core.request import ChatMessage, Form, Question, Request, Usage
from judgekit.judges.limits import LimitedJudge
from judgekit.judges.litellm import LiteLLMJudge
from judgekit.judges.prompt_cache import (
    CacheRules,
    Marks,
    PromptCache,
    cache_rules,
    check_caching,
    step_down,
)

FORM = Form(questions=(Question(id="right", kind="boolean", text="Is it right?"),))
MARKED = CacheRules(10, 300.0, "cache_control", {"type": "ephemeral"}, None, {})
KEYED = CacheRules(10, 300.0, None, {}, "prompt_cache_key", {})
SYSTEM = "You judge answers. " * 5


def request(case: str, *, start: str = "", system: str = SYSTEM, sample: int = 0) -> Request:
    user = ChatMessage(role="user", content=f"{start}{case}", shared=len(start))
    messages = (ChatMessage(role="system", content=system), user)
    return Request(messages=messages, form=FORM, model="openai/gpt-5", sample=sample)


class Sender:
    """Sends requests by a prompt cache, each until it is let go, and keeps their order."""

    def __init__(self, rules: CacheRules = MARKED) -> None:
        self.cache = PromptCache("openai/gpt-5", rules, linger=0.0)
        self.sent: list[str] = []
        self.marks: dict[str, Marks | None] = {}
        self.replies: dict[str, asyncio.Future[None]] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def start(self, *requests: Request) -> None:
        for one in requests:
            name = one.messages[-1].content + (f"#{one.sample}" if one.sample else "")
            self.tasks[name] = asyncio.create_task(self._send(name, one))
        await self.settled()

    async def _send(self, name: str, one: Request) -> None:
        async with self.cache.turn(one):
            self.sent.append(name)
            sent = [{"role": m.role, "content": m.content} for m in one.messages]
            self.marks[name] = self.cache.marks(sent)
            reply = self.replies[name] = asyncio.get_running_loop().create_future()
            await reply

    async def end(self, name: str, error: BaseException | None = None) -> None:
        if error is None:
            self.replies[name].set_result(None)
        else:
            self.replies[name].set_exception(error)
            await asyncio.wait((self.tasks[name],))
            assert self.tasks[name].exception() is error
        await self.settled()

    @staticmethod
    async def settled() -> None:
        for _ in range(60):
            await asyncio.sleep(0)

    async def finish(self) -> None:
        for task in self.tasks.values():
            task.cancel()
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)


def play(story: Any, rules: CacheRules = MARKED) -> Sender:
    async def told() -> Sender:
        sender = Sender(rules)
        try:
            await story(sender)
        finally:
            await sender.finish()
        return sender

    return asyncio.run(told())


def texts(marks: Marks | None, one: Request) -> list[Any]:
    """Return the messages of a request with their marks, without what does not matter."""
    assert marks is not None
    return marks.placed([{"role": m.role, "content": m.content} for m in one.messages])


def test_the_first_is_sent_alone_and_the_rest_follow() -> None:
    async def story(sender: Sender) -> None:
        await sender.start(*(request(name) for name in "abc"))
        assert sender.sent == ["a"]
        await sender.end("a")
        assert sender.sent == ["a", "b", "c"]
        await sender.start(request("d"))
        assert sender.sent[-1] == "d"  # the prefix is warm

    sender = play(story)
    part = {"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}
    for name in "abd":
        assert texts(sender.marks[name], request(name)) == [
            {"role": "system", "content": [part]},
            {"role": "user", "content": name},
        ]


@pytest.mark.parametrize(
    "requests",
    [
        [request("a")],
        [request("a"), request("b", system=SYSTEM + "!")],
        [request("a", system="short"), request("b", system="short")],
    ],
    ids=["alone", "others", "short"],
)
def test_nothing_waits_and_nothing_is_marked_where_nothing_is_shared(
    requests: list[Request],
) -> None:
    async def story(sender: Sender) -> None:
        await sender.start(*requests)
        assert len(sender.sent) == len(requests)

    assert set(play(story).marks.values()) == {None}


def test_a_second_request_that_comes_later_writes_the_prefix() -> None:
    async def story(sender: Sender) -> None:
        await sender.start(request("a"))
        await sender.start(request("b"), request("c"))
        assert sender.sent == ["a", "b"]

    sender = play(story)
    assert sender.marks["a"] is None
    assert sender.marks["b"] is not None


def test_requests_about_a_case_share_more_than_the_instructions() -> None:
    one, other = "The first answer. ", "The second answer. "

    async def story(sender: Sender) -> None:
        await sender.start(*(request(n, start=start) for start in (one, other) for n in "ab"))
        assert sender.sent == [one + "a"]
        await sender.end(one + "a")
        assert sender.sent[1:] == [one + "b", other + "a"]
        await sender.end(other + "a")
        assert sender.sent[3:] == [other + "b"]

    sender = play(story)
    system, user = texts(sender.marks[other + "b"], request("b", start=other))
    assert [part["text"] for part in user["content"]] == [other, "b"]
    assert ["cache_control" in part for part in user["content"]] == [True, False]
    assert "cache_control" in system["content"][0]


def test_samples_share_the_whole_prompt() -> None:
    async def story(sender: Sender) -> None:
        await sender.start(*(request("a", sample=n) for n in range(3)))
        assert sender.sent == ["a"]
        await sender.end("a")
        assert sender.sent == ["a", "a#1", "a#2"]

    system, user = texts(play(story).marks["a#1"], request("a"))
    assert user["content"][0]["text"] == "a"
    assert "cache_control" in user["content"][0]
    assert "cache_control" in system["content"][0]


@pytest.mark.parametrize(
    "error", [JudgeUnavailable("down"), CaseError("too long"), RequestRejected("this one")]
)
def test_after_an_error_the_next_one_is_first(error: Exception) -> None:
    async def story(sender: Sender) -> None:
        await sender.start(*(request(name) for name in "abcd"))
        await sender.end("a", error)
        assert sender.sent == ["a", "b"]
        await sender.end("b", JudgeUnavailable("down"))
        assert sender.sent == ["a", "b", "c"]
        await sender.end("c")
        assert sender.sent == ["a", "b", "c", "d"]

    play(story)


@pytest.mark.parametrize("error", [JudgeRejected("no such model"), BudgetExceeded("spent")])
def test_after_an_error_about_all_none_waits(error: Exception) -> None:
    async def story(sender: Sender) -> None:
        await sender.start(*(request(name) for name in "abcd"))
        await sender.end("a", error)
        assert sender.sent == ["a", "b", "c", "d"]

    play(story)


def test_cancelled_requests_hold_nobody_up() -> None:
    async def story(sender: Sender) -> None:
        await sender.start(*(request(name) for name in "abcd"))
        sender.tasks["b"].cancel()  # it waits
        sender.tasks["a"].cancel()  # it is the first
        await sender.settled()
        assert sender.sent == ["a", "c"]
        await sender.end("c")
        assert sender.sent == ["a", "c", "d"]

    play(story)


def test_the_first_leaves_its_place_before_another_attempt() -> None:
    async def story(sender: Sender) -> None:
        async def retried() -> None:
            async with sender.cache.turn(request("a")):
                sender.sent.append("a")
                await asyncio.sleep(0)
                step_down()
                await asyncio.Event().wait()

        sender.tasks["a"] = asyncio.create_task(retried())
        await sender.start(*(request(name) for name in "bc"))
        assert sender.sent == ["a", "b"]
        await sender.end("b")
        assert sender.sent == ["a", "b", "c"]

    play(story)


def test_a_prefix_gets_cold() -> None:
    async def story(sender: Sender) -> None:
        await sender.start(*(request(name) for name in "ab"))
        await sender.end("a")
        assert sender.sent == ["a", "b"]
        await sender.start(request("c"))
        assert sender.sent == ["a", "b"]  # waits for the second one, as the prefix is cold again

    play(story, MARKED._replace(seconds=0.0))


def test_a_prefix_that_the_provider_does_not_keep_is_left_out() -> None:
    async def story(sender: Sender) -> None:
        await sender.start(*(request(name) for name in "ab"))
        marks = sender.marks["a"]
        assert marks is not None
        marks.note(Usage(input_tokens=30))
        await sender.end("a")
        await sender.start(*(request(name) for name in "cd"))
        assert sender.sent == ["a", "b", "c", "d"]

    assert play(story).marks["d"] is None


def test_a_key_is_the_digest_of_what_is_shared() -> None:
    async def story(sender: Sender) -> None:
        await sender.start(*(request(n, start=s) for s in ("One. ", "Two. ") for n in "ab"))
        await sender.end("One. a")
        await sender.end("Two. a")

    sender = play(story, KEYED)
    sent = {name: m.added_to({"seed": 1}) for name, m in sender.marks.items() if m}
    keys = {name: params["prompt_cache_key"] for name, params in sent.items()}
    assert keys["One. a"] == keys["One. b"] != keys["Two. a"] == keys["Two. b"]
    assert all(len(key) == 32 for key in keys.values())
    assert texts(sender.marks["One. b"], request("b"))[0]["content"] == SYSTEM


def test_each_event_loop_has_its_first_request() -> None:
    sender = Sender()

    async def story() -> None:
        sender.sent.clear()
        await sender.start(*(request(name) for name in "ab"))
        assert sender.sent == ["a"]
        await sender.finish()

    asyncio.run(story())
    asyncio.run(story())


def test_waits_hold_no_slot() -> None:
    """Two slots: the first of one prefix and that of another, although others came before it."""

    class Recorded(LiteLLMJudge):
        def __init__(self) -> None:
            super().__init__("openai/gpt-5", cache="auto")
            self.prompt_cache = PromptCache(self.model, MARKED, linger=0.0)
            self.asked: list[str] = []
            self.go = asyncio.Event()

        async def ask(self, request: Request) -> Any:
            self.asked.append(request.messages[-1].content)
            await self.go.wait()
            raise JudgeUnavailable("down")

    async def story() -> list[str]:
        judge = Recorded()
        limited = LimitedJudge(judge, concurrency=2)
        asked = [*(request(n) for n in "abcd"), *(request(n, system=SYSTEM + "!") for n in "ef")]
        tasks = [asyncio.ensure_future(limited.ask(one)) for one in asked]
        await Sender.settled()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return judge.asked

    assert asyncio.run(story()) == ["a", "e"]


@pytest.mark.parametrize(
    ("model", "minimum", "mark", "key", "explicit"),
    [
        ("anthropic/claude-sonnet-4-5", 1024, "cache_control", None, False),
        ("anthropic/claude-haiku-4-5", 4096, "cache_control", None, False),
        ("anthropic/claude-opus-5", 512, "cache_control", None, False),
        ("openai/gpt-5", 1024, None, "prompt_cache_key", False),
        ("openai/gpt-5.6", 1024, "prompt_cache_breakpoint", "prompt_cache_key", True),
        ("litellm_proxy/claude-opus-5", 512, "cache_control", None, False),
    ],
)
def test_the_rules_of_models(
    model: str, minimum: int, mark: str | None, key: str | None, explicit: bool
) -> None:
    rules = cache_rules(model)

    assert rules is not None
    assert (rules.minimum, rules.mark, rules.key) == (minimum, mark, key)
    assert bool(rules.options) is explicit


@pytest.mark.parametrize(
    "model",
    ["openai/local", "ollama_chat/qwen3:8b", "gemini/gemini-2.5-pro", "hosted_vllm/claude-like"],
)
def test_models_without_rules_get_nothing(model: str) -> None:
    judge = LiteLLMJudge(model, api_base="http://localhost:1/v1", cache="auto")

    assert cache_rules(model) is None
    assert judge.prompt_cache is None


@pytest.mark.parametrize(
    ("caching", "params", "problem"),
    [
        ("always", {}, "no cache 'always'"),
        ("auto", {"prompt_cache_key": "mine"}, "params.prompt_cache_key and cache: auto"),
        (
            "auto",
            {"extra_body": {"prompt_cache_options": {"mode": "implicit"}}},
            "params.prompt_cache_options and cache: auto",
        ),
    ],
)
def test_settings_that_contradict_are_refused(
    caching: str, params: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        check_caching(caching, params)
    check_caching("none", params)


def test_explicit_mode_keeps_what_others_sent_along() -> None:
    rules = cache_rules("openai/gpt-5.6")
    assert rules is not None
    marks = Marks(rules, (), None)

    assert marks.added_to({"extra_body": {"x": 1}}) == {
        "extra_body": {"x": 1, "prompt_cache_options": {"mode": "explicit"}}
    }
