"""`judgekit rubric upgrade`: a project with labels, gates and thresholds, and a newer rubric."""

import json

import pytest

from tests.agreement.scratch import ScratchPackage, with_quality_2

SUITE = """
cases: cases.jsonl
judge: {model: fake/judge, price: {input: 1, output: 2}}
cassette: tape.jsonl
labels: labels.jsonl
metrics:
  quality: {threshold: 0.4, gate: {mean: 0.01}}
  own: {criteria: {kind: Is the answer kind?}, gate: {mean: 0.01}}
"""
CASES = [{"id": id, "input": f"What is {id}?", "output": f"It is {id}."} for id in "abc"]
LABELS = [
    {"case": "a", "metric": "quality", "labeller": "ann", "values": {"helpfulness": "good"}},
    {"case": "a", "metric": "quality", "labeller": "bob", "values": {"concision": "excellent"}},
    {"case": "b", "metric": "quality", "labeller": "ann", "values": {"concision": "bad"}},
    {"case": "a", "metric": "quality", "labeller": "cy", "values": {"coherence": "fair"}},
]
MISFIT = {"case": "a", "metric": "quality", "values": {"correctness": "fair"}}
SHOWN = """\
suite.yaml: tape.jsonl was begun with the built-in rubrics of generation 1; the newest is 2
quality: quality@1 -> quality@2
  criteria that carry over: helpfulness, clarity
  criterion concision is now brevity
  criterion correctness has another scale: excellent 1, good 0.75, fair 0.5, poor 0.25, bad 0 -> \
right 1, wrong 0
  criteria with another text: clarity
  criteria with another weight: brevity
  criteria that are gone: coherence
  threshold 0.4 and gate: the value is computed differently; they still apply, so check them after \
the first run
  labels that carry over: 3
  labels of coherence, which is gone: 1; they stay in the file, unused
own: its own questions, in the frame of newer built-in rubrics
  criteria that carry over: kind
  gate: the value is computed as before
fake/judge: recorded 0, to ask 6, about """


@pytest.fixture
def project(tmp_path):
    scratch = ScratchPackage(tmp_path)
    scratch.write("suite.yaml", SUITE)
    write(scratch, "cases.jsonl", CASES)
    write(scratch, "labels.jsonl", LABELS)
    scratch.judgekit("run", "suite.yaml", "--out", "old", "--record", "new_episodes", exits=None)
    return scratch


def write(scratch, name, rows):
    scratch.write(name, "".join(json.dumps(row) + "\n" for row in rows))


def files(scratch):
    return {file.name: file.read_bytes() for file in scratch.work.iterdir() if file.is_file()}


def test_everything_is_named_before_anything_is_written(project):
    with_quality_2(project)
    before = files(project)
    shown = project.judgekit("rubric", "upgrade", "suite.yaml").out
    assert shown.startswith(SHOWN)
    assert shown.endswith(
        "nothing was written; --yes upgrades, and rubric: NAME@V keeps a version\n"
    )
    assert files(project) == before
    done = project.judgekit("rubric", "upgrade", "suite.yaml", "--yes").out
    assert done.startswith(SHOWN)
    after = files(project)
    # Only the header of the tape differs: every recording and label is still there.
    assert {name for name in before if before[name] != after[name]} == {"tape.jsonl"}
    old, new = (each["tape.jsonl"].splitlines() for each in (before, after))
    assert new == [b'{"judgekit":"cassette","version":1,"rubrics":2}', *old[1:]]
    again = project.judgekit("rubric", "upgrade", "suite.yaml").out
    assert "was begun with the newest rubrics; nothing to do" in again


def test_labels_thresholds_and_gates_go_on(project):
    with_quality_2(project)
    project.judgekit("rubric", "upgrade", "suite.yaml", "--yes")
    project.judgekit("run", "suite.yaml", "--out", "new", "--record", "new_episodes")
    code = """
        import json
        from judgekit import Report
        for folder in ("old", "new"):
            report = Report.read(folder)
            quality = report.metrics["quality"]
            by_id = {one.id: one.corrected for one in quality.criteria}
            corrected = {id: one.labels.n for id, one in by_id.items() if one is not None}
            gates = sorted(report.figures.manifest["gates"])
            print(json.dumps([quality.threshold, corrected, gates]))
    """
    old, new = map(json.loads, project.python(code).out.splitlines())
    assert old == [0.4, {"helpfulness": 1, "concision": 2, "coherence": 1}, ["own", "quality"]]
    assert new == [0.4, {"helpfulness": 1, "brevity": 2}, ["own", "quality"]]


def test_a_diff_of_versions_says_what_carries_over_and_what_flips(project):
    with_quality_2(project)
    diff = ("rubric", "diff", "quality@1", "quality@2", "--results", "old")
    shown = project.judgekit(*diff).out
    assert "criterion concision is now brevity" in shown
    assert "criteria that are gone: coherence" in shown
    assert "same request: 0" in shown
    assert "to send again: 3 (3 calls, about " in shown
    project.judgekit("rubric", "upgrade", "suite.yaml", "--yes")
    project.judgekit("run", "suite.yaml", "--out", "new", "--record", "new_episodes", exits=None)
    values = """
        import json
        from judgekit import Report
        for folder in ("old", "new"):
            rows = (row for scored in Report.read(folder).results for row in scored.rows)
            print(json.dumps([row.result.value for row in rows if row.metric == "quality"]))
    """
    old, new = map(json.loads, project.python(values).out.splitlines())
    data = project.judgekit(*diff, "--tape", "tape.jsonl", "--threshold", "0.5", "--json").out
    (effects,) = json.loads(data)["results"]
    assert [(one["old"], one["new"]) for one in effects["effects"]] == list(
        zip(old, new, strict=True)
    )
    assert (effects["on_tape"], effects["calls"]) == (3, 0)
    crossed = sum((a >= 0.5) != (b >= 0.5) for a, b in zip(old, new, strict=True))
    assert effects["flips"] == crossed > 0


def test_a_label_that_does_not_fit_stops_the_upgrade(project):
    write(project, "labels.jsonl", [*LABELS, MISFIT])
    with_quality_2(project)
    before = files(project)
    shown = project.judgekit("rubric", "upgrade", "suite.yaml", "--yes", exits=1).out
    assert "  labels of correctness that are no answer on its new scale: 1\n" in shown
    assert "must be decided first: labels.jsonl: case 'a', quality: " in shown
    assert files(project) == before


def test_a_pinned_version_does_not_change(project):
    project.write("suite.yaml", SUITE.replace("{threshold", "{rubric: quality@1, threshold"))
    with_quality_2(project)
    shown = project.judgekit("rubric", "upgrade", "suite.yaml", "--yes").out
    assert "quality@2" not in shown


def test_without_a_tape_the_suite_is_new(project):
    (project.work / "tape.jsonl").unlink()
    shown = project.judgekit("rubric", "upgrade", "suite.yaml").out
    assert shown == "suite.yaml: no tape yet, so the suite has the newest rubrics\n"
