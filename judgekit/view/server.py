"""The server of `judgekit view`: local connections, GET requests and run folders only."""

from __future__ import annotations

import errno
import json
import re
import sys
from collections.abc import Callable, Mapping
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit

from judgekit.core.canonical import digest, printable
from judgekit.core.errors import ConfigError, JudgekitError
from judgekit.core.input_file import nearby
from judgekit.pages.run.kept import BOUNDS, PageBounds
from judgekit.view.index import STATES, CaseQuery
from judgekit.view.pages import Pages, records_of, small_page
from judgekit.view.progress import RunProgress
from judgekit.view.runs import DAMAGED, RunEntry, Runs

MOST_FIELDS = 40
MOST_DIGITS = 12
LONGEST = 8_000
"""Maximum length of an address, in characters."""

HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    # Proxies must not store it, and browsers must revalidate it.
    "Cache-Control": "no-cache, private",
}
"""Headers of every response."""
PAGE_POLICY = "frame-ancestors 'none'; object-src 'none'; base-uri 'none'; form-action 'none'"
"""Sent in addition to the policy in each page, which has the hashes of its script and style."""
DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"
HOST = "127.0.0.1"
PATIENCE = 30.0
"""Seconds to wait for the rest of a request."""


class Refused(Exception):
    """A rejected request, with the status and the message of its response."""

    def __init__(self, status: int, line: str) -> None:
        super().__init__(line)
        self.status = status


class PageRequest(NamedTuple):
    """The path and query of a request."""

    path: str
    fields: dict[str, list[str]]
    """Name -> values."""

    def one(self, name: str) -> str:
        """Return the value of a field.

        Raises:
            Refused: the field is missing or repeated.
        """
        values = self.fields.get(name, [])
        if len(values) != 1:
            raise Refused(400, f"the address must name one {name}")
        return values[0]


