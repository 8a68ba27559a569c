"""Criteria that cases have themselves, in the exports of a run."""

import csv

import pytest

from judgekit import Case, Criterion, FakeJudge, create_metric, evaluate_sync
from judgekit.report.export.export import export

DOSE = "Names the dose"


@pytest.fixture(scope="module")
def report():
    def say(request):
        odd = int(request.about.output) % 2 == 1
        value = {"reason": "r", "quotes": [], "value": odd}
        return {question.id: value for question in request.form.questions}

    dose = Criterion(DOSE, 3, tags=["axis:b"])
    cases = []
    for n in range(30):
        # The recurring criterion is not at the same place in every case.
        own = [Criterion(f"Only {n}", 1, tags=["axis:a"]), dose][:: 1 if n % 4 else -1]
        cases.append(Case(id=f"c{n}", output=str(n), criteria=own))
    cases.append(Case(id="none", output="0", criteria=[]))
    options = {"calls": "all", "by": ["axis"], "pass": "required"}
    points = create_metric("points", judge=FakeJudge(say), **options)
    return evaluate_sync(cases, [points])


def test_csv_has_pass_tags_and_criteria_that_recur(report, tmp_path):
    export(report, "csv", tmp_path / "t.csv")
    text = (tmp_path / "t.csv").read_text("utf-8-sig")
    rows = list(csv.DictReader(text.splitlines()))

    own = [name for name in rows[0] if name.startswith("points.")]
    assert own == ["points.status", "points.reason", "points.pass", "points.axis:a",
                   "points.axis:b", f"points.{DOSE}"]  # fmt: skip
    values = [[row[name] for name in own if name not in own[:2]] for row in rows]
    assert values[0] == ["false", "0.0", "0.0", "0.0"]
    assert values[1] == ["true", "1.0", "1.0", "1.0"]
    # A failure has no value, and no zero.
    assert (rows[-1]["case"], values[-1]) == ("none", ["", "", "", ""])


def test_markdown_has_a_line_for_each_tag(report, tmp_path):
    export(report, "markdown", tmp_path / "t.md")

    lines = (tmp_path / "t.md").read_text("utf-8").splitlines()
    plain = [line.replace("\\", "") for line in lines if "points, axis" in line]
    assert [line.partition(" (")[0] for line in plain] == [
        "- points, axis:a: 0.50", "- points, axis:b: 0.50",
    ]  # fmt: skip
    assert all(line.endswith("in 30 cases") for line in plain)
