"""One rejected case costs its row, whatever the suite sets; the same on all cases stops the run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judgekit.core.errors import JudgekitError
from judgekit.ray import run as driver
from judgekit.report.report import Report
from judgekit.suite.merge import merge_shards
from judgekit.suite.run import run_suite
from judgekit.suite.suite import Overrides, load_suite
from tests.ray.inline import InlineRay

from .asking import write_rubric
from .server import Fault, Server, always, error

pytestmark = pytest.mark.loopback

CASES, BAD = 40, "case-007"
PAGE = Fault(
    403, body=b"<!DOCTYPE html>\n<html>Blocked</html>", headers={"Content-Type": "text/html"}
)
BRIEF: dict[str, Any] = {"rubric": "brief.jinja"}
JURY = {**BRIEF, "jury": ["a", "b", "c"]}
FALLBACK = {"criteria": {"right": "Is it right?"}, "fallback": {"use": "length", "maximum": 50}}

SETTINGS: dict[str, tuple[dict[str, Any], Fault, str]] = {
    "alone": (BRIEF, error(451, "legal reasons"), "unavailable"),
    "calls": ({**BRIEF, "calls": "each"}, error(418, "teapot"), "unavailable"),
    "jury": (JURY, error(403, "forbidden"), "unavailable"),
    "pairwise": ({"pairwise": "preference"}, PAGE, "unavailable"),
    "fallback": (FALLBACK, error(422, "invalid"), "fallback"),
}


def write_suite(folder: Path, server: Server, metric: dict[str, Any]) -> Path:
    write_rubric(folder)
    rows = [
        {"id": f"case-{n:03d}", "input": "Why?", "output": f"The answer to case-{n:03d}.",
         "baseline": "Another answer."}
        for n in range(CASES)
    ]  # fmt: skip
    (folder / "cases.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    judge = {"api_base": server.base, "mode": "json_schema", "retries": 0}
    suite = {
        "cases": "cases.jsonl",
        "judges": {
            name: {"model": f"openai/{name}", **judge}
            for name in ("judge", "a", "b", "c")[: 4 if "jury" in metric else 1]
        },
        "cassette": "tape.jsonl",
        "metrics": {"mine": metric},
    }
    path = folder / "suite.yaml"
    path.write_text(json.dumps(suite), encoding="utf-8")
    return path


def run(suite: Path, out: Path, *, retry_failed: Path | None = None, **flags: Any) -> Report:
    loaded = load_suite(suite, Overrides(record="new_episodes", **flags))
    return asyncio.run(run_suite(loaded, out=out, retry_failed=retry_failed))


def on_ray(suite: Path, out: Path) -> Report:
    flags = Overrides(record="new_episodes")
    return driver.run_on_ray(suite, flags, out=out, workers=2)


def in_shards(suite: Path, out: Path) -> Report:
    parts = [out.with_name(f"part{n}") for n in (1, 2)]
    for number, part in enumerate(parts, 1):
        run(suite, part, shard=f"{number}/2")
    return merge_shards(suite, parts, out=out)


def outcome(out: Path) -> dict[str, str]:
    """Return the kinds of the rows of a run folder: `scored`, `fallback`, or the failure's."""
    kinds = {}
    for line in (out / "results.jsonl").read_text("utf-8").splitlines():
        data = json.loads(line)
        for row in data.get("rows", [data] if "result" in data else []):
            result = row["result"]
            scored = "fallback" if result.get("fallback") else "scored"
            kinds[row["case"]] = result["kind"] if result["type"] == "failure" else scored
    return kinds


@pytest.fixture(autouse=True)
def ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "connected", InlineRay().connected)


WAYS: dict[str, Callable[[Path, Path], Report]] = {"ray": on_ray, "shards": in_shards}
TRIED = [(name, run) for name in SETTINGS] + [("alone", way) for way in WAYS.values()]


@pytest.mark.parametrize(("name", "way"), TRIED)
def test_one_rejected_case_is_one_row(
    server: Server, tmp_path: Path, name: str, way: Callable[[Path, Path], Report]
) -> None:
    metric, fault, kind = SETTINGS[name]
    suite = write_suite(tmp_path, server, metric)
    server.plan = {BAD: always(fault)}

    report = way(suite, tmp_path / "out")

    assert outcome(tmp_path / "out") == {
        **{f"case-{n:03d}": "scored" for n in range(CASES)}, BAD: kind
    }  # fmt: skip
    assert report.exit_code == 3

    if way is not run:
        return
    # It is not recorded: as soon as the server takes it, only it is asked about and scored.
    server.forget()
    server.plan = {}
    again = run(suite, tmp_path / "out", retry_failed=tmp_path / "out")
    assert again.exit_code == 0
    assert {seen.token for seen in server.seen} == {BAD}
    assert set(outcome(tmp_path / "out").values()) == {"scored"}


@pytest.mark.parametrize(("name", "way"), TRIED)
def test_the_same_on_all_cases_stops_the_run_and_says_why(
    server: Server, tmp_path: Path, name: str, way: Callable[[Path, Path], Report]
) -> None:
    metric, fault, _ = SETTINGS[name]
    suite = write_suite(tmp_path, server, metric)
    server.rule = lambda body: fault

    with pytest.raises(JudgekitError, match="probe") as caught:
        way(suite, tmp_path / "out")

    assert "case-" in str(caught.value)
    judges = 3 if name == "jury" else 1
    assert server.calls() <= 8 * judges + judges


def test_a_jury_goes_on_without_a_member_that_rejects_a_case(
    server: Server, tmp_path: Path
) -> None:
    suite = write_suite(tmp_path, server, JURY)

    def rule(body: dict[str, Any]) -> Fault | None:
        rejects = body["model"] == "b" and BAD in str(body["messages"])
        return error(403, "forbidden") if rejects else None

    server.rule = rule

    assert run(suite, tmp_path / "out").exit_code == 0
    assert set(outcome(tmp_path / "out").values()) == {"scored"}


@pytest.mark.parametrize(("every", "code"), [(False, 3), (True, 2)])
@pytest.mark.parametrize("name", ["alone", "jury"])
def test_exit_codes_of_the_command_line(
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    every: bool,
    code: int,
) -> None:
    from judgekit.cli import main

    metric, fault, _ = SETTINGS[name]
    suite = write_suite(tmp_path, server, metric)
    server.plan = {"*": always(fault)} if every else {BAD: always(fault)}
    words = ["judgekit", "run", str(suite), "--record", "new_episodes", "--out"]
    monkeypatch.setattr("sys.argv", [*words, str(tmp_path / "out")])

    with pytest.raises(SystemExit) as ended:
        main()

    printed = capsys.readouterr()
    assert ended.value.code == code
    assert "Traceback" not in printed.out + printed.err
    if every:
        assert len(printed.err.strip().splitlines()) == 1
        assert "rejected" in printed.err
        assert "case-" in printed.err
    else:
        assert "39 judged, 1 failed" in printed.out
        assert "first failure: case-007:" in printed.out
