"""Mean, spread, Student's t and Wilson's interval."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.stats.intervals import MeanInterval, mean_interval, wilson
from judgekit.stats.student import student_t_quantile
from tests.each import each

# Published table of Student's t, two-sided 95 % and 99 % (NIST/SEMATECH handbook 1.3.6.7.2, with
# more digits from the closed forms for 1 and 2 degrees of freedom and from R's qt).
T_TABLE = [
    (0.975, 1, 12.706204736),
    (0.975, 2, 4.302652730),
    (0.975, 3, 3.182446305),
    (0.975, 4, 2.776445105),
    (0.975, 5, 2.570581836),
    (0.975, 10, 2.228138852),
    (0.975, 30, 2.042272456),
    (0.975, 100, 1.983971519),
    (0.975, 1000, 1.962339081),
    (0.995, 1, 63.656741162),
    (0.995, 5, 4.032142984),
    (0.995, 10, 3.169272673),
    (0.95, 7, 1.894578605),
]


def interval(values, **options):
    figures = MeanInterval()
    for value in values:
        figures.add(value)
    return figures.interval(**options)


def figures_of(values):
    figures = MeanInterval()
    for value in values:
        figures.add(value)
    return figures


@pytest.mark.parametrize(("probability", "df", "expected"), T_TABLE)
def test_t_agrees_with_the_table(probability, df, expected):
    assert student_t_quantile(probability, df) == pytest.approx(expected, abs=1e-6)


@each("df", range(1, 40))
def test_t_is_the_inverse_of_the_integrated_density(df):
    t = student_t_quantile(0.975, df)
    steps = 20_000
    scale = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
    # Simpson's rule from 0 to t.
    density = [scale * (1 + (t * i / steps) ** 2 / df) ** (-(df + 1) / 2) for i in range(steps + 1)]
    area = (
        t
        / steps
        / 3
        * (density[0] + density[-1] + 4 * sum(density[1:-1:2]) + 2 * sum(density[2:-1:2]))
    )

    assert area == pytest.approx(0.475, abs=1e-9)


def test_t_is_smooth_where_the_two_ways_of_computing_it_meet():
    below, at, above = (student_t_quantile(0.975, df) for df in (199, 200, 201))

    assert below > at > above
    assert (below - at) - (at - above) == pytest.approx(0, abs=1e-6)
    assert student_t_quantile(0.975, 10**9) == pytest.approx(1.959963985, abs=1e-7)


def test_the_interval_of_a_worked_example():
    # 3, 4, 5, 6, 7: mean 5, sd sqrt(2.5), t(.975, 4) = 2.776445
    low, high = interval([3, 4, 5, 6, 7])

    assert (low, high) == pytest.approx((3.036757, 6.963243), abs=1e-6)


@pytest.mark.parametrize(("values", "mean"), [([], None), ([0.5], 0.5)])
def test_fewer_than_two_numbers_have_no_spread(values, mean):
    figures = figures_of(values)

    assert (figures.n, figures.mean, figures.sd) == (len(values), mean, None)
    assert figures.interval() is None


def test_equal_numbers_have_an_interval_only_where_the_range_has_bounds():
    assert interval([0.1] * 1000) is None
    assert interval([0.1] * 1000, bounds=(0, 1)) == pytest.approx((0.0996, 0.1034), abs=5e-5)


def test_an_interval_stays_inside_the_bounds_it_is_given():
    values = [0.0, 0.0, 1.0, 1.0, 1.0]

    assert interval(values)[1] > 1
    low, high = interval(values, bounds=(0, 1))
    assert 0 < low < 0.6 < high < 1
    assert interval(values, bounds=(0, None))[0] == 0
    assert interval(values, bounds=(None, 1))[1] == 1


def test_zeros_and_ones_have_the_interval_of_a_share_with_t_for_z():
    # Wilson's formula for 4 of 20 with 19 degrees of freedom, worked by hand.
    assert interval([1.0] * 4 + [0.0] * 16, bounds=(0, 1)) == pytest.approx(
        (0.0742, 0.4382), abs=5e-5
    )


@given(
    st.lists(st.floats(0, 1), min_size=5, max_size=30),
    st.sampled_from([(0.0, 1.0), (-1.0, 1.0), (0.0, None), (None, 1.0)]),
)
def test_an_interval_is_around_the_mean_and_inside_the_bounds(values, bounds):
    figures = figures_of(values)
    least, most = bounds

    ends = figures.interval(bounds=bounds)

    if None in bounds and figures.sd == 0:
        assert ends is None
        return
    low, high = ends
    assert low - 1e-12 <= figures.mean <= high + 1e-12
    assert least is None or low >= least
    assert most is None or high <= most


@given(st.lists(st.floats(0, 1), min_size=5, max_size=30), st.randoms(use_true_random=False))
def test_the_order_of_values_does_not_matter(values, source):
    again = values[:]
    source.shuffle(again)

    assert interval(again, bounds=(0, 1)) == pytest.approx(interval(values, bounds=(0, 1)))


@pytest.mark.parametrize("n", [5, 20, 60, 300])
def test_scores_all_at_the_top_have_the_interval_of_a_share(n):
    assert interval([1.0] * n, bounds=(0, 1)) == pytest.approx(wilson(n, n))


def test_scores_near_the_top_have_no_narrower_interval_than_passes():
    # Nineteen scores of 1 and one of .9 do not show how low the next one may be.
    low, _ = interval([1.0] * 19 + [0.9], bounds=(0, 1))

    assert low < 0.85


def test_few_pairs_that_differ_do_not_show_their_spread():
    flips = [interval([1.0] * k + [0.0] * (60 - k), bounds=(-1, 1), changed=k) for k in range(4)]

    assert all(low < 0 < high for low, high in flips)
    widths = [high - low for low, high in flips]
    assert max(widths) - min(widths) < 0.01
    assert interval([1.0] * 3 + [0.0] * 57, changed=3) is None


@pytest.mark.parametrize(("flips", "certain"), [(5, False), (6, True)])
def test_the_interval_of_flips_agrees_with_mcnemar(flips, certain):
    # Exact McNemar of 5 to 0 is .0625, of 6 to 0 .031.
    low, _ = interval([1.0] * flips + [0.0] * (60 - flips), bounds=(-1, 1), changed=flips)

    assert (low > 0) == certain


@pytest.mark.parametrize(("n", "too_few"), [(4, True), (5, False)])
def test_four_values_are_too_few_for_an_interval(n, too_few):
    figures = figures_of([0.2, 0.4, 0.9, 0.5, 0.6][:n])

    assert (figures.interval(bounds=(0, 1)) is None) == too_few
    assert (figures.too_few == "4 of the 5 values that an interval needs") == too_few


def test_a_small_error_far_from_the_bounds_gives_the_plain_t_interval():
    plain, inside = (mean_interval(0.5, 0.001, 30, bounds=b) for b in ((None, None), (0, 1)))

    assert inside == pytest.approx(plain, abs=1e-5)


def test_small_differences_of_large_numbers_are_kept():
    # The textbook example where the sum of squares loses everything: variance 30.
    assert figures_of([1e9 + x for x in (4, 7, 13, 16)]).sd == pytest.approx(math.sqrt(30))


@given(st.lists(st.floats(-1e6, 1e6), min_size=5, max_size=50))
def test_figures_agree_with_the_exact_ones(values):
    figures = figures_of(values)

    assert figures.mean == pytest.approx(statistics.fmean(values), rel=1e-9, abs=1e-6)
    assert figures.sd == pytest.approx(statistics.stdev(values), rel=1e-6, abs=1e-6)
    low, high = figures.interval() or (figures.mean, figures.mean)
    assert low <= figures.mean <= high


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_not_finite_is_refused(value):
    with pytest.raises(ValueError, match="finite numbers"):
        MeanInterval().add(value)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # Newcombe (1998), Statistics in Medicine 17, table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_agrees_with_the_published_examples(successes, n, low, high):
    assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 10_000), st.data())
def test_wilson_stays_inside_zero_and_one_around_the_share(n, data):
    successes = data.draw(st.integers(0, n))

    low, high = wilson(successes, n)

    assert 0 <= low <= successes / n <= high <= 1
    mirrored = wilson(n - successes, n)
    assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high))


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (-1, 5), (6, 5)])
def test_wilson_refuses_what_is_no_share(successes, n):
    with pytest.raises(ValueError, match="a share needs"):
        wilson(successes, n)


@pytest.mark.parametrize(("probability", "df"), [(0.5, 1), (1, 1), (0.975, 0)])
def test_a_quantile_needs_a_probability_and_degrees_of_freedom(probability, df):
    with pytest.raises(ValueError, match="no quantile of"):
        student_t_quantile(probability, df)
