"""Runs held against each other: figures, verdicts, and what is refused or said loudly."""

from __future__ import annotations

import json
import random
import shutil

import pytest
from marked import Marked
from scipy import stats

import judgekit
from judgekit.comparison.compare import compare, compare_all
from judgekit.errors import ConfigError
from judgekit.evaluation import evaluate_sync
from judgekit.report.report import Report

DRAW = random.Random(5)
BASE = [round(DRAW.uniform(0.3, 0.9), 3) for _ in range(60)]
NEW = [round(max(0.0, value - DRAW.uniform(-0.05, 0.15)), 3) for value in BASE]


def metric_of(comparison, name="worth"):
    return next(metric for metric in comparison.metrics if metric.metric == name)


def test_the_figures_are_those_of_a_paired_t_test(run):
    found = judgekit.compare(run("base", BASE), run("new", NEW))
    expected = stats.ttest_rel(NEW, BASE)
    interval = expected.confidence_interval()

    difference = metric_of(found).difference

    assert difference.pairs == 60
    assert difference.p == pytest.approx(expected.pvalue, abs=1e-9)
    assert (difference.low, difference.high) == pytest.approx((interval.low, interval.high))
    assert difference.adjusted == difference.p  # one test is a family of one
    assert difference.verdict == "worse"
    assert [metric.metric for metric in found.regressions] == ["worth"]


def test_where_lower_is_better_a_rise_is_worse(run):
    metrics = [Marked(higher=False)]
    found = compare(run("base", NEW, metrics=metrics), run("new", BASE, metrics=metrics))

    assert metric_of(found).verdict == "worse"
    assert metric_of(found).worst[0].new > metric_of(found).worst[0].base


def test_verdicts_are_held_to_an_exact_mcnemar_test(run):
    base = [0.9] * 20 + [0.1] * 20
    new = [0.9] * 12 + [0.1] * 8 + [0.1] * 19 + [0.9]
    options = {"thresholds": {"worth": 0.5}}

    found = compare(run("base", base, **options), run("new", new, **options))
    flips = metric_of(found).flips

    assert (flips.to_fail, flips.to_pass, flips.base_passed, flips.new_passed) == (8, 1, 20, 13)
    assert flips.p == pytest.approx(stats.binomtest(1, 9).pvalue)
    mean = metric_of(found).difference
    assert found.tests == 2  # the mean, and this one: Holm doubles the smaller p
    assert mean.adjusted == pytest.approx(2 * mean.p)
    assert flips.adjusted == pytest.approx(max(flips.p, mean.adjusted))
    assert {move.flip for move in metric_of(found).worst} == {"pass -> fail"}


def test_a_difference_that_chance_would_make_is_not_called_one(run):
    base = [0.5, 0.6, 0.7, 0.8, 0.4]
    found = compare(run("base", base), run("new", [0.6, 0.5, 0.7, 0.7, 0.5]))

    assert metric_of(found).verdict == "unclear"
    assert found.regressions == ()
    assert "no difference beyond chance" in found.text()
    assert "5 pairs of worth: too few to say much" in found.text()


def test_two_cases_that_fall_alike_are_no_certainty(run):
    difference = metric_of(compare(run("base", [0.9, 0.8]), run("new", [0.7, 0.6]))).difference

    assert (difference.test, difference.p) == ("sign", 0.5)
    assert (difference.low, difference.high) == (None, None)
    assert difference.verdict == "unclear"


def test_criteria_are_compared_and_adjusted_among_themselves(run):
    base = [{"a": 0.9, "b": 0.5} for _ in range(30)]
    new = [{"a": 0.9 - (n % 3) / 10, "b": 0.5 + (n % 2 * 2 - 1) / 50} for n in range(30)]

    metric = metric_of(compare(run("base", base), run("new", new)))
    parts = {part.name: part for part in metric.criteria}

    assert [part.name for part in metric.criteria] == ["a", "b"]  # what got worse comes first
    assert parts["a"].verdict == "worse"
    assert parts["b"].verdict == "unclear"
    assert parts["a"].adjusted == pytest.approx(2 * parts["a"].p)
    move = metric.worst[0]
    assert (move.part.id, move.part.base_reason, move.part.new_reason) == (
        "a", "a is 0.9", "a is 0.7",
    )  # fmt: skip


def test_the_correction_is_for_all_runs_together(run):
    base, one, two = run("base", BASE), run("one", NEW), run("two", [v + 0.001 for v in NEW])

    both = compare_all(base, [one, two])

    assert [c.tests for c in both] == [2, 2]
    assert metric_of(both[0]).difference.adjusted == pytest.approx(
        2 * metric_of(both[0]).difference.p
    )


