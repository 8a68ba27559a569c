"""What is kept of an answer, and what is sent for it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from judgekit.core.request import ChatMessage, Form, Question, Reply, Request
from judgekit.judges.connections import closing_connections
from judgekit.judges.translation import Outage

from .asking import MODEL, judge_of, run
from .server import Fault, Server, always, error

pytestmark = pytest.mark.loopback

FORM = Form(
    questions=(
        Question(id="right", kind="boolean", text="Is it right?"),
        Question(id="points", kind="checklist", text="Which points?", items=("a", "b")),
    )
)


def request(token: str = "case-1", **fields: Any) -> Request:
    messages = (
        ChatMessage(role="system", content="You judge."),
        ChatMessage(role="user", content=f"Judge {token}. {{{{ 7 * 7 }}}} <b>https://x.test/a.png"),
    )
    return Request(messages=messages, form=FORM, model=MODEL, **fields)


def ask(judge: Any, asked: Request) -> Reply:
    async def asking() -> Reply:
        async with closing_connections():
            reply: Reply = await judge.knowledge.identified(await judge.ask(asked))
            return reply

    return asyncio.run(asking())


def test_prompt_arrives_as_it_was_rendered(server: Server) -> None:
    ask(judge_of(server), request())

    sent = server.seen[0].body
    assert sent["messages"] == [
        {"role": "system", "content": "You judge."},
        {"role": "user", "content": "Judge case-1. {{ 7 * 7 }} <b>https://x.test/a.png"},
    ]
    assert sent["response_format"]["type"] == "json_schema"
    assert list(sent["response_format"]["json_schema"]["schema"]["properties"]) == [
        "right",
        "points",
    ]
    assert server.seen[0].path == "/v1/chat/completions"


@pytest.mark.parametrize("mode", ["json_schema", "tools", "json_object", "text"])
def test_reasons_come_before_verdicts_in_every_mode(server: Server, mode: Any) -> None:
    reply = ask(judge_of(server, mode=mode), request())

    text = reply.tries[-1].text or ""
    assert text.index('"reason"') < text.index('"value"')
    assert text.index('"item"') < text.index('"met"')
    assert text.rindex('"reason"') < text.rindex('"met"')
    assert reply.mode == mode


def test_parameters_are_sent_and_recorded(server: Server) -> None:
    params = {"temperature": 0.0, "seed": 7, "max_tokens": 300, "top_p": 0.5, "stop": ["END"]}

    reply = ask(judge_of(server, params=params), request(params=params))

    assert {name: server.seen[0].body[name] for name in params} == params
    assert reply.effective_params == params
    assert reply.model == "fake-model-2026"


def test_parameters_a_server_may_know_are_passed_on(server: Server) -> None:
    params = {"top_k": 5, "min_p": 0.1}

    reply = ask(judge_of(server, params=params), request(params=params))

    assert {name: server.seen[0].body[name] for name in params} == params
    assert reply.effective_params == params


def test_logprobs_are_recorded_when_asked_for(server: Server) -> None:
    params = {"logprobs": True, "top_logprobs": 2}

    reply = ask(judge_of(server, params=params), request(params=params))

    content = reply.tries[0].logprobs["content"]  # type: ignore[index, call-overload]
    assert content[0]["token"] == "1"
    assert content[0]["logprob"] == -0.25
    assert ask(judge_of(server), request()).tries[0].logprobs is None


def test_usage_adds_up_over_tries_and_is_unknown_if_one_is(server: Server) -> None:
    def silent(body: dict[str, Any]) -> None:
        body.pop("usage")

    server.plan = {
        "case-two": [Fault(text="no")],
        "case-unknown": [Fault(text="no", change=silent)],
        "case-silent": [Fault(change=silent)],
    }
    judge = judge_of(server, price=(1.0, 10.0))

    two, unknown, quiet = (
        ask(judge, request(f"case-{name}")) for name in ("two", "unknown", "silent")
    )

    assert two.usage is not None
    assert (two.usage.input_tokens, two.usage.output_tokens) == (200, 40)
    assert two.cost == pytest.approx((200 * 1.0 + 40 * 10.0) / 1e6)
    assert (unknown.usage, unknown.cost) == (None, None)
    assert (quiet.usage, quiet.cost) == (None, None)


def test_cost_at_a_server_of_ones_own_is_unknown_without_a_price(server: Server) -> None:
    reply = ask(judge_of(server), request())

    assert reply.usage is not None
    assert reply.cost is None


def test_asking_again_hands_back_the_answer_and_its_fault(server: Server) -> None:
    server.plan = {"case-1": [Fault(text=lambda good: good.replace("true", '"yes"', 1))]}

    reply = ask(judge_of(server), request())

    first, second = server.seen
    assert second.body["messages"][:2] == first.body["messages"]
    assistant, user = second.body["messages"][2:]
    assert assistant == {"role": "assistant", "content": reply.tries[0].text}
    assert user["content"] == (
        "That is not a valid answer: right.value: Input should be a valid boolean.\n"
        "Answer again with the whole JSON object, corrected, and nothing else."
    )
    assert len(reply.tries) == 2


def test_asking_again_after_nothing_adds_no_empty_turn(server: Server) -> None:
    server.plan = {"case-1": [Fault(text="")]}

    ask(judge_of(server), request())

    roles = [message["role"] for message in server.seen[1].body["messages"]]
    assert roles == ["system", "user"]
    assert "That is not a valid answer: the reply is empty." in server.seen[1].said


def test_asking_again_hands_back_the_beginning_of_an_endless_answer(server: Server) -> None:
    server.plan = {"case-1": [Fault(text="x" * 3_000_000)]}

    reply = ask(judge_of(server), request())

    assert len(server.seen[1].said) < 25_000
    assert len(reply.tries[0].text or "") == 3_000_000


def test_instructor_and_litellm_are_on_the_stack(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    import litellm

    real = litellm.acompletion
    callers: list[str] = []

    async def spied(**options: Any) -> Any:
        frame = sys._getframe()
        while frame is not None:
            callers.append(frame.f_globals["__name__"])
            frame = frame.f_back  # type: ignore[assignment]
        assert options["num_retries"] == 0
        return await real(**options)

    monkeypatch.setattr(litellm, "acompletion", spied)

    ask(judge_of(server, via="litellm"), request())

    assert server.calls() == 1
    assert "judgekit.judges.litellm" in callers
    assert any(name.startswith("instructor.") and name.endswith(".retry") for name in callers)


def test_without_instructor_nothing_is_asked(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "instructor", None)

    with pytest.raises(ImportError):
        ask(judge_of(server, via="litellm"), request())

    assert server.calls() == 0


def test_only_judgekit_retries(server: Server) -> None:
    server.plan = {"*": always(error(500, "oops"))}

    with pytest.raises(Outage):
        ask(judge_of(server, retries=0), request("case-none"))
    with pytest.raises(Outage):
        ask(judge_of(server, retries=4), request("case-four"))

    assert (server.calls("case-none"), server.calls("case-four")) == (1, 5)


def test_judge_serves_one_event_loop_after_another(server: Server, tmp_path: Path) -> None:
    judge = judge_of(server)

    for number in range(3):
        outcome = run(judge, [f"case-{number}"], tmp_path)
        assert outcome.kinds == {f"case-{number}": "scored"}

    assert server.calls() == 3


def test_cancelled_call_leaves_nothing_behind(server: Server) -> None:
    server.plan = {"case-1": [Fault(delay=20)]}

    async def cancel() -> set[str]:
        async with closing_connections():
            asking = asyncio.create_task(judge_of(server, timeout=30).ask(request()))
            while server.calls() == 0:
                await asyncio.sleep(0.01)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
        left = asyncio.all_tasks() - {asyncio.current_task()}
        return {repr(task.get_coro()) for task in left if "LoggingWorker" not in repr(task)}

    assert asyncio.run(cancel()) == set()
