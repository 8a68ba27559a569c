"""A provider on this machine with OpenAI's protocol of batch jobs, whose replies follow from the
requests alone."""

from __future__ import annotations

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


class Provider:
    """Serves live calls and jobs; use it in a `with` statement."""

    def __init__(self) -> None:
        self.live = 0
        """Number of live calls for a reply, without probes."""
        self.probes = 0
        self.files: dict[str, bytes] = {}
        self.jobs: dict[str, dict[str, Any]] = {}
        self.done = True
        """Whether a job ends as soon as it is looked at."""
        self.spoilt: dict[str, str] = {}
        """Text in a request -> what a job makes of it: `invalid`, `errored`, `missing`, `400`."""
        self.rejects: list[dict[str, Any]] = []
        """The errors for which the next jobs fail in the validation."""
        self.loses: set[str] = set()
        """Paths whose next answer is lost after the request was carried out."""
        self.keys: set[str] = set()
        """The keys that came."""
        handler = type("Handler", (_Handler,), {"provider": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def sent(self) -> list[str]:
        """The ids of the requests of all jobs that were not refused."""
        files = [j["input_file_id"] for j in self.jobs.values() if j["status"] != "failed"]
        lines = (line for file in files for line in self.files[file].splitlines())
        return [json.loads(line)["custom_id"] for line in lines]

    def __enter__(self) -> Provider:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    # -- jobs -------------------------------------------------------------------------

    def create(self, asked: dict[str, Any]) -> dict[str, Any]:
        id = f"batch_{len(self.jobs) + 1}"
        job = {"id": id, "status": "validating", **asked}
        if self.rejects:
            job |= {"status": "failed", "errors": {"data": [self.rejects.pop(0)]}}
        self.jobs[id] = job
        return job

    def look(self, id: str) -> dict[str, Any]:
        job = self.jobs[id]
        if job["status"] in ("validating", "in_progress"):
            self.end(job, "completed") if self.done else job.update(status="in_progress")
        return job

    def end(self, job: dict[str, Any], status: str, *, most: int | None = None) -> None:
        """End a job; `most` replies are done, in the reverse order of the requests."""
        done, bad = [], []
        for line in self.files[job["input_file_id"]].splitlines()[::-1][:most]:
            asked = json.loads(line)
            text = json.dumps(asked["body"]["messages"])
            way = next((way for mark, way in self.spoilt.items() if mark in text), "")
            reply: Any = {"status_code": 200, "body": completion(asked["body"], spoilt=way)}
            if way == "missing":
                continue
            if way == "errored":
                reply = {"status_code": 500, "body": {"error": {"message": "a fault"}}}
            if way == "400":
                error = {"message": "flagged", "code": "content_filter", "type": "invalid"}
                reply = {"status_code": 400, "body": {"error": error}}
            row = {"id": "r", "custom_id": asked["custom_id"], "response": reply, "error": None}
            (done if reply["status_code"] == 200 else bad).append(json.dumps(row))
        done += done[:1]  # a doubled line
        for name, lines in (("output_file_id", done), ("error_file_id", bad)):
            if lines:
                file = f"file-{name[:5]}-{job['id']}"
                self.files[file] = "\n".join(lines).encode()
                job[name] = file
        job["status"] = status


class _Handler(BaseHTTPRequestHandler):
    provider: Provider
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # head and body in one packet: otherwise each answer takes 40 ms

    def log_message(self, *_: Any) -> None: ...

    def do_GET(self) -> None:
        provider, url = self.provider, urlsplit(self.path)
        parts = url.path.split("/")[2:]
        if parts[:1] == ["models"]:
            self._send(404, {})
        elif parts == ["batches"]:
            jobs = list(provider.jobs.values())[::-1]
            after = parse_qs(url.query).get("after", [""])[0]
            if after:
                jobs = jobs[[job["id"] for job in jobs].index(after) + 1 :]
            self._send(200, {"data": jobs[:2], "has_more": len(jobs) > 2})
        elif parts[0] == "batches":
            self._send(200, provider.look(parts[1]))
        else:
            self._raw(200, provider.files[parts[1]])

    def do_POST(self) -> None:
        provider, path = self.provider, self.path.removeprefix("/v1")
        body = self.rfile.read(int(self.headers["Content-Length"]))
        provider.keys.add(self.headers.get("Authorization", ""))
        if path == "/files":
            id = f"file-{len(provider.files) + 1}"
            start = body.index(b"\r\n\r\n", body.index(b"filename=")) + 4
            provider.files[id] = body[start : body.rindex(b"\r\n--")]
            answer = {"id": id}
        elif path == "/batches":
            answer = provider.create(json.loads(body))
        elif path.endswith("/cancel"):
            job = provider.jobs[path.split("/")[2]]
            provider.end(job, "cancelled", most=1)
            answer = job
        else:
            asked = json.loads(body)
            if "Fill in the form." in str(asked["messages"]):
                provider.probes += 1
            else:
                provider.live += 1
            answer = completion(asked)
        if path in provider.loses:
            provider.loses.discard(path)
            self.close_connection = True
            return
        self._send(200, answer)

    def _send(self, status: int, data: Any) -> None:
        self._raw(status, json.dumps(data).encode())

    def _raw(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def completion(asked: dict[str, Any], *, spoilt: str = "") -> dict[str, Any]:
    """Return a completion whose values follow from the messages."""
    schema = asked["response_format"]["json_schema"]["schema"]
    digest = hashlib.sha256(json.dumps(asked["messages"]).encode()).digest()
    text = "no JSON" if spoilt == "invalid" else json.dumps(_fill(schema, schema, [*digest]))
    message = {"role": "assistant", "content": text}
    return {
        "id": "c",
        "object": "chat.completion",
        "model": "fake-2026",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def _fill(schema: dict[str, Any], whole: dict[str, Any], seed: list[int]) -> Any:
    number = seed.pop() if seed else 0
    if "$ref" in schema:
        return _fill(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole, seed)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][number % len(schema["enum"])]
    for word in ("anyOf", "allOf", "oneOf"):
        if word in schema:
            return _fill(schema[word][0], whole, seed)
    kind = schema.get("type")
    if kind == "object":
        return {name: _fill(part, whole, seed) for name, part in schema["properties"].items()}
    if kind == "array":
        size = 2 if schema.get("maxItems", 0) > 100 else schema.get("minItems", 0)
        return [_fill(schema["items"], whole, seed) for _ in range(size)]
    low, high = schema.get("minimum", 1), schema.get("maximum", 5)
    values = {"boolean": number % 2 == 0, "integer": low + number % (high - low + 1),
              "number": float(low), "null": None}  # fmt: skip
    return values.get(str(kind), f"Because {number}.")