def test_cases_of_one_user_count_less(run):
    def user(id):
        return {"user": f"u{int(id[1:]) // 10}"}

    shifts = {f"u{n}": shift for n, shift in enumerate([-0.1, 0.08, -0.12, 0.02, -0.05, 0.0])}
    new = [round(v + shifts[f"u{n // 10}"], 6) for n, v in enumerate(BASE)]
    base, other = run("base", BASE, metadata=user), run("new", new, metadata=user)

    plain = metric_of(compare(base, other)).difference
    clustered = metric_of(compare(base, other, cluster="user")).difference

    assert clustered.clusters == 6
    assert clustered.mean == pytest.approx(plain.mean)
    assert clustered.high - clustered.low > 2 * (plain.high - plain.low)
    assert clustered.test == "paired t by cluster"


def test_the_bootstrap_is_the_compatible_interval(run):
    from judgekit.metrics.voice.bootstrap import bootstrap_interval

    base, new = run("base", BASE), run("new", NEW)
    expected = bootstrap_interval([n - b for b, n in zip(BASE, NEW, strict=True)])

    difference = metric_of(compare(base, new, interval="bootstrap")).difference

    assert (difference.low, difference.high) == pytest.approx((expected.low, expected.high))


def test_more_cases_are_asked_for_where_there_are_too_few(run):
    found = compare(run("base", BASE), run("new", NEW), detect=0.01)
    difference = metric_of(found).difference

    assert difference.wanted == 0.01
    assert difference.more > 0
    assert f"run {difference.more:,} more cases to see one of 0.01" in found.text(width=200)
    assert metric_of(compare(run("a", BASE), run("b", NEW), detect=0.5)).difference.more == 0


# -- what cannot be compared --------------------------------------------------------


def test_one_set_of_answers_with_itself_is_said_loudly(run, tmp_path):
    base = run("base", BASE)
    copy = shutil.copytree(base, tmp_path / "copy")

    found = compare(base, copy)

    assert "one set of recorded answers was compared with itself" in found.warnings[0]
    assert metric_of(found).verdict == "same"
    assert metric_of(found).difference.p is None


def test_a_run_is_not_compared_with_itself(run):
    base = run("base", BASE)

    with pytest.raises(ConfigError, match="is compared with itself; name two runs"):
        compare(base, base / ".." / "base")


def test_what_is_no_run_is_refused_in_a_line(run):
    base = run("base", BASE)
    with pytest.raises(ConfigError, match="a run is a report or its folder, not dict"):
        compare(base, {})
    with pytest.raises(ConfigError, match=r"results.jsonl: is a file; a run is the folder"):
        compare(base, base / "results.jsonl")


def test_other_cases_under_the_same_id_are_left_out_loudly(run):
    base = run("base", BASE)
    new = run("new", NEW, inputs={"c000": "something else", "c001": "and else"})

    found = compare(base, new)

    assert (found.pairs, found.other_question) == (58, 2)
    assert any("2 cases of the same id are another case" in said for said in found.warnings)


def test_another_prompt_or_context_is_what_is_tried_and_said_loudly(run):
    before = {"c000": {"system": "Be brief."}, "c001": {"system": "Be brief.", "context": ("x",)}}
    after = {"c000": {"system": "Be kind."}, "c001": {"system": "Be kind.", "context": ("y",)}}
    found = compare(run("base", BASE, given=before), run("new", NEW, given=after))

    assert (found.pairs, found.other_question) == (60, 0)
    assert [w for w in found.warnings if "another one" in w] == [
        "The system prompt of 2 cases is another one in the new run: what is held against it is "
        "not held against the same.",
        "The context of 1 case is another one in the new run: what is held against it is not held "
        "against the same.",
    ]
    said = {change.what: change.new for change in found.changes}
    assert said["system prompt"] == "another in 2 of 60 cases"
    assert said["context"] == "another in 1 of 60 cases"


def test_no_case_in_common_is_refused(run):
    with pytest.raises(ConfigError, match="no case is in both runs"):
        compare(run("base", {"a": 1}), run("new", {"b": 1}))
    with pytest.raises(ConfigError, match="1 have the same id and another question"):
        compare(run("c", {"a": 1}), run("d", {"a": 1}, inputs={"a": "other"}))


def test_cases_of_one_run_only_are_named(run):
    found = compare(run("base", {"a": 1, "b": 0.5}), run("new", {"b": 0.4, "x": 1, "y": 1}))

    assert (found.pairs, found.only_base, found.only_new) == (1, 1, 2)
    assert "1 case is only in the base: a." in found.warnings
    assert "2 cases are only in the new run: x, y." in found.warnings


def test_pairs_are_found_in_any_order(run):
    ids = [f"c{n}" for n in range(40)]
    values = dict(zip(ids, BASE, strict=False))
    shuffled = DRAW.sample(ids, 40)

    found = compare(run("base", values), run("new", {id: values[id] for id in shuffled}))

    assert (found.pairs, found.same_answers, found.only_base) == (40, 40, 0)


