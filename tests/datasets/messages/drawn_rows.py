"""Draws files of conversations in every format, and the list of the texts in them.

The texts are written down while a conversation is drawn, before a format gets it, so the list does
not depend on what is read. Each text is one word that occurs nowhere else.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

Kind = str
"""`text`, `call`, `result`, `thought`, `media`, or `beside` for a key that is no text."""


class Piece(NamedTuple):
    """One thing in a message; `about` is the word of a call or a result that belongs to it."""

    kind: Kind
    word: str
    about: str = ""


class Turn(NamedTuple):
    """A message of a user, an assistant or a tool, or a system prompt."""

    role: str
    pieces: list[Piece]


class DrawnRow(NamedTuple):
    """A row in a format, and the texts in it."""

    format: str
    row: dict[str, Any]
    pieces: list[Piece]


def _turns(rng: random.Random, words: Iterator[str], *, media: bool, beside: bool) -> list[Turn]:
    turns = []
    if rng.random() < 0.4:
        turns.append(Turn("system", [Piece("text", next(words))]))
    for _ in range(rng.choice([1, 1, 2, 3, 7])):
        asked = [Piece("text", next(words)) for _ in range(rng.randint(1, 2))]
        if media and rng.random() < 0.04:
            asked.insert(rng.randint(0, 1), Piece("media", next(words)))
        turns.append(Turn("user", asked))
        for _ in range(rng.choice([0, 0, 1, 2])):
            call = Piece("call", next(words))
            before = [Piece("thought", next(words))] if rng.random() < 0.3 else []
            before += [Piece("text", next(words))] if rng.random() < 0.4 else []
            turns.append(Turn("assistant", [*before, call]))
            result = Piece("result", next(words), call.word)
            pictured = media and rng.random() < 0.03
            turns.append(
                Turn("tool", [result, *([Piece("media", next(words), call.word)] * pictured)])
            )
        last = [Piece("thought", next(words))] if rng.random() < 0.3 else []
        last += [Piece("text", next(words)) for _ in range(rng.randint(1, 2))]
        if media and rng.random() < 0.03:
            last.append(Piece("media", next(words)))
        if beside and rng.random() < 0.1:
            last.append(Piece("beside", next(words)))
        turns.append(Turn("assistant", last))
    if rng.random() < 0.05:  # the answer is a call
        turns[-1] = Turn("assistant", [Piece("call", next(words))])
    return turns


def _of(turn: Turn, *kinds: str) -> list[Piece]:
    return [piece for piece in turn.pieces if piece.kind in kinds]


def _joined(turn: Turn) -> str:
    return " ".join(piece.word for piece in _of(turn, "text", "result"))


def _arguments(piece: Piece) -> dict[str, Any]:
    return {"q": piece.word}


def _image(word: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"https://example.org/{word}.png"}}


def _openai(turns: list[Turn]) -> dict[str, Any]:
    messages = []
    for turn in turns:
        message: dict[str, Any] = {"role": turn.role}
        if turn.role == "tool":
            message["tool_call_id"] = turn.pieces[0].about
        if _of(turn, "media"):
            message["content"] = [
                _image(piece.word)
                if piece.kind == "media"
                else {"type": "text", "text": piece.word}
                for piece in _of(turn, "text", "result", "media")
            ]
        else:
            message["content"] = _joined(turn) or None
        if thoughts := _of(turn, "thought"):
            message["reasoning_content"] = thoughts[0].word
        if calls := _of(turn, "call"):
            message["tool_calls"] = [
                {"id": call.word, "type": "function",
                 "function": {"name": "f", "arguments": json.dumps(_arguments(call))}}
                for call in calls
            ]  # fmt: skip
        for piece in _of(turn, "beside"):
            message["annotations"] = [{"url": piece.word}]
        messages.append(message)
    return {"messages": messages}


def _responses(turns: list[Turn]) -> dict[str, Any]:
    items: list[dict[str, Any]] = []
    for turn in turns:
        sort = "output_text" if turn.role == "assistant" else "input_text"
        for piece in turn.pieces:
            if piece.kind == "thought":
                summary = [{"type": "summary_text", "text": piece.word}]
                items.append({"type": "reasoning", "id": "r", "summary": summary})
            elif piece.kind == "call":
                items.append({"type": "function_call", "call_id": piece.word, "name": "f",
                              "arguments": json.dumps(_arguments(piece))})  # fmt: skip
            elif piece.kind == "result":
                items.append({"type": "function_call_output", "call_id": piece.about,
                              "output": piece.word})  # fmt: skip
            elif turn.role == "tool":
                output = [{"type": "input_image", "image_url": piece.word}]
                items.append(
                    {"type": "function_call_output", "call_id": piece.about, "output": output}
                )
        parts = [
            {"type": "input_image", "image_url": piece.word}
            if piece.kind == "media"
            else {"type": sort, "text": piece.word}
            for piece in _of(turn, "text", "media")
        ]
        if parts and turn.role != "tool":
            items.append({"type": "message", "role": turn.role, "content": parts})
    last = max(at for at, item in enumerate(items) if item.get("role") == "user")
    return {"input": items[: last + 1], "output": items[last + 1 :]}


def _blocks(turns: list[Turn], block: dict[Kind, Callable[[Piece], Any]], **names: str) -> Any:
    """Return messages whose content is a list of parts; results are messages of the user."""
    messages = []
    for turn in turns:
        role = names.get(turn.role, turn.role)
        pieces = [piece for piece in turn.pieces if piece.kind in block]
        if turn.role == "tool":  # media of a result is inside the result
            inner = [piece for piece in pieces if piece.kind == "media"]
            parts = [block["result"](pieces[0])] if not inner else [block["results"](pieces)]
        else:
            parts = [block[piece.kind](piece) for piece in pieces]
        messages.append({"role": role, names.get("content", "content"): parts})
    return messages


ANTHROPIC: dict[Kind, Callable[[Any], Any]] = {
    "text": lambda p: {"type": "text", "text": p.word},
    "thought": lambda p: {"type": "thinking", "thinking": p.word, "signature": "s"},
    "call": lambda p: {"type": "tool_use", "id": p.word, "name": "f", "input": _arguments(p)},
    "result": lambda p: {"type": "tool_result", "tool_use_id": p.about, "content": p.word},
    "results": lambda ps: {
        "type": "tool_result", "tool_use_id": ps[0].about,
        "content": [{"type": "text", "text": ps[0].word}, ANTHROPIC["media"](ps[1])],
    },
    "media": lambda p: {"type": "image", "source": {"type": "url", "url": p.word}},
    "beside": lambda p: {"type": "text", "text": "", "citations": [{"cited_text": p.word}]},
}  # fmt: skip
GEMINI: dict[Kind, Callable[[Any], Any]] = {
    "text": lambda p: {"text": p.word},
    "thought": lambda p: {"text": p.word, "thought": True},
    "call": lambda p: {"functionCall": {"name": "f", "args": _arguments(p)}},
    "result": lambda p: {"functionResponse": {"name": "f", "response": {"result": p.word}}},
    "results": lambda ps: {
        "functionResponse": {"name": "f", "response": {"result": ps[0].word},
                             "parts": [{"inlineData": {"mimeType": "image/png", "data": "aa"}}]},
    },
    "media": lambda p: {"inlineData": {"mimeType": "audio/wav", "data": p.word}},
}  # fmt: skip
BEDROCK: dict[Kind, Callable[[Any], Any]] = {
    "text": lambda p: {"text": p.word},
    "thought": lambda p: {"reasoningContent": {"reasoningText": {"text": p.word}}},
    "call": lambda p: {"toolUse": {"toolUseId": p.word, "name": "f", "input": _arguments(p)}},
    "result": lambda p: {
        "toolResult": {"toolUseId": p.about, "content": [{"json": {"result": p.word}}]}
    },
    "results": lambda ps: {
        "toolResult": {"toolUseId": ps[0].about,
                       "content": [{"text": ps[0].word}, BEDROCK["media"](ps[1])]}
    },
    "media": lambda p: {"image": {"format": "png", "source": {"bytes": p.word}}},
}  # fmt: skip
LANGCHAIN: dict[Kind, Callable[[Any], Any]] = {
    "text": lambda p: {"type": "text", "text": p.word},
    "thought": lambda p: {"type": "reasoning", "reasoning": p.word},
    "call": lambda p: {"type": "tool_call", "id": p.word, "name": "f", "args": _arguments(p)},
    "media": lambda p: {"type": "image", "url": p.word},
}


def _anthropic(turns: list[Turn]) -> dict[str, Any]:
    system = [_joined(turn) for turn in turns if turn.role == "system"]
    row: dict[str, Any] = {"system": system[0]} if system else {}
    spoken = [turn for turn in turns if turn.role != "system"]
    return {**row, "messages": _blocks(spoken, ANTHROPIC, tool="user")}


def _gemini(turns: list[Turn]) -> dict[str, Any]:
    system = [_joined(turn) for turn in turns if turn.role == "system"]
    row = {"systemInstruction": {"parts": [{"text": system[0]}]}} if system else {}
    spoken = [turn for turn in turns if turn.role != "system"]
    names = {"assistant": "model", "tool": "user", "content": "parts"}
    return {**row, "contents": _blocks(spoken, GEMINI, **names)}


def _bedrock(turns: list[Turn]) -> dict[str, Any]:
    system = [[{"text": _joined(turn)}] for turn in turns if turn.role == "system"]
    row = {"system": system[0]} if system else {}
    spoken = [turn for turn in turns if turn.role != "system"]
    return {**row, "messages": _blocks(spoken, BEDROCK, tool="user")}


def _langchain(turns: list[Turn]) -> dict[str, Any]:
    kinds = {"system": "system", "user": "human", "assistant": "ai", "tool": "tool"}
    messages = []
    for turn in turns:
        data: dict[str, Any] = {}
        if turn.role == "tool":
            media = [LANGCHAIN["media"](piece) for piece in _of(turn, "media")]
            text = turn.pieces[0].word
            parts = [{"type": "text", "text": text}, *media]
            data = {"tool_call_id": turn.pieces[0].about, "content": parts if media else text}
        else:
            data["content"] = [LANGCHAIN[p.kind](p) for p in turn.pieces if p.kind in LANGCHAIN]
        messages.append({"type": kinds[turn.role], "data": data})
    return {"messages": messages}


def _ai_sdk(turns: list[Turn]) -> dict[str, Any]:
    """Return UI messages: results are in the parts of the calls."""
    results = {piece.about: piece for turn in turns for piece in _of(turn, "result")}
    pictures = {piece.about for turn in turns for piece in _of(turn, "media") if piece.about}
    messages: list[dict[str, Any]] = []
    for turn in turns:
        if turn.role == "tool":
            continue
        parts: list[dict[str, Any]] = []
        for piece in turn.pieces:
            if piece.kind == "text":
                parts.append({"type": "text", "text": piece.word})
            elif piece.kind == "thought":
                parts.append({"type": "reasoning", "text": piece.word})
            elif piece.kind == "media":
                parts.append({"type": "file", "mediaType": "image/png", "url": piece.word})
            elif piece.kind == "call":
                part = {"type": "tool-f", "toolCallId": piece.word, "input": _arguments(piece)}
                if piece.word in results:
                    word = results[piece.word].word
                    part |= {"state": "output-available", "output": {"result": word}}
                    if piece.word in pictures:
                        part["output"] = [{"type": "text", "text": word},
                                          {"type": "image-data", "data": "aa"}]  # fmt: skip
                parts.append(part)
        if messages and messages[-1]["role"] == turn.role == "assistant":
            messages[-1]["parts"] += [{"type": "step-start"}, *parts]
        else:
            messages.append({"id": "m", "role": turn.role, "parts": parts})
    return {"messages": messages}


def _inspect(turns: list[Turn]) -> dict[str, Any]:
    messages = []
    for turn in turns:
        message: dict[str, Any] = {"id": "m", "role": turn.role, "source": "generate"}
        parts = [
            {"type": "image", "image": piece.word} if piece.kind == "media"
            else {"type": "reasoning", "reasoning": piece.word} if piece.kind == "thought"
            else {"type": "text", "text": piece.word}
            for piece in _of(turn, "text", "result", "thought", "media")
        ]  # fmt: skip
        message["content"] = parts
        if calls := _of(turn, "call"):
            message["tool_calls"] = [
                {
                    "id": call.word,
                    "function": "f",
                    "arguments": _arguments(call),
                    "type": "function",
                }
                for call in calls
            ]
        if turn.role == "tool":
            message |= {"function": "f", "tool_call_id": turn.pieces[0].about}
        messages.append(message)
    return {"messages": messages}


def _sharegpt(turns: list[Turn]) -> dict[str, Any]:
    names = {"system": "system", "user": "human", "assistant": "gpt", "tool": "observation"}
    messages = []
    for turn in turns:
        thoughts = "".join(f"<think>{piece.word}</think>" for piece in _of(turn, "thought"))
        calls = _of(turn, "call")
        text = thoughts + _joined(turn)
        for call in calls:
            body = json.dumps({"name": "f", "arguments": _arguments(call)})
            text += f"\n<tool_call>\n{body}\n</tool_call>"
        messages.append({"from": names[turn.role], "value": text})
    return {"conversations": messages}


def _mastra(turns: list[Turn]) -> dict[str, Any]:
    """Return a scorer run: messages with `content.parts`, and results in the parts of the calls."""
    results = {piece.about: piece.word for turn in turns for piece in _of(turn, "result")}
    messages: list[dict[str, Any]] = []
    for turn in turns:
        if turn.role == "tool":
            continue
        parts: list[dict[str, Any]] = []
        for piece in turn.pieces:
            if piece.kind == "text":
                parts.append({"type": "text", "text": piece.word})
            elif piece.kind == "thought":
                parts.append({"type": "reasoning", "reasoning": piece.word})
            elif piece.kind == "media":
                parts.append({"type": "file", "mimeType": "image/png", "data": piece.word})
            elif piece.kind == "call":
                invocation = {"state": "call", "toolCallId": piece.word, "toolName": "f",
                              "args": _arguments(piece)}  # fmt: skip
                if piece.word in results:
                    invocation |= {"state": "result", "result": {"result": results[piece.word]}}
                parts.append({"type": "tool-invocation", "toolInvocation": invocation})
        messages.append({"id": "m", "role": turn.role, "content": {"format": 2, "parts": parts}})
    system = [message for message in messages if message["role"] == "system"]
    spoken = [message for message in messages if message["role"] != "system"]
    last = max(at for at, message in enumerate(spoken) if message["role"] == "user")
    before = {"inputMessages": [spoken[last]], "rememberedMessages": spoken[:last]}
    before["systemMessages"] = [
        {"role": "system", "content": message["content"]["parts"][0]["text"]} for message in system
    ]
    return {"runId": "r", "input": before, "output": spoken[last + 1 :]}


FORMATS: dict[str, Callable[[list[Turn]], dict[str, Any]]] = {
    "openai": _openai,
    "responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "ai_sdk": _ai_sdk,
    "langchain": _langchain,
    "bedrock": _bedrock,
    "inspect": _inspect,
    "sharegpt": _sharegpt,
    "mastra": _mastra,
}
NO_MEDIA = {"sharegpt"}
"""A format without parts has no media."""
BESIDE = {"openai", "anthropic"}
NESTED_MEDIA = {"mastra"}
"""A result is one JSON value there, so media in it cannot be told from data."""


def drawn_row(number: int) -> DrawnRow:
    """Return a row by its number."""
    rng = random.Random(number)
    words = (f"w{number}x{n}q" for n in range(10_000))
    format = sorted(FORMATS)[number % len(FORMATS)]
    turns = _turns(rng, words, media=format not in NO_MEDIA, beside=format in BESIDE)
    if format in NESTED_MEDIA:
        turns = [
            Turn(turn.role, [p for p in turn.pieces if not (p.kind == "media" and p.about)])
            for turn in turns
        ]
    row = {"id": str(number), **FORMATS[format](turns)}
    return DrawnRow(format, row, [piece for turn in turns for piece in turn.pieces])


CONTAINERS = ("jsonl", "json", "yaml", "csv")


def written(rows: list[dict[str, Any]], folder: Path, container: str) -> Path:
    """Write rows as a file; lists and objects are JSON in the cells of a table."""
    path = folder / f"rows.{container}"
    if container == "jsonl":
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
    elif container == "json":
        text = json.dumps({"rows": rows})
    elif container == "yaml":
        text = yaml.safe_dump(rows, sort_keys=False)
    else:
        columns = list(dict.fromkeys(key for row in rows for key in row))
        stream = io.StringIO(newline="")
        table = csv.writer(stream)
        table.writerow(columns)
        for row in rows:
            cells = (row.get(key) for key in columns)
            table.writerow(
                [c if isinstance(c, str) else "" if c is None else json.dumps(c) for c in cells]
            )
        text = stream.getvalue()
    path.write_text(text, "utf-8")
    return path
