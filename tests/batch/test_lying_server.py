"""What a server says wrongly about jobs: nothing is submitted twice, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judgekit.batch.courier import SETTLED
from judgekit.batch.job import Job
from judgekit.batch.journal import Journal
from judgekit.batch.protocols import PROTOCOLS

from .server import Provider
from .test_protocols import IDS, PATHS, Time, courier_of, written

pytestmark = pytest.mark.loopback
Page = dict[str, Any]
FILES = {"input_file_id": "f", "input_files": ["f"]}
Changes = Callable[[Page, list[Page]], Page]


def lost(provider: Provider, journal: Journal, time: Time) -> Job:
    """Submit a job, lose the answer, and let a minute pass."""
    courier = courier_of(journal, time)
    provider.done = False
    provider.loses = {PATHS[provider.protocol]}
    job = courier.advance(written(journal, provider))
    assert job.state == "sending"
    time.now = 2 * SETTLED
    return job


def _rows(*rows: object, **more: object) -> Changes:
    return lambda page, own: {**page, "data": [*rows, *own], **more}


def _without(*names: str) -> Changes:
    def change(page: Page, own: list[Page]) -> Page:
        rows = [{key: value for key, value in row.items() if key not in names} for row in own]
        return {"data": rows, "has_more": False}

    return change


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("change", "known"),
    [
        (lambda page, own: {"data": own}, True),  # the same page for ever, and no word about more
        (lambda page, own: {"data": own, "has_more": True}, False),
        (lambda page, own: {"data": [], "has_more": True}, False),
        (_rows({"id": 1, **FILES}, {"id": "x", "created_at": "soon", **FILES}), True),
        (_rows({"id": "x", "created_at": 4e9, **FILES}, [], None, 1), True),
        (_without("metadata"), True),
        (_without("metadata", "input_file_id", "input_files"), False),
    ],
)
def test_a_strange_list_does_not_pay_twice(
    tmp_path: Path, protocol: str, change: Changes, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, time = Journal(tmp_path), Time()
    with Provider(protocol) as provider, journal.locked():
        job = lost(provider, journal, time)
        own = [provider.shown(job) for job in provider.jobs.values()]
        monkeypatch.setattr(provider, "listed", lambda _: change({"has_more": False}, own))
        job = courier_of(journal, time).advance(job)
    # Anthropic shows the ids of a job when it has ended.
    assert job.state == ("sent" if known and protocol != "anthropic" else "unknown")
    assert len(provider.jobs) == 1


def test_a_second_submit_is_found_where_the_list_has_no_metadata(tmp_path: Path) -> None:
    journal, time = Journal(tmp_path), Time()
    with Provider() as provider, journal.locked():
        provider.rejects = [{"code": "token_limit_exceeded", "message": "full"}]
        provider.done = False
        courier = courier_of(journal, time)
        job = courier.advance(written(journal, provider))
        assert (job.state, len(provider.jobs)) == ("waiting", 1)
        provider.loses = {"/batches"}
        job = courier.advance(job)
        assert (job.state, job.attempt, len(provider.jobs)) == ("sending", 2, 2)
        for one in provider.jobs.values():
            one["metadata"] = None
        time.now = 2 * SETTLED
        job = courier.advance(job)
    assert (job.state, job.job, len(provider.jobs)) == ("sent", "batch_2", 2)


@pytest.mark.parametrize("minutes", [-30, 30])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_clock_that_is_wrong_by_half_an_hour_hides_no_job(
    tmp_path: Path, protocol: str, minutes: float
) -> None:
    journal, time = Journal(tmp_path), Time()
    time.now = 60.0 * minutes
    with Provider(protocol) as provider, journal.locked():
        courier = courier_of(journal, time)
        provider.loses = {PATHS[protocol]}
        job = courier.advance(written(journal, provider))
        time.now += 2 * SETTLED
        provider.look("batch_1")
        job = courier.advance(job)
    assert (job.state, len(provider.jobs)) == ("ended", 1)


def test_a_server_that_lists_few_jobs_a_page_is_read_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, time = Journal(tmp_path), Time()
    with Provider("mistral") as provider, journal.locked():
        job = lost(provider, journal, time)
        first = [{"id": f"{n}", "created_at": 4e9, "metadata": {}, **FILES} for n in range(20)]
        rows = [*first, provider.shown(provider.jobs["batch_1"])]

        def listed(query: dict[str, list[str]]) -> Page:
            page = int(query["page"][0])
            return {"data": rows[20 * page : 20 * page + 20]}

        monkeypatch.setattr(provider, "listed", listed)
        job = courier_of(journal, time).advance(job)
    assert (job.state, len(provider.jobs)) == ("sent", 1)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_replies_of_another_job_are_not_taken(
    tmp_path: Path, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path)
    with Provider(protocol) as provider, journal.locked():
        provider.done = False
        courier = courier_of(journal, Time())
        job = courier.advance(written(journal, provider))
        shown = provider.shown
        with monkeypatch.context() as patch:
            patch.setattr(provider, "shown", lambda one: {**shown(one), "id": "batch_9"})
            provider.done = True
            assert courier.advance(job).open
        assert "it shows the job batch_9 instead" in courier.problems[job.intent]
        assert courier.advance(job).replies == 4


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_job_whose_file_lacks_counted_replies_stays_open(
    tmp_path: Path, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path)
    with Provider(protocol) as provider, journal.locked():
        provider.spoilt = {IDS[1]: "missing"}
        shown = provider.shown
        counts = {"completed": 4, "succeeded": 4}
        wrong = {"request_counts": counts, "succeeded_requests": 4}
        monkeypatch.setattr(provider, "shown", lambda one: {**shown(one), **wrong})
        courier = courier_of(journal, Time())
        job = courier.advance(written(journal, provider))
        assert job.state == "sent"
        assert "counts 4 replies, and its file has 3" in courier.problems[job.intent]
        job = courier.cancel(job)
        assert (job.state, job.replies) == ("ended", 3)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_requests_that_were_changed_are_not_sent(tmp_path: Path, protocol: str) -> None:
    journal = Journal(tmp_path)
    with Provider(protocol) as provider, journal.locked():
        state: Any = "uploaded" if protocol == "anthropic" else "written"
        job = journal.change(written(journal, provider), state=state)
        path = journal.requests(job.intent)
        before = path.read_bytes()
        for content in (before.replace(IDS[0].encode(), IDS[1].encode()), before[:-5], None):
            path.unlink() if content is None else path.write_bytes(content)
            courier = courier_of(journal, Time())
            assert courier.advance(job).state == state
            assert "was changed or cannot be read; restore it" in courier.problems[job.intent]
        assert (provider.files, provider.jobs) == ({}, {})
        path.write_bytes(before)
        assert courier.advance(job).replies == 4


@pytest.mark.parametrize("protocol", ["openai", "mistral"])
def test_a_completed_job_without_files_stays_open_until_it_is_dropped(
    tmp_path: Path, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path)
    names = ("output_file_id", "error_file_id", "output_file", "error_file")
    with Provider(protocol) as provider, journal.locked():
        shown = provider.shown
        monkeypatch.setattr(provider, "shown", lambda one: shown(one) | dict.fromkeys(names))
        courier = courier_of(journal, Time())
        job = courier.advance(written(journal, provider))
        assert job.state == "sent"
        assert "its replies are not there yet" in courier.problems[job.intent]
        assert courier.cancel(job).state == "dropped"
