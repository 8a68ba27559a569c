from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.record import Record, _seal, decode, decode_reply, encode, share_line, unseal
from judgekit.cassette.tape import HEADER, Tape, merge_into, write_lines
from judgekit.cassette.tape import header as tape_header
from judgekit.core.canonical import digest
from judgekit.core.errors import CassetteCorrupt, CassetteError
from judgekit.core.generation import newest
from judgekit.core.request import ChatMessage, Form, Question, Reply, Request, Try, Usage
from judgekit.judges.fake import FakeJudge
from tests.cassette.conftest import FORM, make_reply, make_request


def record(text="text", value=0.5, **changes):
    request = make_request(text, **changes)
    return Record(request.key, request, make_reply(value))


def write(path, *records):
    by_key = {r.key: r for r in records}
    merge_into(path, by_key, by_key.__getitem__)
    return path


@pytest.fixture
def tape(tmp_path):
    return write(tmp_path / "tape.jsonl", *(record(f"text {n}", n / 10) for n in range(5)))


# -- records ----------------------------------------------------------------------

replies = st.builds(
    Reply,
    tries=st.lists(
        st.builds(
            Try,
            text=st.none() | st.text(),
            finish=st.none() | st.text(max_size=9),
            refusal=st.none() | st.text(max_size=9),
            logprobs=st.none() | st.lists(st.floats(-9, 0), max_size=2),
        ),
        min_size=1,
        max_size=3,
    ).map(tuple),
    model=st.none() | st.text(max_size=9),
    usage=st.none() | st.builds(Usage, input_tokens=st.integers(0, 99)),
    cost=st.none() | st.floats(0, 9),
)


@given(text=st.text(), system=st.none() | st.text(), reply=replies)
def test_a_record_reads_back_as_it_was_written(text, system, reply):
    request = make_request(text, system=system)

    line = encode(request, reply)[0]

    assert "\n" not in line
    assert decode(line, parts={}, where="here") == Record(request.key, request, reply)
    assert decode_reply(line, key=request.key, where="here") == reply


@settings(max_examples=25, deadline=None)
@given(
    texts=st.lists(st.text(), max_size=6, unique=True),
    systems=st.lists(st.none() | st.text(), min_size=1, max_size=3),
    reply=replies,
)
def test_a_tape_reads_back_as_it_was_written(tmp_path_factory, texts, systems, reply):
    path = tmp_path_factory.mktemp("tape") / "tape.jsonl"
    requests = [make_request(t, system=systems[n % len(systems)]) for n, t in enumerate(texts)]
    records = {r.key: Record(r.key, r, reply) for r in requests}

    merge_into(path, records, records.__getitem__)

    assert {r.key: r for r in Tape(path).records()} == records
    assert all(Tape(path).find(key) >= 0 for key in records)


def test_a_line_says_what_it_is_and_proves_it():
    line = encode(make_request(), make_reply())[0]
    data = json.loads(line)

    assert list(data) == ["key", "kind", "reply", "request", "sha256"]
    assert data["kind"] == "chat"
    assert digest(line[: line.rindex(',"sha256"')] + "}") == data["sha256"]


def test_what_requests_share_stands_once(tape):
    lines = tape.read_text("utf-8").splitlines()

    parts = [json.loads(line) for line in lines if line.startswith('{"part"')]
    assert {str(part["value"])[:6] for part in parts} == {"Judge.", "{'ques"}
    assert sum("Judge." in line for line in lines) == 1
    assert sum("Good?" in line for line in lines) == 1


def test_a_text_that_looks_like_a_part_is_only_a_text(tmp_path):
    trick = '{"part":"' + "0" * 64 + '"}'
    tricky = record(trick, system=trick)

    path = write(tmp_path / "tape.jsonl", tricky)

    assert list(Tape(path).records()) == [tricky]


def test_lines_are_sorted_and_hold_no_times(tape):
    header, *lines = tape.read_text("utf-8").splitlines()

    parts = [line for line in lines if line.startswith('{"part"')]
    records = [line for line in lines if line.startswith('{"key"')]
    assert header == tape_header(newest())
    assert lines == sorted(parts) + sorted(records)
    assert "time" not in tape.read_text("utf-8")


# -- damage -----------------------------------------------------------------------


def damaged(tape, change):
    lines = tape.read_text("utf-8").splitlines(keepends=True)
    tape.write_text("".join(change(lines)), encoding="utf-8")
    return tape


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda ls: ls[1:], ":1: not a cassette|refers to a part|part .* is missing|not a record"),
        (lambda ls: ['{"judgekit":"cassette","version":2}\n', *ls[1:]], ":1: written by another"),
        (lambda ls: ["hello\n", *ls], r":1: not a cassette: the first line must be"),
        (lambda ls: [*ls[:2], "\n", *ls[2:]], ":3: an empty line"),
        (lambda ls: [*ls[:2], "<<<<<<< HEAD\n", *ls[2:]], ":3: a merge conflict"),
        (lambda ls: [*ls, "{}\n"], "not a record judgekit wrote"),
        (lambda ls: [*ls[:-1], ls[-1][:-1]], "the last line is cut off"),
        (lambda ls: [*ls[:-1], ls[-1][:40]], "the last line is cut off"),
        (lambda ls: [*ls, '{"key":"zzzz"}\n'], "not a record judgekit wrote"),
        (lambda ls: [ls[0], *ls[2:]], "refers to a part that is not on the tape"),
        (lambda ls: [*ls, ls[-1]], "two records for the key"),
        (lambda ls: [*ls[:-1], ls[-1].replace("text", "TEXT", 1)], "was changed after"),
        (lambda ls: [ls[0], ls[1].replace("e", "E", 1), *ls[2:]], "was changed|not a record"),
    ],
)
def test_damage_is_found_and_named(tape, change, message):
    damaged(tape, change)

    with pytest.raises(CassetteCorrupt, match=message):
        list(Tape(tape).records())


