"""Files of jobs that are gone, changed or given in parts: what was paid for is not asked again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from judgekit.batch.choice import BatchChoice
from judgekit.core.errors import ConfigError

from .projects import Project
from .server import Provider

pytestmark = pytest.mark.loopback


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as running:
        yield running


def test_replies_that_are_gone_are_said_before_they_are_paid_for_again(
    tmp_path: Path, provider: Provider
) -> None:
    project = Project(tmp_path / "p", provider.base)
    project.send()
    project.jobs.look()
    (job,) = project.jobs.all
    replies = project.home / "batches" / f"{job.intent}.out.jsonl"
    before = replies.read_bytes()
    for content in (None, b"", before[: len(before) // 3], b"\0" * len(before)):
        replies.unlink() if content is None else replies.write_bytes(content)
        with pytest.raises(ConfigError, match=r"out.jsonl: the replies of job batch_1: \d of 3 "):
            project.run()
    assert provider.live == 0
    replies.write_bytes(before.splitlines(keepends=True)[0])
    assert project.run(batches=BatchChoice(resend=True)).exit_code == 0
    assert provider.live == 2
    replies.unlink()
    assert project.run().exit_code == 0  # they are on the tape


@pytest.mark.parametrize("place", ["batches.jsonl", "batches"])
def test_a_journal_that_cannot_be_read_or_locked_stops_the_run(
    tmp_path: Path, provider: Provider, place: str
) -> None:
    project = Project(tmp_path / "p", provider.base)
    provider.done = False
    project.send()
    path, aside = project.home / place, tmp_path / "aside"
    path.rename(aside)
    strange = {
        "batches.jsonl": [lambda: path.symlink_to(aside), path.mkdir],
        "batches": [path.touch, lambda: path.symlink_to(tmp_path / "gone")],
    }
    for make in strange[place]:
        make()
        with pytest.raises(ConfigError, match=rf"{place}: (is not a plain file|cannot be written)"):
            project.run()
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    assert provider.live == 0
    aside.rename(path)
    assert project.run().exit_code == 4


def test_parts_of_a_file_are_collected_one_after_the_other(
    tmp_path: Path, provider: Provider
) -> None:
    project = Project(tmp_path / "p", provider.base)
    provider.done = False
    project.run(batches=BatchChoice(sending=True, file=tmp_path / "requests.jsonl"))
    part = tmp_path / "part.jsonl"
    for line in (tmp_path / "requests.jsonl").read_text("utf-8").splitlines():
        request = json.loads(line)
        body = provider.reply(request["body"])
        response = {"status_code": 200, "body": body}
        part.write_text(json.dumps({"custom_id": request["custom_id"], "response": response}))
        for _ in range(2):
            project.jobs.take(part)
    assert project.jobs.all[0].replies == 3
    assert project.run().exit_code == 0
    assert provider.live == 0


def test_a_part_of_an_open_job_is_not_taken_for_all(tmp_path: Path, provider: Provider) -> None:
    project = Project(tmp_path / "p", provider.base)
    provider.done = False
    project.send()
    ((id, body), *_) = provider.jobs["batch_1"]["requests"]
    response = {"status_code": 200, "body": provider.reply(body)}
    part = tmp_path / "part.jsonl"
    part.write_text(json.dumps({"custom_id": id, "response": response}))
    with pytest.raises(ConfigError, match="job batch_1 is open, and the file has no line for 2 of"):
        project.jobs.take(part)
    assert project.run().exit_code == 4
    assert provider.live == 0
