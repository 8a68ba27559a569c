"""Rows of Excel workbooks: the same cases as in CSV, in bounded memory and time."""

from __future__ import annotations

import datetime
import io
import re
import zipfile

import openpyxl
import pytest

from judgekit.core.errors import DatasetError
from judgekit.datasets import excel_reader, load_cases
from judgekit.datasets.load import find_places
from judgekit.suite.suite import load_suite


def book(tmp_path, *sheets, name="rows.xlsx"):
    """Write sheets, each a title and rows, and return the path."""
    path = tmp_path / name
    made = openpyxl.Workbook()
    made.remove(made.active)
    for title, rows in sheets:
        sheet = made.create_sheet(title)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


def test_a_sheet_is_read_like_a_table(tmp_path):
    path = book(
        tmp_path,
        ("Desk", [
            ["id", "question", "answer", "context", "metadata.day", "metadata.stars"],
            [7, "When?", "At nine.", '["We open at nine.", "x"]', datetime.date(2026, 3, 1), 4.0],
            [None] * 6,
            ["b", "Why?", None, None, None, True],
        ]),
        ("Empty", []),
    )  # fmt: skip
    first, second = load_cases(path)

    assert (first.id, first.input, first.output) == ("7", "When?", "At nine.")
    assert first.context == ("We open at nine.", "x")
    assert first.metadata == {"day": "2026-03-01", "stars": "4"}
    assert (second.id, second.output, second.metadata) == ("b", None, {"stars": "true"})
    places = find_places(path, ["7", "b"])
    assert [line for _, line in places.values()] == [2, 4]


def test_messages_in_cells_are_read(tmp_path):
    talk = '[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]'
    (case,) = load_cases(book(tmp_path, ("S", [["messages"], [talk]])))

    assert (case.input, case.output) == ("Hi", "Hello")


def test_one_of_several_sheets_is_named(tmp_path, monkeypatch):
    rows = [["id", "output"], ["a", "x"]]
    path = book(tmp_path, ("One", rows), ("Two", [*rows, ["b", "y"]]))

    with pytest.raises(DatasetError, match=r"several sheets have cells \('One', 'Two'\); name one"):
        list(load_cases(path))
    with pytest.raises(DatasetError, match="no sheet 'Too'; did you mean 'Two'"):
        list(load_cases(path, sheet="Too"))
    assert [case.id for case in load_cases(path, sheet="Two")] == ["a", "b"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite.yaml").write_text(
        "cases: {path: rows.xlsx, sheet: Two}\nmetrics: {length: {maximum: 3}}\n", "utf-8"
    )
    suite = load_suite("suite.yaml")
    assert [case.id for case in suite.data.cases()] == ["a", "b"]
    suite.close()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["id", "output", "output"], ["a", "x", "y"]], "rows.xlsx:1: field 'output': the header"),
        ([["id", None, "output"], ["a", "x", "y"]], "rows.xlsx:1: column 2 of the header has no"),
        ([["id", "output"], ["a", "x", "y"]], "rows.xlsx:2: a row of 3 cells under a header of 2"),
        ([["id", "output"], ["a", "#N/A"]], "rows.xlsx:2: a cell is the error #N/A of Excel"),
        (
            [["id", "outputs"], ["a", "x"]],
            "rows.xlsx:2: field 'outputs': unknown key; did you mean",
        ),
        ([["id", "output"]], "rows.xlsx: there are no cases in it"),
        ([], "rows.xlsx: there are no cells in it"),
    ],
)
def test_a_wrong_sheet_has_its_place(tmp_path, rows, message):
    path = book(tmp_path, ("S", rows))

    with pytest.raises(DatasetError, match=re.escape(message)):
        list(load_cases(path))


def changed(path, name, change):
    """Replace a file in a workbook."""
    with zipfile.ZipFile(path) as archive:
        files = {entry: archive.read(entry) for entry in archive.namelist()}
    files[name] = change(files[name])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in files.items():
            archive.writestr(entry, data)
    return path


SHEET = "xl/worksheets/sheet1.xml"


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path):
    path = book(tmp_path, ("S", [["id", "output"], ["a", "x"]]))
    zeros = b" " * (excel_reader.MAX_UNPACKED + 1)
    changed(path, SHEET, lambda data: data.replace(b"<sheetData>", b"<sheetData>" + zeros))

    assert path.stat().st_size < 2**20
    with pytest.raises(DatasetError, match="unpacks to more than 256 MB"):
        list(load_cases(path))


