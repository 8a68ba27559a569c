"""Every way a file can be wrong: one line, the exact place, the field, and what to do."""

from __future__ import annotations

import gzip
import json

import pytest

from judgekit.core.errors import DatasetError
from judgekit.datasets import load_cases, stream

GOOD = b'{"id": "good", "input": "x"}\n'


def deep(levels):
    return b'{"id": "a", "metadata": {"x": ' + b"[" * levels + b"]" * levels + b"}}"


# name of the file, its bytes, the place after the name, the field, words of the message
BAD = [
    ("a.jsonl", b"", "", None, "there are no cases"),
    ("a.jsonl", b"\n \n", "", None, "there are no cases"),
    ("a.json", b"", "", None, "there are no cases"),
    ("a.json", b"[]", "", None, "there are no cases"),
    ("a.csv", b"", "", None, "there are no cases"),
    ("a.csv", b"id,input\n", "", None, "there are no cases"),
    ("a.jsonl", GOOD + b'{"id": "\xff"}\n', ":2", None, "byte 37 (0xff) is not UTF-8; save"),
    ("a.json", b'[\n{"id": "\xff"}]', ":2", None, "byte 10 (0xff) is not UTF-8"),
    ("a.csv", b"id,input\na,\xe9\n", ":2", None, "byte 11 (0xe9) is not UTF-8"),
    ("a.jsonl", GOOD + b'{"id": "a",}\n', ":2", None, "not JSON: trailing comma, at column 12"),
    ("a.jsonl", b'{"id": "a"\n', ":1", None, "it ends too early, at column 10; correct the line"),
    ("a.jsonl", '{"id": "é" 1}'.encode(), ":1", None, "at column 12"),
    ("a.jsonl", b'{"id": "a"} {"id": "b"}', ":1", None, "something after the end"),
    ("a.jsonl", b'[\n{"id": "a"}\n]', ":1", None, "name the file .json"),
    ("a.json", b'{"id": "a"}\n{"id": "b"}', ":2", None, "name a file of JSON Lines .jsonl"),
    ("a.json", b'[\n {"id": "a"},\n {"id" "b"}]', ":3", None, "at column 8"),
    ("a.json", b'{"id": "a"}', "", None, "found an object with the keys 'id'; write a list"),
    ("a.json", b'{"cases": [], "rows": []}', "", None, "found lists under 'cases', 'rows'"),
    ("a.json", b"7", "", None, "found a number; write a list"),
    ("a.json", b'[{"id": "a"}, 7]', ": row 2", None, "expected an object"),
    ("a.jsonl", GOOD + b"[1]\n", ":2", None, "expected an object with the fields of a case"),
    ("a.jsonl", b"null\n", ":1", None, "found null"),
    ("a.jsonl", b'{"id": "a", "input": "\\ud800"}', ":1", None, "half of a surrogate pair"),
    ("a.jsonl", b'{"id": "a", "input": "\\udc00 "}', ":1", None, "half of a surrogate pair"),
    ("a.jsonl", b'{"id": "a", "metadata": {"x": NaN}}', ":1", None, "NaN or an infinity"),
    ("a.jsonl", b'{"id": "a", "metadata": {"x": -Infinity}}', ":1", None, "NaN or an infinity"),
    ("a.jsonl", b'{"id": "a", "labels": {"x": 1e999}}', ":1", "labels.x", "write null"),
    ("a.jsonl", b'{"id": "a", "expected": {"x": [1e999]}}', ":1", "expected.x.0", "write null"),
    ("a.jsonl", b'{"id": "a", "input": "\x00"}', ":1", None, "a NUL byte, at column 23"),
    ("a.jsonl", b'{"id": "a", "input": "\x01"}', ":1", None, "a control character"),
    ("a.csv", b"id,input\na,x\x00\n", ":2", None, "a NUL byte at column 4"),
    ("a.jsonl", deep(300), ":1", None, "nested more than 200 levels deep"),
    ("a.jsonl", deep(100_000), ":1", None, "nested more than 200 levels deep"),
    ("a.jsonl", b'{"id": "a", "metadata": {"x": %s}}' % (b"1" * 5000), ":1", None, "out of range"),
    ("a.jsonl", b'{"id": ""}', ":1", "id", "empty; give text or a whole number"),
    ("a.jsonl", b'{"id": 1.5}', ":1", "id", "expected text, found a number"),
    ("a.jsonl", b'{"id": true}', ":1", "id", "expected text, found true"),
    ("a.jsonl", b'{"id": "%s"}' % (b"x" * 1001), ":1", "id", "too long"),
    ("a.jsonl", b'{"id": "a", "parent": 7}', ":1", "parent", "found a number; put it in quotes"),
    ("a.jsonl", b'{"id": "a", "prompt": [7]}', ":1", "input", "(from 'prompt')"),
    ("a.jsonl", b'{"id": "a", "input": {}}', ":1", "input", "found an object"),
    ("a.jsonl", b'{"id": "a", "system": ["x"]}', ":1", "system", "expected text, found a list"),
    ("a.jsonl", b'{"id": "a", "baseline": {}}', ":1", "baseline", "fields: {...: 'dotted.path'}"),
    ("a.jsonl", b'{"id": "a", "reference": {}}', ":1", "reference", "text or a list of texts"),
    ("a.jsonl", b'{"id": "a", "context": ["x", []]}', ":1", "context.1", "expected text, found"),
    ("a.jsonl", b'{"id": "a", "choices": {}}', ":1", "choices", "found an object"),
    (
        "a.jsonl",
        b'{"id": "a", "metadata": "x"}',
        ":1",
        "metadata",
        "expected an object, found text",
    ),
    ("a.jsonl", b'{"id": "a", "labels": [1]}', ":1", "labels", "expected an object, found a list"),
    ("a.jsonl", b'{"id": "a", "history": "x"}', ":1", "history", "expected a list, found text"),
    ("a.jsonl", b'{"id": "a", "history": ["x"]}', ":1", "history.0", "expected an object"),
    ("a.jsonl", b'{"id": "a", "history": [{}]}', ":1", "history.0.role", "missing"),
    (
        "a.jsonl",
        b'{"id": "a", "history": [{"role": "bot", "content": "x"}]}',
        ":1",
        "history.0.role",
        "found 'bot'",
    ),
    (
        "a.jsonl",
        b'{"id": "a", "history": [{"role": "user", "parts": []}]}',
        ":1",
        "history.0.parts",
        "unknown key; remove it",
    ),
    ("a.jsonl", b'{"id": "a", "parent": 1, "baseline": {}}', ":1", "baseline", "(1 more in"),
    ("a.jsonl", b'{"id": "a", "inptu": "x"}', ":1", "inptu", "did you mean 'input'? rename it"),
    ("a.jsonl", b'{"id": "a", "a.b": "x"}', ":1", "a.b", r"fields: {'metadata.a.b': 'a\\.b'}"),
    ("a.jsonl", b'{"id": "a", "zz\\n": 1}', ":1", "zz\n", "unknown key; rename it"),
    ("a.jsonl", b'{"answer": "x", "output": "y"}', ":1", "output", "by 'answer' and by 'output'"),
    ("a.jsonl", b'{"gold": "x", "references": "y"}', ":1", "reference", "by 'gold' and by"),
    (
        "a.jsonl",
        b'{"metadata": {"a": 1}, "metadata.a": 1}',
        ":1",
        "metadata.a",
        "by 'metadata' and by 'metadata.a'",
    ),
    ("a.jsonl", b'{"metadata": 7, "metadata.a": 1}', ":1", "metadata", "by 'metadata' and by"),
    ("a.jsonl", b"{}", ":1", None, "the row holds no field of a case"),
    ("a.jsonl", b'{"input": null}', ":1", None, "the row holds no field of a case"),
    ("a.jsonl.gz", b"not gzip", "", None, "not a complete gzip file"),
    ("a.jsonl.gz", gzip.compress(GOOD * 100, mtime=0)[:-20], "", None, "not a complete gzip file"),
    ("a.csv", b"id,id\na,b\n", ":1", "id", "the header names 'id' twice"),
    ("a.csv", b",input\n0,x\n", ":1", None, "column 1 of the header has no name"),
    ("a.csv", b'id,input\na,"x\ny"\nb,x,y\n', ":4", None, "a row of 3 under a header of 2"),
    ("a.csv", b"id,input\na\n", ":2", None, "a row of 1 under a header of 2"),
    ("a.csv", b'id,input\na,"x\ny\n', ":2", None, "not CSV: unexpected end of data"),
    ("a.csv", b'id,input\na,"x"y\n', ":2", None, "not CSV: ',' expected after"),
    ("a.csv", b"id,input\ra,x\r", ":1", None, "not CSV: a bare carriage return"),
    ("a.csv", b"id,inptu\na,x\n", ":2", "inptu", "did you mean 'input'?"),
    ("a.csv", b"id,metadata\na,x\n", ":2", "metadata", "the cell is not JSON (expected value)"),
    ("a.csv", b"id,metadata\na,[1]\n", ":2", "metadata", "the cell holds a list; write JSON like"),
    ("a.csv", b"id,history\na,{}\n", ":2", "history", "the cell holds an object"),
    ("a.csv", b'id,input\na,x\n"b\n",7\nc,"\n', ":5", None, "unexpected end of data"),
    ("a.csv", b"id,input\na,x\na,y\n", ":3", "id", "'a' was used before at"),
    ("a.txt", GOOD, "", None, "the ending '.txt' does not show"),
    ("cases", GOOD, "", None, "a name without an ending does not show"),
    (".gz", GOOD, "", None, "does not show"),
    ("a.parquet.gz", GOOD, "", None, "Parquet is read from a plain file only"),
]


