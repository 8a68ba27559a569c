"""Labels of tables and of Label Studio, as a file of labels."""

from __future__ import annotations

import json

import pytest

from judgekit.analysis.labels.importing import import_labels
from judgekit.analysis.labels.plan import plan_labels
from judgekit.core.case import Case, output_digest
from judgekit.core.errors import ConfigError, DatasetError, JudgekitError
from judgekit.datasets.labels import read_labels
from judgekit.runner.evaluation import evaluate_sync
from tests.analysis.labels.made import CRITERIA, RUBRIC, Given, made_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    rows = [{"values": {"polite": float(n % 2), "level": n % 3 / 2}} for n in range(40)]
    return made_run(tmp_path_factory.mktemp("import") / "run", rows)


@pytest.fixture
def write(tmp_path):
    def write(text, name="labels.csv"):
        path = tmp_path / name
        path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
        return path

    return write


def lines(imported):
    return [json.loads(line) for line in imported.lines()]


def task(*results, id=1, data=None, **annotation):
    made = [
        {"from_name": name, "to_name": "text", "type": kind, "value": {key: value}}
        for name, kind, key, value in results
    ]
    return {
        "id": id,
        "data": data or {"case": "c1", "metric": "tone"},
        "annotations": [{"id": 7, "was_cancelled": False, "result": made, **annotation}],
    }


def test_a_wide_table(write, run):
    path = write("case,labeller,polite,polite_reason,level\n"
                 "c2,ann,yes,it says please,Good\nc1,bob,no,,\nc1,ann,,,bad\n")  # fmt: skip

    assert lines(import_labels(path, run=run)) == [
        {"case": "c1", "metric": "tone", "labeller": "ann",
         "output_digest": output_digest("Because 1."), "answers": {"level": {"value": "bad"}}},
        {"case": "c1", "metric": "tone", "labeller": "bob",
         "output_digest": output_digest("Because 1."), "answers": {"polite": {"value": False}}},
        {"case": "c2", "metric": "tone", "labeller": "ann",
         "output_digest": output_digest("Because 2."),
         "answers": {"polite": {"value": True, "reason": "it says please"},
                     "level": {"value": "good"}}},
    ]  # fmt: skip


def test_a_long_table_is_the_same_as_a_wide_one(write, run):
    wide = write("case,labeller,polite,polite_reason,share\nc1,ann,yes,kind,7.5\n")
    long = write("case,labeller,criterion,value,reason\n"
                 "c1,ann,share,7.5,\nc1,ann,polite,true,kind\n", "long.csv")  # fmt: skip

    assert sorted(map(str, lines(import_labels(long, run=run))[0]["answers"])) == [
        "polite", "share",
    ]  # fmt: skip
    assert [*import_labels(long, run=run).lines()] == [*import_labels(wide, run=run).lines()]


def test_columns_can_be_renamed_and_left_out(write, run):
    path = write("case,Höflich?,why,who\nc1,ja,because,x\n".replace("ja", "yes"))
    names = {"Höflich?": "polite", "why": "polite.reason", "who": ""}

    (line,) = lines(import_labels(path, run=run, names=names, labeller="ann"))
    assert line["answers"] == {"polite": {"value": True, "reason": "because"}}
    assert line["labeller"] == "ann"


def test_without_a_run_words_are_read_as_they_look(write):
    path = write("case,metric,a,b,c,d\nc1,m,0.5,true,fine,null\n")

    (line,) = lines(import_labels(path))
    assert {name: answer["value"] for name, answer in line["answers"].items()} == {
        "a": 0.5, "b": True, "c": "fine", "d": None,
    }  # fmt: skip


def test_tasks_of_label_studio(write, run):
    """The JSON export: https://labelstud.io/guide/export, `annotations` of each task."""
    path = write(
        [
            task(("polite", "choices", "choices", ["Yes"]),
                 ("polite_reason", "textarea", "text", ["kind,", "and short"]),
                 ("share", "rating", "rating", 4),
                 completed_by={"id": 3, "email": "ann@example.org"}),
            task(("share", "number", "number", 2.5), ("why", "textarea", "text", ["little"]),
                 ("area", "rectanglelabels", "x", 1), id=2, completed_by=12),
            task(("polite", "choices", "choices", ["No"]), id=3, was_cancelled=True),
            task(id=4),
        ],
        "export.json",
    )  # fmt: skip
    imported = import_labels(path, run=run)

    assert [(line["labeller"], line["answers"]) for line in lines(imported)] == [
        ("12", {"share": {"value": 2.5, "reason": "little"}}),
        ("ann@example.org", {"polite": {"value": True, "reason": "kind,\nand short"},
                             "share": {"value": 4}}),
    ]  # fmt: skip
    assert imported.notes == {
        "labels without a digest: taken as labels of the outputs of the run": 3,
        "cancelled annotations left out": 1, "annotations without answers left out": 1,
        "results left out: no choices, rating, number or text": 1,
    }  # fmt: skip


