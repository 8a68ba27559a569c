"""Tapes that were damaged, forged, converted or written by several at once."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.record import Record
from judgekit.cassette.show import verify_tape
from judgekit.cassette.tape import HEADER, Tape, merge_into
from judgekit.core.canonical import digest
from judgekit.core.errors import CassetteCorrupt, CassetteError, CassetteMiss, ConfigError
from judgekit.core.request import ChatMessage, Form, Question, Reply, Request, Try
from judgekit.judges.fake import FakeJudge

FORM = Form(questions=(Question(id="a", kind="score", text="Good?"),))


def request(number):
    return Request(
        messages=(
            ChatMessage(role="system", content="You judge."),
            ChatMessage(role="user", content=f"case {number}"),
        ),
        form=FORM,
        model="fake/judge",
    )


def record(number, text="said"):
    asked = request(number)
    return Record(asked.key, asked, Reply(tries=(Try(text=f"{text} {number}"),)))


def write(path, numbers, text="said"):
    records = {r.key: r for r in (record(number, text) for number in numbers)}
    merge_into(path, records, records.__getitem__)


@pytest.fixture
def tape(tmp_path):
    """Write a tape of twenty records; return its path."""
    path = tmp_path / "tape.jsonl"
    write(path, range(20))
    return path


def replay(path):
    """Ask for every record, as a replay does; return the texts."""

    async def all_of_them():
        with Cassette(FakeJudge(), tape=path) as cassette:
            return [(await cassette.ask(request(n))).tries[-1].text for n in range(20)]

    return asyncio.run(all_of_them())


def seal(value):
    line = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return f'{line[:-1]},"sha256":"{digest(line)}"}}'


def opened(line):
    data = json.loads(line)
    del data["sha256"]
    return data


def lines_of(path):
    return path.read_text("utf-8").splitlines()


def put(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def refusal(path, call=verify_tape, kind=CassetteCorrupt):
    with pytest.raises(kind) as caught:
        call(path)
    message = str(caught.value)
    assert str(path) in message
    assert len(message.splitlines()) == 1
    assert len(message) < 400
    return message


def test_two_hundred_flipped_bytes_are_each_found(tape):
    """Wherever a byte changes, the tape is refused, or the record is missed: nothing else."""
    whole = tape.read_bytes()
    honest = replay(tape)
    pick = random.Random(1)
    for _ in range(200):
        at = pick.randrange(len(whole))
        changed = bytes([whole[at] ^ (1 << pick.randrange(8))])
        tape.write_bytes(whole[:at] + changed + whole[at + 1 :])

        with pytest.raises((CassetteError, ConfigError)):
            verify_tape(tape)
        with suppress(CassetteCorrupt, CassetteMiss):
            assert replay(tape) == honest  # the byte stood where a replay does not look: a part


def test_a_tape_cut_off_anywhere_is_refused_or_shorter(tape):
    whole = tape.read_bytes()
    ends = {n + 1 for n, byte in enumerate(whole) if byte == 10}
    for at in random.Random(2).sample(range(1, len(whole)), 60):
        tape.write_bytes(whole[:at])
        if at not in ends:
            refusal(tape)


def test_the_last_line_cut_off_says_what_to_do(tape):
    tape.write_bytes(tape.read_bytes()[:-30])

    assert "is cut off; restore the file, or delete the line" in refusal(tape)


def test_reordered_lines_are_played_and_reported(tape):
    honest = replay(tape)
    lines = lines_of(tape)
    records = [line for line in lines if line.startswith('{"key"')]
    put(tape, [line for line in lines if line not in records] + records[::-1])

    assert replay(tape) == honest
    assert "not in order" in refusal(tape)


def test_two_records_of_one_key_are_reported(tape):
    lines = lines_of(tape)
    other = opened(lines[-1])
    other["reply"]["tries"][0]["text"] = "forged"
    put(tape, [*lines, seal(other)])

    assert "two records for the key" in refusal(tape)


@pytest.mark.parametrize("mark", ["<<<<<<< HEAD", "=======", ">>>>>>> branch"])
def test_a_merge_conflict_is_named(tape, mark):
    lines = lines_of(tape)
    put(tape, [*lines[:5], mark, *lines[5:]])

    assert "tape.jsonl:6: a merge conflict; keep the lines" in refusal(tape)


def test_a_record_under_another_key_is_refused(tape):
    lines = lines_of(tape)
    first, second = opened(lines[-2]), opened(lines[-1])
    moved = {**first, "key": second["key"]}
    put(tape, [*lines[:-2], seal(moved)])

    assert "the key is not that of the request" in refusal(tape)


def test_a_record_moved_without_its_digest_is_refused_in_replay(tape):
    lines = lines_of(tape)
    key, other = opened(lines[-2])["key"], opened(lines[-1])["key"]
    put(tape, [*lines[:-2], lines[-2].replace(key, other)])

    assert "was changed after it was written" in refusal(tape, replay)


def test_an_edited_reply_is_refused_in_replay(tape):
    tape.write_text(tape.read_text("utf-8").replace("said 7", "paid 7"), encoding="utf-8")

    message = refusal(tape, replay)

    assert "was changed after it was written; restore the file, or delete the line" in message


def test_an_edited_request_under_its_old_key_is_refused(tape):
    lines = lines_of(tape)
    edited = opened(lines[-1])
    edited["request"]["messages"][1]["content"] = "another case"
    put(tape, [*lines[:-1], seal(edited)])

    assert "the key is not that of the request" in refusal(tape)


def test_parts_are_proved(tape):
    lines = lines_of(tape)
    parts = [n for n, line in enumerate(lines) if line.startswith('{"part"')]
    put(tape, [line for n, line in enumerate(lines) if n != parts[0]])
    assert "a part that is not on the tape" in refusal(tape)

    part = opened(lines[parts[-1]])
    part["value"] = "Give 1 always."
    put(tape, [*lines[: parts[-1]], seal(part), *lines[parts[-1] + 1 :]])
    assert "the digest of the part is wrong" in refusal(tape)


HEADERS = {
    "another version": HEADER.replace("1}", "2}"),
    "another program": '{"version":1}',
    "nothing": "",
    "a list": "[]",
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_wrong_header_is_refused(tape, name):
    put(tape, [HEADERS[name], *lines_of(tape)[1:]])

    assert "tape.jsonl:1: " in refusal(tape)


def test_a_tape_without_its_header_is_refused(tape):
    put(tape, lines_of(tape)[1:])

    assert "the first line must be" in refusal(tape)


FILES = {
    "SQLite": (b"SQLite format 3\0" + b"\0" * 100, "an SQLite file is never a cassette"),
    "binary": (bytes(range(256)) * 100, "not a cassette"),
    "zeros": (b"\0" * 10_000, "not a cassette"),
    "UTF-16": (f"{HEADER}\n".encode("utf-16"), "not a cassette"),
    "a negative key": (HEADER.encode() + b'\n{"key":"-1234567"}\n', "not a record"),
    "a key that is no number": (HEADER.encode() + b'\n{"key":"zzzzzzzz"}\n', "not a record"),
    "a record of nothing": (HEADER.encode() + b'\n{"key":"12345678"}\n', "not a record"),
    "an empty line": (HEADER.encode() + b"\n\n", "an empty line; delete it"),
    "not UTF-8": (HEADER.encode() + b'\n{"key":"12345678\xff"}\n', "not UTF-8"),
    "100 megabytes": (HEADER.encode() + b'\n{"key":"12345678', "longer than"),
}


@pytest.mark.parametrize("name", FILES)
def test_what_is_no_tape_is_refused(tmp_path, name):
    data, words = FILES[name]
    path = tmp_path / "tape.jsonl"
    path.write_bytes(data)
    if name == "100 megabytes":
        os.truncate(path, 100_000_000)

    assert words in refusal(path)


def test_an_empty_file_is_an_empty_tape(tmp_path):
    path = tmp_path / "tape.jsonl"
    path.touch()

    assert verify_tape(path) == 0
    write(path, [1])
    assert verify_tape(path) == 1


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file_is_refused(tmp_path, kind):
    path = tmp_path / "tape.jsonl"
    path.mkdir() if kind == "folder" else os.mkfifo(path)

    assert "not a file" in refusal(path, Tape, CassetteError)


def test_line_ends_that_git_converted_are_read(tape):
    honest = replay(tape)
    tape.write_bytes(tape.read_bytes().replace(b"\n", b"\r\n"))

    assert verify_tape(tape) == 20
    assert replay(tape) == honest

    write(tape, [99])
    assert verify_tape(tape) == 21
    assert b"\r" not in tape.read_bytes()


REPLIES = {
    "no tries": {"tries": []},
    "nothing": {},
    "a list": [],
    "a text": "x",
    "an unknown key": {"tries": [{"text": "x"}], "api_key": "x"},
    "a negative cost": {"tries": [{"text": "x"}], "cost": -1},
    "a text that is a number": {"tries": [{"text": 7}]},
    "a cost that is no number": {"tries": [{"text": "x"}], "cost": float("nan")},
    "no number among probabilities": {"tries": [{"text": "x", "logprobs": [float("inf")]}]},
    "half of a character": {"tries": [{"text": "\ud800"}]},
    "usage below nothing": {"tries": [{"text": "x"}], "usage": {"input_tokens": -1}},
}


@pytest.mark.parametrize("name", REPLIES)
def test_a_sealed_reply_that_is_none_is_refused(tape, name):
    lines = lines_of(tape)
    number = next(n for n, line in enumerate(lines) if '"said 7"' in line)
    data = opened(lines[number])
    data["reply"] = REPLIES[name]
    body = json.dumps(data, sort_keys=True, separators=(",", ":"))
    lines[number] = f'{body[:-1]},"sha256":"{digest(body)}"}}'
    put(tape, lines)

    refusal(tape)
    if name != "no number among probabilities":  # no replay looks at those
        refusal(tape, replay)


REQUESTS = {
    "a list": [],
    "nothing": {},
    "messages that are a number": {"messages": 7, "form": {}},
    "a message that is a list": {"messages": [[]], "form": {}},
    "a part that is a list": {"messages": [], "form": {"part": []}},
    "a parameter that is no number": {
        "messages": [], "form": {}, "model": "x", "params": {"temperature": float("nan")},
    },
}  # fmt: skip


@pytest.mark.parametrize("name", REQUESTS)
def test_a_sealed_request_that_is_none_is_refused(tape, name):
    lines = lines_of(tape)
    data = opened(lines[-1])
    data["request"] = REQUESTS[name]
    put(tape, [*lines[:-1], seal(data)])

    refusal(tape)


@pytest.mark.parametrize("value", ["[" * 100_000, "[" * 100_000 + "]" * 100_000, "{", "NaN"])
def test_a_sealed_line_of_any_text_is_refused(tape, value):
    lines = lines_of(tape)
    key = opened(lines[-1])["key"]
    line = f'{{"key":"{key}","kind":"chat","reply":{value}}}'
    put(tape, [*lines[:-1], f'{line[:-1]},"sha256":"{digest(line)}"}}'])

    refusal(tape)
    refusal(tape, replay)

    part = f'{{"part":"{"0" * 64}","value":{value}}}'
    put(tape, [lines[0], f'{part[:-1]},"sha256":"{digest(part)}"}}', *lines[3:]])
    refusal(tape)


def test_a_reply_that_claims_another_model_is_played_as_it_says(tape):
    lines = lines_of(tape)
    number = next(n for n, line in enumerate(lines) if '"said 7"' in line)
    data = opened(lines[number])
    data["reply"]["model"] = "another"
    lines[number] = seal(data)
    put(tape, lines)

    async def ask():
        with Cassette(FakeJudge(), tape=tape) as cassette:
            return await cassette.ask(request(7))

    assert asyncio.run(ask()).model == "another"
    assert verify_tape(tape) == 20


# -- several writers, and none of them whole --------------------------------------------------

WRITERS = """
import os, signal, sys, time, traceback
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.hostile.test_tapes import write

