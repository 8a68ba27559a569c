"""The alternative annotator test, beside scipy's t test and for data of known truth."""

from __future__ import annotations

import random

import numpy as np
import pytest

from judgekit.analysis.agreement.agree import agree
from judgekit.stats.tests import ItemComparison, left_out, rejected, too_few
from tests.analysis.agreement.simulated import study
from tests.later import Later

stats = Later("scipy.stats")
DRAW = random.Random(3)


def items(differences, units=None):
    return [
        ItemComparison(judge=0.5, labeller=0.5 + d / 4, unit=n if units is None else units[n])
        for n, d in enumerate(differences)
    ]


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.2])
@pytest.mark.parametrize("n", [30, 47, 200])
def test_the_p_value_is_scipys_with_the_added_case(n, epsilon):
    d = [DRAW.choice([-1, 0, 0, 0, 1]) for _ in range(n)]
    found = left_out(items(d), epsilon)
    expected = stats.ttest_1samp([*d, 1], epsilon, alternative="less").pvalue

    assert found.p == pytest.approx(expected, abs=1e-9)
    assert found.difference == pytest.approx(np.mean(d))
    assert found.advantage == pytest.approx(np.mean([one <= 0 for one in d]))
    assert found.n == n


def test_cases_of_one_cluster_are_not_independent():
    d = [-1, 0, 0, 1] * 5
    repeated = [one for one in d for _ in range(5)]
    clustered = left_out(items(repeated, [n // 5 for n in range(100)]), 0.15)

    assert clustered.p == pytest.approx(left_out(items(d), 0.15).p)
    assert clustered.p > left_out(items(repeated), 0.15).p


def test_weights_are_those_of_cases_that_are_there_so_often():
    d = [DRAW.choice([-1, 0, 1]) for _ in range(60)]
    heavy = [one._replace(weight=4.0 if n < 20 else 1.0) for n, one in enumerate(items(d))]

    assert left_out(heavy, 0.1).difference == pytest.approx(
        np.average(d, weights=[4] * 20 + [1] * 40)
    )


def test_a_judge_who_is_always_as_good_is_not_certain():
    assert 0 < left_out(items([0] * 30), 0.15).p < 0.01
    assert left_out(items([1] * 30), 0.15).p > 0.99


@pytest.mark.parametrize("values", [[0.001, 0.02, 0.03, 0.04], [0.03, 0.2, 0.01], [0.9], []])
def test_rejections_are_those_of_benjamini_and_yekutieli(values):
    expected = stats.false_discovery_control(values, method="by") <= 0.05 if values else []

    assert rejected(values) == list(expected)


@pytest.mark.parametrize(
    ("counts", "why"),
    [
        ((29, 0, None), "29 of the 30 cases with two labellers that the test needs"),
        ((40, 2, None), "2 of the 3 labellers with 30 shared cases that the test needs"),
        ((40, 3, 9), "9 of the 10 clusters that the test needs"),
        ((30, 3, 10), None),
    ],
)
def test_where_it_cannot_tell(counts, why):
    assert too_few(*counts) == why


def level_of(found):
    return found.criteria[0].alt_test


def test_a_good_judge_passes_and_a_bad_one_does_not(tmp_path):
    good = level_of(
        agree(*study(tmp_path / "a", cases=120, judge=0.95), alt_test=0.15, write=False)
    )
    bad = level_of(agree(*study(tmp_path / "b", cases=120, judge=0.3), alt_test=0.15, write=False))

    assert (good.verdict, good.winning_rate, good.passed) == ("passed", 1.0, True)
    assert (bad.verdict, bad.winning_rate, bad.passed) == ("not passed", 0.0, False)
    assert good.advantage == pytest.approx(sum(one.advantage for one in good.labellers) / 3)
    assert good.low < good.advantage < good.high
    assert [one.n for one in good.labellers] == [120] * 3
    assert good.lines[1].startswith("passed means:")
    assert "more cases may decide" in bad.lines[1]


def test_numbers_are_compared_by_their_distance(tmp_path):
    found = agree(*study(tmp_path, cases=60), alt_test=0.2, write=False)

    assert [one.alt_test.by for one in found.criteria] == ["accuracy", "accuracy", "negative RMSE"]


def test_few_people_or_cases_cannot_tell(tmp_path):
    two = level_of(agree(*study(tmp_path / "a", people=("ann", "bob")), alt_test=0.1, write=False))
    few = level_of(agree(*study(tmp_path / "b", cases=20), alt_test=0.1, write=False))
    clustered = agree(*study(tmp_path / "c", cases=48), alt_test=0.1, cluster="prompt", write=False)

    assert (two.passed, two.verdict, two.labellers) == (None, "cannot tell", ())
    assert "2 of the 3 labellers" in two.lines[0]
    assert "20 of the 30 cases" in few.lines[0]
    assert few.short == ("ann", "bob", "cyd")
    assert "8 of the 10 clusters" in level_of(clustered).lines[0]


def test_a_labeller_with_few_cases_is_left_out(tmp_path):
    def change(n, label):
        return label if label["labeller"] != "dee" or n < 10 else None

    run = study(tmp_path, cases=60, people=("ann", "bob", "cyd", "dee"), change=change)
    found = level_of(agree(*run, alt_test=0.15, write=False))

    assert [one.labeller for one in found.labellers] == ["ann", "bob", "cyd"]
    assert found.short == ("dee",)


def test_a_failed_reply_agrees_with_no_labeller(tmp_path):
    paths = study(tmp_path, judge=0.95, failed=24)
    counted = level_of(agree(*paths, alt_test=0.2, write=False))
    dropped = level_of(agree(*paths, alt_test=0.2, failures="drop", write=False))

    assert (counted.passed, counted.labellers[0].n) == (False, 60)
    assert (dropped.passed, dropped.labellers[0].n) == (True, 36)


def test_size_for_a_judge_who_is_worse_by_epsilon():
    """People are always right, and the judge is wrong in epsilon of the cases."""
    draw, passes, plain = np.random.default_rng(1), 0, 0
    for _ in range(300):
        d = (draw.random(35) < 0.1).astype(float)
        p = left_out(items(d.tolist()), 0.1).p
        passes += sum(rejected([p, p, p])) >= 2
        error = d.std(ddof=1) / 35**0.5
        usual = stats.t.cdf((d.mean() - 0.1) / error, 34) if error else 0.0
        plain += sum(rejected([float(usual)] * 3)) >= 2
    assert passes / 300 <= 0.06
    assert plain / 300 > 0.08  # why a case is added


def test_notebooks_show_the_outcome_and_what_it_means(tmp_path):
    shown = agree(*study(tmp_path), alt_test=0.15, write=False)._repr_html_()

    assert "alternative test (epsilon 0.15, accuracy)" in shown
    assert "random sample" in shown
