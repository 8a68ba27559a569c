"""A project whose tape was begun under generation 1 goes on under generation 2, in every verb."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.agreement.scratch import (
    ROOT,
    ScratchPackage,
    first_generation,
    with_quality_2,
    with_version_2,
)
from tests.testing.conftest import OTHERS

CASES = [
    {"id": id, "input": f"What is {id}?", "output": f"It is {id}.", "context": [f"It is {id}."]}
    for id in "abcd"
]
TONE = """\
---
name: tone
version: 1
extends: quality
description: Judge the tone.
tests:
  - {name: kind, case: {input: Hi, output: Hello}, expect: {value: {min: 0}}}
---
"""
SUITE = """
    cases: cases.jsonl
    judge: {model: fake/judge}
    cassette: tape.jsonl
    metrics:
      quality: {samples: 2, gate: {mean: 0.01}}
      faithfulness:
      tone:
      own: {criteria: {kind: Is the answer kind?}}
      length: {maximum: 9}
"""
OLD_HEADER = '{"judgekit":"cassette","version":1}'
NEW_HEADER = '{"judgekit":"cassette","version":1,"rubrics":2}'
VERSIONS = """
    import json, sys
    from judgekit import Report
    for folder in {folders}:
        rows = [row for scored in Report.read(folder).results for row in scored.rows]
        print(sorted({{getattr(row.result, "method", "") for row in rows}}))
"""


def lines_of(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def rows(scratch: ScratchPackage, run: str) -> str:
    return (scratch.work / run / "results.jsonl").read_text("utf-8")


def facts(scratch: ScratchPackage, run: str) -> dict[str, object]:
    facts: dict[str, object] = json.loads((scratch.work / run / "run.json").read_text("utf-8"))
    return facts


def write_project(scratch: ScratchPackage, suite: str = SUITE) -> None:
    scratch.write("suite.yaml", suite)
    scratch.write("tone.jinja", TONE)
    scratch.write("cases.jsonl", "".join(json.dumps(row) + "\n" for row in CASES))


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> ScratchPackage:
    """A project that was recorded under generation 1, with a package of generation 2."""
    scratch = first_generation(tmp_path_factory.mktemp("begun"))
    write_project(scratch)
    record = ("--record", "new_episodes")
    scratch.judgekit("run", "suite.yaml", "--out", "old", *record, exits=None)
    scratch.judgekit("rubric", "test", "tone.jinja", "--judge", "fake/judge", exits=None)
    return with_version_2(with_quality_2(scratch), "statements")


@pytest.mark.thorough
def test_shards_and_their_merge(begun: ScratchPackage) -> None:
    for number in (1, 2):
        begun.judgekit("run", "suite.yaml", "--shard", f"{number}/2", "--out", f"s{number}")
    begun.judgekit("merge", "suite.yaml", "s1", "s2", "--out", "merged")

    assert rows(begun, "merged") == rows(begun, "old")
    assert facts(begun, "merged")["missed"] == 0
    for run in ("s1", "merged"):
        assert lines_of(begun.work / run / "tape.jsonl")[0] == OLD_HEADER


def test_failed_rows_are_tried_again_with_the_old_versions(begun: ScratchPackage) -> None:
    run = begun.work / "failed"
    begun.judgekit("run", "suite.yaml", "--out", "failed")
    results = lines_of(run / "results.jsonl")
    row = json.loads(results[2])
    assert row["metric"] == "quality"
    row["result"] = {"type": "failure", "kind": "unavailable", "message": "down"}
    results[2] = json.dumps(row)
    (run / "results.jsonl").write_text("\n".join(results) + "\n")

    begun.judgekit("run", "suite.yaml", "--retry-failed", "failed", "--out", "retried")

    assert rows(begun, "retried") == rows(begun, "old")


WATCH = """
    import json
    from pathlib import Path
    from judgekit.suite.overrides import Overrides
    from judgekit.suite.run import replay_suite
    from judgekit.suite.watch.watch import Watch
    saves = []
    def save(seconds):
        if saves:
            path = Path(saves.pop())
            path.write_text(path.read_text("utf-8").replace("It is b", "It was b"), "utf-8")
    def run(suite, reuse):
        return replay_suite(suite, reuse=reuse)
    rounds = Watch(Path("watched.yaml"), Overrides(), run=run, sleep=save).rounds()
    first = next(rounds)
    saves.append("watched.jsonl")
    second = next(rounds)
    print(json.dumps([first.report.run["missed"], second.report.run["missed"], second.fresh]))
    print(json.dumps(sorted(path.name for path in second.saved)))
