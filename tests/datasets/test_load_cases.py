from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import threading

import pytest
from typer.testing import CliRunner

from judgekit.cli.app import app
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError, DatasetError
from judgekit.datasets import load_cases
from judgekit.datasets.ids import is_numbered
from judgekit.datasets.load import find_places

ROWS = [{"id": "a", "input": "2+2?", "output": "4"}, {"id": "b", "input": "3+3?", "output": "6"}]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", LINES),
        ("a.ndjson", LINES),
        ("a.JSONL", LINES),
        ("a.jsonl", LINES.replace("\n", "\r\n")),
        ("a.jsonl", "\ufeff" + LINES),
        ("a.jsonl", "\n  \n" + LINES + "\n"),
        ("a.jsonl.gz", gzip.compress(LINES.encode(), mtime=0)),
        ("a.json", json.dumps(ROWS)),
        ("a.json", "\ufeff" + json.dumps(ROWS)),
        ("a.json", json.dumps({"about": "sums", "cases": ROWS})),
        ("a.json", json.dumps({"data": ROWS})),
        ("a.json", json.dumps({"rows": ROWS})),
        ("a.json", json.dumps({"eval": {}, "samples": ROWS})),
        ("a.json", json.dumps({"data": ROWS, "items": [1]})),
        ("a.json.gz", gzip.compress(json.dumps(ROWS).encode(), mtime=0)),
        ("a.csv", "id,input,output\na,2+2?,4\nb,3+3?,6\n"),
        ("a.csv", "\ufeffid,input,output\r\na,2+2?,4\r\n\r\nb,3+3?,6\r\n"),
        ("a.csv.gz", gzip.compress(b"id,input,output\na,2+2?,4\nb,3+3?,6\n", mtime=0)),
    ],
)
def test_every_kind_of_file_gives_the_same_cases(tmp_path, name, text):
    path = written(tmp_path, name, text)

    assert list(load_cases(path)) == [Case(**row) for row in ROWS]
    assert list(load_cases(str(path))) == [Case(**row) for row in ROWS]


@pytest.mark.parametrize("container", [None, "auto", "jsonl", "json", "csv"])
def test_standard_input_is_read(monkeypatch, container):
    texts = {"json": json.dumps(ROWS), "csv": "id,input,output\na,2+2?,4\nb,3+3?,6\n"}
    data = texts.get(container, LINES).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    assert [case.id for case in load_cases("-", container=container)] == ["a", "b"]


def test_standard_input_without_bytes_is_read(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(LINES))

    assert [case.id for case in load_cases("-")] == ["a", "b"]


def test_missing_standard_input_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)

    with pytest.raises(DatasetError, match="<stdin>: there is no standard input"):
        list(load_cases("-"))


def test_a_fault_in_standard_input_has_a_place(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(LINES + "{\n"))

    with pytest.raises(DatasetError, match="<stdin>:3: not JSON"):
        list(load_cases("-"))


def test_cases_and_dicts_may_be_mixed():
    case = Case(id="a", input="2+2?")

    first, second = load_cases(item for item in (case, {"id": 2, "prompt": "3+3?"}))

    assert first is case
    assert second == Case(id="2", input="3+3?")


def test_nothing_given_is_no_cases():
    assert list(load_cases([])) == []


def test_rows_are_read_only_when_reached():
    def rows():
        yield {"id": "a"}
        raise AssertionError("read too far")

    assert next(load_cases(rows())).id == "a"
    assert [case.id for case in load_cases(rows(), limit=1)] == ["a"]


def test_a_file_is_closed_when_reading_stops_early(tmp_path):
    path = written(tmp_path, "a.jsonl", LINES)
    cases = load_cases(path)
    next(cases)

    del cases
    path.unlink()


@pytest.mark.parametrize(
    ("key", "field"),
    [
        ("prompt", "input"),
        ("question", "input"),
        ("query", "input"),
        ("response", "output"),
        ("answer", "output"),
        ("completion", "output"),
        ("prediction", "output"),
        ("system_prompt", "system"),
    ],
)
def test_common_names_of_texts_are_understood(key, field):
    (case,) = load_cases([{"id": "a", key: "x"}])

    assert getattr(case, field) == "x"


@pytest.mark.parametrize(
    ("key", "field"),
    [
        ("expected_output", "reference"),
        ("ground_truth", "reference"),
        ("gold", "reference"),
        ("references", "reference"),
        ("contexts", "context"),
        ("retrieved_contexts", "context"),
        ("documents", "context"),
    ],
)
def test_common_names_of_lists_are_understood(key, field):
    one, many = load_cases([{"id": "a", key: "x"}, {"id": "b", key: ["x", "y"]}])

    assert getattr(one, field) == ("x",)
    assert getattr(many, field) == ("x", "y")


def test_null_counts_as_missing():
    (case,) = load_cases(
        [{"id": "a", "input": "x", "metadata": None, "answer": None, "output": "y"}]
    )

    assert case == Case(id="a", input="x", output="y")


def test_a_dotted_key_names_one_value():
    (case,) = load_cases([{"id": "a", "metadata": {"a": 1}, "metadata.b.c": 2, "labels.x": None}])

    assert case.metadata == {"a": 1, "b.c": 2}
    assert case.labels == {"x": None}


def test_an_id_that_is_a_whole_number_becomes_text():
    assert [case.id for case in load_cases([{"id": 7}, {"id": -1}])] == ["7", "-1"]


