"""Comparisons of runs: figures, verdicts, errors and warnings."""

from __future__ import annotations

import json
import random
import shutil

import numpy as np
import pytest

import judgekit
from judgekit.analysis.comparison.compare import compare, compare_all
from judgekit.analysis.comparison.differences import Differences
from judgekit.core.errors import ConfigError
from judgekit.report.report import Report
from judgekit.runner.evaluation import evaluate_sync
from tests.analysis.comparison.marked import Marked
from tests.later import Later

stats = Later("scipy.stats")

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
    assert difference.standard_error == pytest.approx(expected._standard_error, abs=1e-12)
    assert difference.df == expected.df
    assert difference.mean / difference.standard_error == pytest.approx(expected.statistic)
    # Far from the ends of the range, keeping inside it changes next to nothing.
    assert (difference.low, difference.high) == pytest.approx(
        (interval.low, interval.high), abs=1e-4
    )
    assert difference.test == "paired t"
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


def test_a_pass_fail_metric_is_one_hypothesis_and_has_one_test(run):
    """Of 60 cases 5 fall: t says p = .025 for the mean, McNemar .0625 for the same flips."""
    base, new = [1.0] * 50 + [0.0] * 10, [0.0] * 5 + [1.0] * 45 + [0.0] * 10
    options = {"thresholds": {"worth": 0.5}}

    found = compare(run("base", base, **options), run("new", new, **options))
    metric = metric_of(found)

    assert stats.ttest_rel(new, base).pvalue < 0.05
    assert (metric.pass_fail, found.tests) == (True, 1)
    assert (metric.difference.test, metric.difference.p) == ("exact McNemar", 0.0625)
    assert (metric.flips.test, metric.flips.p) == ("exact McNemar", 0.0625)
    assert metric.difference.adjusted == metric.flips.adjusted == 0.0625
    assert (metric.verdict, metric.flips.verdict) == ("unclear", "unclear")
    assert metric.difference.low < 0 < metric.difference.high
    (line,) = [line for line in found.text().splitlines() if " lost, 0 won" in line]
    assert line.endswith(" won")  # the p of the mean, above it, is that of the verdicts


def test_a_pass_fail_metric_has_its_test_without_a_threshold(run):
    metric = metric_of(compare(run("base", [1.0] * 20), run("new", [0.0] * 8 + [1.0] * 12)))

    assert metric.difference.test == "exact McNemar"
    assert metric.difference.p == pytest.approx(stats.binomtest(8, 8).pvalue)
    assert metric.verdict == "worse"


def test_criteria_of_yes_and_no_have_mcnemars_test_too(run):
    base = [{"polite": 1.0, "kind": 0.5} for _ in range(20)]
    new = [{"polite": float(n > 5), "kind": 0.5 + n % 3 / 10} for n in range(20)]

    parts = {p.name: p for p in metric_of(compare(run("base", base), run("new", new))).criteria}

    assert (parts["polite"].test, parts["polite"].p) == ("exact McNemar", 2 * 0.5**6)
    assert parts["kind"].test == "paired t"


def users(count, each=3):
    return lambda id: {"user": f"u{int(id[1:]) // each % count}"}


