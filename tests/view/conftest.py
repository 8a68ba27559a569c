from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from judgekit.cassette.record import Record
from judgekit.cassette.tape import merge_into
from judgekit.core.case import Case
from judgekit.core.judgment import Judgment
from judgekit.core.request import ChatMessage, Form, Question, Reply, Request, Try
from judgekit.core.score import Score
from judgekit.report.folder import TAPE
from judgekit.runner.evaluation import evaluate_sync
from judgekit.view.server import Viewer

FORM = Form(questions=(Question(id="worth", kind="score", text="What is it worth?"),))


def request_of(case: Case) -> Request:
    return Request(
        messages=(ChatMessage(role="user", content=f"Judge this: {case.output}"),),
        form=FORM,
        model="fake/judge",
    )


class Worth:
    """A metric that takes the value an answer begins with, as if a judge had said it."""

    name = "worth"
    range = (0.0, 1.0)
    higher_is_better = True

    def __init__(self, rubric: str) -> None:
        made = {"rubric": "worth", "version": 1, "digest": rubric, "model": "fake/judge"}
        self.made_with = made

    async def score(self, case: Case) -> Score:
        return Score(
            value=float((case.output or "").split()[0]),
            reason=f"It says {case.output}.",
            source="judge",
            judgments=(Judgment(request_key=request_of(case).key, model="fake/judge"),),
            meta=dict(self.made_with),
        )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "served"
    folder.mkdir()
    return folder


@pytest.fixture
def make(root: Path) -> Callable[..., Path]:
    """Make a run folder, with its tape."""

    def run(
        name: str,
        values: list[float],
        *,
        notes: str = "",
        rubric: str = "1" * 64,
        **options: Any,
    ) -> Path:
        cases = [
            Case(id=f"case-{n:04}", input=f"Question {n}", output=f"{value} {notes}".strip())
            for n, value in enumerate(values)
        ]
        folder = root / name
        evaluate_sync(cases, [Worth(rubric)], out=folder, thresholds={"worth": 0.5}, **options)
        reply = Reply(tries=(Try(text='{"worth": 1}', finish="stop"),))
        records = {r.key: Record(r.key, r, reply) for r in map(request_of, cases)}
        merge_into(folder / TAPE, records, records.__getitem__)
        return folder

    return run


@pytest.fixture
def viewer(root: Path) -> Iterator[Viewer]:
    with Viewer(root) as viewer:
        thread = threading.Thread(target=viewer.serve_forever, kwargs={"poll_interval": 0.005})
        thread.start()
        yield viewer
        viewer.shutdown()
        thread.join()


@pytest.fixture
def get(viewer: Viewer) -> Callable[..., SimpleNamespace]:
    """Ask the server, as a browser would that was given the address."""

    def ask(
        target: str, *, method: str = "GET", headers: dict[str, str] | None = None
    ) -> SimpleNamespace:
        connection = http.client.HTTPConnection("127.0.0.1", viewer.server_port, timeout=20)
        try:
            connection.request(method, target, headers=headers or {})
            reply = connection.getresponse()
            body = reply.read()
        finally:
            connection.close()
        kind = reply.headers.get("Content-Type", "")
        data = json.loads(body) if kind.startswith("application/json") and body else None
        return SimpleNamespace(
            status=reply.status, headers=reply.headers, body=body.decode(), data=data
        )

    return ask
