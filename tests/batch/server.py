"""A provider on this machine with one of three protocols of batch jobs, whose replies follow from
the requests alone."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

FOREIGN = "f" * 40
"""The id of a reply that no request of a job has; every job has such a line."""
_MISTRAL = {
    "validating": "QUEUED", "in_progress": "RUNNING", "completed": "SUCCESS", "failed": "FAILED",
    "expired": "TIMEOUT_EXCEEDED", "cancelled": "CANCELLED",
}  # fmt: skip
_OPEN = ("validating", "in_progress")


class Provider:
    """Serves live calls and jobs; use it in a `with` statement.

    Args:
        protocol: `openai`, `mistral` or `anthropic`.
    """

    def __init__(self, protocol: str = "openai") -> None:
        self.protocol = protocol
        self.live = 0
        """Number of live calls for a reply, without probes."""
        self.asked: list[dict[str, Any]] = []
        """The bodies of these calls."""
        self.probes = 0
        self.files: dict[str, bytes] = {}
        self.jobs: dict[str, dict[str, Any]] = {}
        self.done = True
        """Whether a job ends as soon as it is looked at."""
        self.ends = "completed"
        """How it ends then."""
        self.most: int | None = None
        """How many replies it has then; `None` for all."""
        self.spoilt: dict[str, str] = {}
        """Text in a request -> what a job makes of it: `invalid`, `errored`, `missing`, `400`."""
        self.rejects: list[dict[str, Any]] = []
        """The errors for which the next jobs fail in the validation."""
        self.room: int | None = None
        """How many jobs may be open; further submits are refused. `None` for any number."""
        self.refuses: list[tuple[int, dict[str, Any]]] = []
        """Statuses and bodies with which the next submits are refused."""
        self.loses: set[str] = set()
        """Paths whose next answer is lost after the request was carried out."""
        self.serves = 200
        """The status of files with replies."""
        self.lists = 200
        """The status of lists of jobs."""
        self.model = "fake-2026"
        """The name of the model in replies."""
        self.keys: set[str] = set()
        """The keys that came."""
        self.seen: list[tuple[str, str, dict[str, str]]] = []
        """Method, path and headers of all requests."""
        self.lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"provider": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def base(self) -> str:
        """The `api_base` of a judge."""
        address = f"http://127.0.0.1:{self._server.server_address[1]}"
        return address if self.protocol == "anthropic" else f"{address}/v1"

    @property
    def sent(self) -> list[str]:
        """The ids of the requests of all jobs that were not refused."""
        jobs = [job for job in self.jobs.values() if job["status"] != "failed"]
        return [id for job in jobs for id, _ in job["requests"]]

    def __enter__(self) -> Provider:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    # -- jobs -------------------------------------------------------------------------

    def create(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Take a job, with its requests in it or in a file."""
        files = asked.get("input_files") or [asked.get("input_file_id")]
        rows = asked.pop("requests", None)
        if rows is None:
            rows = [json.loads(row) for file in files for row in self.files[file].splitlines()]
        requests = [(row["custom_id"], row.get("params", row.get("body"))) for row in rows]
        job = {
            "id": f"batch_{len(self.jobs) + 1}",
            "status": "validating",
            "requests": requests,
            "created": datetime.now(UTC),
            "errors": [],
            "lines": [],
            **asked,
        }
        if self.rejects:
            job |= {"status": "failed", "errors": [self.rejects.pop(0)]}
        self.jobs[job["id"]] = job
        return job

    def look(self, id: str) -> dict[str, Any]:
        """Return a job, and end it."""
        job = self.jobs[id]
        if job["status"] in _OPEN:
            if self.done:
                self.end(job, self.ends, most=self.most)
            else:
                job["status"] = "in_progress"
        return job

    def end(self, job: dict[str, Any], status: str, *, most: int | None = None) -> None:
        """End a job; `most` replies are done, in the reverse order of the requests."""
        lines = list(self._lines(job, most))
        job["lines"] = lines + [line for line in lines if line["status"] == 200][:1]  # doubled
        foreign = {"id": FOREIGN, "status": 200, "body": {"choices": []}}
        job["lines"].append(foreign)
        job["status"] = status

    def _lines(self, job: dict[str, Any], most: int | None) -> Iterator[dict[str, Any]]:
        requests = job["requests"][::-1]
        for id, body in requests[:most]:
            text = json.dumps(body["messages"])
            way = next((way for mark, way in self.spoilt.items() if mark in text), "")
            if way == "missing":
                continue
            reply = self.reply(body, spoilt=way)
            line = {"id": id, "status": 200, "body": reply}
            if way == "errored":
                line |= {"status": 500, "body": {"error": {"message": "a fault"}}}
            if way == "400":
                kind = "invalid_request_error"
                error = {"message": "flagged", "code": "content_filter", "type": kind}
                line |= {"status": 400, "body": {"type": "error", "error": error}}
            yield line
        if most is not None and self.protocol == "anthropic":
            for id, _ in requests[most:]:
                yield {"id": id, "status": 0, "body": {}}

    def ends_here(self) -> bool:
        """Called before a request is carried out, before its answer, and after it.

        Returns:
            Whether the client is gone.
        """
        return False

    def reply(self, asked: dict[str, Any], *, spoilt: str = "") -> dict[str, Any]:
        """Return the reply to a request, in the form of the protocol."""
        if self.protocol == "anthropic":
            return message(asked, model=self.model, spoilt=spoilt)
        reply = completion(asked, model=self.model, spoilt=spoilt)
        tier = asked.get("service_tier")
        return {**reply, "service_tier": tier} if tier else reply

    def content(self, job: dict[str, Any], *, good: bool | None = None) -> bytes:
        """Return the lines of the replies; `good` chooses one of two files."""
        write = self._result if self.protocol == "anthropic" else _response
        rows = [write(one) for one in job["lines"] if good in (None, one["status"] == 200)]
        return "\n".join(json.dumps(row) for row in rows).encode()

    def _result(self, line: dict[str, Any]) -> dict[str, Any]:
        result = {"type": "succeeded", "message": line["body"]}
        if line["status"] == 0:
            result = {"type": "expired"}
        elif line["status"] != 200:
            result = {"type": "errored", "error": line["body"]}
        return {"custom_id": line["id"], "result": result}

    def shown(self, job: dict[str, Any]) -> dict[str, Any]:
        """Return a job as the protocol shows it."""
        ended = job["status"] not in _OPEN
        if self.protocol == "anthropic":
            kinds = ("succeeded", "errored", "canceled", "expired")
            counts = dict.fromkeys(kinds, 0) | {"processing": len(job["requests"])}
            if ended:
                good = {line["id"] for line in job["lines"] if line["status"] == 200} - {FOREIGN}
                bad = len(job["requests"]) - len(good)
                counts |= {"processing": 0, "succeeded": len(good), "errored": bad}
            return {
                "id": job["id"],
                "type": "message_batch",
                "processing_status": "ended" if ended else "in_progress",
                "request_counts": counts,
                "created_at": job["created"].isoformat().replace("+00:00", "Z"),
                "results_url": "https://files.example/results" if ended else None,
            }
        good = any(line["status"] == 200 for line in job["lines"])
        bad = any(line["status"] != 200 for line in job["lines"])
        files = {"output": f"out-{job['id']}" if good else None}
        files["error"] = f"err-{job['id']}" if bad else None
        created = int(job["created"].timestamp())
        known = {"id": job["id"], "created_at": created, "metadata": job.get("metadata")}
        if self.protocol == "mistral":
            return {
                **known,
                "object": "batch",
                "input_files": job["input_files"],
                "endpoint": job["endpoint"],
                "model": job["model"],
                "status": _MISTRAL[job["status"]],
                "output_file": files["output"],
                "error_file": files["error"],
                "errors": job["errors"],
                "total_requests": len(job["requests"]),
            }
        return {
            **known,
            "input_file_id": job["input_file_id"],
            "status": job["status"],
            "output_file_id": files["output"],
            "error_file_id": files["error"],
            "errors": {"data": job["errors"]} if job["errors"] else None,
        }

    def listed(self, query: dict[str, list[str]]) -> dict[str, Any]:
        """Return a page of the jobs, the newest first."""
        jobs = [self.shown(job) for job in self.jobs.values()][::-1]
        if self.protocol == "mistral":
            size, page = int(query["page_size"][0]), int(query["page"][0])
            return {"data": jobs[page * size : (page + 1) * size], "total": len(jobs)}
        after = query.get("after", query.get("after_id", [""]))[0]
        if after:
            jobs = jobs[[job["id"] for job in jobs].index(after) + 1 :]
        return {"data": jobs[:2], "has_more": len(jobs) > 2}


