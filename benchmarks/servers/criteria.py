"""A chat-completions server that answers yes/no criteria, and counts requests and input tokens.

    python benchmarks/servers/criteria.py --latency 0.05

Prints its port, then serves until its standard input ends, and prints its counts as JSON. A token
is 4 characters. The names of the criteria are those of the reply schema.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from typing import Any

NOTHING = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


def names_in(request: dict[str, Any]) -> list[str]:
    """Return the properties of the reply schema."""
    form = request["response_format"]["json_schema"]["schema"]
    return list(form["properties"])


class Criteria(asyncio.Protocol):
    """One connection; a request is over when as many bytes came as its head says."""

    requests = tokens = 0

    def __init__(self, latency: float) -> None:
        self.latency = latency
        self.data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.data += data
        while (end := self.data.find(b"\r\n\r\n")) >= 0:
            _, _, rest = self.data[:end].lower().partition(b"content-length:")
            whole = end + 4 + int(rest.split(b"\r\n", 1)[0] or 0)
            if len(self.data) < whole:
                return
            body = self.data[end + 4 : whole]
            self.data = self.data[whole:]
            if not body:  # a question about the server, which has no answer here
                self.transport.write(NOTHING)  # type: ignore[attr-defined]
                continue
            request = json.loads(body)
            asyncio.get_running_loop().call_later(self.latency, self.reply, request)

    def reply(self, request: dict[str, Any]) -> None:
        """Send an answer to every criterion."""
        text = "".join(str(message["content"]) for message in request["messages"])
        Criteria.requests += 1
        Criteria.tokens += len(text) // 4
        one = {"reason": "It says so.", "quotes": [], "value": True}
        answer = json.dumps(dict.fromkeys(names_in(request), one))
        usage = {"prompt_tokens": len(text) // 4, "completion_tokens": len(answer) // 4}
        choice = {"index": 0, "finish_reason": "stop",
                  "message": {"role": "assistant", "content": answer}}  # fmt: skip
        body = json.dumps({
            "id": "1", "object": "chat.completion", "created": 1, "model": request["model"],
            "choices": [choice], "usage": {**usage, "total_tokens": sum(usage.values())},
        }).encode()  # fmt: skip
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        if not self.transport.is_closing():
            self.transport.write(head.encode() + b"\r\n\r\n" + body)  # type: ignore[attr-defined]


async def serve(latency: float) -> None:
    """Serve until standard input ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Criteria(latency), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    print(json.dumps({"requests": Criteria.requests, "tokens": Criteria.tokens}), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.05)
    asyncio.run(serve(parser.parse_args().latency))