def test_a_row_far_beyond_the_sheet_ends_it(tmp_path):
    path = book(tmp_path, ("S", [["id", "output"], ["a", "x"], ["b", "y"]]))
    changed(path, SHEET, lambda data: data.replace(b'<row r="3"', b'<row r="99999999999"'))

    assert [case.id for case in load_cases(path)] == ["a"]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"<x/>",
        lambda data: b"\x00\xff not XML",
        lambda data: b'<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><x>&b;</x>',
    ],
)
@pytest.mark.parametrize("name", [SHEET, "xl/workbook.xml"])
def test_a_damaged_workbook_is_one_line(tmp_path, name, change):
    path = book(tmp_path, ("S", [["id", "output"], ["a", "x"]]))

    with pytest.raises(DatasetError) as caught:
        list(load_cases(changed(path, name, change)))
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("data", [b"", b"id,output\na,x\n", b"PK\x03\x04 no archive"])
def test_another_file_under_the_name_is_refused(tmp_path, data):
    path = tmp_path / "rows.xlsx"
    path.write_bytes(data)

    with pytest.raises(DatasetError, match=r"rows\.xlsx: not an Excel workbook"):
        list(load_cases(path))


def test_a_workbook_is_no_stream(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"PK"), "utf-8"))

    with pytest.raises(DatasetError, match="Excel workbooks are read from a plain file only"):
        list(load_cases("-", container="excel"))


def refused(path):
    with pytest.raises(DatasetError) as caught:
        list(load_cases(path))
    return str(caught.value).removeprefix(f"{path}: ")


def test_a_formula_without_a_stored_value_is_named(tmp_path):
    rows = [["id", "output"], ["a", "x"], ["b", '=CONCAT("a", "b")'], ["c", "=B2"]]
    path = book(tmp_path, ("Sheet", rows))

    assert refused(path) == (
        "cell B3 and 1 more are formulas without a stored value; save it in Excel or LibreOffice, "
        "which stores the values, or as CSV"
    )


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ('<c r="B2"><f>1+1</f><v>2</v></c>', "2"),
        ('<c r="B2" t="str"><f>IF(A2="x","","y")</f><v></v></c>', None),
        ('<c r="B2" t="str"><f t="shared" si="0"/><v>y</v></c>', "y"),
        ('<c r="B2"><f>1+1</f><v/></c>', "cell B2 is a formula without a stored value"),
        ('<c r="B2"><f t="shared" si="0"/></c>', "cell B2 is a formula without a stored value"),
    ],
)
def test_a_value_that_a_program_stored_with_a_formula_counts(tmp_path, cell, value):
    """As Excel writes cells: an empty text is a value, and no element is none."""
    path = book(tmp_path, ("Sheet", [["id", "input", "output"], ["a", "?", "x"]]))
    other = tmp_path / "formula.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name.startswith("xl/worksheets/"):
                text = re.sub(rb'<c r="B2".*?</c>', cell.encode(), text)
            new.writestr(name, text)

    if value is not None and value.startswith("cell"):
        assert refused(other).startswith(value)
    else:
        assert next(load_cases(other)).input == value


def test_merged_cells_are_named(tmp_path):
    path = tmp_path / "merged.xlsx"
    made = openpyxl.Workbook()
    for row in (["id", "input", "output"], ["a", "?", "x"], [None, "?", "y"]):
        made.active.append(row)
    made.active.merge_cells("A2:A3")
    made.save(path)

    assert refused(path) == (
        "the cells A2:A3 are merged, and only the first has the value; unmerge them, and fill in "
        "the rest"
    )


def test_a_header_is_read_without_characters_that_look_like_nothing(tmp_path):
    header = ["\u200bid", "in\u00adput", "\uff4futput\u00a0", "Gr\u00fc\u00dfe"]
    path = book(tmp_path, ("Sheet", [header[:3], ["a", "?", "x"]]))
    table = tmp_path / "rows.csv"
    table.write_text(",".join(header[:3]) + "\na,?,x\n", "utf-8")

    (case,), (same,) = load_cases(path), load_cases(table)

    assert (case.id, case.input, case.output) == ("a", "?", "x")
    assert same == case
