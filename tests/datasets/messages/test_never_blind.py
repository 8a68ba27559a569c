"""No text of a conversation gets lost: it is in the request, listed, or the row says why not."""

from __future__ import annotations

import json
import random

import judgekit
from judgekit.core.case import Case

ROWS = 300


def blocks_of(rng, words, format):
    """Return the parts of one answer in a format, and the texts in them."""
    parts, texts = [], []
    for _ in range(rng.randint(1, 4)):
        word = next(words)
        kind = rng.choice(["text", "thought", "call", "media"])
        texts.append((kind, word))
        parts.append(PARTS[format][kind](word))
    return parts, texts


PARTS = {
    "anthropic": {
        "text": lambda w: {"type": "text", "text": w},
        "thought": lambda w: {"type": "thinking", "thinking": w, "signature": "s"},
        "call": lambda w: {"type": "tool_use", "id": w, "name": "f", "input": {"q": w}},
        "media": lambda w: {"type": "image", "source": {"type": "url", "url": w}},
    },
    "bedrock": {
        "text": lambda w: {"text": w},
        "thought": lambda w: {"reasoningContent": {"reasoningText": {"text": w}}},
        "call": lambda w: {"toolUse": {"toolUseId": w, "name": "f", "input": {"q": w}}},
        "media": lambda w: {"document": {"name": w, "format": "pdf"}},
    },
    "gemini": {
        "text": lambda w: {"text": w},
        "thought": lambda w: {"text": w, "thought": True},
        "call": lambda w: {"functionCall": {"name": "f", "args": {"q": w}}},
        "media": lambda w: {"inlineData": {"mimeType": "audio/wav", "data": w}},
    },
    "ai_sdk": {
        "text": lambda w: {"type": "text", "text": w},
        "thought": lambda w: {"type": "reasoning", "text": w},
        "call": lambda w: {"type": "tool-f", "toolCallId": w, "input": {"q": w}, "output": f"R{w}"},
        "media": lambda w: {"type": "file", "mediaType": "image/png", "url": w},
    },
    "langchain": {
        "text": lambda w: {"type": "text", "text": w},
        "thought": lambda w: {"type": "reasoning", "reasoning": w},
        "call": lambda w: {"type": "tool_call", "id": w, "name": "f", "args": {"q": w}},
        "media": lambda w: {"type": "hologram", "value": w},
    },
}
PLACES = {"gemini": ("contents", "parts", "model"), "ai_sdk": ("messages", "parts", "assistant")}


def generated(number):
    """Return a row, and its texts by kind."""
    rng = random.Random(number)
    words = (f"word{number}x{n}" for n in range(1000))
    format = rng.choice(sorted(PARTS))
    key, parts, assistant = PLACES.get(format, ("messages", "content", "assistant"))
    messages, texts = [], []
    for _ in range(rng.randint(1, 3)):
        word = next(words)
        texts.append(("text", word))
        messages.append({"role": "user", parts: [PARTS[format]["text"](word)]})
        for _ in range(rng.randint(1, 2)):
            blocks, more = blocks_of(rng, words, format)
            texts += more
            messages.append({"role": assistant, parts: blocks})
    return {"id": str(number), key: messages}, texts


def lost(number):
    """Return the texts of a row that are in no place where they may be."""
    row, texts = generated(number)
    (case,) = judgekit.load_cases([row])
    judge = judgekit.FakeJudge()
    result = judgekit.score_sync(case, judgekit.create_metric("quality", judge=judge))
    media = any(kind == "media" for kind, _ in texts)
    if case.unread:
        assert media, row
        assert result.kind == "invalid_case"
        return []
    assert not media, row
    if not judge.asked:
        assert (result.kind, bool(case.output)) == ("invalid_case", False)
        return []
    prompt = judge.asked[0].messages[-1].content
    shown = json.dumps(result.details.get("shown", {}))
    thoughts = case.metadata.get("thoughts", [])
    missing = []
    for kind, word in texts:
        listed = kind == "call" and "metadata.tool_calls" in shown and calls_last(case, word)
        if word not in (thoughts if kind == "thought" else prompt) and not listed:
            missing.append((kind, word))
    return missing


def calls_last(case: Case, word: str) -> bool:
    return word in json.dumps(case.metadata.get("tool_calls", []))


def test_no_text_of_a_conversation_is_lost():
    assert [(number, lost(number)) for number in range(ROWS) if lost(number)] == []
