"""The detectors against texts that were written after them, and those that corrected them."""

from __future__ import annotations

from collections import Counter

import pytest

from docs.generate import personal_data
from docs.generate.personal_data import labelled_texts, measure
from judgekit.privacy.detectors import DETECTORS, SCANNED, find_all
from judgekit.privacy.redact import redactor
from judgekit.privacy.scan import scan

EXTRA = "SSN 219-45-6780, IBAN DE89 3704 0044 0532 0130 00, born on 3 May 1980, Dr. Ann Lee"


@pytest.fixture(scope="module")
def figures():
    return {row.kind: row for row in measure()}


def test_each_kind_has_thirty_texts_and_thirty_look_alikes():
    counts = Counter((one.kind, bool(one.spans)) for one in labelled_texts())

    assert counts == {(kind, private): 30 for kind in DETECTORS for private in (True, False)}
    assert len(DETECTORS) == 20


def test_most_private_data_is_removed_and_few_look_alikes(figures):
    assert set(figures) == set(DETECTORS)
    assert [row for row in figures.values() if row.removed < 20 or row.alarms > 5] == []


def test_over_all_kinds_recall_and_false_alarms_hold(figures):
    removed = sum(row.removed for row in figures.values())
    alarms = sum(row.alarms for row in figures.values())

    assert removed >= 525
    assert alarms <= 6


def test_the_texts_that_corrected_the_detectors_still_pass(monkeypatch):
    seen = personal_data.TEXTS.with_name("personal_data_seen.txt")
    monkeypatch.setattr(personal_data, "TEXTS", seen)

    assert sum(row.removed for row in measure()) >= 570


def test_new_kinds_change_nothing_for_those_who_do_not_name_them(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(EXTRA, "utf-8")

    assert redactor(SCANNED)(EXTRA) == EXTRA
    assert scan([path]).findings == []
    assert SCANNED == ("key", "email", "card", "ip", "phone")
    assert set(scan([path], kinds=list(DETECTORS)).counts) == {"birth_date", "iban", "name", "ssn"}


def test_kinds_are_opt_in_for_redaction():
    assert redactor(["ssn", "iban"])(EXTRA).count("[SSN-") == 1
    assert "219-45-6780" not in redactor(["ssn"])(EXTRA)


@pytest.mark.parametrize(
    "piece", ["SSN 1", "born 1", "Dr. A", "passport ", "12 A Street ", "1.1111, "]
)
def test_long_texts_of_one_piece_are_read(piece):
    assert len(find_all(piece * 2_000, DETECTORS)) < 4_000
