"""The files of jobs are read as untrusted data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgekit.batch.journal import Journal
from judgekit.batch.replies import MAX_LINE, line_reply, reply_at, reply_places
from judgekit.core.errors import ConfigError

ID = "a" * 40


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[]\n", r"batches.jsonl:1: not a line that judgekit wrote; delete it"),
        ("{\n", r"batches.jsonl:1: not a line"),
        ("[" * 100_000 + "\n", r"batches.jsonl:1: not a line"),
        ('{"intent": "x"}\n', "a job with a wrong intent; delete its lines"),
        ('{"intent": []}\n', "batches.jsonl:1: not a line"),
        *(
            (
                '{"intent": "00112233aabbccdd", "at": "", "provider": "openai", "model": "x", '
                f'"mode": "tools", "keys": ["a"], "sha256": "", {field}}}\n',
                f"a job with a wrong {field.split(chr(34))[1]}; delete its lines",
            )
            for field in (
                '"dollars": NaN',  # a budget that holds it would have no limit
                '"dollars": -1',
                '"replies": -1',
                '"sent_at": Infinity',
                '"attempt": 0',
                '"keys": []',
            )
        ),
        (
            '{"intent": "00112233aabbccdd", "at": "", "provider": "openai", "model": "x", "mode": '
            '"tools", "keys": [], "sha256": "", "headers": {"x": "a\\r\\nb: c"}}\n',
            "a job with a wrong headers.x; delete its lines",
        ),
    ],
)
def test_a_wrong_journal_is_one_line(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "batches.jsonl").write_text(line)
    with pytest.raises(ConfigError, match=message):
        Journal(tmp_path).jobs()


def response(**more: object) -> str:
    return json.dumps({"custom_id": ID, "response": {"status_code": 200, "body": {"n": 1}}, **more})


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (response(), 200),
        (response(response=None, error={"code": "batch_expired"}), None),
        (response(response={"status_code": 429, "body": {}}), None),
        (response(response={"status_code": 503, "body": {}}), None),
        (response(response={"status_code": 401, "body": {}}), None),
        (response(response={"status_code": 400, "body": {}}), 400),
        (response(response={"status_code": "200", "body": {}}), None),
        (response(response={"status_code": 200, "body": [1]}), None),
        (response(response={"status_code": 200, "body": "no JSON"}), 200),
        (response(response=None, result={"type": "succeeded", "message": {}}), 200),
        (response(response=None, result={"type": "expired"}), None),
        (response(response=None, result={"type": "errored", "error": {"error": {
            "type": "invalid_request_error"}}}), 400),
        (response(response=None, result={"type": "errored", "error": {"error": {
            "type": "overloaded_error"}}}), None),
        (response(custom_id=1), None),
        ("[1]", None),
        ("[" * 100_000, None),
        ("no JSON", None),
        ('{"custom_id": "' + ID + '", "response": {"status_code": 200, "body": {"a": NaN}}}', 200),
    ],
)  # fmt: skip
def test_lines_of_replies(line: str, status: int | None) -> None:
    _, reply = line_reply(line.encode())
    assert (None if reply is None else reply.status) == status


def test_places_skip_what_is_no_reply(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    long = b'{"custom_id": "' + b"x" * (MAX_LINE + 10) + b'"}\n'
    other = response(custom_id="b" * 40).encode()
    path.write_bytes(b"\xff\n\n" + long + response().encode() + b"\n" + other)
    places = reply_places(path)
    assert sorted(places) == [ID, "b" * 40]
    assert reply_at(path, places["b" * 40], id="b" * 40) == line_reply(other)[1]
    assert reply_at(path, places[ID], id="b" * 40) is None
    path.write_bytes(b"x")
    assert reply_at(path, places[ID], id=ID) is None
