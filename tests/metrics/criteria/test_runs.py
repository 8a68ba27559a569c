"""Runs of criteria in the row, with the other settings of a suite that they meet."""

import json

import pytest
from typer.testing import CliRunner

from judgekit import Case, Criterion, FakeJudge, Reply, create_metric, evaluate_sync
from judgekit.analysis.comparison.compare import compare
from judgekit.cli.app import app
from judgekit.core.request import Try
from judgekit.judges.limits import LimitedJudge
from judgekit.judges.manual import ManualJudge
from judgekit.suite.run import run_suite_sync
from tests.judges.test_decisions import LocalEndpoint
from tests.judges.test_manual import Typed

ROWS = [
    {
        "id": f"c{n}",
        "input": "Is it safe?",
        "output": f"Yes, {n} tablets. Write to ann.lee@mail-of-ann.org.",
        "metadata": {"user": f"u{n % 3}"},
        "expected": {
            "criteria": [
                {"criterion": f"Says {n} or {m}", "points": m + 1, "tags": ["axis:dose"]}
                for m in range(5)
            ]
        },
    }
    for n in range(6)
]


def project(tmp_path, rows=ROWS, *, cassette="tape.jsonl", **metric):
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    suite = {
        "cases": "cases.jsonl",
        "judge": "fake/judge",
        "cassette": cassette,
        "metrics": {"points": {"calls": 2, "by": ["axis"], **metric}},
    }
    path = tmp_path / "suite.yaml"
    path.write_text(json.dumps(suite))
    return path


def odd(request):
    """Leave out an answer, cut a reply, and decline, each for some groups."""
    names = [question.text for question in request.form.questions]
    answers = {
        q.id: {"reason": "r", "quotes": [], "value": len(q.text) % 2 == 0}
        for q in request.form.questions
    }
    if len(names) > 1 and "or 0" in names[0]:
        del answers["c2"]
    if len(names) > 1 and "or 2" in names[0]:
        return Reply(tries=(Try(text='{"c1"', finish="length"),))
    if names == [names[0]] and "or 4" in names[0]:
        return Reply(tries=(Try(refusal="I would rather not", finish="stop"),))
    return answers


def cli(*arguments):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done


def results(folder):
    return (folder / "results.jsonl").read_bytes().split(b"\n", 1)[1]


@pytest.mark.parametrize(
    "further",
    [{}, {"samples": 3}, {"samples": 2, "order": "balanced"}, {"calls": "all"}, {"calls": "each"}],
)
def test_a_replay_takes_the_same_steps(tmp_path, further):
    suite = project(tmp_path, **further)
    judge = FakeJudge(odd)
    run_suite_sync(suite, judge=judge, out=tmp_path / "live")
    asked = len(judge.asked)
    silent = FakeJudge(lambda _: pytest.fail("a replay asks no judge"))
    run_suite_sync(suite, judge=silent, out=tmp_path / "replay")

    assert asked > 0
    assert silent.asked == []
    assert results(tmp_path / "live") == results(tmp_path / "replay")


def test_a_changed_criterion_asks_its_group_again(tmp_path):
    suite = project(tmp_path)
    run_suite_sync(suite, judge=FakeJudge(), out=tmp_path / "a")
    rows = json.loads(json.dumps(ROWS))
    rows[3]["expected"]["criteria"][4]["criterion"] = "Says something else"
    rows[3]["expected"]["criteria"][4]["points"] = 9
    rows[2]["expected"]["criteria"][0]["points"] = 9  # points are not part of a request
    judge = FakeJudge()
    run_suite_sync(project(tmp_path, rows), judge=judge, out=tmp_path / "b")

    (request,) = judge.asked
    assert [question.text for question in request.form.questions] == ["Says something else"]
    # The answers are the same; what is compared are two sets of criteria.
    compared = compare(tmp_path / "a", tmp_path / "b", allow_same=True)
    assert [metric.metric for metric in compared.metrics] == ["points"]


