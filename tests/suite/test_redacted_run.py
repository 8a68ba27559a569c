"""What a suite redacts is in nothing a run writes; nor is the key of the judge."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import zlib

import pytest

from judgekit.cli import main
from judgekit.core.case import Case, Message, ToolCall
from judgekit.judges.manual import SavedAnswers
from judgekit.privacy.scan import scan
from judgekit.suite.overrides import Overrides
from judgekit.suite.run import run_suite
from judgekit.suite.suite import load_suite

PRIVATE = {
    "email": "canary.bird@aviary-of-ann.io",
    "phone": "+49 151 23456789",
    "card": "4539 1488 0343 6467",
    "ip": "8.8.4.4",
    "key": "sk-canary-1234567890abcdef",
    "own": "LM-48213",
}
SALT = "canary-salt"
SUITE = """\
cases: cases.jsonl
judge: fake/judge
cassette: tape.jsonl
record: new_episodes
redact: [email, phone, card, ip, key, {pattern: 'LM-[0-9]+', name: ORDER}]
redact_salt_env: A_SALT
metrics: {safety: , prompt_alignment: , length: {maximum: 9}}
"""


def private_case():
    text = " and ".join(PRIVATE.values())
    return Case(
        id=f"case of {text}",
        input=text,
        output=text,
        system=text,
        history=(
            Message(role="user", content=text),
            Message(
                role="assistant",
                content=text,
                tool_calls=(ToolCall(name="send", arguments={"to": [text]}),),
            ),
        ),
        reference=(text,),
        context=(text,),
        baseline=text,
        choices=(text,),
        expected={"facts": [text], text: 1},
        labels={"by": text},
        metadata={"deep": {"er": [text]}, text: 1},
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("A_SALT", SALT)
    (tmp_path / "cases.jsonl").write_text(private_case().model_dump_json() + "\n", "utf-8")
    (tmp_path / "suite.yaml").write_text(SUITE, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder):
    """Return the bytes of every file but the two that were there, pages unpacked."""
    files = {
        str(path): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("cases.jsonl", "suite.yaml")
    }
    for name, data in list(files.items()):
        packed = re.search(rb'data-compressed="yes">([^<]+)<', data)
        if packed:
            files[f"{name} (data)"] = zlib.decompress(base64.b64decode(packed[1]))
    return files


def test_nothing_private_is_in_anything_a_run_writes(folder, capsys):
    report = asyncio.run(run_suite(load_suite("suite.yaml"), out=folder / "out"))
    report.to_html()

    files = written(folder)
    out, err = capsys.readouterr()
    files["the terminal"] = (out + err).encode()
    assert {"tape.jsonl", "results.jsonl", "report.html", "cache.db"} <= {
        name.rsplit("/", 1)[-1] for name in files
    }
    for name, data in files.items():
        for thing in (*PRIVATE.values(), SALT, "canary", "4539148803436467"):
            assert thing.encode() not in data, (name, thing)
            assert json.dumps(thing)[1:-1].encode() not in data, (name, thing)
    assert scan([folder / "out", folder / "tape.jsonl"]).findings == []


def test_a_replay_of_the_private_cases_finds_every_record(folder):
    first = asyncio.run(run_suite(load_suite("suite.yaml"), out=folder / "out"))
    again = asyncio.run(
        run_suite(load_suite("suite.yaml", Overrides(record="none")), out=folder / "o2")
    )

    assert first.figures == again.figures
    for name in ("results.jsonl", "tape.jsonl", "report.json"):
        assert (folder / "out" / name).read_bytes() == (folder / "o2" / name).read_bytes()


def test_another_salt_finds_none_and_no_salt_stops_the_run(folder, monkeypatch, capsys):
    asyncio.run(run_suite(load_suite("suite.yaml")))
    monkeypatch.setenv("A_SALT", "another")
    report = asyncio.run(run_suite(load_suite("suite.yaml", Overrides(record="none"))))
    assert report.metrics["safety"].failed == 1

    monkeypatch.delenv("A_SALT")
    monkeypatch.setattr("sys.argv", ["judgekit", "run", "suite.yaml"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    assert capsys.readouterr().err == (
        "judgekit: suite.yaml:6: A_SALT is not set in the environment; set it\n"
    )


def test_the_scan_of_what_was_not_redacted_finds_all_of_it_and_tells_none(
    folder, capsys, monkeypatch
):
    monkeypatch.setattr("sys.argv", ["judgekit", "cassette", "scan", "cases.jsonl"])
    with pytest.raises(SystemExit) as left:
        main()

    assert left.value.code == 1
    out = capsys.readouterr().out
    assert {"email", "phone", "card", "ip", "key"} <= set(
        re.findall(r"^cases.jsonl:1: (\w+)", out, re.M)
    )
    for thing in PRIVATE.values():
        assert thing not in out


def test_a_draft_holds_what_was_typed_and_no_text_of_the_case(folder):
    draft = SavedAnswers(folder / "drafts", "k" * 64)

    draft.write(["a reason", "warm"])

    assert json.loads(draft.path.read_text("utf-8")) == {
        "judgekit": "draft", "version": 1, "answers": ["a reason", "warm"]
    }  # fmt: skip
    assert [path.name for path in draft.path.parent.iterdir()] == [f"{'k' * 64}.json"]
