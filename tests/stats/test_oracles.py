"""Our figures beside those of scipy; those of statsmodels 0.15.0 stand here as numbers."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.stats.clusters import ClusteredMean, cr2
from judgekit.stats.intervals import MeanInterval, mean_interval, wilson
from judgekit.stats.power import detectable, more_cases, needed, needed_range
from judgekit.stats.student import student_t_p, student_t_quantile
from judgekit.stats.tests import holm, mcnemar_p
from tests.each import each
from tests.later import Later

stats = Later("scipy.stats")

DRAW = random.Random(11)


@each("df", [0.5, 1, 1.92, 2, 3, 4.37, 7, 29, 30.5, 199, 200, 999.9, 12_345])
@each("t", [0.0, 0.01, 0.7, 1.96, 5.0])
def test_t_p_and_quantile_are_scipys(t, df):
    assert student_t_p(t, df) == pytest.approx(2 * stats.t.sf(t, df), abs=1e-10)
    assert student_t_p(-t, df) == student_t_p(t, df)
    assert student_t_quantile(0.975, df) == pytest.approx(stats.t.ppf(0.975, df), abs=1e-8)


@pytest.mark.parametrize("n", [5, 34, 400])
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


def test_holm_is_that_of_statsmodels():
    adjusted = holm([0.01, 0.04, 0.03, 0.005, 0.9, 0.2])

    assert adjusted == pytest.approx([0.05, 0.12, 0.12, 0.03, 0.9, 0.4])


def test_mcnemar_is_that_of_statsmodels():
    assert mcnemar_p(8, 1) == pytest.approx(0.0390625)
    assert mcnemar_p(30, 12) == pytest.approx(0.007915897334896727)


SIZES = [[1] * 10, [3] * 12, [40, *[2] * 9], [1, 2, 3, 5, 8, 13, 21, 1, 1, 1, 4], [99, 1]]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_a_clustered_mean_is_the_regression_with_cr2_errors(sizes):
    """The matrices of Bell and McCaffrey (2002), as in R's clubSandwich, for y ~ 1."""
    values = [[DRAW.betavariate(2, 1) for _ in range(size)] for size in sizes]
    n = sum(sizes)
    y, x = np.concatenate(values), np.ones((n, 1))
    hat = x @ x.T / n
    rest = np.eye(n) - hat
    starts = np.cumsum([0, *sizes])
    columns = []
    for start, stop in pairwise(starts):
        inner = np.eye(stop - start) - hat[start:stop, start:stop]
        roots, vectors = np.linalg.eigh(inner)
        inverse_root = vectors @ np.diag(roots**-0.5) @ vectors.T
        columns.append(rest[:, start:stop] @ inverse_root @ x[start:stop, 0] / n)
    columns = np.array(columns).T
    variance = np.sum((columns.T @ y) ** 2)
    products = columns.T @ columns
    df = np.trace(products) ** 2 / np.trace(products @ products)

    found = cr2([math.fsum(cluster) for cluster in values], sizes)

    assert found == pytest.approx((y.mean(), math.sqrt(variance), df), rel=1e-9)


def test_clusters_of_one_size_give_the_t_interval_of_their_means():
    clusters = [[DRAW.random() for _ in range(4)] for _ in range(12)]
    figures = ClusteredMean()
    for place, values in enumerate(clusters):
        for value in values:
            figures.add(value, place)

    means = [math.fsum(values) / 4 for values in clusters]
    expected = stats.ttest_1samp(means, 0).confidence_interval(0.95)

    assert (figures.n, figures.clusters) == (48, 12)
    assert figures.df == pytest.approx(11)
    assert figures.interval() == pytest.approx((expected.low, expected.high))


def test_clusters_of_one_give_the_plain_interval():
    plain, clustered = MeanInterval(), ClusteredMean()
    for i in range(50):
        value = DRAW.random()
        plain.add(value)
        clustered.add(value, i)

    assert clustered.interval() == pytest.approx(plain.interval())


@pytest.mark.parametrize(("clusters", "low"), [(3, 0.4385), (10, 0.7225), (30, 0.8865)])
def test_clusters_without_variation_count_as_clusters_not_as_rows(clusters, low):
    found = cr2([100.0] * clusters, [100] * clusters)

    assert mean_interval(*found, bounds=(0, 1)) == pytest.approx((low, 1.0), abs=5e-5)


def test_nine_clusters_are_too_few_for_an_interval():
    figures = ClusteredMean()
    for cluster in range(9):
        figures.add(cluster / 9, cluster)
        figures.add(cluster / 8, cluster)

    assert figures.interval(bounds=(0, 1)) is None
    assert figures.too_few == "9 of the 10 clusters that an interval needs"
    figures.add(0.5, 10)
    assert figures.interval(bounds=(0, 1)) is not None
    assert figures.too_few is None


def covered(sizes, truth, runs=2000):
    """Return how often the interval covers, where half of the clusters agree within."""
    draw, hits = random.Random(5), 0
    for _ in range(runs):
        figures = ClusteredMean()
        for cluster, size in enumerate(sizes):
            shared = draw.random() < truth
            alike = draw.random() < 0.5
            for _ in range(size):
                figures.add(float(shared if alike else draw.random() < truth), cluster)
        low, high = figures.interval(bounds=(0, 1))
        hits += low <= truth <= high
    return hits / runs


@pytest.mark.parametrize("sizes", [[5] * 10, [40, *[2] * 9]], ids=str)
def test_intervals_of_unequal_clusters_cover_as_often_as_of_equal_ones(sizes):
    # The plain sandwich with G - 1 degrees of freedom covers .57 to .75 for the unequal ones.
    assert covered(sizes, 0.5) >= 0.93


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


@pytest.mark.parametrize("n", [5, 10, 60, 400])
def test_the_range_of_cases_needed_is_that_of_the_spread_of_a_pilot(n):
    low, high = (1.0 * math.sqrt((n - 1) / stats.chi2.ppf(q, n - 1)) for q in (0.975, 0.025))

    found = needed_range(1.0, n, 0.4)

    # Wilson and Hilferty's chi-square is a little off for very few.
    assert found.low == pytest.approx(needed(low, 0.4), rel=0.02)
    assert found.high == pytest.approx(needed(high, 0.4), rel=0.2 if n == 5 else 0.05)


def test_how_many_more_cases_would_tell_is_a_range_with_what_it_supposes():
    said = more_cases(0.3, 20, 0.1, supposing="the true mean is 0.8")

    assert said.startswith("about 23 to 133 more cases would tell if the true mean is 0.8")
    assert "fix the number before you run them" in said
    assert more_cases(0.3, 500, 0.1, supposing="") == ""
    assert more_cases(0.0, 20, 0.1, supposing="") == ""
    assert more_cases(0.3, 3, 0.0005, supposing="x").startswith("more than ")


def test_looking_again_after_every_few_cases_passes_too_often():
    """Why the number of further cases is fixed in advance: 20 looks at a bound that is true."""
    source, passed = random.Random(3), 0
    for _ in range(400):
        figures = MeanInterval()
        for count in range(1, 401):
            figures.add(source.gauss(0.8, 0.1))
            if count % 20 == 0 and figures.interval(bounds=(0, 1))[0] > 0.8:
                passed += 1
                break
    assert passed / 400 > 0.06