def test_a_record_under_a_wrong_key_is_found(tmp_path):
    one, two = record("one"), record("two")
    _, line, parts = encode(two.request, two.reply)
    line = _seal(unseal(line, where="here").replace(two.key, one.key))
    path = tmp_path / "tape.jsonl"
    write_lines(path, [HEADER, *(parts[name] for name in sorted(parts)), line])

    with pytest.raises(CassetteCorrupt, match="the key is not that of the request it holds"):
        list(Tape(path).records())


def test_an_sqlite_file_is_never_a_cassette(tmp_path):
    path = tmp_path / "tape.jsonl"
    path.write_bytes(b"SQLite format 3\x00" + b"\x00" * 100 + b"\n")

    with pytest.raises(CassetteCorrupt, match="an SQLite file is never a cassette"):
        Tape(path)


def test_records_out_of_order_are_still_found(tape):
    damaged(tape, lambda ls: [*ls[:3], *reversed(ls[3:])])

    opened = Tape(tape)

    assert all(opened.find(record(f"text {n}").key) >= 0 for n in range(5))
    keys = [r.key for r in opened.records()]
    assert keys == sorted(keys)


TEXTS = st.text(
    st.sampled_from('a"\\{}:,é\n\u2028 ') | st.characters(exclude_categories=("Cs",)), max_size=30
)
TRICKS = st.sampled_from(["", ',"request":{"a":1}', '"},"request":', '{"reply":{},"request":{}}'])


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS, TRICKS, st.integers(0, 10_000), st.integers(0, 255))
def test_a_line_gives_its_reply_back_and_a_changed_line_none(prompt, text, trick, at, byte):
    request = make_request(prompt + trick)
    params = {"stop": trick, "request": {"reply": text}, trick: [None, 1.5]}
    reply = Reply(tries=(Try(text=text + trick), Try(refusal=text)), effective_params=params)
    for line in encode(request, reply)[:2]:
        assert decode_reply(line, key=request.key, where="here") == reply
        with pytest.raises(CassetteCorrupt, match="another key"):
            decode_reply(line, key="0" * 64, where="here")
        changed = bytearray(line.encode())
        changed[at % len(changed)] = byte
        if changed != line.encode():
            with pytest.raises(CassetteCorrupt):
                decode_reply(changed.decode("utf-8", "replace"), key=request.key, where="here")


@pytest.mark.parametrize("size", [1, 9_000, 40_000])
def test_a_line_is_looked_up_whole_whatever_its_length_and_place(tmp_path, size):
    path = tmp_path / "tape.jsonl"
    replies = {make_request(f"{n}").key: Reply(tries=(Try(text=f"{n}" * size),)) for n in range(6)}
    requests = {make_request(f"{n}").key: make_request(f"{n}") for n in range(6)}
    merge_into(path, replies, lambda key: Record(key, requests[key], replies[key]))
    header, *lines = path.read_text("utf-8").splitlines()
    for order in (lines, [*reversed(lines)]):
        path.write_text("\n".join((header, *order, "")), "utf-8")
        cassette = Cassette(FakeJudge(), tape=path)
        for key, reply in replies.items():
            number, line = cassette.tape.look_up(key)
            assert line == cassette.tape.line(number)
            assert asyncio.run(cassette.ask(requests[key])) == reply
        cassette.close()


def test_a_tape_that_is_not_there_is_empty(tmp_path):
    tape = Tape(tmp_path / "none.jsonl")

    assert len(tape) == 0
    assert tape.find(record().key) == -1


def test_a_folder_is_no_tape(tmp_path):
    with pytest.raises(CassetteError, match=r"not a file|Is a directory"):
        Tape(tmp_path)


@pytest.mark.parametrize(
    "data", [b"\xff\xfe\n", b"\x00" * 50, b'{"key":"\n', b"{" * 10_000 + b"\n"]
)
def test_any_bytes_are_a_tape_or_are_refused(tmp_path, data):
    path = tmp_path / "tape.jsonl"
    path.write_bytes(HEADER.encode() + b"\n" + data)

    with pytest.raises(CassetteCorrupt):
        list(Tape(path).records())


# -- writing ----------------------------------------------------------------------


def test_the_order_of_recording_does_not_show(tmp_path):
    records = [record(f"text {n}") for n in range(6)]

    at_once = write(tmp_path / "one.jsonl", *records)
    for r in reversed(records):
        write(tmp_path / "other.jsonl", r)

    assert at_once.read_bytes() == (tmp_path / "other.jsonl").read_bytes()