def test_single_calls_and_groups_are_compared_by_the_texts_of_criteria(tmp_path):
    def changing(request):
        several = len(request.form.questions) > 1
        value = request.about.output in ("o1", "o2") if several else True
        return {
            question.id: {"reason": f"several: {several}", "quotes": [], "value": value}
            for question in request.form.questions
        }

    own = [{"criterion": f"Has part {n} of {m}", "points": 1} for n in range(40) for m in (1, 2)]
    rows = [
        {"id": f"c{n}", "output": f"o{n}", "expected": {"criteria": [
            own[2 * n + n % 2], {"criterion": "Is polite", "points": 2}, own[2 * n + 1 - n % 2],
        ]}}
        for n in range(40)
    ]  # fmt: skip
    for name, calls in (("single", "each"), ("grouped", 3)):
        suite = project(tmp_path, rows, calls=calls)
        run_suite_sync(suite, judge=FakeJudge(changing), out=tmp_path / name)

    found = compare(tmp_path / "single", tmp_path / "grouped", across_rubrics=True)
    (metric,) = found.metrics
    assert [(one.name, one.pairs, one.worse) for one in metric.criteria] == [("Is polite", 40, 38)]
    agreement = metric.own_criteria
    assert (agreement.pairs, agreement.rose, agreement.fell) == (120, 0, 114)
    assert agreement.kappa == 0.0
    (moved, *_) = metric.worst
    assert moved.part.id in {
        item["criterion"] for row in rows for item in row["expected"]["criteria"]
    }
    assert (moved.part.base_reason, moved.part.new_reason) == ("several: False", "several: True")
    assert "6 of 120 criteria with a share of 0 or 1" in " ".join(found.text().split())


def test_shards_are_merged_to_the_same_rows(tmp_path):
    suite = project(tmp_path)
    judge = FakeJudge(odd)
    run_suite_sync(suite, judge=judge, out=tmp_path / "whole")
    shards = [tmp_path / "1", tmp_path / "2"]
    for number, out in enumerate(shards, start=1):
        cli("run", suite, "--shard", f"{number}/2", "--out", out)
    cli("merge", suite, *shards, "--out", tmp_path / "merged")

    assert results(tmp_path / "merged") == results(tmp_path / "whole")
    tags = json.loads((tmp_path / "merged" / "report.json").read_text())["metrics"][0]["tags"]
    assert [(one["tag"], one["scored"]) for one in tags] == [("axis:dose", 6)]


def test_redaction_reaches_answers_and_criteria(tmp_path):
    rows = [{**ROWS[0], "expected": {"criteria": [
        {"criterion": "Names ann.lee@mail-of-ann.org", "points": 1}, {"criterion": "b", "points": 1}
    ]}}]  # fmt: skip
    suite = project(tmp_path, rows)
    data = json.loads(suite.read_text())
    suite.write_text(json.dumps({**data, "redact": ["email"]}))
    judge = FakeJudge()
    run_suite_sync(suite, judge=judge, out=tmp_path / "run")

    sent = "".join(message.content for request in judge.asked for message in request.messages)
    kept = (tmp_path / "tape.jsonl").read_text() + (tmp_path / "run" / "results.jsonl").read_text()
    assert "ann.lee" not in sent
    assert "ann.lee" not in kept


def test_a_plan_says_that_later_calls_depend_on_replies(tmp_path):
    done = cli("run", project(tmp_path), "--plan")

    assert "18 to " in done.output  # 3 groups for each of 6 cases
    assert "further requests after each of points" in done.output


# -- other kinds of judges --------------------------------------------------------------

KINDS = Case(
    id="a",
    output="Take one.",
    criteria=[
        Criterion("Names a dose", 2),
        Criterion("Suits a layperson", 2, levels={"no": 0, "partly": 0.5, "yes": 1}),
        Criterion("The topic", 1, choice={"drugs": 1, "food": 0}),
    ],
)


