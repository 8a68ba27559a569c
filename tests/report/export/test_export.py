# ruff: noqa: F811 - fixtures of another folder
"""What people type, and what becomes of it when a disk is full."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from judgekit.core.errors import ConfigError, MissingExtra
from judgekit.report.export.export import FORMATS
from judgekit.report.report import Report
from tests.cli.conftest import SUITE, folder, judgekit, one_line, recorded  # noqa: F401
from tests.report.export.conftest import make_report


@pytest.mark.parametrize("format", [f for f in FORMATS if f not in ("parquet", "excel")])
def test_a_finished_folder_gives_what_the_run_gave(judgekit, recorded, format):
    done = judgekit("run", "suite.yaml", "--out", "out", "--export", f"{format}=a/one")
    again = judgekit("report", "out", "--export", f"{format}=two")

    assert done.code == again.code == 0
    assert done.out.splitlines()[-2] == f"{format}: a/one"
    assert Path("a/one").read_bytes() == Path("two").read_bytes()
    assert "page: " not in again.out
    assert again.out.splitlines()[-1] == done.out.splitlines()[-1]


def test_several_at_once(judgekit, recorded):
    done = judgekit("run", "suite.yaml", "--export", "junit=j.xml", "--export", "csv=c.csv")

    assert done.code == 0
    assert Path("j.xml").exists()
    assert Path("c.csv").exists()


def test_json_stays_json(judgekit, recorded):
    done = judgekit("run", "suite.yaml", "--json", "--export", "csv=c.csv")

    assert json.loads(done.out)["cases"] == 4
    assert Path("c.csv").exists()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--export", "junit"], "--export junit: write it as FORMAT=FILE, such as junit=junit.xml"),
        (["--export", "junti=x"], "no export named 'junti'; did you mean 'junit'?"),
        (["--export", "csv="], "--export csv=: write it as FORMAT=FILE"),
        (["--export", "csv=."], "is a folder; name a file"),
        (["--export", "csv=a", "--export", "junit=a"], "a is written twice"),
        (["--github"], "GITHUB_STEP_SUMMARY is not set"),
    ],
)
def test_a_mistake_stops_the_run_before_it_begins(judgekit, recorded, monkeypatch, args, message):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)

    done = judgekit("run", "suite.yaml", "--out", "out", *args)

    assert message in one_line(done)
    assert not Path("out").exists()


def test_a_full_disk_is_one_line_and_loses_nothing(judgekit, recorded):
    done = judgekit(
        "run", "suite.yaml", "--out", "out", "--export", "junit=/dev/full", "--export", "csv=c.csv"
    )

    assert done.code == 2
    assert done.err == "judgekit: /dev/full: cannot be written: No space left on device\n"
    assert Report.read("out").figures.cases == 4
    assert Path("c.csv").exists()
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_on_a_full_disk(format):
    with pytest.raises(ConfigError, match="/dev/full: cannot be written: "):
        make_report().export(format, "/dev/full")


def test_what_stood_there_stands_when_writing_fails(tmp_path):
    path = tmp_path / "junit.xml"
    path.write_text("<?xml old", "utf-8")
    report = make_report(out=tmp_path / "out")
    (tmp_path / "out" / "results.jsonl").write_text("{}", "utf-8")

    with pytest.raises(ConfigError, match="not the results of a run"):
        report.export("junit", path)

    assert path.read_text("utf-8") == "<?xml old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["junit.xml", "out"]


def test_a_row_of_a_metric_the_report_does_not_know_is_refused(tmp_path):
    report = make_report(out=tmp_path / "out")
    results = tmp_path / "out" / "results.jsonl"
    results.write_text(results.read_text("utf-8").replace('"metric":"tone"', '"metric":"other"'))

    with pytest.raises(ConfigError, match="has a result of 'other'"):
        report.export("junit", tmp_path / "junit.xml")


def test_parquet_names_its_extra(monkeypatch, judgekit, recorded):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)

    assert "judgekit-rubrics[parquet]" in one_line(
        judgekit("run", "suite.yaml", "--export", "parquet=x.parquet")
    )
    with pytest.raises(MissingExtra):
        make_report().export("parquet", "x.parquet")


def test_github_gets_a_summary_and_annotations_with_lines(
    judgekit,
    recorded,
    monkeypatch,
    tmp_path,
):
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    suite = SUITE.replace("maximum: 9", "maximum: 1, threshold: 0.9")
    Path("suite.yaml").write_text(suite, "utf-8")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path.parent))

    done = judgekit("run", "suite.yaml", "--github")

    lines = done.out.splitlines()
    assert lines[0].startswith("::stop-commands::")
    stopped = lines.index(lines[0].replace("::stop-commands::", "::") + "::")
    commands = lines[stopped + 1 : -3]
    assert lines[-3].startswith("::stop-commands::")
    assert lines[-2].startswith("FAIL: 1 of 1 gate, 4 of 4 cases")
    assert done.code == 1
    assert any("Small" in line for line in lines[1:stopped])
    assert commands[0].startswith("::error title=judgekit%3A length::length: mean")
    assert all(line.startswith(("::error ", "::warning ")) for line in commands)
    assert any(f",file={tmp_path.name}/cases.jsonl,line=2::" in line for line in commands)
    assert summary.read_text("utf-8").startswith("## Small\\: 4 cases")


def test_github_and_json_do_not_mix(judgekit, recorded, monkeypatch, tmp_path):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    suite = SUITE.replace("maximum: 9", "maximum: 1")
    Path("suite.yaml").write_text(suite, "utf-8")

    done = judgekit("run", "suite.yaml", "--github", "--json")

    assert json.loads(done.out)["cases"] == 4
    assert done.err.startswith("::error ")