MADE = {"rubric": "r", "digest": "a" * 16, "version": 1, "model": "fake/judge"}


def test_another_rubric_is_refused_unless_wanted(run):
    base = run("base", BASE, metrics=[Marked(made_with=MADE)])
    new = run("new", NEW, metrics=[Marked(made_with={**MADE, "digest": "b" * 16})])

    with pytest.raises(ConfigError, match=r"rubric is not the same: r aaaaaaaa in the base, r bbb"):
        compare(base, new)
    found = compare(base, new, across_rubrics=True)

    assert metric_of(found).verdict == "worse"
    assert any("A difference may be the rubric's" in said for said in found.warnings)


def test_one_refused_metric_leaves_the_others(run):
    other = {**MADE, "digest": "b" * 16}
    base = run("base", BASE, metrics=[Marked("one", made_with=MADE), Marked("two")])
    new = run("new", NEW, metrics=[Marked("one", made_with=other), Marked("two")])

    found = compare(base, new)

    assert metric_of(found, "one").refused.startswith("the rubric is not the same")
    assert metric_of(found, "one").difference.mean is None
    assert metric_of(found, "two").verdict == "worse"
    assert found.tests == 1
    assert "not compared: the rubric" in " ".join(found.text().split())


def test_another_judge_and_other_answers_are_said_to_be_mixed_up(run):
    base = run("base", BASE, metrics=[Marked(made_with=MADE)])
    new = run("new", NEW, metrics=[Marked(made_with={**MADE, "model": "fake/other"})])

    found = compare(base, new)

    assert any("both the answers and the judge differ" in said for said in found.warnings)
    assert [c.what for c in found.changes] == ["metrics.worth.made_with.model", "answers"]


def test_other_thresholds_are_said(run):
    base = run("base", BASE, thresholds={"worth": 0.5})
    new = run("new", NEW, thresholds={"worth": 0.6})

    found = compare(base, new)

    assert metric_of(found).flips.threshold == 0.6
    assert any("the threshold was 0.5 and is 0.6" in said for said in found.warnings)


def test_rows_without_a_value_are_counted_by_their_cause(run):
    found = compare(
        run("base", {"a": 1, "b": None, "c": "x", "d": "x"}),
        run("new", {"a": 0.5, "b": 1, "c": 1, "d": "y"}),
    )

    assert metric_of(found).difference.pairs == 1
    assert metric_of(found).unpaired == {
        "abstained in the base": 1,
        "failed (invalid_case) in the base": 1,
        "failed (invalid_case) in both": 1,
    }


def test_no_metric_in_common_is_refused(run):
    with pytest.raises(ConfigError, match="no metric is in both runs: one in the base, two in"):
        compare(run("a", [1], metrics=[Marked("one")]), run("b", [1], metrics=[Marked("two")]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"interval": "normal"}, "interval must be t or bootstrap"),
        ({"cluster": "user", "interval": "bootstrap"}, "with a cluster the interval is t"),
        ({"detect": 0}, "must be above 0"),
        ({"cluster": "nobody"}, "no case has 'nobody' in its metadata"),
    ],
)
def test_wrong_options_are_refused(run, options, message):
    with pytest.raises(ConfigError, match=message):
        compare(run("base", BASE), run("new", NEW), **options)


def test_reports_in_memory_are_compared_as_folders_are(run):
    from judgekit.case import Case

    sides = [
        evaluate_sync([Case(id=f"c{n}", output=str(v)) for n, v in enumerate(values)], [Marked()])
        for values in (BASE, NEW)
    ]

    found = compare(*sides)

    assert (found.base, found.new) == ("base", "new")
    assert metric_of(found).verdict == "worse"
    with pytest.raises(ConfigError, match="with itself"):
        compare(sides[0], sides[0])


def test_a_comparison_is_json_and_back(run):
    found = compare(run("base", BASE), run("new", NEW))

    data = json.loads(json.dumps(found.to_json()))

    assert data["metrics"][0]["verdict"] == "worse"
    assert len(data["metrics"][0]["worst"]) == 20


def test_a_case_twice_in_one_run_is_refused(run):
    base, new = run("base", BASE), run("new", NEW)
    lines = (base / "results.jsonl").read_text().splitlines()
    (base / "results.jsonl").write_text("\n".join([*lines, *lines[1:3], *lines[1:3]]) + "\n")

    with pytest.raises(ConfigError, match="case 'c000' stands twice"):
        compare(base, new)


def test_memory_does_not_grow_with_runs_in_the_same_order(run):
    """Nothing waits when both runs have the same order."""
    from judgekit.comparison.pairs import Pairing

    base, new = Report.read(run("base", BASE)), Report.read(run("new", NEW))
    pairing = Pairing(base.results, new.results)

    waiting = [sum(map(len, pairing._waiting)) for _ in pairing]

    assert max(waiting) == 0