def test_with_clusters_a_pass_fail_metric_has_a_test_by_cluster(run):
    """Ten users whose three cases fall together are ten pieces of news, not thirty."""
    options = {"thresholds": {"worth": 0.5}, "metadata": users(12)}
    base, new = [1.0] * 36, [float(n // 3 % 3 > 0) for n in range(36)]
    folders = run("base", base, **options), run("new", new, **options)

    plain = metric_of(compare(*folders))
    found = compare(*folders, cluster="user")
    metric = metric_of(found)

    means = [np.mean(new[n : n + 3]) - 1 for n in range(0, 36, 3)]
    assert metric.difference.test == "paired t by cluster"
    assert metric.difference.p == pytest.approx(stats.ttest_1samp(means, 0).pvalue)
    assert metric.flips.p == metric.difference.p > 20 * plain.difference.p
    error, df = metric.difference.standard_error, metric.difference.df
    assert (error, df) == (pytest.approx(stats.sem(means)), pytest.approx(11))
    t = stats.ttest_1samp(means, 0).statistic
    line = f"standard error {error:.3f}, t {t:+.2f} with 11 degrees of freedom"
    assert line in " ".join(found.text().split())
    assert "standard error" not in compare(*folders).text()
    assert found.tests == 1


def test_few_clusters_have_no_test(run):
    folders = [run(n, v, metadata=users(6, 10)) for n, v in (("base", BASE), ("new", NEW))]

    found = compare(*folders, cluster="user")
    difference = metric_of(found).difference

    assert (difference.p, difference.low, difference.verdict) == (None, None, "unknown")
    assert difference.too_few == "6 of the 10 clusters that an interval needs"
    assert "differences cannot be tested" in found.text()
    assert "worth: not tested: 6 of the 10 clusters" in found.text(width=200)
    assert "too few" in found.markdown()


@pytest.mark.parametrize("count", [5, 8])
def test_pairs_that_all_differ_alike_are_not_called_better(run, count):
    """A sign test would: it is about the median, not about the mean."""
    base = [0.5 + n / 100 for n in range(count)]
    found = compare(run("base", base), run("new", [round(v + 0.04, 6) for v in base]))
    difference = metric_of(found).difference

    assert (difference.test, difference.p) == ("", None)
    assert difference.verdict == metric_of(found).verdict == "unknown"
    assert difference.low < 0 < difference.mean < difference.high <= 1
    text = found.text(width=200)
    assert f"not tested: all {count} pairs differ by +0.040" in text
    assert "better\n" not in text.split("worth: ")[0]


@pytest.mark.parametrize("bootstrap", [False, True])
@pytest.mark.parametrize(
    "values", [([0.0, 1.0, 0.3, 0.0, 1.0], [1.0, 0.1, 0.2, 1.0, 0.0]), ([0.1] * 5, [0.9] * 5)]
)
def test_intervals_and_detectable_differences_stay_inside_the_range(run, values, bootstrap):
    folders = [run(name, v) for name, v in zip(("base", "new"), values, strict=True)]
    found = compare(*folders, interval="bootstrap" if bootstrap else "t")
    difference = metric_of(found).difference

    if bootstrap and values[0][0] == 0:
        assert (difference.low, difference.too_few) == (None, "fewer than 7 pairs differ")
    else:
        assert -1 <= difference.low < difference.high <= 1
    assert difference.detectable is None  # a true difference would have to be above 1


def test_few_pairs_have_no_interval(run):
    folders = run("base", BASE[:4]), run("new", NEW[:4])
    found = compare(*folders)

    assert metric_of(found).difference.low is None
    assert metric_of(found).difference.too_few == "4 of the 5 values that an interval needs"
    assert "too few" in found.text()
    drawn = metric_of(compare(run("a", BASE[:29]), run("b", NEW[:29]), interval="bootstrap"))
    assert drawn.difference.too_few == "29 of the 30 values that a bootstrap needs"


def test_the_errors_of_the_first_kind_stay_below_the_promise():
    """Two runs without a true difference: pass/fail values and a threshold, by both tests."""
    draw = np.random.default_rng(11)
    alarms = 0
    for _ in range(1000):
        base, new = (draw.random((2, 60)) < 0.9).astype(float)
        tally = Differences("m", range=(0.0, 1.0))
        for one, other in zip(base, new, strict=True):
            tally.add(one, other, None)
        p = tally.finish().p
        alarms += p is not None and p < 0.05
    assert alarms / 1000 < 0.05 + 2 * (0.05 * 0.95 / 1000) ** 0.5


@pytest.mark.parametrize(("n", "share", "flips"), [(20, 0.5, 0.2), (20, 0.8, 0.1), (50, 0.2, 0.1)])
def test_the_interval_of_pass_fail_differences_covers(n, share, flips):
    draw = np.random.default_rng(5)
    covered = 0
    for _ in range(1000):
        base = draw.random(n) < share
        fall = draw.random(n) < flips
        tally = Differences("m", range=(0.0, 1.0))
        for one, other in zip(base, base & ~fall, strict=True):
            tally.add(float(one), float(other), None)
        found = tally.finish()
        covered += found.low <= -share * flips <= found.high
    assert covered / 1000 >= 0.92


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
        return {"user": f"u{int(id[1:]) // 5}"}

    shifts = [-0.1, 0.08, -0.12, 0.02, -0.05, 0.0] * 2
    new = [round(v + shifts[n // 5], 6) for n, v in enumerate(BASE)]
    base, other = run("base", BASE, metadata=user), run("new", new, metadata=user)

    plain = metric_of(compare(base, other)).difference
    clustered = metric_of(compare(base, other, cluster="user")).difference

    assert clustered.clusters == 12
    assert clustered.mean == pytest.approx(plain.mean)
    assert clustered.high - clustered.low > 1.5 * (plain.high - plain.low)
    assert clustered.p == pytest.approx(stats.ttest_1samp(shifts, 0).pvalue)
    assert clustered.test == "paired t by cluster"


def test_the_bootstrap_is_the_compatible_interval(run):
    from judgekit.stats.bootstrap import bootstrap_interval

    base, new = run("base", BASE), run("new", NEW)
    expected = bootstrap_interval([n - b for b, n in zip(BASE, NEW, strict=True)])

    difference = metric_of(compare(base, new, interval="bootstrap")).difference

    assert (difference.low, difference.high) == pytest.approx((expected.low, expected.high))


def test_more_cases_are_asked_for_where_there_are_too_few(run):
    found = compare(run("base", BASE), run("new", NEW), detect=0.01)
    difference = metric_of(found).difference

    # The spread of a pilot of 60 is known to about a fifth, so the number is a range.
    sd = np.std(np.subtract(NEW, BASE), ddof=1)
    low, high = (sd * np.sqrt(59 / stats.chi2.ppf(q, 59)) for q in (0.975, 0.025))
    assert difference.wanted == 0.01
    assert difference.more == pytest.approx(((1.96 + 0.8416) * low / 0.01) ** 2 - 60, abs=5)
    assert difference.more_high == pytest.approx(((1.96 + 0.8416) * high / 0.01) ** 2 - 60, abs=9)
    assert (
        f"; a difference of 0.01 needs {difference.more:,} to {difference.more_high:,} more cases, "
        "if differences spread as they do here. Fix the number before you run them."
    ) in found.text(width=300)
    enough = metric_of(compare(run("a", BASE), run("b", NEW), detect=0.5))
    assert (enough.difference.more, enough.difference.more_high) == (0, 0)


def test_the_field_of_the_suite_clusters_a_comparison(run):
    made = {"metadata": users(12, 5), "manifest": {"cluster": "user"}}
    folders = run("base", BASE, **made), run("new", NEW, **made)

    found = compare(*folders)

    assert found.cluster == "user"
    assert metric_of(found).difference.test == "paired t by cluster"
    assert "60 cases in 12 clusters detect a true difference of" in found.text(width=200)
    with pytest.raises(ConfigError, match="with clusters of 'user' the interval is t"):
        compare(*folders, interval="bootstrap")


# -- what cannot be compared --------------------------------------------------------


def test_one_set_of_recorded_answers_is_refused(run, tmp_path):
    base = run("base", BASE)
    copy = shutil.copytree(base, tmp_path / "copy")

    with pytest.raises(ConfigError, match=r"copy: both runs have the same answers and the same re"):
        compare(base, copy)
    with pytest.raises(ConfigError, match="same replies"):
        compare_all(base, [run("new", NEW), copy])

    found = compare(base, copy, allow_same=True)
    assert "Nothing can be concluded about a change" in found.warnings[0]
    assert metric_of(found).verdict == "same"
    assert metric_of(found).difference.p is None


@pytest.mark.parametrize(
    "other",
    [
        {"made_with": {"rubric": "tone", "digest": "1" * 64, "model": "large"}},
        {"key": "1" * 64},
        {"reason": "asked again, it argued in another way"},
    ],
)
def test_the_same_scores_of_another_judging_are_compared(run, other):
    made = {"rubric": "tone", "digest": "1" * 64, "model": "small"}
    metrics = [Marked(made_with=made)], [Marked(**{"made_with": made} | other)]
    base, new = (run(name, BASE, metrics=m) for name, m in zip("ab", metrics, strict=True))

    found = compare(base, new)

    assert found.warnings == ("The answers are the same in both runs: only the judging differs.",)


def test_a_run_is_not_compared_with_itself(run):
    base = run("base", BASE)

    with pytest.raises(ConfigError, match="is compared with itself; name two runs"):
        compare(base, base / ".." / "base")


def test_what_is_no_run_is_refused_in_a_line(run):
    base = run("base", BASE)
    with pytest.raises(ConfigError, match="compare: new must be text, a path or a Report, not"):
        compare(base, {})
    with pytest.raises(ConfigError, match=r"results.jsonl: is a file; name the folder of a run"):
        compare(base, base / "results.jsonl")


def test_other_cases_under_the_same_id_are_left_out_loudly(run):
    base = run("base", BASE)
    new = run("new", NEW, inputs={"c000": "something else", "c001": "and else"})

    found = compare(base, new)

    assert (found.pairs, found.other_question) == (58, 2)
    assert any("2 cases with the same id are another case" in said for said in found.warnings)


def test_another_prompt_or_context_is_what_is_tried_and_said_loudly(run):
    before = {"c000": {"system": "Be brief."}, "c001": {"system": "Be brief.", "context": ("x",)}}
    after = {"c000": {"system": "Be kind."}, "c001": {"system": "Be kind.", "context": ("y",)}}
    found = compare(run("base", BASE, given=before), run("new", NEW, given=after))

    assert (found.pairs, found.other_question) == (60, 0)
    assert [w for w in found.warnings if "differs in the new run" in w] == [
        "The system prompt of 2 cases differs in the new run; metrics that use it "
        "compare different texts.",
        "The context of 1 case differs in the new run; metrics that use it "
        "compare different texts.",
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
    new = {"b": 0.4, **dict.fromkeys("vwxyz", 1)}
    found = compare(run("base", {"a": 1, "b": 0.5}), run("new", new))

    assert (found.pairs, found.only_base, found.only_new) == (1, 1, 5)
    assert "1 case is only in the base: a." in found.warnings
    assert "5 cases are only in the new run: v, w, x and 2 more." in found.warnings


def test_pairs_are_found_in_any_order(run):
    ids = [f"c{n}" for n in range(40)]
    values = dict(zip(ids, BASE, strict=False))
    shuffled = DRAW.sample(ids, 40)

    folders = run("base", values), run("new", {id: values[id] for id in shuffled})
    found = compare(*folders, allow_same=True)

    assert (found.pairs, found.same_answers, found.only_base) == (40, 40, 0)


MADE = {"rubric": "r", "digest": "a" * 16, "version": 1, "model": "fake/judge"}


def test_another_rubric_is_refused_unless_wanted(run):
    base = run("base", BASE, metrics=[Marked(made_with=MADE)])
    new = run("new", NEW, metrics=[Marked(made_with={**MADE, "digest": "b" * 16})])

    with pytest.raises(ConfigError, match=r"rubric differs: r aaaaaaaa in the base, r bbb"):
        compare(base, new)
    found = compare(base, new, across_rubrics=True)

    assert metric_of(found).verdict == "worse"
    assert any("The rubric may cause the difference" in said for said in found.warnings)


def test_one_refused_metric_leaves_the_others(run):
    other = {**MADE, "digest": "b" * 16}
    base = run("base", BASE, metrics=[Marked("one", made_with=MADE), Marked("two")])
    new = run("new", NEW, metrics=[Marked("one", made_with=other), Marked("two")])

    found = compare(base, new)

    assert metric_of(found, "one").refused.startswith("the rubric differs")
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
        ({"cluster": "user", "interval": "bootstrap"}, "the interval is t"),
        ({"detect": 0}, "must be above 0"),
        ({"cluster": "nobody"}, "no case has 'nobody' in its metadata"),
    ],
)
def test_wrong_options_are_refused(run, options, message):
    with pytest.raises(ConfigError, match=message):
        compare(run("base", BASE), run("new", NEW), **options)


def test_reports_in_memory_are_compared_as_folders_are(run):
    from judgekit.core.case import Case

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

    with pytest.raises(ConfigError, match="case 'c000' appears twice"):
        compare(base, new)


def test_memory_does_not_grow_with_runs_in_the_same_order(run):
    """Nothing waits when both runs have the same order."""
    from judgekit.analysis.comparison.pairs import Pairing

    base, new = Report.read(run("base", BASE)), Report.read(run("new", NEW))
    pairing = Pairing(base.results, new.results)

    waiting = [sum(map(len, pairing._waiting)) for _ in pairing]

    assert max(waiting) == 0


@pytest.mark.parametrize("flips", [1, 4, 20])
@pytest.mark.parametrize("ends", [True, False])
def test_the_detectable_difference_is_wider_than_half_the_interval(flips, ends):
    tally = Differences("m", range=(0.0, 1.0))
    for n in range(60):
        base = 0.2 if not ends else 0.0
        tally.add(base, 1.0 if n < flips else base, None)

    found = tally.finish()

    half = max(found.high - found.mean, found.mean - found.low)
    assert found.detectable >= half * 1.42  # t(.8) / t(.975) is .424 with 59 degrees of freedom


def test_the_same_answers_are_judged_lower_and_are_no_regression(run):
    answers = [0.5 + n / 100 for n in range(40)]
    found = compare(run("base", answers), run("new", answers, metrics=[Marked(strict=0.2)]))

    metric = metric_of(found)
    assert (metric.verdict, found.regressions) == ("judged lower", ())
    assert "40 cases in both; judged lower: worth" in found.text()
    assert "40 of 40 cases were judged worse" in found.text(width=200)


def test_the_same_replies_are_identical(run):
    found = compare(run("base", BASE), run("copy", BASE), allow_same=True)

    difference = metric_of(found).difference
    assert (difference.low, difference.high, difference.detectable) == (0.0, 0.0, None)
    assert "identical" in found.text()
    assert "[-" not in found.text().split("identical")[0]


def test_slices_and_the_mean_over_them_count_each_alike(run):
    names = ["law"] * 10 + ["tax"] * 40 + ["art"] * 10
    options = {"metadata": lambda id: {"topic": names[int(id[1:])]}}
    folders = run("base", BASE, **options), run("new", NEW, **options)

    found = compare(*folders, by="topic")
    metric = metric_of(found)

    steps = np.subtract(NEW, BASE)
    own = {name: steps[[n == name for n in names]] for name in sorted(set(names))}
    assert [one.name for one in metric.slices] == list(own)
    assert [one.mean for one in metric.slices] == pytest.approx([s.mean() for s in own.values()])
    over = metric.over_slices
    assert (over.name, over.pairs) == ("topic", 60)
    assert over.mean == pytest.approx(np.mean([s.mean() for s in own.values()]), abs=1e-12)
    error = np.sqrt(sum(s.var(ddof=1) / len(s) for s in own.values())) / 3
    assert over.standard_error == pytest.approx(error, abs=1e-12)
    assert over.low < over.mean < over.high
    assert {one.p for one in (*metric.slices, over)} == {None}
    assert found.tests == compare(*folders).tests
    text = found.text()
    assert "  topic law" in text
    assert "  mean over topic" in text
    assert "Slices by topic are not tested" in text
    assert len(found.to_pandas(per="slice")) == 3
    assert "slices" not in compare(*folders).to_json()["metrics"][0]


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("topik", "no case has 'topik' in its metadata to slice by; did you mean 'topic'?"),
        ("id", "'id' has more than 50 values; slice by a field with few values, or cluster by it"),
    ],
)
def test_a_field_that_is_no_slice_is_an_error(run, field, message):
    options = {"metadata": lambda id: {"topic": "a", "id": id}}
    with pytest.raises(ConfigError, match=message):
        compare(run("base", BASE, **options), run("new", NEW, **options), by=field)


def test_a_slice_that_is_too_small_is_named(run):
    options = {"metadata": lambda id: {"topic": "rare" if int(id[1:]) == 7 else "usual"}}
    found = compare(run("base", BASE, **options), run("new", NEW, **options), by="topic")

    over = metric_of(found).over_slices
    assert (over.low, over.too_few) == (None, "rare: 1 of the 5 values that an interval needs")
    assert "worth: no interval of the mean over topic: rare: 1 of the 5" in found.text(width=200)
