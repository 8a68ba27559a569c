"""Ollama cuts a long prompt without a word: no verdict counts that is about a part."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest

from judgekit.core.errors import RequestRejected
from judgekit.judges.cut_prompt import check_whole

from .asking import judge_of, run
from .server import Fault, Server

pytestmark = pytest.mark.loopback


def said(tokens: int | None, *, fingerprint: str | None = "fp_ollama") -> Fault:
    def change(body: dict[str, Any]) -> None:
        body["system_fingerprint"] = fingerprint
        if tokens is None:
            del body["usage"]
        else:
            body["usage"] = {"prompt_tokens": tokens, "completion_tokens": 9, "total_tokens": 1}

    return Fault(change=change)


@pytest.mark.parametrize("via", ["direct", "litellm"])
def test_a_cut_request_fails_its_row_and_is_not_recorded(
    server: Server, tmp_path: Path, via: Literal["direct", "litellm"]
) -> None:
    server.plan = {"case-000": [said(50)], "*": [said(5_000)]}
    judge = judge_of(server, via=via, price=(0.0, 1_000_000.0))

    outcome = run(judge, ["case-000", "case-001"], tmp_path)

    assert outcome.kinds == {"case-000": "unavailable", "case-001": "scored"}
    message = getattr(outcome.rows["case-000"], "message", "")
    assert "Ollama cut the request: it read 50 tokens" in message
    assert "OLLAMA_CONTEXT_LENGTH" in message
    assert outcome.limited.budget.spent == 18.0  # both replies
    assert outcome.limited.outages == 0

    again = run(judge_of(server, via=via), ["case-000", "case-001"], tmp_path)
    assert set(again.kinds.values()) == {"scored"}
    assert server.calls() == 3


@pytest.mark.parametrize(
    ("model", "data", "text", "cut"),
    [
        ("openai/m", {"system_fingerprint": "fp_ollama"}, "word " * 30, True),
        ("ollama_chat/m", {}, "word " * 30, True),
        ("ollama/m", {}, "word\n" * 30, True),
        ("openai/m", {}, "word " * 30, False),
        ("openai/m", {"system_fingerprint": "fp_other"}, "word " * 30, False),
        ("ollama_chat/m", {}, "word " * 20, False),
        ("ollama_chat/m", {}, "=" * 4_000 + " " * 4_000, False),  # one token may hold many of them
        ("ollama_chat/m", {"usage": {"prompt_tokens": 0}}, "word " * 30, False),
        ("ollama_chat/m", {"usage": None}, "word " * 30, False),
    ],
)
def test_fewer_tokens_than_words_are_a_cut(model: str, data: Any, text: str, cut: bool) -> None:
    response = {"usage": {"prompt_tokens": 20, "completion_tokens": 1}, **data}
    messages = [{"role": "user", "content": text}]

    if cut:
        with pytest.raises(RequestRejected, match="20 tokens, and the request has 30 words"):
            check_whole(model, response, messages)
    else:
        check_whole(model, response, messages)