_JOBS = {"openai": "/batches", "mistral": "/batch/jobs", "anthropic": "/messages/batches"}


class _Handler(BaseHTTPRequestHandler):
    provider: Provider
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # head and body in one packet: otherwise each answer takes 40 ms

    def log_message(self, *_: Any) -> None: ...

    def do_GET(self) -> None:
        provider, url = self.provider, urlsplit(self.path)
        provider.seen.append(("GET", self.path, self._heads()))
        if provider.ends_here():
            self.close_connection = True
            return
        path, jobs = url.path.removeprefix("/v1"), _JOBS[provider.protocol]
        if path == "/models":
            self._send(404, {})
        elif path == jobs:
            self._send(provider.lists, provider.listed(parse_qs(url.query)))
        elif path.startswith(f"{jobs}/"):
            id, _, part = path.removeprefix(f"{jobs}/").partition("/")
            if part == "results":
                self._raw(provider.serves, provider.content(provider.jobs[id]))
            else:
                with provider.lock:
                    self._send(200, provider.shown(provider.look(id)))
        else:
            kind, _, id = path.removesuffix("/content").removeprefix("/files/").partition("-")
            self._raw(provider.serves, provider.content(provider.jobs[id], good=kind == "out"))

    def do_POST(self) -> None:
        provider, path = self.provider, self.path.removeprefix("/v1")
        provider.seen.append(("POST", self.path, self._heads()))
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if provider.ends_here():
            self.close_connection = True
            return
        key = self.headers.get("Authorization") or self.headers.get("x-api-key") or ""
        provider.keys.add(key)
        jobs = _JOBS[provider.protocol]
        if path == "/files":
            id = f"file-{len(provider.files) + 1}"
            start = body.index(b"\r\n\r\n", body.index(b"filename=")) + 4
            provider.files[id] = body[start : body.rindex(b"\r\n--")]
            answer = {"id": id}
        elif path == jobs:
            if provider.refuses:
                self._send(*provider.refuses.pop(0))
                return
            with provider.lock:
                waiting = sum(job["status"] in _OPEN for job in provider.jobs.values())
                if provider.room is not None and waiting >= provider.room:
                    error = {"code": "token_limit_exceeded", "message": "queue full"}
                    self._send(400, {"error": error})
                    return
                answer = provider.shown(provider.create(json.loads(body)))
        elif path.endswith("/cancel"):
            job = provider.jobs[path.split("/")[-2]]
            if job["status"] not in _OPEN:
                self._send(409, {"error": {"message": "the job has ended"}})
                return
            provider.end(job, "cancelled", most=1)
            answer = provider.shown(job)
        else:
            asked = json.loads(body)
            if "Fill in the form." in str(asked["messages"]):
                provider.probes += 1
            else:
                provider.live += 1
                provider.asked.append(asked)
            answer = provider.reply(asked)
        if path in provider.loses:
            provider.loses.discard(path)
            self.close_connection = True
            return
        self._send(200, answer)

    def _heads(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}

    def _send(self, status: int, data: Any) -> None:
        self._raw(status, json.dumps(data).encode())

    def _raw(self, status: int, body: bytes) -> None:
        if self.provider.ends_here():
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
        self.provider.ends_here()


