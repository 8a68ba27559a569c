from __future__ import annotations

import pytest

from judgekit.cassette.record import Record
from judgekit.cassette.show import find_record, record_text, tape_stats, verify_tape
from judgekit.cassette.tape import merge_into
from judgekit.core.errors import CassetteCorrupt, ConfigError
from judgekit.core.request import Reply, Try, Usage
from tests.cassette.conftest import make_reply, make_request


@pytest.fixture
def tape(tmp_path):
    path = tmp_path / "tape.jsonl"
    replies = {
        "valid": make_reply(usage=Usage(input_tokens=1200, output_tokens=30)),
        "asked twice": Reply(tries=(Try(text="no"), make_reply().tries[0])),
        "refused": Reply(tries=(Try(refusal="No\x1b[31m."),)),
        "cut off": Reply(tries=(Try(text="{", finish="length"),)),
        "empty": Reply(tries=(Try(text=""),)),
        "nonsense": Reply(tries=(Try(text="hello"),), model="served", mode="json_schema"),
    }
    records = {}
    for text, reply in replies.items():
        request = make_request(text, params={"seed": 1} if text == "nonsense" else {})
        records[request.key] = Record(request.key, request, reply)
    merge_into(path, records, records.__getitem__)
    return path


def key_of(text, **changes):
    return make_request(text, **changes).key


def test_verifying_counts_what_it_proved(tape):
    assert verify_tape(tape) == 6


def test_records_out_of_order_do_not_verify(tape):
    *head, before, last = tape.read_text("utf-8").splitlines(keepends=True)
    tape.write_text("".join([*head, last, before]), encoding="utf-8")

    with pytest.raises(CassetteCorrupt, match="not in order"):
        verify_tape(tape)


def test_outcomes_are_counted_by_kind(tape):
    lines = tape_stats(tape).text().splitlines()

    assert lines[0].startswith(f"{tape}: 6 records, ")
    for line in (
        "  model fake/judge: 6",
        "  valid: 1",
        "  valid after repairs: 1",
        "  refused: 1",
        "  truncated: 1",
        "  empty: 1",
        "  invalid reply: 1",
        "  tokens: 1,200 in, 30 out",
    ):
        assert line in lines


def test_a_record_is_shown_by_the_beginning_of_its_key(tape):
    key = key_of("nonsense", params={"seed": 1})

    text = record_text(find_record(tape, key[:10]))

    assert text.splitlines()[:3] == [
        f"key {key}",
        "model fake/judge, reported as served, output mode json_schema",
        "params {'seed': 1}",
    ]
    assert "--- user\nnonsense\n--- reply, finish None\nhello\n" in text


def test_every_try_is_shown_and_nothing_can_move_the_cursor(tape):
    assert "--- reply (try 2)" in record_text(find_record(tape, key_of("asked twice")))
    assert "\x1b" not in record_text(find_record(tape, key_of("refused")))


@pytest.mark.parametrize(("key", "found"), [("zz", "no record"), ("", "6 records")])
def test_a_beginning_that_fits_none_or_many_is_refused(tape, key, found):
    with pytest.raises(ConfigError, match=f"{found} with a key that begins with"):
        find_record(tape, key)


@pytest.mark.parametrize("look", [verify_tape, tape_stats, lambda path: find_record(path, "0")])
def test_a_file_that_is_not_there_is_said(tmp_path, look):
    with pytest.raises(ConfigError, match="no such cassette"):
        look(tmp_path / "none.jsonl")