"""


@pytest.mark.thorough
def test_a_watched_suite(begun: ScratchPackage) -> None:
    begun.write("watched.yaml", SUITE.replace("cases.jsonl", "watched.jsonl"))
    begun.write("watched.jsonl", (begun.work / "cases.jsonl").read_text("utf-8"))

    missed, saved = map(json.loads, begun.python(WATCH).out.splitlines())

    # The changed case is asked about in the old versions, and misses in all five metrics but one.
    assert missed == [0, 5, 5]
    assert saved == ["watched.jsonl"]


@pytest.mark.thorough
def test_the_store_has_the_replies_of_pinned_versions(begun: ScratchPackage) -> None:
    pinned = SUITE.replace("quality: {", "quality: {rubric: quality@1, ").replace(
        "tape.jsonl", "other.jsonl"
    )
    begun.write("pinned.yaml", pinned)

    begun.judgekit(
        "run", "pinned.yaml", "--only", "quality", "--record", "new_episodes", "--out", "pinned"
    )

    assert facts(begun, "pinned")["origins"] == {"store": 8}
    assert lines_of(begun.work / "other.jsonl")[0] == NEW_HEADER


@pytest.mark.thorough
def test_another_judge_gets_the_old_versions(begun: ScratchPackage) -> None:
    begun.write("asked.yaml", SUITE.replace("tape.jsonl", "asked.jsonl"))
    tape = begun.work / "asked.jsonl"
    tape.write_bytes((begun.work / "tape.jsonl").read_bytes())

    begun.judgekit("run", "asked.yaml", "--judge", "fake/other", "--out", "asked", exits=None)

    methods = begun.python(VERSIONS.format(folders=["asked"])).out
    assert "fake/other by quality@1" in methods
    assert "statements@1" in methods
    assert "@2" not in methods
    assert lines_of(tape)[0] == OLD_HEADER


def test_redacted_recordings(tmp_path: Path) -> None:
    scratch = first_generation(tmp_path)
    redacted = SUITE + "    redact: [{pattern: 'It is [a-d]'}]\n"
    write_project(scratch, redacted)
    scratch.judgekit("run", "suite.yaml", "--out", "old", "--record", "new_episodes", exits=None)
    with_quality_2(scratch)

    scratch.judgekit("run", "suite.yaml", "--out", "again")

    assert rows(scratch, "again") == rows(scratch, "old")
    assert "It is a" not in (scratch.work / "tape.jsonl").read_text("utf-8")


RAY = """
    import sys
    from pathlib import Path
    from judgekit.ray import run as driver
    sys.path.append({root!r})
    from tests.ray.inline import InlineRay
    from judgekit.suite.overrides import Overrides
    ray = InlineRay()
    driver.connected = ray.connected
    for suite, record in (("suite.yaml", "none"), ("new.yaml", "new_episodes")):
        out = Path(f"ray-{{suite[:-5]}}")
        driver.run_on_ray(Path(suite), Overrides(record=record), out=out, workers=2)
    print(ray.ran)
