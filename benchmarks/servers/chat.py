"""A chat-completions server that costs next to nothing: one prepared answer after a set latency.

    python benchmarks/servers/chat.py --latency 0.2 --answer answer.json

Prints its port, then serves until its standard input ends.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path

CHOICE = json.dumps({"reasons": "It answers the question.", "choice": "yes"})


def prepared(answer: str, tool: str | None = None) -> bytes:
    """Return the whole HTTP response whose message is `answer`, or a call of a tool with it."""
    message: dict[str, object] = {"role": "assistant", "content": answer}
    if tool is not None:
        call = {"id": "1", "type": "function", "function": {"name": tool, "arguments": answer}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    body = json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "bench",
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "finish_reason": "stop",
                }
            ],
            "usage": {"prompt_tokens": 700, "completion_tokens": 150, "total_tokens": 850},
        }
    ).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


class Chat(asyncio.Protocol):
    """One connection; a request is over when as many bytes came as its head says.

    A request with tools, as autoevals sends it, gets a call of its tool `select_choice`.
    """

    choice = prepared(CHOICE, "select_choice")

    def __init__(self, response: bytes, latency: float) -> None:
        self.response = response
        self.latency = latency
        self.data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.data += data
        while (end := self.data.find(b"\r\n\r\n")) >= 0:
            head = self.data[:end].lower()
            _, _, rest = head.partition(b"content-length:")
            whole = end + 4 + int(rest.split(b"\r\n", 1)[0] or 0)
            if len(self.data) < whole:
                return
            response = self.choice if b'"select_choice"' in self.data else self.response
            self.data = self.data[whole:]
            asyncio.get_running_loop().call_later(self.latency, self.reply, response)

    def reply(self, response: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(response)  # type: ignore[attr-defined]


async def serve(response: bytes, latency: float) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Chat(response, latency), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--answer", type=Path, required=True)
    options = parser.parse_args()
    answer = options.answer.read_text(encoding="utf-8")
    asyncio.run(serve(prepared(answer), options.latency))
