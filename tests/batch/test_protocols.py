"""The protocols against a provider on this machine: submit, find again, follow, cancel, fetch."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from judgekit.batch.courier import SETTLED, Courier
from judgekit.batch.desk import BatchDesk, BatchedJudge
from judgekit.batch.job import Job
from judgekit.batch.jobs import Jobs
from judgekit.batch.journal import Journal
from judgekit.batch.protocols import PROTOCOLS
from judgekit.batch.provider import provider_named
from judgekit.batch.replies import reply_places
from judgekit.core.errors import JudgePending
from judgekit.core.request import ChatMessage, Form, Request
from judgekit.judges.wire import LiveCall

from .projects import SEND
from .server import Provider

pytestmark = pytest.mark.loopback
SCHEMA = {"type": "object", "properties": {"value": {"type": "integer"}}}
IDS = tuple(f"{n:040x}" for n in range(4))
PATHS = {"openai": "/batches", "mistral": "/batch/jobs", "anthropic": "/messages/batches"}


@pytest.fixture(params=list(PROTOCOLS))
def provider(request: pytest.FixtureRequest) -> Iterator[Provider]:
    with Provider(request.param) as running:
        yield running


def body(id: str) -> bytes:
    asked: dict[str, Any] = {"messages": [{"role": "user", "content": id}], "model": "x"}
    asked["response_format"] = {"json_schema": {"schema": SCHEMA}}
    asked["output_format"] = {"schema": SCHEMA}
    return json.dumps(asked).encode()


class Named(NamedTuple):
    """A provider that is not there."""

    protocol: str
    base: str


class Time:
    now = 0.0

    def __call__(self) -> float:
        import time

        return time.time() + self.now


def written(
    journal: Journal, provider: Provider | Named, *, intent: str = "00ff", ids: Any = IDS
) -> Job:
    """Write a job as a run does."""
    name = provider.protocol
    job = Job(
        intent=intent * 4,
        at="2026-11-27T12:00:00+00:00",
        provider=name,
        model=f"{name}/x",
        api_base=provider.base,
        mode="json_schema",
        keys=tuple(ids),
        sha256="",
    )
    line = PROTOCOLS[name].line
    lines = b"".join(line(id, job.endpoint, body(id)) for id in ids)
    journal.requests(job.intent).write_bytes(lines)
    return journal.add(job.model_copy(update={"sha256": sha256(lines).hexdigest()}))


def courier_of(journal: Journal, time: Time) -> Courier:
    return Courier(journal, now=time, uptime=time)


def test_a_job_from_the_submit_to_its_replies(tmp_path: Path, provider: Provider) -> None:
    journal = Journal(tmp_path)
    provider.done = False
    provider.spoilt = {IDS[1]: "errored", IDS[2]: "missing"}
    with journal.locked():
        courier = Courier(journal)
        job = courier.advance(written(journal, provider))
        assert (job.state, job.job) == ("sent", "batch_1")
        assert provider.jobs["batch_1"]["requests"] == [(id, json.loads(body(id))) for id in IDS]
        provider.done = True
        job = courier.advance(job)
    assert (job.state, job.replies, courier.problems) == ("ended", 2, {})
    places = reply_places(journal.replies(job.intent))
    assert set(places) - {"f" * 40} == {IDS[0], IDS[3]}


def test_a_cancelled_job(tmp_path: Path, provider: Provider) -> None:
    journal = Journal(tmp_path)
    provider.done = False
    with journal.locked():
        courier = Courier(journal)
        job = courier.cancel(courier.advance(written(journal, provider)))
    assert (job.state, job.replies) == ("ended", 1)


def test_replies_that_are_not_there_are_not_asked_again(tmp_path: Path, provider: Provider) -> None:
    journal = Journal(tmp_path)
    provider.serves = 404
    with journal.locked():
        courier = Courier(journal)
        job = courier.advance(written(journal, provider))
        assert job.open
        assert (
            "its replies are not there (HTTP 404: Not Found); look again, or drop the job"
            in (courier.problems[job.intent])
        )
        assert courier.cancel(job).state == "dropped"

        provider.serves = 200
        other = courier.advance(written(journal, provider, intent="0a0a"))
        assert (other.state, other.replies) == ("ended", 4)


@pytest.mark.parametrize(
    ("base", "key"),
    [("nonsense", "k"), ("http://a b/v1", "k"), ("http://127.0.0.1:1/v1", "a\nb"),
     ("http://127.0.0.1:1/v1", "\u20ac"), ("file:///etc", "k"), ("http://[", "k")],
)  # fmt: skip
def test_a_wrong_address_or_key_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base: str, key: str
) -> None:
    monkeypatch.setenv("MY_KEY", key)
    journal = Journal(tmp_path)
    journal.folder.mkdir(parents=True)
    for protocol in PROTOCOLS:
        job = written(journal, Named(protocol, base)).model_copy(update={"api_key_env": "MY_KEY"})
        with journal.locked():
            courier = Courier(journal)
            assert courier.advance(job).open
        problem = courier.problems[job.intent]
        assert "\n" not in problem
        assert key not in problem or key == "k"


@pytest.mark.parametrize("provider", ["openai", "mistral"], indirect=True)
def test_a_file_that_is_late_is_waited_for(tmp_path: Path, provider: Provider) -> None:
    journal, shown = Journal(tmp_path), provider.shown
    names = ("output_file_id", "error_file_id", "output_file", "error_file")
    counts = {"request_counts": {"completed": 4}, "succeeded_requests": 4}
    provider.shown = lambda job: {**shown(job), **counts, **dict.fromkeys(names)}  # type: ignore[method-assign]
    with journal.locked():
        courier = Courier(journal)
        job = courier.advance(written(journal, provider))
        assert job.state == "sent"
        provider.shown = shown  # type: ignore[method-assign]
        assert courier.advance(job).replies == 4


def test_two_that_collect_at_once_fetch_the_replies_once(
    tmp_path: Path, provider: Provider
) -> None:
    journal = Journal(tmp_path)
    provider.done = False
    with journal.locked():
        Courier(journal).advance(written(journal, provider))
    provider.done = True
    with ThreadPoolExecutor() as pool:
        both = list(pool.map(lambda jobs: jobs.look() or jobs.all, [Jobs(tmp_path) for _ in "ab"]))
    assert both[0] == both[1]
    assert both[0][0].replies == 4
    fetched = [path for _, path, _ in provider.seen if path.endswith(("/content", "/results"))]
    assert len(fetched) == len(set(fetched)) > 0


def test_a_lost_answer_is_found_among_other_jobs(tmp_path: Path, provider: Provider) -> None:
    journal, time = Journal(tmp_path), Time()
    provider.done = False
    with journal.locked():
        courier = courier_of(journal, time)
        others = [
            courier.advance(written(journal, provider, intent=f"{n:04x}", ids=[f"{n:040x}"]))
            for n in range(20, 23)
        ]
        provider.loses = {PATHS[provider.protocol]}
        job = courier.advance(written(journal, provider))
        assert job.state == "sending"
        foreign = written(Journal(tmp_path), provider, intent="abcd", ids=IDS[:2])
        courier.advance(foreign)
        journal.change(foreign, state="dropped", job=None)
        job = courier.advance(job)
        if provider.protocol == "anthropic":  # ids are shown at the end only
            assert job.state == "unknown"
            time.now = 10 * SETTLED
            assert courier.advance(job).state == "unknown"
            assert len(provider.jobs) == 5
            for one in provider.jobs.values():
                provider.end(one, "completed")
            job = courier.advance(job)
        else:
            assert job.state == "sent"
            provider.done = True
            job = courier.advance(job)
    assert (job.job, job.state, job.replies) == ("batch_4", "ended", 4)
    assert len(provider.jobs) == 5
    assert all(one.job for one in others)


def test_a_submit_that_did_not_arrive_is_repeated(tmp_path: Path, provider: Provider) -> None:
    journal, time = Journal(tmp_path), Time()
    with journal.locked():
        courier = courier_of(journal, time)
        job = written(journal, provider)
        job = journal.change(job, state="sending", sent_at=time(), uptime=time(), file="file-1")
        provider.files["file-1"] = journal.requests(job.intent).read_bytes()
        rows = [{"custom_id": "x" * 40, "params": json.loads(body("x"))}] * 4
        files = {"input_file_id": "file-9", "input_files": ["file-9"]}
        foreign = provider.create({"requests": rows, "endpoint": "", "model": "", **files})
        job = courier.advance(job)
        assert len(provider.jobs) == 1
        time.now = 2 * SETTLED
        if provider.protocol == "anthropic":
            assert job.state == "unknown"  # the job of another person may be it
            provider.end(foreign, "completed")
        job = courier.advance(job)
    assert (job.state, job.attempt) == ("ended", 2)
    assert len(provider.jobs) == 2


def test_requests_go_into_several_jobs_as_the_queue_allows(
    tmp_path: Path, provider: Provider
) -> None:
    row = provider_named(provider.protocol)
    assert row is not None
    row = dataclasses.replace(row, lines=2)
    judge = BatchedJudge(f"{provider.protocol}/x", provider.base, None, row, None, sending=True)
    path = next(iter(row.endpoints))
    desk = BatchDesk(lambda: tmp_path, choice=SEND)
    requests = [
        Request(messages=(ChatMessage(role="user", content=str(n)),), form=Form(), model="x")
        for n in range(5)
    ]

    async def collect() -> None:
        for request in [*requests, *requests]:  # equal ones are sent once
            with suppress(JudgePending):
                late = await desk.late_reply(judge, request)
                assert late is not None
                late.mode = "json_schema"
                text = request.messages[0].content
                late.answer(LiveCall(f"{provider.base}{path}", body(text)))

    asyncio.run(collect())
    provider.done, provider.room = False, 2
    facts = desk.finish(send=True)
    assert facts is not None
    assert [(len(job.keys), job.state) for job in facts.jobs] == [
        (2, "sent"), (2, "sent"), (1, "waiting"),
    ]  # fmt: skip
    jobs = Jobs(tmp_path)
    jobs.look()
    assert [job.state for job in jobs.all] == ["sent", "sent", "waiting"]
    provider.done = True
    jobs.look()
    assert [job.replies for job in jobs.all] == [2, 2, 1]
    assert sorted(provider.sent) == sorted(request.key[:40] for request in requests)


def test_every_row_names_a_protocol_and_paths() -> None:
    for name in ("openai", "openai-compatible", "groq", "mistral", "anthropic"):
        row = provider_named(name)
        assert row is not None
        assert row.protocol in PROTOCOLS
        assert all(path.startswith("/") for path in row.endpoints)
