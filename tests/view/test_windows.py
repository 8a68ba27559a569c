"""Very large runs in `judgekit view`, page by page; small bounds stand for the large ones."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.score import Failure, Score
from judgekit.pages.run.kept import BOUNDS
from judgekit.report.folder import INDEX, RESULTS
from judgekit.report.report import Report
from judgekit.runner.evaluation import evaluate_sync
from judgekit.view import pages
from judgekit.view.index import STATES, CaseQuery, RunIndex
from judgekit.view.pages import Pages
from judgekit.view.runs import Runs

FEW = BOUNDS._replace(cases=20)
HOSTILE = 'a"b\\c\n</script>\u2028{"type":"case"'


class Parity:
    """A metric with a value for each case, and a failure for every seventh."""

    range = (0.0, 1.0)
    higher_is_better = True

    def __init__(self, name: str, by: int) -> None:
        self.name, self._by = name, by

    async def score(self, case: Case) -> Score:
        number = int(case.output or 0)
        if number % 7 == 3:
            raise ValueError("cannot be scored")
        return Score(value=number * self._by % 101 / 101, reason=f"It is {number}.")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    ids = [f"case-{n}" for n in range(60)]
    ids[8] = HOSTILE
    cases = [Case(id=id, output=str(n), system="s" * n) for n, id in enumerate(ids)]
    metrics = [Parity("first", 37), Parity("second", 53)]
    evaluate_sync(cases, metrics, out=tmp_path / "root" / "run", thresholds={"first": 0.4})
    return tmp_path / "root" / "run"


def window(folder: Path, **query: Any) -> dict[str, Any]:
    """Ask a new server for a window."""
    at = query.pop("at", 0)
    line, path = Runs(folder.parent).find(folder.name)
    data = Pages(bounds=FEW).window(line, path, CaseQuery(**query), at=at)
    json.dumps(data, allow_nan=False)
    return data


def ids(data: dict[str, Any]) -> list[str]:
    return [case["id"] for case in data["cases"]]


def states_of(folder: Path, metric: str) -> dict[str, str]:
    """What a metric is on each case, from the rows alone."""
    states = {}
    for scored in Report.read(folder).results:
        result = next(row.result for row in scored.rows if row.metric == metric)
        if isinstance(result, Failure):
            states[scored.case.id] = result.kind
        elif metric == "first":
            states[scored.case.id] = "passes" if result.value >= 0.4 else "below"
        else:
            states[scored.case.id] = "scored"
    return states


def test_every_case_is_reached_in_the_order_of_the_worst(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "WINDOW", 13)
    found: list[str] = []
    while True:
        data = window(folder, at=len(found))
        found += ids(data)
        if len(found) >= data["total"]:
            break

    assert data["of"] == data["total"] == 60
    assert sorted(found) == sorted(scored.case.id for scored in Report.read(folder).results)
    first = states_of(folder, "first")
    kinds = ["below" if first[id] == "below" else "x" for id in found]
    assert kinds == sorted(kinds)  # misses first


@pytest.mark.parametrize("metric", ["first", "second"])
@pytest.mark.parametrize(
    "status", ["below", "passes", "scored", "metric_error", "failing", "failed"]
)
def test_cases_are_filtered(folder: Path, metric: str, status: str) -> None:
    states = states_of(folder, metric)
    wanted = {"failing": ("below", "metric_error"), "failed": ("metric_error",)}.get(
        status, (status,)
    )

    data = window(folder, status=status, metric=metric, worst_first=False)

    assert ids(data) == [id for id, state in states.items() if state in wanted]
    assert data["total"] == len(ids(data))


def test_cases_are_found_by_id(folder: Path) -> None:
    assert ids(window(folder, id=HOSTILE)) == [HOSTILE]
    assert ids(window(folder, text="</SCRIPT>")) == [HOSTILE]
    assert ids(window(folder, text="CASE-5", worst_first=False)) == [
        "case-5", *(f"case-5{n}" for n in range(10))
    ]  # fmt: skip
    assert window(folder, id="none")["cases"] == []
    assert window(folder, metric="none", status="failed")["total"] == 0
    assert window(folder, at=10**9)["at"] == 59


def test_a_window_has_the_texts_of_its_cases(folder: Path) -> None:
    data = window(folder, id="case-7")

    (case,) = data["cases"]
    assert data["texts"][case["system"]] == "s" * 7
    assert case["rows"]["second"]["reason"] == "It is 7."


def test_an_index_is_kept_and_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = window(folder)
    assert (folder / INDEX).stat().st_size < 2_000
    monkeypatch.setattr(RunIndex, "rebuild", None)  # would be called for a stale index

    assert window(folder) == first


def lie(folder: Path, change: Any) -> None:
    """Change an index and its digest, as somebody who wants to mislead would."""
    import hashlib

    head, _, body = (folder / INDEX).read_bytes().partition(b"\n")
    body = change(bytearray(body))
    header = {**json.loads(head), "digest": hashlib.sha256(body).hexdigest()}
    (folder / INDEX).write_bytes(json.dumps(header).encode() + b"\n" + body)


def swap(body: bytearray) -> bytes:
    """A failing and a passing case change places in what the index says of them."""
    states = 4 * 60
    one = next(n for n in range(60) if STATES[body[states + 2 * n]] == "passes")
    other = next(n for n in range(60) if STATES[body[states + 2 * n]] == "metric_error")
    for place in range(2):
        at, to = states + 2 * one + place, states + 2 * other + place
        body[at], body[to] = body[to], body[at]
    return bytes(body)


LIES = {
    "order": lambda body: bytes(body[4:240] + body[:4] + body[240:]),
    "one case twice": lambda body: bytes(body[:4] + body[:4] + body[8:]),
    "a case that is not there": lambda body: b"\xff" * 4 + bytes(body[4:]),
    "all pass": lambda body: bytes(body[:240]) + bytes([STATES.index("passes")]) * 120,
    "another state": lambda body: bytes(body[:240]) + b"\xff" * 120,
    "states swapped": swap,
    "short": lambda body: bytes(body[:-1]),
    "empty": lambda body: b"",
}


@pytest.mark.parametrize("name", LIES)
def test_an_index_that_lies_is_made_again(folder: Path, name: str) -> None:
    queries: list[dict[str, Any]] = [
        {}, {"status": "failing"}, {"status": "failed", "metric": "second"}, {"status": "passes"}
    ]  # fmt: skip
    honest = [window(folder, **query) for query in queries]
    for query, expected in zip(queries, honest, strict=True):
        lie(folder, LIES[name])
        assert window(folder, **query) == expected


@pytest.mark.parametrize(
    "text", [b"", b"\n", b"{}\n", b"[]", b'{"judgekit":"index"}\n', b"\x80\x04K.", b"[" * 100_000]
)
def test_a_damaged_index_is_made_again(folder: Path, text: bytes) -> None:
    honest = window(folder)
    (folder / INDEX).write_bytes(text)

    assert window(folder) == honest


def test_an_index_of_another_run_is_made_again(folder: Path, tmp_path: Path) -> None:
    window(folder)
    cases = [Case(id=f"other-{n}", output=str(n)) for n in range(60)]
    other = folder.parent / "other"
    metrics = [Parity("first", 11), Parity("second", 53)]
    evaluate_sync(cases, metrics, out=other, thresholds={"first": 0.4})
    honest = window(other)

    (other / INDEX).write_bytes((folder / INDEX).read_bytes())

    assert window(other) == honest


def test_an_index_that_cannot_be_written_is_kept_in_memory(folder: Path) -> None:
    target = folder.parent / "target"
    target.write_text("mine")
    (folder / INDEX).symlink_to(target)

    assert len(ids(window(folder))) == 60
    assert target.read_text() == "mine"
    (folder / INDEX).unlink()
    os.mkfifo(folder / INDEX)
    assert len(ids(window(folder))) == 60


def test_a_full_disk_loses_no_index_and_no_page(folder: Path) -> None:
    import resource

    honest = window(folder)
    kept = (folder / INDEX).read_bytes()
    Report.read(folder).to_html()
    page = (folder / "report.html").read_bytes()
    os.utime(folder / RESULTS, (1, 1))  # the index is stale
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        assert window(folder) == honest
        with pytest.raises(ConfigError, match="cannot be written"):
            Report.read(folder).to_html()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (folder / INDEX).read_bytes() == kept
    assert (folder / "report.html").read_bytes() == page
    assert not list(folder.glob(".*.new"))
    assert window(folder) == honest


def test_two_servers_at_once_make_one_index(folder: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        several = list(pool.map(lambda _: window(folder, status="failing"), range(4)))

    assert all(one == several[0] for one in several)
    assert window(folder, status="failing") == several[0]
    assert not list(folder.glob(".*.new"))


def test_results_that_are_cut_off_are_one_line(folder: Path) -> None:
    window(folder)
    text = (folder / RESULTS).read_bytes()
    (folder / RESULTS).write_bytes(text[: len(text) // 2])

    with pytest.raises(ConfigError, match="cut off or changed; run it again"):
        window(folder)


def test_a_new_run_removes_the_index(folder: Path) -> None:
    window(folder)
    evaluate_sync([Case(id="a", output="1")], [Parity("first", 1)], out=folder)

    assert not (folder / INDEX).exists()


def test_an_index_is_written_for_large_runs_only(folder: Path) -> None:
    line, path = Runs(folder.parent).find(folder.name)
    Pages().window(line, path, CaseQuery(), at=0)

    assert not (folder / INDEX).exists()


def test_a_window_is_bounded_by_its_size(tmp_path: Path) -> None:
    cases = [Case(id=f"c{n}", output="7", context=[f"{n} " * 80_000]) for n in range(60)]
    cases[3] = Case(id="c3", output="7", context=["y" * 5_000_000])
    evaluate_sync(cases, [Parity("first", 1)], out=tmp_path / "root" / "run")

    data = window(tmp_path / "root" / "run", worst_first=False)
    again = window(tmp_path / "root" / "run", worst_first=False, at=3)

    assert 1 <= len(data["cases"]) < 60
    assert data["total"] == 60
    assert again["cases"][0]["id"] == "c3"
    assert len(json.dumps(again)) < 5_000_000
    first = again["texts"][again["cases"][0]["context"][0]]
    assert first.endswith("… (4,800,000 more characters)")


@pytest.mark.loopback
def test_the_server_answers_and_refuses(viewer, get, make) -> None:
    make("main", [0.9, 0.2, 0.7])

    data = get("/api/cases?run=main&order=worst&at=0&status=all").data
    assert ids(data)[0] == "case-0001"
    assert json.loads(data["texts"][data["cases"][0]["forms"]["worth"]])["questions"]
    for query, status in {
        "status=some": 400, "order=best": 400, "at=-1": 400, "at=": 400, "at=%C2%B2": 400,
        "at=" + "9" * 13: 400, "at=0&at=1": 400, "run=main": 400, "metric=none": 200,
        "q=" + "x" * 9_000: 414, "at=" + "9" * 12: 200,
    }.items():  # fmt: skip
        assert get(f"/api/cases?run=main&{query}").status == status, query
    assert get("/api/cases?run=none").status == 404
    assert get("/api/cases?run=main", headers={"Origin": "http://evil.example"}).status == 403
    assert get("/api/cases?run=main", method="POST").status == 405