def test_the_export_of_the_page_keeps_its_reasons(write):
    answers = {"polite": {"reason": "kind", "value": True}}
    text = json.dumps({"case": "c1", "metric": "tone", "output_digest": output_digest("x"),
                       "labeller": "ann", "answers": answers})  # fmt: skip
    (line,) = lines(import_labels(write(text, "page.jsonl")))

    assert line == {
        "case": "c1", "metric": "tone", "labeller": "ann", "output_digest": output_digest("x"),
        "answers": {"polite": {"value": True, "reason": "kind"}},
    }  # fmt: skip


def test_a_plan_adds_probabilities_and_leaves_other_cases_out(write, run, tmp_path):
    plan = plan_labels(run, 8)
    planned = list(plan.lines())
    path = write("".join(json.dumps(line) + "\n" for line in planned), "plan.jsonl")
    chances = {line["case"]: line["probability"] for line in planned}
    others = [f"c{n}" for n in range(40) if f"c{n}" not in chances][:3]
    rows = write("case,polite\n" + "".join(f"{case},yes\n" for case in [*others, *chances]))

    imported = import_labels(rows, plan=path)
    out = tmp_path / "out.jsonl"
    out.write_text("".join(line + "\n" for line in imported.lines()))

    assert {label.case: label.probability for label in read_labels(out)} == chances
    assert imported.notes == {"labels left out: their cases are not in the plan": 3}
    assert list(import_labels(out).lines()) == list(imported.lines())
    stale = write(json.dumps({"case": planned[0]["case"], "metric": "tone", "value": 1,
                              "output_digest": "f" * 16}), "stale.jsonl")  # fmt: skip
    with pytest.raises(ConfigError, match="no label is of a planned case"):
        import_labels(stale, plan=path)


def test_labels_that_name_the_rubric_are_of_the_planned_metric(write, tmp_path):
    rubric = {**RUBRIC, "name": "manners"}
    run = made_run(tmp_path / "run", [{"values": {"polite": 1.0}}] * 4, rubric=rubric)
    (line,) = plan_labels(run, 1).lines()
    plan = write(line, "plan.jsonl")
    label = {"case": line["case"], "rubric": "manners", "values": {"polite": True}}

    (found,) = import_labels(write(label, "labels.jsonl"), plan=plan).labels
    assert (found.metric, found.probability) == ("manners", 0.25)


def test_the_same_labels_in_another_order_are_the_same_bytes(write):
    rows = ["c1,ann,yes", "c2,ann,no", "c1,bob,no"]
    one = write("case,labeller,x\n" + "\n".join(rows) + "\n", "a.csv")
    other = write("case,labeller,x\n" + "\n".join(rows[::-1]) + "\n", "b.csv")

    expected = list(import_labels(one, metric="m").lines())
    assert list(import_labels(other, metric="m").lines()) == expected
    joined = import_labels(one, other, metric="m")
    assert list(joined.lines()) == expected
    assert joined.notes == {"repeated labels left out": 3}


MISTAKES = [
    ("case,politness\nc1,yes\n", r"labels.csv:2: 'politness' is no criterion of tone; did you mean"
     r" 'polite'\?; use --map politness=CRITERION, or --map politness= to skip it"),
    ("case,level\nc1,god\n", r"labels.csv:2: 'god' is no answer to 'level'; did you mean 'good'\?"),
    ("case,share\nc1,11\n", r"labels.csv:2: 11.0 is no answer to 'share', which is a number from "
     "0 to 10"),
    ("case,polite\nc1,maybe\n", "labels.csv:2: 'maybe' is no answer to 'polite', which is yes or"),
    ("case,labeller,polite\nc1,ann,yes\nc1,ann,no\n", r"labels.csv:3: case 'c1', tone, polite by "
     r"ann, is labelled False, and True at .*labels.csv:2; keep one"),
    ("name,polite\nc1,yes\n", "labels.csv:2: no case; add a column"),
    ("case,polite\nc1,\n", "labels.csv: no labels in the file"),
    ("case,polite\nc1,yes,no\n", "labels.csv:2: a row of 3 under a header of 2"),
    ("case,output_digest,polite\nc1,abc,yes\n", "labels.csv:2: 'output_digest' must be 16 hex"),
    ("case,probability,polite\nc1,2,yes\n", "labels.csv:2: 'probability' must be above 0"),
    (f"case,polite\n{'c' * 1001},yes\n", "labels.csv:2: an id or a name is longer than 1000"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_mistakes_are_named_with_their_line(write, run, text, message):
    with pytest.raises(JudgekitError, match=message):
        import_labels(write(text), run=run)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (task(("polite", "choices", "choices", ["Yes", "No"])),
         "row 1: task 1, annotation 7: 'polite' needs one choice"),
        (task(("polite", "choices", "choices", [["deep"]])),
         "task 1, annotation 7: an answer must be a word"),
        (task(("polite", "choices", "choices", ["Yes"]), data={"text": "x"}),
         "task 1, annotation 7: no case"),
        (task(("kind", "rating", "rating", 3)), "'kind' is no criterion of tone"),
        ({"id": 5, "data": [], "annotations": []}, "task 5 has no data"),
        (["row"], "expected an object with labels"),
    ],
)  # fmt: skip
def test_mistakes_in_tasks_are_named_with_their_task(write, run, made, message):
    with pytest.raises(DatasetError, match=message):
        import_labels(write([made], "export.json"), run=run)


