"""A server with OpenAI's protocol that answers judges of several tools, and prices what they send.

    python benchmarks/servers/priced.py --reason 60

Prints its port, then serves until its standard input ends, and prints its counts as JSON. A token
is 4 characters. It caches prompts as OpenAI documents it: the beginning of a prompt that an earlier
request had, from 1,024 tokens on, in steps of 128. An answer follows from the reply schema, or from
the format that the prompt asks for.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from typing import Any

from aiohttp import web

LEAST, STEP = 1_024, 128
"""Tokens of the shortest cached prefix, and the steps above it."""


class Priced:
    """Answers requests and counts their tokens."""

    def __init__(self, reason: int) -> None:
        self.reason = ("It says so in the second sentence, with a day and a place. " * 99)[:reason]
        self.counts = dict.fromkeys(
            ("requests", "tokens", "cached", "schema", "written", "batch"), 0
        )
        self.seen: set[int] = set()
        """Hashes of the prefixes that earlier requests had."""
        self.files: dict[str, bytes] = {}
        self.jobs: dict[str, dict[str, Any]] = {}

    def completion(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the response to a request."""
        content = "".join(_text(message["content"]) for message in asked["messages"])
        answer = self.answer(asked, content)
        prompt, written = len(content) // 4, len(answer) // 4
        cached = self.cached(content)
        schema = len(json.dumps(asked.get("response_format") or asked.get("tools") or "")) // 4
        if "Fill in the form." not in content:  # a probe of the output mode
            for name, count in (("requests", 1), ("tokens", prompt), ("written", written),
                                ("cached", min(cached, prompt)), ("schema", schema)):  # fmt: skip
                self.counts[name] += count
        usage = {"prompt_tokens": prompt, "completion_tokens": written,
                 "total_tokens": prompt + written}  # fmt: skip
        choice = {"index": 0, "finish_reason": "stop",
                  "message": {"role": "assistant", "content": answer}}  # fmt: skip
        return {"id": "1", "object": "chat.completion", "created": 1, "model": asked["model"],
                "choices": [choice], "usage": usage}  # fmt: skip

    def cached(self, text: str) -> int:
        """Return the cached tokens at the beginning of a prompt, and cache it."""
        found = 0
        for tokens in range(LEAST, len(text) // 4 + 1, STEP):
            prefix = hash(text[: tokens * 4])
            if prefix in self.seen:
                found = tokens
            self.seen.add(prefix)
        return found

    def answer(self, asked: dict[str, Any], content: str) -> str:
        """Return an answer in the format that is asked for."""
        form = asked.get("response_format") or {}
        if form.get("type") == "json_schema":
            schema = form["json_schema"]["schema"]
            return json.dumps(self.filled(schema, schema, content), separators=(",", ":"))
        if "GRADE: $LETTER" in content:
            return f"{self.reason}\n\nGRADE: C"
        return json.dumps({"reason": self.reason, "pass": True, "score": 1.0})

    def filled(self, schema: dict[str, Any], whole: dict[str, Any], content: str) -> Any:
        """Return a value of a schema; a list has an entry for each criterion of the prompt."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            return self.filled(whole["$defs"][name], whole, content)
        for word in ("anyOf", "oneOf", "allOf"):
            if word in schema:
                number = {"type": "integer"} in schema[word]  # the option of a multiple choice
                return None if number else self.filled(schema[word][0], whole, content)
        if "enum" in schema:
            return schema["enum"][0]
        kind = schema.get("type")
        if kind == "object":
            parts = schema["properties"].items()
            return {name: self.filled(part, whole, content) for name, part in parts}
        if kind == "array":
            if schema["items"].get("type") == "string":
                return []
            ids = re.findall(r'<rubric_criterion id="(\w+)">', content) or ["c0"]
            rows = [self.filled(schema["items"], whole, content) for _ in ids]
            return [{**entry, "criterion_id": id} for id, entry in zip(ids, rows, strict=True)]
        values = {"boolean": True, "integer": 1, "number": 1.0, "null": None}
        return values.get(str(kind), self.reason)


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def application(priced: Priced) -> web.Application:
    """Return the routes: chat, files and batch jobs, which end at once."""

    async def chat(request: web.Request) -> web.Response:
        return web.json_response(priced.completion(await request.json()))

    async def upload(request: web.Request) -> web.Response:
        id = f"file-{len(priced.files)}"
        async for part in await request.multipart():
            if part.name == "file":  # type: ignore[union-attr]
                priced.files[id] = await part.read()  # type: ignore[union-attr]
        return web.json_response({"id": id})

    async def create(request: web.Request) -> web.Response:
        job = await request.json()
        lines = []
        for line in priced.files[job["input_file_id"]].splitlines():
            asked = json.loads(line)
            reply = {"status_code": 200, "body": priced.completion(asked["body"])}
            lines.append(json.dumps({"custom_id": asked["custom_id"], "response": reply}))
            priced.counts["batch"] += 1
        output, id = f"file-out-{len(priced.files)}", f"batch_{len(priced.jobs)}"
        priced.files[output] = "\n".join(lines).encode()
        priced.jobs[id] = {**job, "id": id, "status": "completed", "output_file_id": output}
        return web.json_response(priced.jobs[id])

    async def look(request: web.Request) -> web.Response:
        return web.json_response(priced.jobs[request.match_info["id"]])

    async def content(request: web.Request) -> web.Response:
        return web.Response(body=priced.files[request.match_info["id"]])

    app = web.Application(client_max_size=1 << 30)
    app.add_routes(
        [
            web.post("/v1/chat/completions", chat),
            web.post("/v1/files", upload),
            web.post("/v1/batches", create),
            web.get("/v1/batches/{id}", look),
            web.get("/v1/files/{id}/content", content),
        ]
    )
    return app


async def serve(priced: Priced) -> None:
    """Serve until standard input ends."""
    runner = web.AppRunner(application(priced), access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
    await site.start()
    print(site._server.sockets[0].getsockname()[1], flush=True)  # type: ignore[union-attr]
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    print(json.dumps(priced.counts), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reason", type=int, default=60, help="characters of a reason")
    asyncio.run(serve(Priced(parser.parse_args().reason)))
