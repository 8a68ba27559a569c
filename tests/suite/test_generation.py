"""A suite keeps the generation of built-in rubrics under which its tape was begun."""

import json

import pytest

from judgekit.cassette.tape import HEADER, Tape, header, join_tapes, tape_generation
from judgekit.core.errors import CassetteCorrupt
from judgekit.core.generation import newest, of_generation
from judgekit.suite.suite import build_suite
from tests.agreement.scratch import first_generation, with_quality_2

SUITE = """
cases: [{id: a, input: Which day?, output: Monday}, {id: b, input: Who?, output: Ann}]
judge: {model: fake/judge}
cassette: tape.jsonl
metrics:
  quality: {threshold: 0.5}
  pinned: {rubric: quality@1}
  own: {criteria: {kind: Is the answer kind?}}
"""
VERSIONS = """
    import json
    from judgekit.suite.resolved import resolve
    suite = resolve("suite.yaml")
    print(json.dumps([[m.name, m.made_with["version"]] for m in suite.metrics]))
    print(suite.generation)
"""


MANIFEST = """
    import json
    from judgekit import Report
    print(json.dumps(Report.read("new").figures.manifest))
"""


@pytest.mark.thorough
def test_an_old_project_stays_and_a_new_one_gets_the_newest(tmp_path):
    scratch = first_generation(tmp_path)
    scratch.write("suite.yaml", SUITE)
    scratch.judgekit("run", "suite.yaml", "--out", "run", "--record", "new_episodes", exits=None)
    tape = scratch.work / "tape.jsonl"
    first = tape.read_bytes()
    assert first.splitlines()[0].decode() == HEADER
    with_quality_2(scratch)
    # The old tape, with the newer rubrics: no miss, and the same rows.
    scratch.judgekit("run", "suite.yaml", "--out", "again", exits=None)
    assert tape.read_bytes() == first
    rows = [(scratch.work / run / "results.jsonl").read_text() for run in ("run", "again")]
    assert rows[0] == rows[1]
    assert (scratch.work / "again/tape.jsonl").read_bytes() == first
    old = scratch.python(VERSIONS).out
    assert old.splitlines() == ['[["quality", 1], ["pinned", 1], ["own", 1]]', "1"]
    # Without a tape, the project is new.
    tape.unlink()
    new = scratch.python(VERSIONS).out
    assert new.splitlines() == ['[["quality", 2], ["pinned", 1], ["own", 1]]', "2"]
    scratch.judgekit("run", "suite.yaml", "--out", "new", "--record", "new_episodes", exits=None)
    for file in (tape, scratch.work / "new/tape.jsonl"):
        assert file.read_text().splitlines()[0] == '{"judgekit":"cassette","version":1,"rubrics":2}'
    manifest = json.loads(scratch.python(MANIFEST).out)
    assert [(one["name"], one["version"]) for one in manifest["rubrics"]] == [
        ("quality", 2), ("quality", 1), ("own", 1),
    ]  # fmt: skip


def test_a_tape_of_a_newer_generation_is_refused(tmp_path):
    tape = tmp_path / "tape.jsonl"
    tape.write_text(header(newest() + 1) + "\n")
    with pytest.raises(CassetteCorrupt, match="1: written by another version"):
        Tape(tape)


@pytest.mark.parametrize("text", [HEADER, header(1), HEADER[:-1] + ',"rubrics":1}'])
def test_a_tape_without_a_generation_is_of_the_first(tmp_path, text):
    tape = tmp_path / "tape.jsonl"
    tape.write_text(text + "\n")
    assert Tape(tape).generation == tape_generation(tape) == 1


def test_the_generation_of_a_folder_or_a_missing_file_is_the_newest(tmp_path):
    assert tape_generation(tmp_path) == tape_generation(tmp_path / "none") == newest()
    assert header(1) == HEADER


def test_joined_tapes_keep_the_header(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).write_text(HEADER + "\n")
    join_tapes([tmp_path / "one", tmp_path / "two"], tmp_path / "both")
    assert (tmp_path / "both").read_text() == HEADER + "\n"


def test_a_version_of_a_builtin_metric_in_a_suite(tmp_path):
    data = {
        "cases": [{"id": "a", "input": "x", "output": "y"}],
        "judge": {"model": "fake/judge"},
        "metrics": {"quality@1": None, "mine": {"rubric": "toxicity@1", "theta": 0.3}},
    }
    with of_generation(None):
        suite = build_suite(data, base=tmp_path)
    assert [(m.name, type(m).__name__, m.made_with["version"]) for m in suite.metrics] == [
        ("quality@1", "Quality", 1), ("mine", "Toxicity", 1),
    ]  # fmt: skip
    suite.close()
