"""A way to combine is one row: rubrics, metrics, lint, schemas and pages take it from there."""

from __future__ import annotations

import json

import pytest

from tests.agreement.places import run_test
from tests.agreement.scratch import ScratchPackage

NAMES = 'Combine = Literal["weighted_mean", '
ROW = """
        "geometric_mean": Way(
            value=lambda values, weights: math.prod(map(pow, values, weights)),
            phrase="the weighted geometric mean",
            weighted=True,
            decisive="cost",
        ),
        "mean": Way("""
RUBRIC = """
    ---
    name: tone
    extends: base
    description: Judge the tone.
    combine: geometric_mean
    criteria:
      polite: {text: Is the answer polite?, weight: 0.7}
      clear: {text: Is the answer clear?, weight: 0.3}
    ---
    """
SUITE = """
    cases: [{id: a, input: Why?, output: It is so.}]
    judge: fake/judge
    cassette: tape.jsonl
    metrics:
      tone: {rubric: tone.jinja, threshold: 0}
      length: {maximum: 2}
      both: {combine: geometric_mean, of: [tone, length], weights: {tone: 3, length: 1}}
    """


def with_name(scratch):
    scratch.replace("rubric/fold.py", NAMES, f'{NAMES}"geometric_mean", ')


def with_row(scratch):
    scratch.replace("rubric/fold.py", '\n        "mean": Way(', ROW)


@pytest.fixture
def scratch(tmp_path):
    scratch = ScratchPackage(tmp_path)
    with_name(scratch)
    with_row(scratch)
    (scratch.work / "tone.jinja").write_text(scratch.write("x", RUBRIC).read_text().lstrip())
    scratch.write("suite.yaml", SUITE)
    return scratch


def rows_of(scratch, folder):
    text = (scratch.work / folder / "results.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    return {row["metric"]: row["result"] for row in rows if "result" in row}


@pytest.mark.thorough
def test_a_way_is_planned_run_replayed_and_shown(scratch):
    scratch.judgekit("run", "suite.yaml", "--plan")
    scratch.judgekit("run", "suite.yaml", "--record", "new_episodes", "--out", "live")
    scratch.judgekit("run", "suite.yaml", "--out", "again")

    live, again = rows_of(scratch, "live"), rows_of(scratch, "again")
    assert live == again
    polite, clear = live["tone"]["parts"]
    assert [polite["weight"], clear["weight"]] == [0.7, 0.3]
    tone = live["tone"]["value"]
    assert tone == pytest.approx(polite["value"] ** 0.7 * clear["value"] ** 0.3)
    costly = max((polite, clear), key=lambda part: part["weight"] * (1 - part["value"]))
    assert live["tone"]["reason"].startswith(costly["id"])
    assert live["both"]["value"] == pytest.approx(tone**0.75 * 0.5**0.25)
    assert live["both"]["reason"].startswith("The geometric mean of: tone ")
    page = (scratch.work / "again" / "report.html").read_text("utf-8")
    assert "the weighted geometric mean" in page
    assert "0.7" in page


@pytest.mark.thorough
def test_a_way_is_in_the_schemas_and_lint_knows_its_weights(scratch):
    for kind in ("suite", "rubric"):
        assert '"geometric_mean"' in scratch.judgekit("schema", kind).out

    linted = scratch.judgekit("rubric", "lint", "tone.jinja", "--format", "json", exits=None)
    rules = {finding["rule"] for finding in json.loads(linted.out)["findings"]}
    assert not rules & {"weight-ignored", "bad-value"}
    assert "combined by: geometric mean" in scratch.judgekit("rubric", "show", "tone.jinja").out


@pytest.mark.thorough
def test_what_a_way_does_not_do_is_refused(scratch):
    text = (scratch.work / "tone.jinja").read_text("utf-8")
    penalty = text.replace("weight: 0.7", "weight: 1").replace("weight: 0.3", "weight: -0.3")
    scratch.write("penalty.jinja", penalty.replace("name: tone", "name: penalty"))
    linted = scratch.judgekit("rubric", "lint", "penalty.jinja", exits=1)
    assert "combine geometric_mean has no use for one" in linted.out

    two = text.replace("name: tone", "name: two\nrequires: [output, baseline]")
    scratch.write("two.jinja", two)
    scratch.write("two.yaml", "judge: fake/judge\nmetrics: {two: {pairwise: two.jinja}}\n")
    assert "treats the two answers differently" in scratch.judgekit("run", "two.yaml", exits=2).err

    unweighted = SUITE.replace(", weights: {tone: 3, length: 1}", "")
    scratch.write("suite.yaml", unweighted)
    assert "geometric_mean needs weights" in scratch.judgekit("run", "suite.yaml", exits=2).err


@pytest.mark.thorough
@pytest.mark.parametrize("half", [with_name, with_row])
def test_a_name_without_a_row_stops_every_command(half, tmp_path):
    scratch = ScratchPackage(tmp_path)
    half(scratch)

    assert "geometric_mean" in scratch.python("import judgekit.rubric.fold", exits=1).err


@pytest.mark.thorough
def test_a_way_that_is_not_documented_fails_a_test(scratch):
    test = "rubric.test_fold:test_the_page_of_rubrics_lists_every_way"

    assert "AssertionError" in run_test(scratch, test).err
    # The same test on an unchanged copy, so that nothing else is what fails.
    scratch.replace("rubric/fold.py", '"geometric_mean", ', "")
    scratch.replace("rubric/fold.py", ROW, '\n        "mean": Way(')
    assert run_test(scratch, test).code == 0