@pytest.mark.parametrize(
    ("name", "data", "after", "field", "words"),
    BAD,
    ids=lambda value: repr(value)[:40] if isinstance(value, bytes) else None,
)
def test_a_fault_is_one_line_with_its_place(tmp_path, name, data, after, field, words):
    path = tmp_path / name
    path.write_bytes(data)

    with pytest.raises(DatasetError) as caught:
        list(load_cases(path))

    message = str(caught.value)
    assert caught.value.where == f"{path}{after}"
    assert caught.value.field == field
    assert words in message
    assert message.startswith(f"{path}{after}: ")
    assert len(message.splitlines()) == 1
    assert ";" in message
    assert len(message) < len(str(path)) * 2 + 500


def test_a_missing_file_is_refused_at_once(tmp_path):
    with pytest.raises(DatasetError, match=r"none\.jsonl: no such file; check the path"):
        load_cases(tmp_path / "none.jsonl")


def test_a_folder_is_refused_at_once(tmp_path):
    folder = tmp_path / "a.jsonl"
    folder.mkdir()

    with pytest.raises(DatasetError, match="this is a folder"):
        load_cases(folder)


def test_a_file_that_may_not_be_read_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    path.write_bytes(GOOD)

    def refuse(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(DatasetError, match=r"cannot be read \(Permission denied\); check"):
        list(load_cases(path))


def test_parquet_from_standard_input_is_refused():
    with pytest.raises(DatasetError, match="Parquet is read from a plain file only"):
        load_cases("-", container="parquet")


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv"])
def test_a_text_of_ten_megabytes_is_read(tmp_path, name):
    text = "x" * 10_000_000
    row = {"id": "a", "input": text}
    path = tmp_path / name
    path.write_text(
        {
            "a.jsonl": json.dumps(row),
            "a.json": json.dumps([row]),
            "a.csv": f"id,input\na,{text}\n",
        }[name]
    )

    assert next(load_cases(path)).input == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '{"id": "b", "input": "' + "x" * 2000 + '"}\n'),
        ("a.jsonl.gz", '{"id": "b", "input": "' + "x" * 2_000_000 + '"}\n'),
        ("a.csv", "id,input\na,x\nb,xx" + "x" * 2000 + "\n"),
        ("a.csv", 'id,input\na,x\nb,"' + "x\n" * 1000 + '"\n'),
    ],
)
def test_a_row_over_the_limit_is_refused(tmp_path, monkeypatch, name, text):
    monkeypatch.setattr(stream, "MAX_ROW", 1024)
    data = text.encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)

    with pytest.raises(DatasetError, match="the row is longer than"):
        list(load_cases(path))