def _response(line: dict[str, Any]) -> dict[str, Any]:
    reply = {"status_code": line["status"], "body": line["body"]}
    return {"id": "r", "custom_id": line["id"], "response": reply, "error": None}


def completion(
    asked: dict[str, Any], *, model: str = "fake-2026", spoilt: str = ""
) -> dict[str, Any]:
    """Return a completion whose values follow from the messages."""
    text = _text(asked, asked["response_format"]["json_schema"]["schema"], spoilt)
    return {
        "id": "c",
        "object": "chat.completion",
        "model": model,
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def message(asked: dict[str, Any], *, model: str, spoilt: str = "") -> dict[str, Any]:
    """Return a message of Anthropic whose values follow from the messages."""
    content: dict[str, Any]
    if "output_format" in asked:
        content = {"type": "text", "text": _text(asked, asked["output_format"]["schema"], spoilt)}
    else:
        tool = asked["tools"][0]
        filled = json.loads(_text(asked, tool["input_schema"], ""))
        content = {"type": "tool_use", "id": "t", "name": tool["name"], "input": filled}
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [content],
        "stop_reason": "tool_use" if content["type"] == "tool_use" else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }


def _text(asked: dict[str, Any], schema: dict[str, Any], spoilt: str) -> str:
    digest = hashlib.sha256(json.dumps(asked["messages"]).encode()).digest()
    return "no JSON" if spoilt == "invalid" else json.dumps(_fill(schema, schema, [*digest]))


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