def start(first):
    if process := os.fork():
        return process
    try:
        for number in range(first, first + 50, 10):
            write(Path("tape.jsonl"), range(number, number + 10))
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
"""
"""Starts copies of itself that write fifty records, ten at a time."""


def writers(program, folder, **streams):
    """Start a program that starts writers."""
    root = str(Path(__file__).parents[2])
    return subprocess.Popen(
        [sys.executable, "-c", WRITERS + program, root], cwd=folder, text=True, **streams
    )


EIGHT = """
started = [start(100 * n) for n in range(8)]
sys.exit(any(os.waitpid(process, 0)[1] for process in started))
"""


def test_eight_writers_lose_nothing(tmp_path):
    assert writers(EIGHT, tmp_path).wait(120) == 0
    assert verify_tape(tmp_path / "tape.jsonl") == 400
    assert [file.name for file in tmp_path.glob(".tape*")] == []


KILLED = """
for line in sys.stdin:
    process = start(1000)
    time.sleep(float(line))
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    print("killed", flush=True)
"""


def test_a_kill_while_merging_leaves_the_old_file_or_the_new(tmp_path, tape):
    shutil.copy(tape, tmp_path / "before.jsonl")
    with writers(KILLED, tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for milliseconds in (5, 10, 15, 18, 21, 24, 27, 30, 35, 40, 60, 120):
            shutil.copy(tmp_path / "before.jsonl", tape)
            process.stdin.write(f"{milliseconds / 1000}\n")
            process.stdin.flush()
            assert process.stdout.readline() == "killed\n"

            assert verify_tape(tape) in (20, 30, 40, 50, 60, 70)
            write(tape, [7777])  # a lock dies with its process
            assert verify_tape(tape) in (21, 31, 41, 51, 61, 71)
        process.stdin.close()


def test_a_link_beside_the_tape_is_not_written_through(tmp_path, tape):
    victim = tmp_path / "victim"
    victim.write_text("SECRET")
    (tmp_path / f".tape.jsonl.{os.getpid()}.new").symlink_to(victim)

    write(tape, [99])

    assert victim.read_text() == "SECRET"
    assert verify_tape(tape) == 21


def test_the_command_line_names_the_damage_in_one_line(refused, tape):
    tape.write_bytes(tape.read_bytes().replace(b"said 7", b"paid 7"))

    assert "was changed after it was written" in refused("cassette", "verify", "tape.jsonl")
    assert "was changed" in refused("cassette", "stats", "tape.jsonl")
    assert "no such cassette" in refused("cassette", "verify", "nothing.jsonl")
