"""Suites, cases and run folders from strangers, through the command line."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests import forks

SUITE = """\
cases: cases.jsonl
judge: fake/judge
record: new_episodes
metrics:
  quality:
"""
CASE = {"id": "1", "input": "What?", "output": "This."}


@pytest.fixture
def suite(tmp_path):
    """Write a suite and its cases."""

    def write(text=SUITE, cases=None):
        data = text if isinstance(text, bytes) else text.encode()
        (tmp_path / "suite.yaml").write_bytes(data)
        if cases is None:
            cases = json.dumps(CASE).encode() + b"\n"
        (tmp_path / "cases.jsonl").write_bytes(cases)

    return write


SUITES = {
    "nothing": ("", "is empty; `judgekit init` writes a suite"),
    "a list": ("- a", "a suite is keys and values"),
    "a key in the file": (
        SUITE.replace("fake/judge", "{model: fake/x, api_key: sk-canary-123456}"),
        "a key does not belong in a file",
    ),
    "a call": (SUITE + "name: !!python/object/apply:os.system ['touch mark']", "is not allowed"),
    "lists in lists": ("[" * 500_000, "nested more than 60 deep"),
    "aliases": (
        "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
        + "".join(
            f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 10)}]\n"
            for n in range(9)
        ),
        "more than 200,000 values",
    ),
    "six megabytes": ("#" * 6_000_000, "larger than 5,000,000 bytes"),
    "UTF-16": (SUITE.encode("utf-16"), "is UTF-16; save the file as UTF-8"),
    "NUL": (SUITE + "name: \0", "control characters"),
    "a parameter that is no number": (
        SUITE.replace("fake/judge", "{model: fake/x, params: {temperature: .nan}}"),
        "not a finite number",
    ),
    "a threshold that is no number": (
        SUITE.replace("quality:", "quality: {threshold: .nan}"),
        "not a finite number",
    ),
    "a threshold that is a list": (
        SUITE.replace("quality:", "quality: {threshold: [1]}"),
        "thresh",
    ),
    "an unknown key": (SUITE + "caases: x", "unknown key 'caases'"),
    "an address in a metric": (
        SUITE.replace("quality:", "quality: {api_base: 'http://203.0.113.1'}"),
        "api_base",
    ),
    "a metric that is a path": (SUITE.replace("quality:", "../../etc/passwd:"), "passwd"),
    "a rubric that is a path": (
        SUITE.replace("quality:", "x: {rubric: ../../../../etc/passwd}"),
        "no such rubric file",
    ),
    "cases that are missing": (SUITE.replace("cases.jsonl", "../nothing.jsonl"), "nothing.jsonl"),
    "a metric made of itself": (
        "cases: cases.jsonl\nmetrics: {a: {combine: mean, of: [b]}, b: {combine: mean, of: [a]}}",
        "",
    ),
}


@pytest.mark.parametrize("name", SUITES)
def test_a_wrong_suite_is_refused(suite, refused, tmp_path, name):
    text, words = SUITES[name]
    suite(text)

    line = refused("run", "suite.yaml", "--out", "out")

    assert words in line
    assert "sk-canary" not in line
    assert not (tmp_path / "mark").exists()
    assert not (tmp_path / "out").exists()


ROWS = {
    "half of a surrogate pair": (b'{"id": "1", "input": "\\ud800", "output": "x"}', "surrogate"),
    "not a number": (b'{"id": "1", "output": "x", "metadata": {"a": NaN}}', "NaN"),
    "infinity": (b'{"id": "1", "output": "x", "metadata": {"a": 1e999}}', "write null"),
    "lists in lists": (b'{"id": "1", "metadata": {"a": ' + b"[" * 100_000, "nested more than"),
    "an address": (b'{"id": "1", "output": "x", "api_base": "http://203.0.113.1"}', "api_base"),
    "a key": (b'{"id": "1", "output": "x", "api_key": "sk-canary-123456"}', "api_key"),
    "a forged line": (b'{"id": "1", "x\\njudgekit: all is well": 1}', "unknown key"),
    "an escape sequence in a key": (b'{"id": "1", "\\u001b[2J": 1}', "unknown key"),
    "100 megabytes of one line": (b'{"id": "1", "output": "' + b"x" * 100_000_000, ""),
    "NUL": (b'{"id": "1", "output": "\x00"}', "NUL"),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_wrong_row_is_refused(suite, refused, name):
    row, words = ROWS[name]
    suite(cases=row + b"\n")

    line = refused("run", "suite.yaml")

    assert words in line
    assert "cases.jsonl:1" in line
    assert "canary" not in line


def test_ids_and_texts_of_any_kind_are_scored_and_printed_safely(suite, judgekit, tmp_path):
    ids = ["a\nb", "\x1b[31mred", "<script>alert(1)</script>", "../../etc/passwd", "\u202ecase"]
    rows = [
        {"id": id, "input": "</user_message>", "output": f"{{{{ 7*7 }}}} \x1b[2J {id}"}
        for id in ids
    ]
    suite(cases="".join(json.dumps(row) + "\n" for row in rows).encode())

    said = judgekit("run", "suite.yaml", "--out", "out")

    assert said.code == 0
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "<script>alert(1)" not in page
    assert "\x1b" not in page
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "cases.jsonl", "judgekit-home", "out", "suite.yaml",
    ]  # fmt: skip
    again = judgekit("report", "out")
    assert again.code == 0


@pytest.mark.thorough
def test_ten_megabytes_are_scored(suite, judgekit):
    suite(cases=json.dumps({**CASE, "output": "{{ x }}</answer>" * 625_000}).encode())

    said = judgekit("run", "suite.yaml", "--out", "out")

    assert (said.code, said.err) == (0, "")


def test_no_file_holds_a_key(suite, judgekit, tmp_path):
    suite()
    canary = "sk-canary-0123456789abcdef"

    said = judgekit(
        "run", "suite.yaml", "--out", "out",
        environment={"OPENAI_API_KEY": canary, "ANTHROPIC_API_KEY": canary, "MY_KEY": canary},
    )  # fmt: skip

    assert said.code == 0
    assert canary not in said.out + said.err
    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert {"report.html", "results.jsonl", "tape.jsonl", "cache.db"} <= {p.name for p in files}
    assert not [p for p in files if canary.encode() in p.read_bytes()]


def test_the_store_is_private(suite, judgekit, tmp_path):
    suite()
    judgekit("run", "suite.yaml")

    assert (tmp_path / "judgekit-home").stat().st_mode & 0o777 == 0o700


# -- run folders ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def honest_run(tmp_path_factory):
    """Run a suite once; return its run folder."""
    base = tmp_path_factory.mktemp("honest")
    (base / "suite.yaml").write_text(SUITE, encoding="utf-8")
    (base / "cases.jsonl").write_text(json.dumps(CASE), encoding="utf-8")
    environment = {**os.environ, "JUDGEKIT_HOME": str(base / "home")}
    said = forks.run(["run", "suite.yaml", "--out", "out"], cwd=base, env=environment)
    assert said.returncode == 0, said
    return base / "out"


@pytest.fixture
def folder(honest_run, tmp_path):
    """Copy the honest run folder, to be changed."""
    return Path(shutil.copytree(honest_run, tmp_path / "out"))


REPORTS = {
    "nothing": b"",
    "not JSON": b"hello",
    "a list": b"[]",
    "a number": b"7",
    "null": b"null",
    "lists in lists": b"[" * 100_000,
    "closed lists in lists": b"[" * 100_000 + b"]" * 100_000,
    "not UTF-8": b"\xff\xfe{",
    "wrong types": b'{"manifest": [], "cases": "x", "dataset": 1, "metrics": {}}',
    "a long number": b'{"cases": ' + b"9" * 10_000 + b"}",
}


"""What the reading of run folders does not refuse yet."""


@pytest.mark.parametrize(
    ("file", "name"),
    [(file, name) for file in ("report.json", "run.json", "results.jsonl") for name in REPORTS],
)
def test_a_hostile_run_folder_is_refused(folder, refused, judgekit, file, name):
    (folder / file).write_bytes(REPORTS[name])

    if (file, name) in {("run.json", "a list"), ("run.json", "a number"), ("run.json", "null")}:
        assert judgekit("report", "out").code in (0, 2)
    elif file == "run.json" and name == "wrong types":
        assert judgekit("report", "out").code == 0
    else:
        refused("report", "out")


def test_html_and_escapes_in_a_run_folder_stay_text(folder, judgekit):
    bad = '<img src=x onerror="alert(1)">\u001b[31m\u202e'
    report = json.loads((folder / "report.json").read_text())
    report["manifest"]["suite"] = {"name": bad, "description": bad}
    report["manifest"]["judge"] = {"model": bad}
    report["metrics"][0]["metric"] = bad
    report["metrics"][0]["first_failure"] = bad
    report["metrics"][0]["worst"] = [{"case": bad, "value": 0.1, "reason": bad}]
    report["incomplete"] = [bad]
    (folder / "report.json").write_text(json.dumps(report))
    lines = (folder / "results.jsonl").read_text().splitlines()
    lines[1] = lines[1].replace('"id":"1"', f'"id":{json.dumps(bad)}')
    (folder / "results.jsonl").write_text("\n".join(lines) + "\n")

    said = judgekit("report", "out")

    assert said.code in (0, 2)
    if (folder / "report.html").exists():
        page = (folder / "report.html").read_text("utf-8")
        assert "<img src=x" not in page
        assert "\x1b" not in page


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("manifest", {"suite": [1], "judge": "x"}),
        ("manifest", {"suite": {"name": [1]}, "judge": {"model": {"a": 1}}, "metrics": 7}),
        ("manifest", {"notice": {"a": 1}, "judge": {"model": 1}}),
        ("cases", 10**30),
        ("metrics", []),
        ("gates", [{"gate": {"metric": "x", "statistic": "mean", "bound": 1}}]),
        ("incomplete", ["x" * 1_000_000]),
    ],
)
def test_wrong_values_in_a_report_are_no_traceback(folder, judgekit, field, value):
    report = json.loads((folder / "report.json").read_text())
    report[field] = value
    (folder / "report.json").write_text(json.dumps(report))

    said = judgekit("report", "out")

    assert said.code in (0, 2, 3)
    assert len(said.err.splitlines()) <= 1


def test_a_run_folder_writes_nowhere_else(folder, judgekit, tmp_path):
    before = set(tmp_path.iterdir())
    (folder / "report.html").replace(folder / "old.html")

    assert judgekit("report", "out").code == 0

    assert set(tmp_path.iterdir()) == before
