"""Our figures beside those of scipy; those of statsmodels 0.15.0 stand here as numbers."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judgekit.report.clustered import ClusteredMean
from judgekit.report.power import detectable, needed
from judgekit.report.significance import holm, mcnemar_p
from judgekit.report.statistics import MeanInterval, student_t_p, student_t_quantile, wilson

DRAW = random.Random(11)


@pytest.mark.parametrize("df", [1, 2, 3, 7, 29, 30, 199, 200, 999, 12_345])
@pytest.mark.parametrize("t", [0.0, 0.01, 0.7, 1.96, 5.0])
def test_t_p_and_quantile_are_scipys(t, df):
    assert student_t_p(t, df) == pytest.approx(2 * stats.t.sf(t, df), abs=1e-10)
    assert student_t_p(-t, df) == student_t_p(t, df)
    assert student_t_quantile(0.975, df) == pytest.approx(stats.t.ppf(0.975, df), abs=1e-8)


@pytest.mark.parametrize("n", [2, 5, 34, 400])
def test_a_mean_interval_is_scipys(n):
    values = [DRAW.betavariate(9, 1) for _ in range(n)]
    figures = MeanInterval()
    for value in values:
        figures.add(value)

    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)

    assert figures.interval() == pytest.approx((expected.low, expected.high), abs=1e-9)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_binomial_test(one, other):
    expected = stats.binomtest(one, one + other, 0.5).pvalue if one + other else 1.0

    assert mcnemar_p(one, other) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("one", "other"), [(600, 520), (3000, 2800), (50_100, 49_900), (900, 200)])
def test_mcnemar_of_many_flips_is_the_binomial_test(one, other):
    expected = stats.binomtest(one, one + other, 0.5).pvalue

    assert mcnemar_p(one, other) == pytest.approx(expected, rel=1e-6)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_scipys(counts):
    passed, n = counts
    expected = stats.binomtest(passed, n).proportion_ci(method="wilson")

    assert wilson(passed, n) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_wilson_is_that_of_statsmodels():
    assert wilson(190, 200) == pytest.approx((0.9104218518612239, 0.972617354399236))
    assert wilson(3, 7, 0.99) == pytest.approx((0.11637368051613811, 0.8102850959116126))


def test_holm_is_that_of_statsmodels():
    adjusted = holm([0.01, 0.04, 0.03, 0.005, 0.9, 0.2])

    assert adjusted == pytest.approx([0.05, 0.12, 0.12, 0.03, 0.9, 0.4])


def test_mcnemar_is_that_of_statsmodels():
    assert mcnemar_p(8, 1) == pytest.approx(0.0390625)
    assert mcnemar_p(30, 12) == pytest.approx(0.007915897334896727)


def test_a_clustered_mean_is_a_regression_on_a_constant():
    """statsmodels: OLS(v, 1).fit(cov_type='cluster', cov_kwds={'groups': g}, use_t=True)."""
    figures = ClusteredMean()
    for i in range(40):
        figures.add(((i * 7919) % 101) / 100, (i * i) % 9)

    assert (figures.n, figures.clusters, figures.df) == (40, 4, 3)
    assert figures.mean == pytest.approx(0.49575)
    assert figures.standard_error == pytest.approx(0.0343122, abs=1e-7)
    assert figures.interval() == pytest.approx((0.38655327, 0.60494673), abs=1e-7)


def test_clusters_of_one_give_the_plain_interval():
    plain, clustered = MeanInterval(), ClusteredMean()
    for i in range(50):
        value = DRAW.random()
        plain.add(value)
        clustered.add(value, i)

    assert clustered.interval() == pytest.approx(plain.interval())


def test_one_cluster_says_nothing():
    figures = ClusteredMean()
    figures.add(0.2, "a")
    figures.add(0.4, "a")

    assert figures.mean == pytest.approx(0.3)
    assert figures.interval() is None


@pytest.mark.parametrize(("effect", "cases"), [(0.5, 34), (0.3, 90), (0.25, 128)])
def test_cases_needed_are_those_of_statsmodels(effect, cases):
    """TTestPower().solve_power(effect, alpha=.05, power=.8), rounded up: noncentral t."""
    assert needed(1.0, effect) == cases


@pytest.mark.parametrize("n", [5, 10, 20, 50, 200])
def test_a_detectable_difference_has_four_chances_in_five(n):
    smallest = detectable(1.0, n)
    critical = stats.t.ppf(0.975, n - 1)
    centre = smallest * n**0.5

    power = stats.nct.sf(critical, n - 1, centre) + stats.nct.cdf(-critical, n - 1, centre)

    # The shifted t that the formula takes for the noncentral one is a little off for few cases.
    assert power == pytest.approx(0.8, abs=0.03 if n < 20 else 0.01)


def test_what_no_number_of_cases_shows_is_not_a_number():
    assert needed(1.0, 1e-9) is None
    assert detectable(1.0, 1) is None
    assert needed(0.0, 0.1) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: student_t_p(float("nan"), 3),
        lambda: student_t_p(1, 0),
        lambda: mcnemar_p(-1, 2),
        lambda: needed(1, 0),
        lambda: ClusteredMean().add(float("nan"), "a"),
    ],
)
def test_what_is_no_number_is_refused(wrong):
    with pytest.raises(ValueError, match=r"\w+"):
        wrong()