def test_a_table_without_a_metric_says_what_to_add(write):
    with pytest.raises(DatasetError, match="no metric; add a column 'metric', or name it with --"):
        import_labels(write("case,polite\nc1,yes\n"))


def test_columns_about_the_label_can_be_renamed(write, run):
    path = write("Ticket,Rater,polite\nc1,ann,y\n")
    names = {"Ticket": "case", "Rater": "labeller"}

    (line,) = lines(import_labels(path, run=run, names=names))

    assert (line["case"], line["labeller"]) == ("c1", "ann")
    assert line["answers"] == {"polite": {"value": True}}


def test_a_long_table_with_other_names(write, run):
    path = write("Ticket,Question,Verdict\nc1,polite,n\n")
    names = {"Ticket": "case", "Question": "criterion", "Verdict": "value"}

    (line,) = lines(import_labels(path, run=run, names=names))

    assert line["answers"] == {"polite": {"value": False}}


def test_the_case_of_a_task_can_be_renamed(write, run):
    data = {"ticket": "c1", "metric": "tone"}
    path = write([task(("polite", "choices", "choices", ["yes"]), data=data)], "tasks.json")

    (line,) = lines(import_labels(path, run=run, names={"ticket": "case"}))

    assert line["case"] == "c1"


def test_two_columns_cannot_both_be_the_case(write, run):
    path = write("case,Ticket,polite\nc1,c2,yes\n")

    with pytest.raises(DatasetError, match=r"--map Ticket=case: the row has a column 'case', too"):
        import_labels(path, run=run, names={"Ticket": "case"})


def test_labels_of_unknown_cases_are_counted_by_name(write, run):
    path = write("case,polite\nc1,yes\nx1,no\nx2,yes\n")

    imported = import_labels(path, run=run)

    assert imported.notes["labels of cases that the run does not have: 'x1', 'x2'"] == 2
    with pytest.raises(ConfigError, match=r"has none of the cases 'x1'; it has 'c0'.*--map COLUMN"):
        import_labels(write("case,polite\nx1,yes\n"), run=run)


class Other(Given):
    name = "other"


@pytest.fixture(scope="module")
def two_metrics(tmp_path_factory):
    """A run of two judged metrics with different criteria."""
    folder = tmp_path_factory.mktemp("two") / "run"
    own = [{**CRITERIA[0], "id": "kind"}, CRITERIA[2]]
    other = {"name": "warm", "digest": "1" * 16, "metrics": ["other"], "criteria": own}
    cases = [Case(id="c1", output="o", metadata={"values": {"polite": 1.0}})]
    manifest = {"rubrics": [RUBRIC, other]}
    evaluate_sync(cases, [Given(RUBRIC), Other(other)], out=folder, manifest=manifest)
    return folder


@pytest.mark.parametrize(
    ("columns", "metric"),
    [("polite", "tone"), ("kind", "other"), ("kind,kind_reason", "other"), ("level,share", "tone")],
)
def test_the_metric_follows_from_its_criteria(write, two_metrics, columns, metric):
    cells = {"polite": "yes", "kind": "no", "kind_reason": "short", "level": "good", "share": "3"}
    values = ",".join(cells[column] for column in columns.split(","))

    (line,) = lines(import_labels(write(f"case,{columns}\nc1,{values}\n"), run=two_metrics))

    assert line["metric"] == metric


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("share", "no metric; tone and other have these criteria; add a column 'metric', or name"),
        ("polite,kind", "no metric; tone has polite; other has kind; add a column"),
        ("share,knd", "no metric; 'knd' is no criterion of the run; did you mean 'kind'?; use"),
        ("comment", "'comment' is no criterion of the run; use --map comment=CRITERION, or"),
    ],
)
def test_a_metric_that_does_not_follow_is_asked_for(write, two_metrics, columns, message):
    values = ",".join("1" for _ in columns.split(","))
    with pytest.raises(DatasetError) as caught:
        import_labels(write(f"case,{columns}\nc1,{values}\n"), run=two_metrics)

    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"Ticket": "case", "Who": "laballer"}, "--map Who=laballer: no criterion, and no name"),
        ({"Tickt": "case", "Who": "labeller"}, "--map Tickt=case: no such column; did you mean"),
    ],
)
def test_a_misspelt_mapping_is_named(write, two_metrics, names, message):
    with pytest.raises(JudgekitError) as caught:
        import_labels(write("Ticket,Who,kind\nc1,ann,no\n"), run=two_metrics, names=names)

    assert message in str(caught.value)