def test_ids_are_derived_from_content_and_survive_sorting(tmp_path):
    rows = [{"input": str(number)} for number in range(5)]

    forward = [case.id for case in load_cases(rows)]
    backward = [case.id for case in load_cases(list(reversed(rows)))]

    assert forward == list(reversed(backward))
    assert all(len(name) == 12 for name in forward)
    path = written(tmp_path, "a.csv", "input\n0\n")
    assert next(load_cases(path)).id == forward[0]


def test_a_repeated_id_is_refused_with_both_places(tmp_path):
    path = written(tmp_path, "a.jsonl", '{"id": "a"}\n{"id": "b"}\n{"id": "a", "input": "x"}\n')

    with pytest.raises(DatasetError) as caught:
        list(load_cases(path))

    assert str(caught.value) == (
        f"{path}:3: field 'id': 'a' was used before at {path}:1; give every row its own id"
    )


def test_a_repeated_id_in_a_stream_has_its_own_place(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"id": "a"}\n{"id": "a"}\n'))

    with pytest.raises(DatasetError, match=r"^<stdin>:2: field 'id': 'a' was used before; give"):
        list(load_cases("-"))


def test_repeated_rows_without_ids_are_numbered_whatever_is_between_them():
    same, other = {"input": "x"}, {"input": "y"}
    (id,) = (case.id for case in load_cases([same]))

    for rows in ([same, other, same, same], [same, same, other, same]):
        cases = list(load_cases(rows))

        assert [case.id for case in cases if case.input == "x"] == [id, f"{id}-2", f"{id}-3"]
        assert [is_numbered(case) for case in cases if case.input == "x"] == [False, True, True]


def test_a_number_never_takes_an_id_that_a_row_has():
    (id,) = (case.id for case in load_cases([{"input": "x"}]))
    rows = [{"input": "x"}, {"input": "x"}, {"id": f"{id}-2", "input": "z"}]

    with pytest.raises(DatasetError, match=f"row 3: field 'id': '{id}-2' was used before at row 2"):
        list(load_cases(rows))


def test_the_place_of_a_numbered_row_is_its_own(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("input,output\na,b\nc,d\na,b\n", "utf-8")
    ids = [case.id for case in load_cases(path)]

    assert [line for _, line in find_places(path, ids).values()] == [2, 3, 4]


def test_a_run_says_how_many_rows_are_numbered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("input,output\na,b\nc,d\na,b\n", "utf-8")
    (tmp_path / "suite.yaml").write_text("cases: rows.csv\nmetrics: {length: {maximum: 3}}\n")
    run = CliRunner().invoke(app, ["run", "suite.yaml"])
    lint = CliRunner().invoke(app, ["cases", "lint", "rows.csv"])

    assert run.exit_code == 0
    assert "1 row repeats an earlier one without an id; the ids are numbered" in run.output
    assert "rows.csv:4: warning repeated-row" in lint.output


def test_a_limit_stops_before_later_faults():
    rows = [{"id": "a"}, {"id": "a"}]

    assert len(list(load_cases(rows, limit=1))) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"limit": 0}, "limit is 0; give a whole number from 1 to 1,000,000,000,000"),
        ({"limit": -1}, "limit is -1;"),
        ({"limit": True}, "limit must be a whole number, not True"),
        ({"limit": 10**30}, "limit is 1000000000000000000000000000000;"),
        ({"limit": 1.5}, "limit must be a whole number"),
        ({"format": "chats"}, r"format: 'chats' is not known; did you mean 'chat'\?"),
        ({"container": "xml"}, "container: 'xml' is not known"),
        ({"fields": {"inptu": "x"}}, r"fields: 'inptu' is not a field .* did you mean 'input'\?"),
        ({"fields": {"input.x": "x"}}, r"fields: 'input\.x' is not a field"),
        ({"fields": {"input": ""}}, "the path '' has an empty key"),
        ({"fields": {"input": 1}}, "fields..input.. must be text, not 1"),
    ],
)
def test_a_wrong_setting_is_refused_at_once(options, words):
    with pytest.raises(ConfigError, match=words):
        load_cases([{"id": "a"}], **options)


@pytest.mark.parametrize("source", [{"id": "a"}, b"x", 7, None, LINES, "x" * 2000])
def test_a_source_of_the_wrong_kind_is_refused_at_once(source):
    with pytest.raises(ConfigError, match="cannot load cases from"):
        load_cases(source)


def test_importing_loads_nothing_heavy():
    code = (
        "import sys, judgekit.datasets\n"
        "print([m for m in ('pyarrow', 'yaml', 'numpy', 'pandas') if m in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "cases.jsonl"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=('{"id": "a"}\n{"id": "a"}\n',))
    writer.start()

    with pytest.raises(DatasetError, match=r":2: field 'id': 'a' was used before; give"):
        list(load_cases(pipe))
    writer.join()


@pytest.mark.parametrize("source", ["file", "list"])
@pytest.mark.parametrize(
    ("value", "text"),
    [(42, "42"), (1.5, "1.5"), (1e300, "1e+300"), (True, "true"), (10**30, str(10**30)), (0, "0")],
)
def test_numbers_and_booleans_are_text_where_text_is_meant(tmp_path, source, value, text):
    row = {"id": "a", "output": value, "input": value, "reference": [value, "b"], "context": value,
           "metadata": {"kept": value}}  # fmt: skip
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps(row), "utf-8")

    (case,) = load_cases(path if source == "file" else [row])

    assert (case.output, case.input, case.reference, case.context) == (
        text,
        text,
        (text, "b"),
        (text,),
    )
    assert case.metadata["kept"] == value
