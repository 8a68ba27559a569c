"""Tape lines of live replies: the tape is the same with them and without, and they may fail."""

from __future__ import annotations

import pytest

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.new_replies import NewLines
from judgekit.cassette.record import encode, share_line
from judgekit.cassette.store import Store
from judgekit.judges.fake import FakeJudge
from tests.cassette.conftest import make_reply, make_request
from tests.cassette.test_cassette import ask

TEXTS = [f"case {number} ü \u2028 \U0001f600" for number in range(20)]


class CountingStore(Store):
    """Counts what is read."""

    reads = 0

    def get(self, key: str) -> str | None:
        self.reads += 1
        return super().get(key)


def record(folder, *, broken=False):
    """Record every text; return the tape, the tape of the run, and how often the store was read."""
    store = CountingStore(folder / "store")
    path = folder / "tape.jsonl"
    judge = FakeJudge(lambda asked: make_reply(len(asked.messages[-1].content) / 100))
    cassette = Cassette(judge, tape=path, store=store, record="new_episodes")
    if broken:
        cassette._new_lines.close()
    ask(cassette, *TEXTS, *TEXTS[:3])
    cassette.write_used(folder / "used.jsonl")
    cassette.close()
    return path.read_bytes(), (folder / "used.jsonl").read_bytes(), store.reads


def test_tapes_are_the_same_as_from_the_store(tmp_path):
    tape, used, reads = record(tmp_path / "new")
    slow_tape, slow_used, slow_reads = record(tmp_path / "slow", broken=True)

    assert (tape, used) == (slow_tape, slow_used)
    assert tape == used
    assert slow_reads == reads + 2 * len(TEXTS)


@pytest.mark.parametrize("system", [None, "Judge.", "{{ 'ü' }}\n"])
def test_one_encoding_is_that_of_the_store_and_of_the_tape(system):
    request = make_request("ü", system=system)

    line, shared, parts = encode(request, make_reply())

    assert (shared, parts) == share_line(line, key=request.key, where="here")


def test_last_line_of_a_key_counts(tmp_path):
    lines = NewLines(tmp_path)
    lines.put("a", "first", {"p": "part"})
    lines.put("b", "ü", {})
    assert lines.get("a") == ("first", {"p": "part"})
    lines.put("a", "second", {})

    assert lines.get("a") == ("second", {"p": "part"})
    assert lines.get("b") == ("ü", {"p": "part"})
    assert lines.get("c") is None


def test_full_disk_leaves_the_store(tmp_path, monkeypatch):
    def full(folder):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("judgekit.cassette.new_replies.nameless_file", full)
    lines = NewLines(tmp_path)

    lines.put("a", "text", {})

    assert lines.get("a") is None


def test_nothing_is_left_on_the_disk(tmp_path):
    lines = NewLines(tmp_path / "folder")
    lines.put("a", "text", {})

    assert list((tmp_path / "folder").iterdir()) == []
    lines.close()
    assert lines.get("a") is None
