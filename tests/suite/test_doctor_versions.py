"""What doctor says of versions of rubrics, entry points and the length of reasons."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgekit.core.generation import newest, version_in
from judgekit.rubric.library import package_folders
from judgekit.suite.doctor.examine import examine
from judgekit.suite.doctor.text import diagnosis_text
from tests.agreement.scratch import first_generation, with_quality_2

SUITE = """
cases: [{id: a, input: Which day?, output: Monday, context: [It is Monday.]}]
judge: {model: openai/local, api_base: "http://127.0.0.1:9/v1", max_reason: 120}
cassette: tape.jsonl
metrics:
  quality:
  pinned: {rubric: quality@1}
  faithfulness:
  tone@1:
  own: {criteria: {kind: Is the answer kind?}}
  length: {maximum: 9}
"""
TONE = (
    "---\nname: tone\nversion: {}\nextends: base\ncriteria: {{kind: {{text: Is it kind?}}}}\n---\n"
)


def project(folder: Path) -> None:
    (folder / "versions").mkdir(parents=True)
    (folder / "versions/tone@1.jinja").write_text(TONE.format(1))
    (folder / "tone.jinja").write_text(TONE.format(2))
    (folder / "suite.yaml").write_text(SUITE)


def test_versions_of_each_metric_and_the_newest(tmp_path: Path) -> None:
    project(tmp_path)

    diagnosis = examine(tmp_path / "suite.yaml")

    text = " ".join(diagnosis_text(diagnosis).split())
    assert f"rubrics quality@{version_in('quality', newest())}, pinned with quality@1" in text
    assert ", tone@1 with tone@1 (tone@2 is newer)" in text
    assert "judgekit rubric diff NAME@1 NAME@2" in text
    assert "max_reason 120: reasons of at most 120 characters" in text
    data = json.loads(diagnosis.model_dump_json())["versions"]
    assert [metric["metric"] for metric in data["metrics"]] == [
        "quality", "pinned", "faithfulness", "tone@1",
    ]  # fmt: skip


def test_a_tape_of_an_older_generation(tmp_path: Path) -> None:
    scratch = with_quality_2(first_generation(tmp_path))
    (scratch.work / "rubrics").mkdir()
    project(scratch.work / "project")
    tape = scratch.work / "project/tape.jsonl"
    tape.write_text('{"judgekit":"cassette","version":1}\n')

    old = " ".join(scratch.judgekit("doctor", "project/suite.yaml", exits=None).out.split())
    tape.unlink()
    new = " ".join(scratch.judgekit("doctor", "project/suite.yaml", exits=None).out.split())

    assert "rubrics quality@1 (quality@2 is newer), pinned with quality@1 (quality@2" in old
    assert "project/tape.jsonl: generation 1 of 2" in old
    assert "judgekit rubric upgrade project/suite.yaml shows what the newest" in old
    assert "rubrics quality@2, pinned with quality@1 (quality@2 is newer), faithfulness" in new
    assert "upgrade" not in new


def installed(folder: Path, package: str, entry_points: str) -> None:
    info = folder / f"{package}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(entry_points)


BROKEN = """\
[judgekit.metrics]
gone = acme_gone:Metric
wrong = acme_wrong:Metric
lacks = acme_fine:Nothing
fine = acme_fine:Metric
[judgekit.commands]
ends = acme_ends
[judgekit.answers]
other = acme_gone.inner:answer
[judgekit.rubrics]
acme = acme_fine.rubrics
[another.group]
gone = acme_gone:Other
"""


def test_entry_points_that_cannot_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, "acme-kit", BROKEN)
    (tmp_path / "acme_wrong.py").write_text("raise RuntimeError('no\\nlicence')")
    (tmp_path / "acme_ends.py").write_text("raise SystemExit(3)")
    (tmp_path / "acme_fine.py").write_text("class Metric: ...")
    monkeypatch.syspath_prepend(tmp_path)

    found = [line for line in examine().problems if "acme" in line]

    gone = "is not installed: acme-kit names acme_gone"
    assert [line.removeprefix("acme-kit: ") for line in found] == [
        f"'gone' of judgekit.metrics {gone}:Metric, which does not exist; install acme-kit again",
        "'wrong' of judgekit.metrics cannot be loaded from acme_wrong:Metric: no licence",
        "'lacks' of judgekit.metrics cannot be loaded from acme_fine:Nothing: module 'acme_fine'"
        " has no attribute 'Nothing'",
        "'ends' of judgekit.commands: acme_ends ends the program (3)",
        f"'other' of judgekit.answers {gone}.inner:answer, which does not exist;"
        " install acme-kit again",
        "the installed package 'acme-kit' offers rubrics as acme = acme_fine.rubrics, but no such"
        " folder of rubrics is installed; install it again or uninstall it",
    ]
    assert all("acme-kit" in line for line in found)
    assert examine().exit_code == 2
    monkeypatch.undo()
    assert not [folder for folder in package_folders() if "acme" in folder.origin]