def test_recording_the_same_again_changes_no_byte(tape):
    before = tape.read_bytes()

    write(tape, record("text 2", 0.2))

    assert tape.read_bytes() == before


def test_a_newer_record_replaces_the_older(tape):
    write(tape, record("text 2", 0.9))

    values = {r.request.messages[-1].content: r.reply for r in Tape(tape).records()}
    assert len(values) == 5
    assert '"value": 0.9' in values["text 2"].tries[0].text


def test_a_part_nobody_names_any_more_goes(tmp_path):
    lone = record("lone", system="Another system.")
    path = write(tmp_path / "tape.jsonl", record(), lone)

    merge_into(path, (), {}.__getitem__, keep=lambda key: key != lone.key)

    assert "Another system." not in path.read_text("utf-8")
    assert [r.key for r in Tape(path).records()] == [record().key]


def test_a_failed_write_leaves_what_stood_there(tape):
    before = tape.read_bytes()

    def lines():
        yield HEADER
        raise OSError(28, "No space left on device")

    with pytest.raises(CassetteError, match="cannot be written: No space left on device"):
        write_lines(tape, lines())

    assert tape.read_bytes() == before
    assert list(tape.parent.glob(".*.new")) == []


def test_an_error_of_another_kind_leaves_nothing_behind_either(tape):
    def lines():
        yield HEADER
        raise CassetteCorrupt("damaged")

    with pytest.raises(CassetteCorrupt):
        write_lines(tape, lines())

    assert list(tape.parent.glob(".*.new")) == []


WRITER = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from tests.cassette.test_tape import record, write
for n in range(12):
    write(Path(sys.argv[2]), record(f"{sys.argv[3]} {n}"))
"""


def test_two_processes_that_write_at_once_lose_nothing(tmp_path):
    path = tmp_path / "tape.jsonl"
    root = str(Path(__file__).parents[2])
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, root, str(path), name])
        for name in ("left", "right")
    ]
    for writer in writers:
        assert writer.wait(timeout=300) == 0

    texts = {r.request.messages[-1].content for r in Tape(path).records()}
    assert texts == {f"{name} {n}" for name in ("left", "right") for n in range(12)}


def test_many_forms_and_keys_with_one_beginning_are_kept_apart(tmp_path):
    forms = [Form(questions=(Question(id=f"q{n}", kind="boolean", text="?"),)) for n in range(3)]
    records = [record("same", form=form) for form in (FORM, *forms)]

    path = write(tmp_path / "tape.jsonl", *records)

    assert {r.key for r in Tape(path).records()} == {r.key for r in records}


def test_a_damaged_record_is_named_by_its_line_and_its_key(tmp_path):
    path = tmp_path / "tape.jsonl"
    for number in "0123":
        merge_into(path, [record(number).key], lambda _, number=number: record(number))
    lines = path.read_text("utf-8").splitlines()
    lines[5] = lines[5].replace('"cost":0.25', '"cost":0.26')
    path.write_text("\n".join(lines) + "\n", "utf-8")
    key = lines[5][8:72]

    with pytest.raises(CassetteCorrupt) as verified:
        list(Tape(path).records())
    request = next(r for r in map(make_request, "0123") if r.key == key)
    with pytest.raises(CassetteCorrupt) as replayed:
        asyncio.run(Cassette(FakeJudge(), tape=path).ask(request))

    said = f"{path}:6: record {key[:12]}: the record was changed after it was written"
    assert str(verified.value).startswith(said)
    assert str(replayed.value).startswith(said)


def test_a_damaged_part_is_named_by_its_line(tmp_path):
    path = tmp_path / "tape.jsonl"
    merge_into(path, [record().key], lambda _: record())
    lines = path.read_text("utf-8").replace("Judge.", "Judgf.").splitlines()
    path.write_text("\n".join(lines) + "\n", "utf-8")
    number = next(n for n, line in enumerate(lines, start=1) if "Judgf." in line)

    with pytest.raises(CassetteCorrupt, match=f"{path}:{number}: the record was changed"):
        list(Tape(path).records())


def test_a_stored_line_is_shared_as_its_record_is():
    form = Form(questions=(Question(id="ok", kind="boolean", text='Is "it" {ok}?'),))
    texts = ("You judge. ✓\n", 'A "quoted" \\ text, {"part":"x"}', "plain")
    for roles in (("system", "user"), ("user",), ("user", "system", "assistant"), ("system",) * 2):
        messages = tuple(
            ChatMessage(role=role, content=text) for role, text in zip(roles, texts, strict=False)
        )
        request = Request(messages=messages, form=form, model="m", params={"messages": ["system"]})
        reply = Reply(tries=(Try(text='{"request":{"form":{}}}', logprobs={"request": 1}),))
        line, *expected = encode(request, reply)

        assert share_line(line, key=request.key, where="here") == tuple(expected)
        with pytest.raises(CassetteCorrupt):
            share_line(line.replace("You", "We"), key="0" * 64, where="here")
