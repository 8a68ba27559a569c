"""What should not be shared is found in files that are, and never told."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path

import pytest

from judgekit.cassette.record import Record
from judgekit.cassette.tape import merge_into
from judgekit.core.errors import ConfigError
from judgekit.privacy.redact import NAMES, redactor
from judgekit.privacy.scan import allowed, masked, scan
from tests.cassette.conftest import make_reply, make_request

ROOT = Path(__file__).parents[2]
SECRETS = {
    "key": "sk-canary-1234567890abcdef",
    "email": "ann.lee@shop-of-ann.io",
    "card": "4539 1488 0343 6467",
    "ip": "8.8.4.4",
    "phone": "+49 151 23456789",
}


def tape_with(path, text, reply="fine"):
    request = make_request(f"A case: {text}", system=f"Rules. {text}")
    answer = make_reply()
    said = answer.tries[0].model_copy(update={"text": json.dumps({"reason": reply})})
    record = Record(request.key, request, answer.model_copy(update={"tries": (said,)}))
    merge_into(path, [request.key], lambda _: record)
    return request.key


@pytest.mark.parametrize("kind", SECRETS)
def test_a_tape_tells_kind_line_field_and_record_and_never_the_thing(tmp_path, kind):
    path = tmp_path / "tape.jsonl"
    key = tape_with(path, SECRETS[kind], reply=f"It says {SECRETS[kind]}.")

    done = scan([path])

    found = {(f.kind, f.line, f.field, f.key) for f in done.findings}
    part = next(n for n, line in enumerate(path.read_text().splitlines(), 1) if "Rules." in line)
    last = len(path.read_text().splitlines())
    assert found == {
        (kind, part, "value", None),
        (kind, last, "request.messages[1].content", key),
        (kind, last, "reply.tries[0].text", key),
    }
    for said in (done.text(), done.json_text()):
        assert SECRETS[kind] not in said
        assert f"{path}:{last}: {kind} in reply" in said or said.startswith("{")
    assert done.counts == {kind: 3}


def test_what_is_redacted_is_not_found(tmp_path):
    redact = redactor(NAMES)
    tape_with(tmp_path / "tape.jsonl", redact(" and ".join(SECRETS.values())))
    (tmp_path / "notes.txt").write_text(redact("tel: 5550143, key [KEY-0123abcd]"), "utf-8")

    assert scan([tmp_path]).findings == []


def test_files_of_every_kind_are_read(tmp_path):
    mail = SECRETS["email"]
    (tmp_path / "cases.jsonl").write_text(
        f'\n{{"id": "a", "metadata": {{"by": "{mail}"}}}}\n', "utf-8"
    )
    (tmp_path / "cases.csv").write_text(f"id,input\na,Write to {mail}\n", "utf-8")
    (tmp_path / "suite.yaml").write_text(f"notice: |\n  Ask\n  {mail}\n", "utf-8")
    (tmp_path / "run.json").write_text(json.dumps({"a": [1, {"b": mail}]}, indent=1), "utf-8")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "broken.json").write_text(f'{{"a": "{mail}', "utf-8")
    (tmp_path / "latin.txt").write_bytes(b"\xe4\xf6 " + mail.encode())

    found = {(Path(f.file).name, f.line, f.field) for f in scan([tmp_path]).findings}

    assert found == {
        ("cases.jsonl", 2, "metadata.by"), ("cases.csv", 2, ""), ("suite.yaml", 3, ""),
        ("run.json", 5, "a[1].b"), ("broken.json", 1, ""), ("latin.txt", 1, ""),
    }  # fmt: skip


@pytest.mark.parametrize("compressed", ["yes", "no"])
def test_the_data_of_a_report_page_is_unpacked(tmp_path, compressed):
    data = json.dumps({"cases": [{"input": SECRETS["email"]}]})
    if compressed == "yes":
        data = base64.b64encode(zlib.compress(data.encode())).decode()
    page = tmp_path / "report.html"
    page.write_text(
        f'<p>\n<script type="application/json" id="data" data-compressed="{compressed}">{data}'
        "</script>\n",
        "utf-8",
    )

    (found,) = scan([page]).findings

    assert (found.kind, found.line, found.field) == ("email", 2, "cases[0].input")


def test_names_and_places_that_are_private_are_masked_too(tmp_path):
    mail = SECRETS["email"]
    (tmp_path / "a.jsonl").write_text(
        json.dumps({"key": mail, "by": {mail: mail}, "n": 4539148803436467})
    )

    done = scan([tmp_path])

    assert mail not in done.text() + done.json_text()
    assert "4539148803436467" not in done.text()
    assert [(f.kind, f.field) for f in done.findings] == [
        ("email", "key"), ("email", "by (a name in it)"), ("email", "b…@….io"), ("card", "n")
    ]  # fmt: skip


def test_what_is_known_to_be_harmless_is_silenced(tmp_path):
    (tmp_path / "a.txt").write_text("a@shop.io b@shop.io Ann@Other.io 4539 1488 0343 6467", "utf-8")
    (tmp_path / "allowed").write_text("# cards\n4539148803436467\n\n", "utf-8")
    path = tmp_path / "a.txt"

    assert scan([path], allow=["*@shop.io"]).counts == {"card": 1, "email": 1}
    assert scan([path], allow=["ann@other.io"]).counts == {"card": 1, "email": 2}
    assert scan([path], allow=allowed([f"@{tmp_path}/allowed"]), kinds=["card"]).counts == {}
    with pytest.raises(ConfigError, match="no-such: cannot be read as an allow list"):
        allowed(["@no-such"])


def test_what_is_set_aside_for_examples_is_no_finding(tmp_path):
    text = "ann@example.com b@shop.example 4111 1111 1111 1111 192.0.2.1 10.0.0.1 2001:db8::1 "
    (tmp_path / "a.txt").write_text(text + "212-555-0143 AKIAIOSFODNN7EXAMPLE", "utf-8")

    assert scan([tmp_path]).findings == []


def test_hidden_files_links_and_bytes_are_left_out_and_the_last_is_said(tmp_path):
    (tmp_path / ".hidden").write_text(SECRETS["email"], "utf-8")
    (tmp_path / "link").symlink_to(tmp_path / ".hidden")
    (tmp_path / "cache.db").write_bytes(b"SQLite\0" + SECRETS["email"].encode())

    done = scan([tmp_path])

    assert (done.files, done.findings, done.not_read) == (0, [], [str(tmp_path / "cache.db")])
    assert "cache.db: not read: not a text file" in done.text()


@pytest.mark.parametrize(
    ("path", "message"), [("none", "no such file or folder"), ("bytes", "is not a text file")]
)
def test_a_file_that_cannot_be_looked_at_is_an_error(tmp_path, path, message):
    (tmp_path / "bytes").write_bytes(b"\0")

    with pytest.raises(ConfigError, match=message):
        scan([tmp_path / path])


def test_an_unknown_kind_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="unknown kind 'mail'; did you mean 'email'"):
        scan([tmp_path], kinds=["mail"])


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 200_000,
        b'{"a":' * 100_000,
        b'{"reply": 1, "key": {}}',
        b"\xff\xfe\xfd",
        b'{"a": 1e999}',
        b"\r\n",
    ],
)  # fmt: skip
def test_damaged_lines_are_looked_at_as_text(tmp_path, line):
    (tmp_path / "a.jsonl").write_bytes(line + b"\n" + SECRETS["email"].encode())

    assert [f.line for f in scan([tmp_path]).findings][-1:] == [line.count(b"\n") + 2]


@pytest.mark.parametrize("kind", SECRETS)
def test_a_mask_shows_less_than_a_third(kind):
    shown = masked(kind, SECRETS[kind])
    kept = [c for c in shown.split("(")[0] if c.isalnum()]

    assert len(kept) <= len(SECRETS[kind]) / 3
    assert SECRETS[kind] not in shown


def test_what_the_project_shares_is_clean():
    shared = [ROOT / name for name in ("cassettes", "examples", "rubrics", "docs", "README.md")]

    # Names of files such as NAME@V.jinja look like addresses.
    done = scan(shared, allow=["*@*.jinja", "*@*.jsonl"])

    assert done.findings == [], done.text()
    assert done.files > 10