def check(target: str, headers: Message, *, port: int) -> PageRequest:
    """Return the path and the fields of a request.

    Raises:
        Refused: its host name is foreign, it comes from another site, or the address is malformed.
    """
    hosts, origins, sites = (
        [value.strip().lower() for value in headers.get_all(name) or []]
        for name in ("Host", "Origin", "Sec-Fetch-Site")
    )
    own = (f"127.0.0.1:{port}", f"localhost:{port}")
    # DNS rebinding: with a foreign name that resolves to this machine, a page could read the runs.
    if len(hosts) != 1 or hosts[0] not in own:
        raise Refused(403, f"this server answers at http://{own[0]}/ only")
    if not {f"http://{host}" for host in own}.issuperset(origins):
        raise Refused(403, "requested by another site")
    if not {"same-origin", "none"}.issuperset(sites):
        raise Refused(403, "requested by another site; open the address itself")
    if len(target) > LONGEST:
        raise Refused(414, "the address is too long")
    if not target.startswith("/") or target.startswith("//"):
        raise Refused(400, "not an address of this server")
    try:
        parts = urlsplit(target)
        fields = parse_qs(parts.query, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError as exc:
        raise Refused(400, "not an address of this server") from exc
    return PageRequest(parts.path, fields)


def query_of(request: PageRequest) -> tuple[CaseQuery, int]:
    """Return which cases a request asks for, and from which place on.

    Raises:
        Refused: a field is repeated, or has an unknown value.
    """
    given = {name: request.one(name) for name in request.fields}
    status = given.get("status", "all")
    if status not in ("all", "failing", "failed", *STATES):
        raise Refused(400, "no case has this status")
    order, at = given.get("order", "worst"), given.get("at", "0")
    if order not in ("worst", "input"):
        raise Refused(400, "cases have no such order")
    if not at.isascii() or not at.isdecimal() or len(at) > MOST_DIGITS:
        raise Refused(400, "the place of a case is a number")
    metric, id = given.get("metric"), given.get("case")
    return CaseQuery(status, metric, given.get("q", ""), id, order == "worst"), int(at)


class ServerResponse(NamedTuple):
    """The response to a request."""

    body: bytes
    kind: str = "text/html; charset=utf-8"
    status: int = 200


class Viewer(ThreadingHTTPServer):
    """Serves the runs under a folder at `address`, until it is shut down.

    Args:
        root: the folder.
        port: the port; 0 for any free one.
        bounds: what the page of a run may hold; a larger one is shown in windows.

    Raises:
        ConfigError: it is not a folder, or the port is in use.
    """

    daemon_threads = True
    allow_reuse_address = True
    allow_reuse_port = False

    def __init__(self, root: Path, *, port: int = 0, bounds: PageBounds = BOUNDS) -> None:
        if not root.is_dir():
            hint = nearby(root) or "; name one that holds runs"
            raise ConfigError(f"not a folder{hint}", where=str(root))
        try:
            super().__init__((HOST, port), _ViewHandler)
        except OSError as exc:
            reason = f"cannot be opened: {exc.strerror}"
            if exc.errno == errno.EADDRINUSE:
                reason = "is in use; name another, or none"
            raise ConfigError(f"port {port} {reason}") from exc
        except OverflowError as exc:
            raise ConfigError(f"port {port}: there is no such port (0 to 65535)") from exc
        self.runs = Runs(root)
        self.pages = Pages(bounds=bounds)
        self.progress: dict[str, RunProgress] = {}
        self.lock = Lock()

    @property
    def address(self) -> str:
        """The address of the server."""
        return f"http://{HOST}:{self.server_port}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a browser that disconnected; report any other error."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    # -- answers ------------------------------------------------------------------

    def answer(self, request: PageRequest) -> ServerResponse:
        """Return the answer to a request.

        Raises:
            Refused: there is no answer.
        """
        if request.path not in _ROUTES:
            raise Refused(404, "no page has this address")
        return _ROUTES[request.path](self, request)

    def _list(self, request: PageRequest) -> ServerResponse:
        return ServerResponse(small_page("list", "dom", "view/list", root=str(self.runs.root)))

    def _runs(self, request: PageRequest) -> ServerResponse:
        with self.lock:
            lines = self.runs.all()
            note = self.runs.note
        return _data({"runs": [line._asdict() for line in lines], "note": note})

    def _run(self, request: PageRequest) -> ServerResponse:
        line, folder = self._find(request.one("run"))
        if line.state == "damaged":
            return _problem(line.id, line.problem)
        if line.state != "finished":
            return ServerResponse(small_page("live", "dom", "view/live", run=line.id))
        try:
            return ServerResponse(self.pages.run(line, folder))
        except DAMAGED as exc:
            return _problem(line.id, _message(exc))

    def _state(self, request: PageRequest) -> ServerResponse:
        line, folder = self._find(request.one("run"))
        data = line._asdict()
        if line.state in ("writing", "stopped"):
            with self.lock:
                progress = self.progress.setdefault(line.id, RunProgress(folder))
                try:
                    data["progress"] = progress.read()
                except OSError:
                    data["progress"] = None  # the run has just restarted
        else:
            self.progress.pop(line.id, None)
        return _data(data)

    def _case(self, request: PageRequest) -> ServerResponse:
        line, folder = self._find(request.one("run"))
        case = request.one("case")
        if line.state != "finished":
            raise Refused(409, "this run has no report yet")
        try:
            records = records_of(folder, case)
        except DAMAGED as exc:
            raise Refused(422, _message(exc)) from exc
        if records is None:
            raise Refused(404, "this run has no such case")
        return _data({"asked": records})

    def _cases(self, request: PageRequest) -> ServerResponse:
        line, folder = self._find(request.one("run"))
        if line.state != "finished":
            raise Refused(409, "this run has no report yet")
        query, at = query_of(request)
        try:
            return _data(self.pages.window(line, folder, query, at=at))
        except DAMAGED as exc:
            raise Refused(422, _message(exc)) from exc

    def _compare(self, request: PageRequest) -> ServerResponse:
        ids = request.fields.get("run", [])
        if len(ids) < 2:
            raise Refused(400, "name at least two runs")
        across = request.fields.get("across_rubrics") == ["yes"]
        runs = [self._find(id) for id in ids]
        for line, _ in runs:
            if line.state != "finished":
                return _problem("These runs cannot be compared", f"{line.id} has no report yet")
        try:
            return ServerResponse(self.pages.comparison(runs, across_rubrics=across))
        except DAMAGED as exc:
            message = _message(exc).replace(f"{self.runs.root}/", "")
            again = urlencode([*(("run", id) for id in ids), ("across_rubrics", "yes")])
            link = f"{request.path}?{again}" if "--across-rubrics" in message else ""
            message = re.sub(r" \(--[a-z-]+ compares them anyway\)", "", message)
            return _problem("These runs cannot be compared", message, link=link)

    def _find(self, id: str) -> tuple[RunEntry, Path]:
        with self.lock:
            try:
                return self.runs.find(id)
            except KeyError:
                raise Refused(404, "no run has this name") from None


def _data(value: Any) -> ServerResponse:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return ServerResponse(text.encode("utf-8", "replace"), "application/json; charset=utf-8")


def _problem(title: str, problem: str, *, link: str = "") -> ServerResponse:
    advice = "Compare them anyway" if link else ""
    page = small_page("problem", title=title, problem=problem, link=link, advice=advice)
    return ServerResponse(page, status=422)


def _message(problem: Exception) -> str:
    if isinstance(problem, OSError):
        text = f"cannot be read: {problem.strerror}"
    elif isinstance(problem, JudgekitError):
        text = str(problem)
    else:
        text = f"its files are not as judgekit writes them ({type(problem).__name__})"
    return " ".join(printable(text).split())


_ROUTES: dict[str, Callable[[Viewer, PageRequest], ServerResponse]] = {
    "/": Viewer._list,
    "/run": Viewer._run,
    "/compare": Viewer._compare,
    "/api/runs": Viewer._runs,
    "/api/run": Viewer._state,
    "/api/case": Viewer._case,
    "/api/cases": Viewer._cases,
}


class _ViewHandler(BaseHTTPRequestHandler):
    """One connection of a browser."""

    protocol_version = "HTTP/1.1"
    server_version = "judgekit"
    sys_version = ""
    timeout = PATIENCE
    server: Viewer

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._refuse_method
        raise AttributeError(name)

    def do_GET(self) -> None:
        """Answer a request."""
        try:
            request = check(self.path, self.headers, port=self.server.server_port)
            answer = self.server.answer(request)
        except Refused as refused:
            self._refuse(refused)
        else:
            tag = f'"{digest(answer.body)[:32]}"'
            if answer.status == 200 and self.headers.get("If-None-Match") == tag:
                answer = ServerResponse(b"", answer.kind, 304)
            self._send(answer, tag=tag)

    def _refuse_method(self) -> None:
        self._refuse(Refused(405, "this server answers only GET"))

    def _refuse(self, refused: Refused) -> None:
        body = json.dumps({"problem": str(refused)}, ensure_ascii=False).encode()
        self.close_connection = True  # the rest of the request is not read
        self._send(ServerResponse(body, "application/json; charset=utf-8", refused.status))

    def _send(self, answer: ServerResponse, *, tag: str | None = None) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.kind)
        if answer.status != 304:
            self.send_header("Content-Length", str(len(answer.body)))
        page = answer.kind.startswith("text/html")
        self.send_header("Content-Security-Policy", PAGE_POLICY if page else DATA_POLICY)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        if tag is not None:
            self.send_header("ETag", tag)
        if answer.status == 405:
            self.send_header("Allow", "GET")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(answer.body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Reject a malformed request without quoting it."""
        self._refuse(Refused(int(code), "not a request this server understands"))

    def log_message(self, format: str, *args: Any) -> None:
        """Do not log requests."""
