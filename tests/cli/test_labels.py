"""`judgekit labels`, as it is typed: from a run to labels with probabilities."""

from __future__ import annotations

import json

import pytest

from tests.analysis.labels.made import made_run
from tests.cli.conftest import one_line


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"values": {"polite": float(n % 2), "level": n % 3 / 2}} for n in range(40)]
    return made_run(tmp_path / "run", rows)


def test_from_a_plan_to_the_agreement(run, judgekit, tmp_path):
    planned = judgekit("labels", "plan", "run", "-n", 30, "--page", "label.html")
    (tmp_path / "plan.jsonl").write_text(planned.out)
    cases = [json.loads(line)["case"] for line in planned.out.splitlines()]
    people = [(case, name) for case in cases for name in ("ann", "bob")]
    (tmp_path / "people.csv").write_text("case,labeller,polite,level\n" + "".join(
        f"{case},{name},{'yes' if int(case[1:]) % 2 else 'no'},fair\n" for case, name in people
    ))  # fmt: skip
    imported = judgekit("labels", "import", "people.csv", "--plan", "plan.jsonl")
    (tmp_path / "labels.jsonl").write_text(imported.out)
    checked = judgekit("labels", "check", "labels.jsonl", "run", "--plan", "plan.jsonl")

    assert planned.err.startswith("tone: 30 of 40 cases, seed 42\n  1. score 0")
    assert planned.err.endswith("page: label.html\n")
    assert (tmp_path / "label.html").exists()
    assert imported.err == "120 labels of 30 cases by ann, bob\n"
    assert (checked.code, checked.out) == (
        0, "no problems in 120 labels of 30 cases by 2 labellers\n",
    )  # fmt: skip
    assert judgekit("agree", "run", "labels.jsonl").code == 0
    again = judgekit("labels", "plan", "run", "-n", 30)
    assert (again.out, again.code) == (planned.out, 0)


def test_problems_have_exit_code_1_and_json(run, judgekit, tmp_path):
    line = {"case": "c99", "metric": "tone", "values": {"polite": True}}
    (tmp_path / "labels.jsonl").write_text(json.dumps(line))
    checked = judgekit("labels", "check", "labels.jsonl", "run", "--json")

    assert checked.code == 1
    found = json.loads(checked.out)
    assert (found["problems"], found["labels"]) == (1, 1)
    assert found["findings"][0]["rule"] == "unknown-case"
    assert found["findings"][0]["where"] == "labels.jsonl:1"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["plan", "run", "-n", "41"], "-n 41: the run has 40 cases of tone to label; choose at "
         "most that many"),
        (["plan", "nowhere", "-n", "4"], "nowhere: not a run folder: report.json is missing; "
         "`judgekit run` writes one to runs/NAME"),
        (["import", "no.csv"], "no.csv: no such file; check the path"),
        (["import", "run/run.json", "--map", "x"], "--map x: write it as column=criterion"),
        (["check", "no.jsonl", "run"], "no.jsonl: no such file of labels; check the path"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(run, judgekit, args, message):
    assert one_line(judgekit("labels", *args)) == message