"""


@pytest.mark.thorough
def test_shards_on_ray(begun: ScratchPackage) -> None:
    begun.write("new.yaml", SUITE.replace("tape.jsonl", "new.jsonl"))

    begun.python(RAY.format(root=str(ROOT)))

    assert rows(begun, "ray-suite") == rows(begun, "old")
    assert lines_of(begun.work / "ray-suite/tape.jsonl")[0] == OLD_HEADER
    methods = begun.python(VERSIONS.format(folders=["ray-new"])).out
    assert "fake/judge by quality@2" in methods
    assert "statements@2" in methods
    assert "quality@1" not in methods
    assert lines_of(begun.work / "new.jsonl")[0] == NEW_HEADER


@pytest.mark.thorough
def test_rubric_tests_keep_the_parent_of_their_recordings(begun: ScratchPackage) -> None:
    tape = begun.work / "cassettes/rubrics/tone.jsonl"
    assert "1 passed" in begun.judgekit("rubric", "test", "tone.jinja").out

    shown = begun.judgekit("rubric", "upgrade", str(tape)).out
    assert lines_of(tape)[0] == OLD_HEADER
    assert shown.endswith("nothing was written; --yes upgrades\n")
    before = tape.read_bytes()
    begun.judgekit("rubric", "upgrade", str(tape), "--yes")

    assert lines_of(tape)[0] == NEW_HEADER
    assert tape.read_bytes().splitlines()[1:] == before.splitlines()[1:]
    missed = begun.judgekit("rubric", "test", "tone.jinja", exits=3)
    assert "tone would hit with `extends: quality@1`" in " ".join(missed.out.split())
    tape.write_bytes(before)
    begun.write("begun_later.jsonl", f"{NEW_HEADER}\n")
    assert "nothing to do" in begun.judgekit("rubric", "upgrade", "begun_later.jsonl").out


TESTS = """
from judgekit import RubricMetric

CASE = {"input": "What is a?", "output": "It is a."}


def test_by_name(judgekit):
    judgekit.check(CASE, "quality", threshold=0.0)
    judgekit.check(CASE, "tone", threshold=0.0)


def test_made_in_python(judgekit):
    score = judgekit.score(CASE, RubricMetric("quality", judge=judgekit.judge))
    print("SAID", getattr(score, "message", "scored"))
"""


@pytest.mark.thorough
def test_tests_of_pytest_keep_their_versions(tmp_path: Path) -> None:
    scratch = first_generation(tmp_path)
    scratch.write("tone.jinja", TONE)
    scratch.write("test_tone.py", TESTS)
    code = """
        import sys, pytest
        sys.exit(pytest.main(["-q", "-s", "test_tone.py", *{args}]))
    """
    alone = [f"-pno:{name}" for name in OTHERS]
    scratch.python(code.format(args=[*alone, "--judgekit-judge", "fake/judge"]))
    with_quality_2(scratch)

    out = scratch.python(code.format(args=alone)).out

    assert "2 passed" in out
    assert 'quality@1 would hit: write `rubric: quality@1`, or rubric="quality@1"' in out


@pytest.mark.thorough
def test_versions_in_a_package(tmp_path: Path) -> None:
    scratch = first_generation(tmp_path)
    info = scratch.work / "acme-1.dist-info"
    for name, text in {
        info / "METADATA": "Metadata-Version: 2.1\nName: acme\nVersion: 1\n",
        info / "entry_points.txt": "[judgekit.rubrics]\nacme = acme.rubrics\n",
        scratch.work / "acme/__init__.py": "",
        scratch.work / "acme/rubrics/tone.jinja": TONE,
    }.items():
        scratch.write(str(name.relative_to(scratch.work)), text)
    suite = SUITE.replace("tone:", "tone: {rubric: {}}")
    scratch.write("cases.jsonl", json.dumps(CASES[0]) + "\n")
    only = ("--only", "tone", "--out")
    scratch.write("suite.yaml", suite.replace("{}", "acme:tone"))
    scratch.judgekit("run", "suite.yaml", *only, "old", "--record", "new_episodes", exits=None)
    rubrics = scratch.work / "acme/rubrics"
    (rubrics / "versions").mkdir()
    (rubrics / "versions/tone@1.jinja").write_text(TONE, "utf-8")
    changed = TONE.replace("version: 1", "version: 2").replace("the tone", "the new tone")
    (rubrics / "tone.jinja").write_text(changed, "utf-8")
    with_quality_2(scratch)

    missed = scratch.judgekit("run", "suite.yaml", *only, "missed", exits=3)
    scratch.write("suite.yaml", suite.replace("{}", "acme:tone@1"))
    scratch.judgekit("run", "suite.yaml", *only, "again")

    # The package changes its rubric without a generation, so the suite has to name the version.
    assert "acme:tone@1 would hit: write `rubric: acme:tone@1`" in rows(scratch, "missed")
    assert missed.code == 3
    # The name in the manifest does not count, only what a judge saw and said.
    assert rows(scratch, "again") == rows(scratch, "old")
