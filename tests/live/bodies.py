"""The bodies of requests that a fixed set of judges sends, in every output mode and both ways."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from judgekit.core.errors import JudgekitError
from judgekit.core.request import ChatMessage, Form, Question, Request
from judgekit.judges.connections import closing_connections
from judgekit.judges.litellm import LiteLLMJudge
from judgekit.judges.output_mode import MODES, Mode
from judgekit.judges.sent_schema import rules_of
from judgekit.judges.transport import Server as Hosted
from judgekit.judges.transport import Via

from .server import Fault, Server

FILE = Path(__file__).parents[1] / "data" / "request_bodies.jsonl"
"""The recorded bodies, one a line, as `benchmarks.request_bodies` writes them."""
_PLAIN = {"temperature": 0, "max_tokens": 64}
_MANY = {**_PLAIN, "seed": 17, "stop": ["END"], "top_p": 0.5}
JUDGES: tuple[tuple[str, dict[str, Any], tuple[Via, ...]], ...] = (
    ("openai/judge", _MANY, ("direct", "litellm")),
    ("openai/gpt-4o", _MANY, ("direct", "litellm")),
    ("openai/gpt-5", {"seed": 17, "max_completion_tokens": 64}, ("direct", "litellm")),
    ("openai/gpt-5.6", {"max_completion_tokens": 64}, ("litellm",)),
    ("openai/o3", {"reasoning_effort": "low"}, ("litellm",)),
    ("hosted_vllm/judge", _MANY, ("direct", "litellm")),
    ("lm_studio/judge", _PLAIN, ("direct", "litellm")),
    ("deepseek/deepseek-chat", _PLAIN, ("direct", "litellm")),
    ("together_ai/judge", _PLAIN, ("direct", "litellm")),
    ("xai/grok-4", _PLAIN, ("direct", "litellm")),
    ("litellm_proxy/judge", _PLAIN, ("direct", "litellm")),
    ("anthropic/claude-sonnet-4-5", _PLAIN, ("litellm",)),
    ("anthropic/claude-haiku-4-5", _PLAIN, ("litellm",)),
    ("gemini/gemini-2.5-pro", _PLAIN, ("litellm",)),
    ("mistral/mistral-large-latest", _PLAIN, ("litellm",)),
    ("groq/openai/gpt-oss-20b", _PLAIN, ("litellm",)),
    ("openrouter/openai/gpt-4o", _PLAIN, ("litellm",)),
    ("ollama_chat/qwen3:8b", _PLAIN, ("litellm",)),
)
"""Model, parameters and ways; the hosted ones are asked at the address of the server of the tests,
by the rules of their own address."""
_MESSAGES = (
    ChatMessage(role="system", content="You check statements."),
    ChatMessage(role="user", content="Is 2 + 2 = 4?"),
)
_REPLY = Fault(body={"object": "list"})  # the reply does not matter, and no library repairs it


def lines(server: Server, modes: Iterable[Mode] = MODES) -> list[str]:
    """Return the lines of the file: model, mode, ways with one body, its path, and the body."""
    server.rule = lambda body: _REPLY

    async def ask() -> list[dict[str, Any]]:
        async with closing_connections():
            return [
                one
                for model, params, ways in JUDGES
                for mode in modes
                for one in await _sent(server, model, params, mode, ways)
            ]

    return [json.dumps(one, ensure_ascii=False, sort_keys=True) for one in asyncio.run(ask())]


async def _sent(
    server: Server, model: str, params: dict[str, Any], mode: Mode, ways: tuple[Via, ...]
) -> list[dict[str, Any]]:
    form = Form(questions=(Question(id="right", kind="boolean", text="Is it right?"),))
    sent: list[dict[str, Any]] = []
    for way in ways:
        server.forget()
        judge = LiteLLMJudge(
            model,
            api_base=server.base,
            api_key="sk-of-the-test",
            params=params,
            mode=mode,
            retries=0,
            reasks=0,
            via=way,
        )
        judge._calls.schema_rules = rules_of(Hosted(model, None, None, 1, 1, 1, None))
        request = Request(messages=_MESSAGES, form=form, model=model, params=params)
        with suppress(JudgekitError):
            await judge.ask(request)
        first = server.seen[0]  # a second one asks whether the server takes anything
        one = {"model": model, "mode": mode, "path": first.path, "body": first.body}
        same = next((other for other in sent if other == {**one, "via": other["via"]}), None)
        if same is None:
            sent.append({**one, "via": [way]})
        else:
            same["via"].append(way)
    return sent
