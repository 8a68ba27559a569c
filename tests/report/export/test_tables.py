"""Long CSV and Parquet: the same rows, each in its own way."""

from __future__ import annotations

import csv
import json

import pytest

from judgekit.report.table import EXPORTED
from tests.report.export.conftest import HOSTILE, HOWS, make_report


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_csv_has_a_row_per_case_and_metric(tmp_path):
    make_report().export("csv-long", tmp_path / "cases.csv")

    rows = read(tmp_path / "cases.csv")
    assert list(rows[0]) == list(EXPORTED)
    assert [(r["case"], r["metric"]) for r in rows[:2]] == [
        ("plain/bad", "tone"), ("plain/bad", "length"),
    ]  # fmt: skip
    assert len(rows) == 2 * len(HOWS)
    assert [r["status"] for r in rows[::2]] == [
        "scored", "failed", "failed", "abstained", "not_applicable", "fallback", "scored",
    ]  # fmt: skip


def test_numbers_stay_numbers_and_what_is_missing_is_empty(tmp_path):
    make_report().export("csv-long", tmp_path / "cases.csv")

    rows = read(tmp_path / "cases.csv")[::2]
    assert [r["value"] for r in rows] == ["0.25", "", "", "", "", "", "1.0"]
    assert [r["passed"] for r in rows] == ["false", "", "", "", "", "", "true"]
    assert [r["fallback_value"] for r in rows] == ["", "", "", "", "", "0.9", ""]
    assert json.loads(rows[0]["metadata"]) == {"how": "bad", "text": "so so"}


def test_no_cell_of_a_hostile_run_is_a_formula(hostile, tmp_path):
    hostile.export("csv-long", tmp_path / "cases.csv")

    rows = read(tmp_path / "cases.csv")
    assert len(rows) == 2 * 7 * len(HOSTILE)
    for row in rows:
        for name, cell in row.items():
            if EXPORTED[name] == "text":
                assert not cell.lstrip().startswith(tuple("=+-@＝＋－＠")), (name, cell)
    assert "'=HYPERLINK" in (tmp_path / "cases.csv").read_text("utf-8")
    assert "\x00" not in (tmp_path / "cases.csv").read_text("utf-8")


def test_parquet_has_the_same_rows_as_they_are(hostile, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    hostile.export("parquet", tmp_path / "cases.parquet")

    rows = pq.read_table(tmp_path / "cases.parquet").to_pylist()
    assert [r["case"] for r in rows[: 2 * len(HOSTILE) : 2]] == list(HOSTILE.values())
    assert rows[0]["value"] == 0.25
    assert rows[0]["passed"] is False
    assert rows[1]["value"] == float(len(HOSTILE["tags"]))
    assert rows[1]["passed"] is None


def test_parquet_is_written_in_groups(tmp_path, monkeypatch):
    pq = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("judgekit.report.export.export.ROWS", 4)
    make_report().export("parquet", tmp_path / "cases.parquet")

    assert pq.ParquetFile(tmp_path / "cases.parquet").num_row_groups == 4
