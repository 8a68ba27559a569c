"""`judgekit rubric upgrade`: a project with labels, gates and thresholds, and a newer rubric."""

import json

import pytest

from tests.agreement.scratch import first_generation, with_quality_2

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


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    scratch = first_generation(tmp_path_factory.mktemp("recorded"))
    scratch.write("suite.yaml", SUITE)
    write(scratch, "cases.jsonl", CASES)
    write(scratch, "labels.jsonl", LABELS)
    scratch.judgekit("run", "suite.yaml", "--out", "old", "--record", "new_episodes", exits=None)
    return scratch


@pytest.fixture
def project(recorded, tmp_path):
    return recorded.copied_to(tmp_path)


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


@pytest.mark.thorough
def test_a_pinned_version_does_not_change(project):
    project.write("suite.yaml", SUITE.replace("{threshold", "{rubric: quality@1, threshold"))
    with_quality_2(project)
    shown = project.judgekit("rubric", "upgrade", "suite.yaml", "--yes").out
    assert "quality@2" not in shown


def test_without_a_tape_the_suite_is_new(project):
    (project.work / "tape.jsonl").unlink()
    shown = project.judgekit("rubric", "upgrade", "suite.yaml").out
    assert shown == "suite.yaml: no tape yet, so the suite has the newest rubrics\n"


MANY = [{"id": f"c{n}", "input": f"What is {n}?", "output": f"It is {n}."} for n in range(8)]
GIVEN = [
    {
        "case": f"c{n}",
        "metric": "quality",
        "labeller": "ann",
        "values": {
            "helpfulness": "good" if n % 2 else "bad",
            "concision": ["excellent", "bad", "fair"][n % 3],
        },
        "probability": 0.25 if n < 4 else 0.5,
    }
    for n in range(8)
]


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory):
    """A run under the newest rubrics, with labels of the earlier ones."""
    scratch = first_generation(tmp_path_factory.mktemp("upgraded"))
    scratch.write("suite.yaml", SUITE.replace("labels: labels.jsonl", ""))
    write(scratch, "cases.jsonl", MANY)
    write(scratch, "labels.jsonl", GIVEN)
    record = ("--record", "new_episodes")
    scratch.judgekit("run", "suite.yaml", "--out", "old", *record, exits=None)
    with_quality_2(scratch)
    scratch.judgekit("rubric", "upgrade", "suite.yaml", "--yes")
    scratch.judgekit("run", "suite.yaml", "--out", "new", *record, exits=None)
    return scratch


@pytest.mark.parametrize(
    ("verb", "texts"),
    [
        (("agree",), ["quality, brevity: 8 cases by ann", "quality, helpfulness: 8 cases by ann"]),
        (("correct",), ["quality, brevity, labels by ann", "quality, helpfulness, labels by ann"]),
        (("rubric", "stats"), ["people            kappa"]),
    ],
)
def test_labels_count_for_a_renamed_criterion(upgraded, verb, texts):
    shown = upgraded.judgekit(*verb, "new", "labels.jsonl").out

    for text in texts:
        assert text in shown
    assert "concision" not in shown
    if verb == ("rubric", "stats"):
        brevity = shown.partition("quality, brevity")[2].partition("\n\n\n")[0]
        assert "people" in brevity


@pytest.mark.thorough
def test_the_probabilities_of_a_plan_weight_labels_of_a_renamed_criterion(upgraded):
    same = [{**one, "values": {**one["values"]}} for one in GIVEN]
    for one in same:
        one["values"]["brevity"] = one["values"].pop("concision")
    write(upgraded, "renamed.jsonl", same)
    for verb in (("agree",), ("correct",)):
        old, new = (
            json.loads(upgraded.judgekit(*verb, "new", file, "--json").out)
            for file in ("labels.jsonl", "renamed.jsonl")
        )
        assert without_digest(old) == without_digest(new)


def without_digest(data):
    """Return the figures without the digest of the file of labels."""
    return {key: value for key, value in data.items() if key != "labels"}


@pytest.mark.thorough
def test_a_check_of_labels_knows_the_former_names(upgraded):
    assert (
        "no problems in 16 labels"
        in upgraded.judgekit("labels", "check", "labels.jsonl", "new").out
    )
    write(upgraded, "both.jsonl", [*GIVEN, {**GIVEN[0], "values": {"brevity": "bad"}}])
    shown = upgraded.judgekit("labels", "check", "both.jsonl", "new", exits=1).out
    assert "contradiction" in shown
    gone = [{**GIVEN[0], "values": {"coherence": "bad"}}]
    write(upgraded, "gone.jsonl", gone)
    shown = upgraded.judgekit("labels", "check", "gone.jsonl", "new", exits=1).out
    assert "unknown-criterion: quality has no 'coherence'" in shown
