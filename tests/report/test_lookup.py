from __future__ import annotations

from pathlib import Path

import pytest

from judgekit import create_metric
from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.report.folder import RESULTS, read_placed
from judgekit.report.lookup import ResultsLookup
from judgekit.report.report import Report
from judgekit.runner.evaluation import evaluate_sync

IDS = ["a", 'quote " and \\ backslash', "line\nend", '{"type":"case"', "ü\u2028\U0001f600", "z"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    cases = [Case(id=id, output="\n" + id * 3) for id in IDS]
    metrics = [create_metric("length", maximum=99), create_metric("exact_match")]
    evaluate_sync(cases, metrics, out=tmp_path / "run")
    return tmp_path / "run"


def test_cases_are_read_in_any_order(folder: Path) -> None:
    report = Report.read(folder)
    places = dict(report.stored.placed())

    found = list(report.stored.at(reversed(places)))

    assert found == list(reversed(list(report.results)))
    assert [scored.case.id for scored in reversed(found)] == IDS


def test_results_in_memory_have_places_too() -> None:
    report = evaluate_sync(
        [Case(id=id, output="x") for id in IDS], [create_metric("length", maximum=99)]
    )

    places = [place for place, _ in report.stored.placed()]

    assert [scored.case.id for scored in report.stored.at(places[::2])] == IDS[::2]


def test_line_ends_of_windows_shift_no_offset(folder: Path) -> None:
    path = folder / RESULTS
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    with ResultsLookup(folder) as results:
        assert all(results.at(place) == scored for place, scored in read_placed(folder))


def test_an_offset_that_is_no_case_is_an_error(folder: Path) -> None:
    size = (folder / RESULTS).stat().st_size
    known = {place for place, _ in read_placed(folder)}

    with ResultsLookup(folder) as results:
        for offset in [*range(-2, size + 3), 2**62]:
            if offset not in known:
                with pytest.raises(ConfigError, match="not a result judgekit wrote; run it again"):
                    results.at(offset)


def test_rows_after_a_cut_are_left_out(folder: Path) -> None:
    path = folder / RESULTS
    path.write_bytes(path.read_bytes()[:-10])
    *_, last = (place for place, _ in read_placed(folder))

    with ResultsLookup(folder) as results:
        assert [row.metric for row in results.at(last).rows] == ["length"]