@pytest.mark.parametrize("api", ["decisions", "systemone"])
def test_a_decision_endpoint_answers_groups(api):
    judge = LocalEndpoint(api)
    report = evaluate_sync([KINDS], [create_metric("points", judge=judge, calls=2)])

    assert report.metrics["points"].failed == 0
    assert [len(request.form.questions) for request in judge.asked] == [2, 1]
    assert "The criterion: Names a dose" in judge.asked[0].form.questions[0].text
    # The questions have the criteria, so the messages do not.
    assert "Names a dose" not in judge.asked[0].messages[-1].content


def test_a_decision_endpoint_takes_no_free_number():
    case = Case(id="a", output="x", criteria=[Criterion("How well", 1, score={"min": 0, "max": 5})])
    judge = LocalEndpoint("decisions")
    report = evaluate_sync([case], [create_metric("points", judge=judge)])

    ((_, (row,)),) = report.results
    assert row.result.kind == "invalid_case"
    assert "number 1: openai/local does not support it: its answer is a free number" in (
        row.result.message
    )
    assert judge.asked == []


def test_a_person_answers_a_group(tmp_path):
    lines = ["it says one", "one", "", "y", "plain", "", "3", "about drugs", "", "1", ""]
    terminal = Typed(*lines)
    judge = LimitedJudge(ManualJudge("ann", terminal=terminal))
    report = evaluate_sync([KINDS], [create_metric("points", judge=judge, calls="all")])

    ((_, (row,)),) = report.results
    assert row.result.value == 1.0
    assert row.result.parts[0].items[0]["reason"] == "it says one"
    for text in ("Names a dose", "Suits a layperson", "The topic"):
        assert text in terminal.shown


@pytest.mark.parametrize("across", [False, True])
def test_runs_with_other_criteria_compare_the_other_metrics(across):
    def run(name, texts):
        def say(request):
            value = {"reason": name, "quotes": [], "value": name == "base"}
            return {q.id: value for q in request.form.questions}

        cases = [
            Case(id=id, output=name, criteria=[Criterion(text, 1) for text in own])
            for id, own in {"a": texts, "b": ["Names the day"], "c": ["Names the day"]}.items()
        ]
        points = create_metric("points", judge=FakeJudge(say), calls="all")
        return evaluate_sync(cases, [points, create_metric("length", maximum=5)])

    base, new = run("base", ["Names the dose"]), run("new", ["Is short"])
    found = compare(base, new, across_rubrics=across)

    pairs = {one.metric: one.difference.pairs for one in found.metrics}
    assert pairs == {"length": 3, "points": 3 if across else 2}
    told = "do not measure the same" if across else "--across-rubrics compares them anyway"
    assert any("points: 1 case has other criteria" in w and told in w for w in found.warnings)


def test_a_budget_that_ends_within_a_case_costs_its_row_and_resumes(tmp_path):
    def say(request):
        answers = {
            q.id: {"reason": "r", "quotes": [], "value": True} for q in request.form.questions
        }
        return Reply(tries=(Try(text=json.dumps(answers), finish="stop"),), cost=0.01)

    suite = project(tmp_path)  # 6 cases with 3 groups each
    judge, later = FakeJudge(say), FakeJudge(say)
    first = run_suite_sync(suite, judge=LimitedJudge(judge, max_cost=0.1), out=tmp_path / "first")
    kinds = [getattr(row.result, "kind", None) for _, rows in first.results for row in rows]
    assert len(judge.asked) % 3 != 0
    assert set(kinds) == {None, "not_run"}
    assert kinds.count(None) == len(judge.asked) // 3

    second = run_suite_sync(suite, judge=later, out=tmp_path / "second")

    # The groups of the row that failed were recorded, so only the others are asked.
    assert len(judge.asked) + len(later.asked) == 18
    assert second.metrics["points"].judged == 6


def test_values_and_tags_of_groups_are_clustered(tmp_path):
    suite = project(tmp_path)
    suite.write_text(json.dumps({**json.loads(suite.read_text()), "cluster": "user"}))

    report = run_suite_sync(suite, judge=FakeJudge(odd), out=tmp_path / "run")

    points = report.metrics["points"]
    assert points.clusters == 3
    assert [(tag.tag, tag.clusters) for tag in points.tags] == [("axis:dose", 3)]
