"""The form with the criteria of a case, on the page of a run; labels of it count elsewhere."""

from __future__ import annotations

import json
from typing import Any

import pytest

import judgekit
from judgekit import Case, Criterion, FakeJudge
from judgekit.analysis.labels.check import check_labels
from judgekit.analysis.labels.importing import import_labels
from judgekit.analysis.labels.plan import plan_labels
from judgekit.core.case import output_digest
from judgekit.core.errors import ConfigError
from judgekit.pages.run.payload import case_form

DOSE, TONE, HARM = "Names the dose", "Suits a layperson", "Advises to stop a drug"
CASES = [
    Case(id="a", output="One.", criteria=[Criterion(DOSE, 5), Criterion(HARM, -2, nullable=True)]),
    Case(
        id="b",
        output="Two.",
        criteria=[
            Criterion(TONE, 2, levels={"no": 0, "partly": 0.5, "yes": 1}),
            Criterion("The text", 2, of=[Criterion(DOSE, 1), Criterion(DOSE, 3, negate=True)]),
            Criterion("Stars", 1, score={"min": 1, "max": 5}, reference="a table"),
            Criterion("Register", 1, choice={"formal": 1, "loose": 0, "none": None}),
        ],
    ),
    # One text as two questions: the digest alone does not name one of them.
    Case(
        id="c",
        output="Three.",
        criteria=[Criterion(DOSE, 1), Criterion(DOSE, 1, levels=["n", "y"])],
    ),
]  # fmt: skip
ANSWERS: dict[str, list[Any]] = {"a": [True, None], "b": ["yes", True, 3, "none"], "c": [True, "y"]}
WORTH = {"a": 1.0, "b": (2 + 2 * 0.25 + 0.5) / 5, "c": 1.0}


def say(request: Any) -> dict[str, Any]:
    if request.about.output == "Three.":
        raise judgekit.JudgeUnavailable("down")
    values = {"boolean": False, "score": 2.0, "choice": "loose"}
    return {
        q.id: {"reason": "r", "quotes": [], "value": "partly" if q.text == TONE else values[q.kind]}
        for q in request.form.questions
    }


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> judgekit.Report:
    points = judgekit.create_metric("points", judge=FakeJudge(say), calls="all")
    return judgekit.evaluate_sync(CASES, [points], out=tmp_path_factory.mktemp("run") / "run")


def labelled(case: Case, answers: list[Any], **change: Any) -> dict[str, Any]:
    """Return the line that the page writes for these answers to its form."""
    questions = json.loads(case_form(case) or "")["questions"]
    given = {
        q["id"]: {"reason": "", "value": value} for q, value in zip(questions, answers, strict=True)
    }
    digest = output_digest(case.output)
    return {"case": case.id, "metric": "points", "output_digest": digest, "answers": given} | change


def written(path: Any, lines: list[Any]) -> Any:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def test_labels_of_the_forms_agree_and_correct(report: judgekit.Report, tmp_path: Any) -> None:
    lines = [labelled(case, ANSWERS[case.id]) for case in CASES]
    path = written(tmp_path / "labels.jsonl", lines)

    found = {one.criterion: one for one in judgekit.agree(report, path, write=False).criteria}
    # The label on the text that case b has twice is about both.
    assert (found["criteria"].pairs, found["criteria"].same) == (3, 0)
    assert found["criteria by share"].pairs == 2
    left = found["criteria"].left_out
    assert left["the person could not tell"] == 1
    (mean,) = judgekit.correct_means(report, path).means
    # The judge failed on case c, whose label counts all the same.
    assert mean.labels.n == 3
    assert mean.labels.value == pytest.approx(sum(WORTH.values()) / 3)
    assert mean.left_out == {}
    checked = check_labels(path, report)
    assert checked.problems == 0, checked.text()
    assert import_labels(path, run=report).notes == {}


def test_a_plan_has_the_criteria_of_each_case(report: judgekit.Report, tmp_path: Any) -> None:
    plan = plan_labels(report, 3, metric="points")
    lines = list(plan.lines())
    assert [[q["text"] for q in line["criteria"].values()] for line in lines] == [
        [DOSE, HARM], [TONE, DOSE, "Stars", "Register"], [DOSE, DOSE],
    ]  # fmt: skip
    path = written(tmp_path / "plan.jsonl", lines)
    # People name a criterion by its text, too; the import writes its digest.
    labels = written(
        tmp_path / "labels.jsonl",
        [{"case": "b", "metric": "points", "criterion": TONE, "value": "YES"}],
    )
    (label,) = import_labels(labels, run=report, plan=path).labels
    assert label.criterion == next(iter(lines[1]["criteria"]))
    assert label.probability == 1.0
    (missing, *_) = [
        one for one in check_labels(path_of(tmp_path), plan=path).findings if one.is_problem
    ]
    assert missing.rule == "unknown-answer"
    assert "'so-so' is no answer" in missing.message


def path_of(folder: Any) -> Any:
    lines = [labelled(case, ANSWERS[case.id], probability=1.0) for case in CASES]
    lines[1]["answers"][next(iter(lines[1]["answers"]))]["value"] = "so-so"
    return written(folder / "wrong.jsonl", lines)


MISSPELT = {"case": "a", "metric": "points", "values": {"Names a dose": True}}
MEANT = r"case 'a'.*'Names a dose'; did you mean 'Names the dose'\?"


def test_a_misspelt_criterion_is_answered_with_the_right_one(
    report: judgekit.Report, tmp_path: Any
) -> None:
    path = written(tmp_path / "labels.jsonl", [MISSPELT])

    with pytest.raises(ConfigError, match=MEANT):
        judgekit.agree(report, path, write=False)
    with pytest.raises(ConfigError, match=MEANT):
        judgekit.correct_means(report, path)
    (problem,) = [one for one in check_labels(path, report).findings if one.is_problem]
    assert problem.message == (
        "case 'a' has no criterion 'Names a dose'; did you mean 'Names the dose'?"
    )
    with pytest.raises(judgekit.JudgekitError, match=r"did you mean 'Names the dose'\?"):
        import_labels(
            written(tmp_path / "long.jsonl", [
                {"case": "a", "metric": "points", "criterion": "Names a dose", "value": True},
            ]), run=report,
        )  # fmt: skip


def test_labels_of_one_criterion_by_two_names(report: judgekit.Report, tmp_path: Any) -> None:
    by_text = {"case": "a", "metric": "points", "labeller": "ann", "values": {DOSE: False}}
    by_digest = labelled(CASES[0], ANSWERS["a"], labeller="bob")
    by_part = {**by_text, "values": {"criterion 1": True}}
    path = written(tmp_path / "labels.jsonl", [by_text, by_digest])

    (found,) = judgekit.agree(report, path, write=False).criteria
    assert (found.pairs, found.labellers) == (2, ("ann", "bob"))
    written(path, [by_text, by_digest, by_part])
    (found,) = judgekit.agree(report, path, write=False).criteria
    assert found.pairs == 2
    assert sum(found.left_out.values()) == 2
