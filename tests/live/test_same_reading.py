"""Odd forms of a response: the same reply over both ways, and contradicting verdicts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

from judgekit.judges.litellm import LiteLLMJudge

from .asking import judge_of, run
from .server import Fault, Server, completion

pytestmark = pytest.mark.loopback

WAYS: tuple[Literal["direct", "litellm"], ...] = ("direct", "litellm")
REASON = "Größe: é, naïve"


def usage(prompt: Any, **more: Any) -> Callable[[dict[str, Any]], bytes]:
    def body(asked: dict[str, Any]) -> bytes:
        counts = {"prompt_tokens": prompt, "completion_tokens": "5", **more}
        return json.dumps({**completion(asked), "usage": counts}).encode()

    return body


def encoded(encoding: str) -> Callable[[dict[str, Any]], bytes]:
    def body(asked: dict[str, Any]) -> bytes:
        whole = completion(asked, lambda text: text.replace("Because.", REASON))
        return json.dumps(whole, ensure_ascii=False).encode(encoding)

    return body


FORMS: dict[str, tuple[Callable[[dict[str, Any]], bytes], str, tuple[int, int] | None]] = {
    "text": (usage("12"), "", (12, 5)),
    "whole number with a point": (usage(12.0), "", (12, 5)),
    "text with a point": (usage("12.0"), "", (12, 5)),
    "details as text": (usage(12, prompt_tokens_details={"cached_tokens": "3"}), "", (12, 5)),
    "a word": (usage("many"), "", None),
    "a fraction": (usage("12.5"), "", None),
    "negative": (usage(-1), "", None),
    "other digits": (usage("١٢"), "", None),
    "400 digits": (usage("9" * 400), "", None),
    "a list": (usage([1]), "", None),
    "UTF-8 that says latin": (encoded("utf-8"), "; charset=iso-8859-1", (100, 20)),
    "UTF-8 with a mark": (encoded("utf-8-sig"), "", (100, 20)),
    "UTF-16": (encoded("utf-16"), "; charset=utf-16", (100, 20)),
    "latin": (encoded("iso-8859-1"), '; charset="ISO-8859-1"', (100, 20)),
    "Windows": (encoded("cp1252"), "; charset=windows-1252", (100, 20)),
    "an unknown charset": (encoded("utf-8"), "; charset=nonsense", (100, 20)),
}


@pytest.mark.parametrize("name", FORMS)
def test_odd_usage_and_charsets_are_read_alike(server: Server, tmp_path: Path, name: str) -> None:
    body, charset, tokens = FORMS[name]
    headers = {"Content-Type": f"application/json{charset}"}
    server.rule = lambda asked: Fault(body=body(asked), headers=headers)
    read = []
    for via in WAYS:
        folder = tmp_path / via
        folder.mkdir()
        judge = judge_of(server, via=via, retries=0, reasks=0, price=(1.0, 1.0))
        outcome = run(judge, ["case-000"], folder)
        reply = json.loads((folder / "tape.jsonl").read_text("utf-8").splitlines()[-1])
        read.append((outcome.kinds, reply["reply"], outcome.limited.budget.spent))

    assert read[0][1]["tries"] == read[1][1]["tries"]
    assert read[0] == read[1]
    assert read[0][0] == {"case-000": "scored"}
    counts = read[0][1].get("usage")
    assert (counts and (counts["input_tokens"], counts["output_tokens"])) == tokens
    if charset:
        assert REASON in read[0][1]["tries"][-1]["text"]


def other(text: str) -> str:
    return text.replace("true", "false").replace('"wholly"', '"not"')


def called(content: str | None, *arguments: str, asked: dict[str, Any]) -> dict[str, Any]:
    whole = completion({**asked, "tools": None}, content or "")
    name = asked["tools"][0]["function"]["name"]
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": text}}
        for n, text in enumerate(arguments)
    ]
    whole["choices"][0]["message"] |= {"content": content, "tool_calls": calls}
    return whole


def answer(asked: dict[str, Any]) -> str:
    text: str = completion(asked)["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]
    return text


CALLS: dict[str, tuple[Callable[[str], tuple[str | None, ...]], str | None]] = {
    "another verdict": (lambda own: (other(own), own), "the content says .*the tool call says"),
    "in a fence": (lambda own: (f"So:\n```json\n{other(own)}\n```", own), "the content says"),
    "two calls": (lambda own: (None, own, other(own)), "tool call 1 says .*tool call 2 says"),
    "two equal calls": (lambda own: (None, own, own), "calls 2 tools instead of one"),
    "the same verdict": (lambda own: (own.replace("Because", "As"), own), None),
    "a sentence": (lambda own: ("I call the tool.", own), None),
    "no verdict": (lambda own: ('{"note": 1}', own), None),
}


@pytest.mark.parametrize("via", WAYS)
@pytest.mark.parametrize("name", CALLS)
def test_contradicting_verdicts_are_no_verdict(
    server: Server, tmp_path: Path, name: str, via: Literal["direct", "litellm"]
) -> None:
    texts, problem = CALLS[name]

    def rule(asked: dict[str, Any]) -> Fault:
        content, *arguments = texts(answer(asked))
        return Fault(body=called(content, *map(str, arguments), asked=asked))

    server.rule = rule
    judge = judge_of(server, via=via, mode="tools", retries=0, reasks=0)

    row = run(judge, ["case-000"], tmp_path).rows["case-000"]

    if problem is None:
        assert row.type == "score"
    else:
        assert (row.type, row.kind) == ("failure", "invalid_reply")
        assert re.search(problem, row.message)


def anthropic(asked: dict[str, Any]) -> dict[str, Any]:
    tool = asked["tools"][0]
    form = {**tool, "parameters": tool["input_schema"]}
    own = answer({"messages": [], "tools": [{"function": form}]})
    content = [
        {"type": "text", "text": other(own)},
        {"type": "tool_use", "id": "t", "name": tool["name"], "input": json.loads(own)},
    ]
    usage = {"input_tokens": 10, "output_tokens": 5}
    return {"id": "m", "type": "message", "role": "assistant", "model": "judge",
            "content": content, "stop_reason": "tool_use", "usage": usage}  # fmt: skip


def responses(asked: dict[str, Any]) -> dict[str, Any]:
    tool = asked["tools"][0]
    own = answer({"messages": [], "tools": [{"function": tool}]})
    text = {"type": "output_text", "text": other(own), "annotations": []}
    output = [
        {"type": "message", "id": "m", "role": "assistant", "status": "completed",
         "content": [text]},
        {"type": "function_call", "id": "f", "call_id": "c", "name": tool["name"],
         "arguments": own, "status": "completed"},
    ]  # fmt: skip
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    return {"id": "r", "object": "response", "created_at": 1, "model": "judge", "output": output,
            "status": "completed", "usage": usage, "error": None, "tools": [],
            "tool_choice": "auto", "parallel_tool_calls": True}  # fmt: skip


@pytest.mark.parametrize(
    ("model", "body"), [("anthropic/judge", anthropic), ("openai/responses/judge", responses)]
)
def test_contradicting_verdicts_of_other_protocols(
    server: Server, tmp_path: Path, model: str, body: Callable[[dict[str, Any]], Any]
) -> None:
    server.rule = lambda asked: Fault(body=body(asked))
    judge = LiteLLMJudge(
        model, api_base=server.base, api_key="k", mode="tools", retries=0, reasks=0
    )

    row = run(judge, ["case-000"], tmp_path).rows["case-000"]

    assert (row.type, row.kind) == ("failure", "invalid_reply")
    assert "two verdicts contradict" in row.message
