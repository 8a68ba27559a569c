"""Mistakes in files of labels."""

from __future__ import annotations

import json

import pytest

from judgekit.analysis.labels.check import check_labels
from judgekit.core.case import output_digest
from judgekit.core.errors import ConfigError, DatasetError
from tests.analysis.labels.made import CRITERIA, made_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    rows = [{"values": {"polite": float(n % 2), "level": n % 3 / 2}} for n in range(10)]
    return made_run(tmp_path_factory.mktemp("check") / "run", rows)


@pytest.fixture
def write(tmp_path):
    def write(*rows, name="labels.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


def row(n, values=None, **more):
    digest = output_digest(f"Because {n}.")
    return {"case": f"c{n}", "metric": "tone", "labeller": "ann", "output_digest": digest,
            "values": values or {"polite": True}, **more}  # fmt: skip


def found(checked, *, problems=True):
    return [
        (one.rule, one.where.rpartition("/")[2])
        for one in checked.findings
        if one.is_problem == problems
    ]


def test_good_labels_have_no_problems(write, run):
    checked = check_labels(write(*(row(n) for n in range(10))), run)

    assert checked.findings == ()
    assert checked.text() == "no problems in 10 labels of 10 cases by 1 labeller\n"


def test_each_mistake_is_found_with_its_line(write, run):
    path = write(
        row(1),
        row(1, {"polite": False}),
        row(2, {"polite": True}),
        row(2, {"polite": True}),
        row(3, output_digest="f" * 16),
        row(99),
        row(4, metric="tones"),
        row(5, {"politness": True}),
        row(6, {"level": "god"}),
        row(7, {"share": 11}),
    )
    checked = check_labels(path, run)

    assert sorted(found(checked), key=lambda one: int(one[1].rpartition(":")[2])) == [
        ("contradiction", "labels.jsonl:2"), ("repeated", "labels.jsonl:4"),
        ("stale", "labels.jsonl:5"), ("unknown-case", "labels.jsonl:6"),
        ("unknown-metric", "labels.jsonl:7"), ("unknown-criterion", "labels.jsonl:8"),
        ("unknown-answer", "labels.jsonl:9"), ("unknown-answer", "labels.jsonl:10"),
    ]  # fmt: skip
    assert checked.problems == 8
    text = checked.text()
    assert "is no here and yes at" in text
    assert "did you mean 'polite'?" in text
    assert "'god' is no answer to 'level'; did you mean 'good'?" in text
    assert text.endswith("8 problems in 10 labels of 8 cases by 1 labeller\n")


def test_labellers_who_are_far_apart_are_information(write, run):
    path = write(
        row(1), row(1, {"polite": False}, labeller="bob"),
        row(2, {"level": "good"}), row(2, {"level": "bad"}, labeller="bob"),
        row(3, {"level": "good"}), row(3, {"level": "fair"}, labeller="bob"),
    )  # fmt: skip
    checked = check_labels(path, run)

    assert checked.problems == 0
    assert found(checked, problems=False) == [
        ("not-labelled", "labels.jsonl"),
        ("distance", "labels.jsonl:2"), ("distance", "labels.jsonl:4"),
    ]  # fmt: skip
    assert "7 of 10 cases of the run have no label: 'c0', 'c4', 'c5'" in checked.text()


def test_planned_cases_without_labels_are_missing(write, run):
    plan = write(
        *({"case": f"c{n}", "metric": "tone", "output_digest": output_digest(f"Because {n}."),
           "probability": 0.5, "labellers": ["ann", "bob"]} for n in (1, 2)),
        name="plan.jsonl",
    )  # fmt: skip
    checked = check_labels(write(row(1)), run, plan=plan)

    assert [(one.where[-12:], one.labeller) for one in checked.findings] == [
        ("plan.jsonl:1", "bob"), ("plan.jsonl:2", "ann"), ("plan.jsonl:2", "bob"),
    ]  # fmt: skip
    assert "case 'c1' is planned for tone and has no label by bob" in checked.text()


def test_a_line_that_is_no_label_is_an_error(write, run, tmp_path):
    with pytest.raises(ConfigError, match=r"labels.jsonl:2: no label"):
        check_labels(write(row(1), {"case": "c1", "metric": "tone"}), run)
    with pytest.raises(DatasetError, match=r"plan.jsonl:1: not a line of a plan"):
        check_labels(write(row(1)), plan=write(row(1), name="plan.jsonl"))


def test_probabilities_of_some_labels_only_are_a_problem(write, run):
    path = write(
        row(1, probability=0.5), row(2), row(3), row(1, labeller="bob", probability=0.25)
    )  # fmt: skip

    checked = check_labels(path, run)
    assert found(checked) == [("probability", "labels.jsonl:4"), ("probability", "labels.jsonl:2")]
    assert found(check_labels(write(row(1, probability=0.5), row(2, probability=1)))) == []


def test_a_label_may_name_the_rubric(write, run):
    checked = check_labels(write({**row(1), "metric": "manners"}), run)

    assert found(checked) == [("unknown-metric", "labels.jsonl:1")]
    named = {**row(1, {"level": "god"}), "rubric": "manners"}
    del named["metric"]
    rubric = {"name": "manners", "metrics": ["tone"], "criteria": CRITERIA, "digest": "1" * 16}
    other = made_run(run.parent / "named", [{"values": {"polite": 1.0}}] * 3, rubric=rubric)
    assert found(check_labels(write(named), other)) == [("unknown-answer", "labels.jsonl:1")]


def test_labels_of_one_verdict_are_no_random_sample(write, tmp_path):
    rows = [{"values": {"polite": float(n % 2), "level": n % 3 / 2}} for n in range(200)]
    run = made_run(tmp_path / "run", rows)

    checked = check_labels(write(*(row(n) for n in range(0, 100, 2))), run)

    (finding,) = [one for one in checked.findings if one.rule == "not-random"]
    assert (finding.metric, finding.criterion, checked.problems) == ("tone", "polite", 0)
    assert "tone, polite: the labelled cases do not look like a random sample" in finding.message
    assert "not-random" not in check_labels(write(*(row(n) for n in range(50))), run).text()


def test_labels_of_a_plan_are_not_flagged_for_the_plan(write, tmp_path):
    rows = [{"values": {"polite": float(n % 2), "level": n % 3 / 2}} for n in range(200)]
    run = made_run(tmp_path / "run", rows)
    chosen = {n: 0.6 if n % 2 else 0.1 for n in (*range(1, 121, 2), *range(0, 20, 2))}
    plan = write(
        *({"case": f"c{n}", "metric": "tone", "probability": p} for n, p in chosen.items()),
        name="plan.jsonl",
    )
    labels = write(*map(row, chosen))

    assert "not-random" in check_labels(labels, run).text()
    assert "not-random" not in check_labels(labels, run, plan=plan).text()