def test_many_short_rows_are_no_long_row(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "MAX_ROW", 64)
    lines, table = tmp_path / "a.jsonl", tmp_path / "a.csv"
    lines.write_text("".join(f'{{"id": "{number}"}}\n' for number in range(100)))
    table.write_text("id,input\n" + "".join(f"{number},x\n" for number in range(100)))

    assert len(list(load_cases(lines))) == 100
    assert len(list(load_cases(table))) == 100


def test_a_document_over_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "MAX_DOCUMENT", 1024)
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"id": "a", "input": "x" * 2000}]))

    with pytest.raises(DatasetError, match="JSON is read whole; write it as JSON Lines"):
        list(load_cases(path))


@pytest.mark.slow
def test_a_line_of_a_hundred_megabytes_is_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        for _ in range(100):
            file.write(b"x" * 1_000_000)

    with pytest.raises(DatasetError, match=r":1: the row is longer than 64 MB; split it"):
        list(load_cases(path))


@pytest.mark.parametrize(
    ("row", "field", "words"),
    [
        ({"id": "a", "input": "\ud800"}, "input", "half of a surrogate pair"),
        ({"id": "a", "metadata": {"x": ["\udfff"]}}, "metadata.x.0", "half of a surrogate pair"),
        ({"id": "a", "metadata": {"x": float("nan")}}, "metadata.x", "nan is not a JSON number"),
        ({"id": "a", "metadata": {"x": {1, 2}}}, "metadata.x", "a Python set is not a JSON value"),
        ({"id": "a", "metadata": {1: 2}}, "metadata", "the key '1' is a number, not text"),
        ({"id": "a", "metadata": {"x": 10**6000}}, "metadata.x", "more than 4,000 digits"),
        ({"id": "a", "input": b"\xff"}, "input", "not UTF-8"),
        (7, None, "expected an object"),
        ("text", None, "found text"),
        (object(), None, "a Python object is not a JSON value"),
    ],
)
def test_a_python_value_that_is_no_json_is_named(row, field, words):
    with pytest.raises(DatasetError, match=words) as caught:
        list(load_cases([{"id": "good"}, row]))

    assert caught.value.where == "row 2"
    assert caught.value.field == field


def test_python_values_nested_without_end_are_refused():
    value: object = "x"
    for _ in range(100_000):
        value = [value]

    with pytest.raises(DatasetError, match="nested more than 200 levels deep"):
        list(load_cases([{"id": "a", "metadata": {"x": value}}]))
