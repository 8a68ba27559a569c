"""CSV and Excel workbooks with a row per case."""

from __future__ import annotations

import csv

import pytest

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.score import Part, Score
from judgekit.report.export.spreadsheet import MAX_CELL
from judgekit.report.wide import MOST_KEYS, wide_table
from judgekit.runner.evaluation import evaluate_sync
from tests.report.export.conftest import HOWS, make_report

openpyxl = pytest.importorskip("openpyxl")


class Fixed:
    """Gives each case the same value, with two criteria."""

    name = "fixed"
    range = (0.0, 1.0)
    higher_is_better = True

    def __init__(self, name="fixed", criteria=("good", "status")):
        self.name, self.criteria = name, criteria

    async def score(self, case):
        parts = tuple(Part(id=id, value=0.1 + 0.2, weight=0.5) for id in self.criteria)
        return Score(value=0.5930500000000001, reason="Fine.", parts=parts, source="judge")


def read(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_csv_has_a_row_per_case_with_its_texts_and_criteria(tmp_path):
    make_report().export("csv", tmp_path / "cases.csv")

    rows = read(tmp_path / "cases.csv")
    assert list(rows[0])[:5] == ["case", "output", "tone", "tone.passed", "tone.status"]
    assert {"tone.reason", "length", "metadata.how"} < set(rows[0])
    assert [row["tone"] for row in rows] == ["0.25", "", "", "", "", "", "1.0"]
    assert [row["tone.passed"] for row in rows] == ["false", "", "", "", "", "", "true"]
    assert [row["tone.status"] for row in rows] == [
        "scored", "failed", "failed", "abstained", "not_applicable", "fallback", "scored",
    ]  # fmt: skip
    assert rows[1]["tone.reason"] == "invalid_case: cannot: so so"
    assert rows[5]["tone.reason"] == "token_f1 gave 0.9: so so"
    assert len(rows) == len(HOWS)


def test_numbers_are_rounded_and_names_are_used_once(tmp_path):
    case = Case(id="a", input="Hi", output="Ho", reference=["x", "y"], metadata={"n": 0.1 + 0.2})
    report = evaluate_sync([case], [Fixed(), Fixed("input", ())])

    report.export("csv", tmp_path / "cases.csv")

    (row,) = read(tmp_path / "cases.csv")
    assert row["fixed"] == "0.59305"
    assert row["fixed.good"] == row["fixed.status (2)"] == row["metadata.n"] == "0.3"
    assert (row["input"], row["input (2)"]) == ("Hi", "0.59305")
    assert row["reference"] == "x\ny"


def test_further_metadata_share_a_column():
    cases = [Case(id=str(n), output="x", metadata={f"k{n}": n}) for n in range(MOST_KEYS + 2)]

    table = wide_table(evaluate_sync(cases, [Fixed()]))

    *_, last = table.rows()
    assert last["metadata"] == '{"k101":101}'
    assert len(table.columns) < MOST_KEYS + 10


def test_the_place_of_a_case_without_an_id(tmp_path):
    report = make_report()
    report.places["plain/bad"] = "line 2 of cases.csv"

    report.export("csv", tmp_path / "cases.csv")

    assert read(tmp_path / "cases.csv")[0]["place"] == "cases.csv:2"


def test_no_cell_of_a_hostile_run_is_a_formula(hostile, tmp_path):
    hostile.export("csv", tmp_path / "cases.csv")
    hostile.export("excel", tmp_path / "cases.xlsx")

    texts = [*read(tmp_path / "cases.csv")[0], *read(tmp_path / "cases.csv")[0].values()]
    assert not [text for text in texts if text.lstrip().startswith(tuple("=+@＝＋－＠"))]
    book = openpyxl.load_workbook(tmp_path / "cases.xlsx")
    cells = [cell for row in book["Cases"].iter_rows() for cell in row]
    assert not [cell for cell in cells if cell.data_type == "f"]
    formulas = [c for c in cells if isinstance(c.value, str) and c.value.startswith("=")]
    assert formulas
    assert all(cell.quotePrefix for cell in formulas)


@pytest.mark.parametrize("text", ["\U0001f600" * 20_000, "x" + "\U0001f600" * 20_000])
def test_a_cell_is_cut_by_units_of_utf_16(tmp_path, text):
    make_report(texts={"plain": text}).export("excel", tmp_path / "cases.xlsx")

    book = openpyxl.load_workbook(tmp_path / "cases.xlsx")
    header, first, *_ = book["Cases"].iter_rows(values_only=True)
    output = dict(zip(header, first, strict=True))["output"]
    assert MAX_CELL - 1 <= len(output.encode("utf-16-le")) // 2 <= MAX_CELL
    assert output.endswith(f"\U0001f600… (cut: {len(text):,} characters)")


def test_a_workbook_has_cases_and_figures(tmp_path):
    make_report(texts={"plain": "x" * 40_000}).export("excel", tmp_path / "cases.xlsx")

    book = openpyxl.load_workbook(tmp_path / "cases.xlsx")
    header, first, *_ = book["Cases"].iter_rows(values_only=True)
    row = dict(zip(header, first, strict=True))
    assert (row["tone"], row["tone.passed"]) == (0.25, False)
    assert len(row["output"]) == MAX_CELL
    assert row["output"].endswith("… (cut: 40,000 characters)")
    figures = list(book["Metrics"].iter_rows(values_only=True))
    assert [line[0] for line in figures] == ["metric", "tone", "length"]


def test_only_its_own_workbook_is_replaced(tmp_path):
    path = tmp_path / "cases.xlsx"
    report = make_report()
    report.export("excel", path)
    report.export("excel", path)
    book = openpyxl.load_workbook(path)
    book.properties.lastModifiedBy = "Ann"
    book.save(path)

    with pytest.raises(ConfigError, match="is there already and is not excel of a run"):
        report.export("excel", path)


def test_csv_of_older_versions_is_replaced(tmp_path):
    path = tmp_path / "cases.csv"
    report = make_report()
    report.export("csv-long", path)
    report.export("csv", path)

    assert path.read_bytes().startswith(b"\xef\xbb\xbfcase,")
    path.write_text("name,score\n", "utf-8")
    with pytest.raises(ConfigError, match="is not csv of a run"):
        report.export("csv", path)
