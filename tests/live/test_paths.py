"""Both ways to a model send the same bodies and return the same records."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from judgekit.core.errors import JudgekitError
from judgekit.core.request import ChatMessage, Form, Question, Request
from judgekit.judges.connections import closing_connections
from judgekit.judges.litellm import LiteLLMJudge
from judgekit.judges.output_mode import MODES
from judgekit.judges.providers import PROVIDERS

from .server import Fault, Server, error

pytestmark = pytest.mark.loopback

PARAMS: dict[str, tuple[Any, ...]] = {
    "temperature": (0, 0.2, 1.0),
    "top_p": (0.5,),
    "max_tokens": (64,),
    "seed": (0, 17),
    "stop": ("END", ["a", "b"]),
    "presence_penalty": (0.5,),
    "frequency_penalty": (-0.5,),
    "top_k": (5,),
    "min_p": (0.05,),
    "n": (1,),
    "logprobs": (True,),
    "extra_body": ({"chat_template_kwargs": {"enable_thinking": False}},),
}
SCHEMA = {
    "title": "Summary",
    "description": "What the answer says.",
    "type": "object",
    "properties": {"summary": {"type": "string"}, "parts": {"type": "array", "items": {}}},
    "additionalProperties": False,
    "required": ["summary", "parts"],
}
TEXTS = ("Say yes.", "Ünïcode ✓ \U0001f600", 'Quotes " and \\ and\nlines', "")


def forms() -> list[Form]:
    """Return new forms; a schema is kept in its form."""
    return [
        Form(questions=(Question(id="right", kind="boolean", text="Is it right?"),)),
        Form(
            questions=(
                Question(id="mood", kind="choice", text="?", labels=("a", "b"), nullable=True),
                Question(id="parts", kind="checklist", text="?", items=("x", "y"), quotes=True),
            )
        ),
        Form(json_schema=SCHEMA),
        Form(want="text"),
    ]


def message(**changes: Any) -> Fault:
    return Fault(change=lambda body: body["choices"][0]["message"].update(changes))


def choice(**changes: Any) -> Fault:
    return Fault(change=lambda body: body["choices"][0].update(changes))


def body(**changes: Any) -> Fault:
    return Fault(change=lambda body: body.update(changes))


def without(*names: str) -> Fault:
    def change(body: dict[str, Any]) -> None:
        for name in names:
            body.pop(name)

    return Fault(change=change)


def call(name: Any, arguments: Any) -> dict[str, Any]:
    return {"id": "1", "type": "function", "function": {"name": name, "arguments": arguments}}


GOOD = {
    "good": Fault(),
    "prose": Fault(text=lambda good: f"Here you are: {good}"),
    "thinking": Fault(text=lambda good: f"<think>{{maybe}} no</think>\n{good}"),
    "thinking in a field": message(reasoning_content="Let me see."),
    "thinking in another field": message(reasoning="Let me see."),
    "a key in the text": Fault(text=lambda good: f"sk-canary-0123456789 {good}"),
    "other counts": body(usage={"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}),
    "details of usage": body(
        usage={
            "prompt_tokens": 70,
            "completion_tokens": 30,
            "total_tokens": 100,
            "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 20},
        }
    ),
    "no usage": without("usage"),
    "null usage": body(usage=None),
    "no model": without("model"),
    "null model": body(model=None),
    "other model": body(model="org/model:7b"),
    "unknown finish": choice(finish_reason="eos"),
    "no finish": choice(finish_reason=None),
    "another field": body(timings={"ms": 3}, choices_extra=[1]),
    "cost of a proxy": Fault(headers={"x-litellm-response-cost": "0.25"}),
    "logprobs": choice(
        logprobs={
            "content": [
                {
                    "token": "1",
                    "logprob": -0.25,
                    "bytes": [49],
                    "top_logprobs": [{"token": "1", "logprob": -0.25, "bytes": None}],
                }
            ],
            "refusal": None,
        }
    ),
}
BAD = {
    "refusal": message(content=None, refusal="I cannot help with that."),
    "refusal and text": message(refusal="I cannot help with that."),
    "filtered": choice(finish_reason="content_filter"),
    "cut": choice(finish_reason="length"),
    "malformed": Fault(text=lambda good: good[:-5]),
    "not json": Fault(text="It is fine, I think."),
    "empty": Fault(text=""),
    "null content": message(content=None),
    "parts": message(content=[{"type": "text", "text": "{"}, {"type": "text", "text": "}"}]),
    "no choices": body(choices=[]),
    "null choices": body(choices=None),
    "no message": Fault(change=lambda body: body["choices"][0].pop("message")),
    "number for content": message(content=7),
    "text for usage": body(usage="many"),
    "two calls": message(content=None, tool_calls=[call("Verdict", "{}"), call("Verdict", "{}")]),
    "other call": message(content=None, tool_calls=[call("delete_files", "{}")]),
    "no calls": message(tool_calls=[]),
    "object for arguments": message(content=None, tool_calls=[call("Verdict", {"a": 1})]),
    "lone surrogate": Fault(text='{"a": "\ud800"}'),
}
ERRORS = {
    "400": error(400, "temperature is not supported with this model", param="temperature"),
    "400 about the format": error(400, "response_format is not supported"),
    "400 of another kind": error(400, "bad things happened"),
    "401": error(401, "Incorrect API key provided: sk-canary-0123456789", code="invalid_api_key"),
    "403": error(403, "Your plan has no access"),
    "404": error(404, "The model `judge` does not exist", code="model_not_found"),
    "413": error(413, "Request too large"),
    "422": error(422, "body.stop: invalid"),
    "429": error(429, "slow down", headers={"Retry-After": "0"}),
    "quota": error(429, "You exceeded your current quota", code="insufficient_quota"),
    "500": error(500, "oops"),
    "503": error(503, "loading the model"),
    "policy": error(400, "rejected by our safety system", code="content_policy_violation"),
    "context": error(400, "This model's maximum context length is 4096 tokens.", code="c"),
    "error in a 200": Fault(body={"error": {"message": "model crashed", "code": 500}}),
}
SAME_KIND = {
    "reset": Fault(reset=True),
    "cut body": Fault(cut=40),
    "html": Fault(body=b"<html>log in</html>", headers={"Content-Type": "text/html"}),
    "502": Fault(502, body=b"<html>bad gateway</html>", headers={"Content-Type": "text/html"}),
    "no json": Fault(body=b'{"choices": [{"mess'),
    "empty body": Fault(body=b""),
    "array": Fault(body=b"[1, 2]"),
    "encoding": Fault(headers={"Content-Encoding": "gzip"}),
    "unknown object": Fault(body={"ok": True}),
    "404 of a proxy": Fault(404, body=b"not here"),
}
"""Errors that the libraries below litellm word in their own way."""
OTHER_HANDLER = ("hosted_vllm", "deepseek", "together_ai", "xai")
"""Providers for which litellm does not use the SDK of OpenAI; some kinds of these errors differ."""
CASES = {**GOOD, **BAD, **ERRORS, **SAME_KIND}


async def outcome(judge: LiteLLMJudge, request: Request) -> Any:
    """Return the record of a request: the reply, or the error."""
    try:
        reply = await judge.ask(request)
    except JudgekitError as exc:
        return type(exc).__name__, str(exc)
    return reply.model_dump(mode="json"), judge.knowledge.findings()


async def both(
    server: Server, model: str, mode: Any, params: dict[str, Any], number: int, text: str
) -> list[Any]:
    """Return body, path and record of a request, of both ways."""
    results = []
    for via in ("direct", "litellm"):
        judge = LiteLLMJudge(
            model,
            api_base=server.base,
            api_key="sk-canary-0123456789",
            params=params,
            mode=mode,
            retries=0,
            timeout=30,
            via=via,  # type: ignore[arg-type]
        )
        messages = [ChatMessage(role="user", content=f"{text} case-x")]
        if number % 2:
            messages.insert(0, ChatMessage(role="system", content="You check statements."))
        server.forget()
        form = forms()[number]
        request = Request(messages=tuple(messages), form=form, model=model)
        record = await outcome(judge, request)
        seen = [(s.path, s.body, s.headers["authorization"]) for s in server.seen]
        results.append((seen, record))
    return results


@pytest.mark.parametrize("rounds", [2, pytest.param(10, marks=pytest.mark.thorough)])
def test_both_ways_send_the_same_and_return_the_same(server: Server, rounds: int) -> None:
    """Each case is sent in every round, with settings that are drawn."""
    random_ = random.Random(12)
    names = list(CASES)
    differences: list[Any] = []

    async def compare() -> None:
        async with closing_connections():
            for number in range(rounds * len(names)):
                case = names[number % len(names)]
                params = {
                    name: random_.choice(values)
                    for name, values in PARAMS.items()
                    if random_.random() < 0.25
                }
                provider = random_.choice(list(PROVIDERS))
                mode, text = random_.choice(MODES), random_.choice(TEXTS)
                form = random_.randrange(4)
                server.plan = {"case-x": [CASES[case]]}
                direct, litellm = await both(server, f"{provider}/judge", mode, params, form, text)
                at = (number, case, provider, mode, params)
                if case in SAME_KIND and provider in OTHER_HANDLER:
                    continue
                if case in SAME_KIND and isinstance(direct[1][1], str):
                    direct, litellm = ([one[0], one[1][0]] for one in (direct, litellm))
                if direct != litellm:
                    differences.append((at, direct, litellm))

    asyncio.run(compare())
    assert differences == []
