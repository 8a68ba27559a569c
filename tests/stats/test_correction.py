"""Corrected means: against ppi-python, published examples, closed forms, and by simulation."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.stats.clusters import ClusteredMean, FigureValues
from judgekit.stats.correction import (
    FEWEST_LABELS,
    Correction,
    LabelledRow,
)
from judgekit.stats.intervals import MeanInterval, mean_interval
from judgekit.stats.rates import MeanFigure, lee_interval, rogan_gladen, youden_figure
from tests.data.make_ppi_oracle import COUNT, ppi_inputs
from tests.each import each

ORACLE = json.loads((Path(__file__).parents[1] / "data" / "ppi_oracle.json").read_text("utf-8"))
UNIT = (0.0, 1.0)


def correction(person, judge, others, *, weights=None, clusters=None, bounds=UNIT):
    """Clusters are those of the labelled rows, then of the others."""
    n = len(person)
    chances = [min(weights) / w for w in weights] if weights else [None] * n
    groups = clusters or [None] * (n + len(others))
    judged = FigureValues(clustered=clusters is not None)
    for value, group in zip(others, groups[n:], strict=True):
        judged.add(value, group)
    rows = [
        LabelledRow(f, y, group, p)
        for f, y, group, p in zip(judge, person, groups[:n], chances, strict=True)
    ]
    return Correction(rows, judged, bounds=bounds)


# -- PPI++ ----------------------------------------------------------------------------


def z_interval(person, judge, others):
    """The conventions of ppi-python: variances with divisor n, and z."""
    found = correction(person, judge, others)
    rest = np.array(person) - found.lam() * np.array(judge)
    error = math.sqrt(found.lam() ** 2 * np.var(others) / len(others) + rest.var() / len(person))
    half = NormalDist().inv_cdf(0.975) * error
    return found.point(found.lam()) - half, found.point(found.lam()) + half


def test_ppi_is_that_of_ppi_python():
    assert len(ORACLE) == COUNT == 200
    for seed, expected in enumerate(ORACLE):
        found = correction(*ppi_inputs(seed))

        figures = (found.point(found.lam()), *z_interval(*ppi_inputs(seed)))

        assert figures == pytest.approx(expected, abs=1e-9), seed


def test_the_standard_error_is_welchs():
    person, judge, others = ppi_inputs(3)
    found = correction(person, judge, others)
    lam, n, rest = found.lam(), len(person), len(others)
    parts = (
        lam**2 * np.var(others, ddof=1) / rest,
        np.var(np.array(person) - lam * np.array(judge), ddof=1) / n,
    )

    error, df = found.error(found.person, lam)

    assert error == pytest.approx(math.sqrt(sum(parts)), abs=1e-12)
    assert df == pytest.approx(
        sum(parts) ** 2 / (parts[0] ** 2 / (rest - 1) + parts[1] ** 2 / (n - 1))
    )


def test_labels_alone_are_a_plain_mean():
    person, judge, others = ppi_inputs(5)
    plain = MeanInterval()
    for value in person:
        plain.add(value)

    labels = correction(person, judge, others).ppi().labels

    assert labels.value == pytest.approx(plain.mean)
    assert (labels.low, labels.high) == pytest.approx(plain.interval(bounds=UNIT))


def test_clusters_of_labels_alone_are_cr2():
    rng = random.Random(1)
    person, judge, others = ppi_inputs(8)
    clusters = [rng.randrange(14) for _ in range(len(person) + len(others))]
    plain = ClusteredMean()
    for value, cluster in zip(person, clusters, strict=False):
        plain.add(value, cluster)

    found = correction(person, judge, others, clusters=clusters)

    assert found.error(found.person) == pytest.approx((plain.standard_error, plain.df))


def test_each_row_its_own_cluster_is_no_clusters():
    person, judge, others = ppi_inputs(8)
    alone = correction(person, judge, others)
    clusters = list(range(len(person) + len(others)))

    found = correction(person, judge, others, clusters=clusters)

    assert found.error(found.person, 0.7) == pytest.approx(alone.error(alone.person, 0.7))


@given(st.integers(0, 10_000), st.floats(1.5, 9))
def test_equal_weights_give_the_unweighted_estimate(seed, weight):
    person, judge, others = ppi_inputs(seed)
    plain = correction(person, judge, others)
    weights = [weight] * len(person)

    found = correction(person, judge, others, weights=weights)

    assert found.lam() == pytest.approx(plain.lam(), abs=1e-8)
    assert found.point(found.lam()) == pytest.approx(plain.point(plain.lam()), abs=1e-8)


@given(st.integers(0, 10_000))
def test_the_corrected_mean_stays_inside_the_range(seed):
    figures = correction(*ppi_inputs(seed)).ppi()

    corrected = figures.corrected
    assert 0 <= corrected.value <= 1
    assert 0 <= figures.lam <= 1
    if corrected.low is not None:
        assert 0 <= corrected.low <= corrected.value <= corrected.high <= 1
    assert corrected.error <= figures.labels.error or figures.labels.error == 0
    assert figures.saved >= 0


def test_no_other_rows_leave_the_labels():
    person, judge, _ = ppi_inputs(8)

    figures = correction(person, judge, []).ppi()

    assert (figures.lam, figures.saved) == (0.0, 0)
    assert figures.corrected == figures.labels


def test_a_judge_that_knows_nothing_does_not_count():
    person, _, others = ppi_inputs(8)

    figures = correction(person, [0.5] * len(person), [0.5] * len(others)).ppi()

    assert figures.lam == 0
    assert figures.corrected == figures.labels


@each(
    "person, weights, why",
    [
        ([1.0, 0.0] * 24, None, "48 of the 50 labels that a corrected mean needs"),
        ([1.0] * 56 + [0.0] * 4, None,
         "4 of the 5 labels needed that differ from the most common"),
        ([1.0, 0.0] * 30, [1000.0] * 5 + [1.0] * 55,
         "by their weights, the labels are worth 5 of 20"),
    ],
)  # fmt: skip
def test_too_few(person, weights, why):
    figures = correction(person, person, [1.0, 0.0] * 50, weights=weights).ppi()

    assert figures.corrected.too_few == figures.labels.too_few == why
    assert figures.corrected.low is None


def test_too_few_clusters():
    clusters = [n % 9 for n in range(60)] + [n % 40 for n in range(100)]

    figures = correction([1.0, 0.0] * 30, [1.0, 0.0] * 30, [1.0, 0.0] * 50, clusters=clusters).ppi()

    assert figures.corrected.too_few == "labels in 9 of the 10 clusters that it needs"


def test_labels_that_all_agree_with_the_judge_do_not_show_its_errors():
    """60 labels without an error say little about 10,000 rows."""
    values = [1.0, 0.0] * 30
    figures = correction(values, values, [1.0, 0.0] * 5_000).ppi()

    assert figures.corrected.high - figures.corrected.low > 0.1


# -- the judge ------------------------------------------------------------------------


def test_rho_is_pearsons_with_an_interval_near_fishers():
    rng = np.random.default_rng(2)
    person = rng.normal(0.5, 0.1, 120)
    judge = person + rng.normal(0, 0.1, 120)

    rho = correction(person.tolist(), judge.tolist(), [0.5]).rho()

    expected = np.corrcoef(person, judge)[0, 1]
    half = 1.96 / math.sqrt(117)
    assert rho.value == pytest.approx(expected)
    assert math.atanh(rho.low) == pytest.approx(math.atanh(expected) - half, abs=0.06)
    assert math.atanh(rho.high) == pytest.approx(math.atanh(expected) + half, abs=0.06)


def test_rho_of_one_answer_or_of_equal_answers():
    assert correction([1.0] * 60, [1.0, 0.0] * 30, [1.0]).rho() is None
    same = correction([1.0, 0.0] * 30, [1.0, 0.0] * 30, [1.0]).rho()
    assert (same.value, same.too_few) == (pytest.approx(1), "no label differs from the judge")


def test_sensitivity_and_specificity_count_the_labels_of_several_people_in_part():
    judge = [1.0] * 27 + [0.0] * 3 + [1.0] * 6 + [0.0] * 24 + [1.0] * 10
    found = correction([1.0] * 30 + [0.0] * 30 + [0.5] * 10, judge, [1.0])

    sensitivity, specificity = found.rates()

    assert (sensitivity.value, sensitivity.n) == (pytest.approx(32 / 35), 35)
    assert (specificity.value, specificity.n) == (pytest.approx(24 / 35), 35)
    youden = youden_figure(sensitivity, specificity)
    assert youden.value == pytest.approx(32 / 35 + 24 / 35 - 1)
    assert sensitivity.low < sensitivity.value < sensitivity.high
    assert youden.low < youden.value < youden.high


# -- Rogan and Gladen -----------------------------------------------------------------


@each(
    "share, specificity, sensitivity, n, negatives, positives, point, low, high",
    [
        (0.4, 0.7, 0.9, 1000, 200, 200, 0.1666666667, 0.0563507248, 0.2627330258),
        (0.5, 0.8, 0.8, 500, 100, 100, 0.5, 0.3799746589, 0.6200253411),
        (0.62, 0.85, 0.93, 2000, 150, 350, 0.6025641026, 0.5544774781, 0.6456327845),
        (0.0, 1.0, 1.0, 50, 10, 10, 0.0, 0.0, 0.0956856363),
        (0.4, 0.7, 0.9, 1000, 1, 1, 0.1666666667, 0.0, 1.0),
    ],
)  # fmt: skip
def test_the_interval_is_that_of_lee_et_al(
    share, specificity, sensitivity, n, negatives, positives, point, low, high
):
    """Figures of the program that accompanies arXiv 2511.21140; the first is its worked example."""
    found = lee_interval(share, specificity, sensitivity, n, negatives, positives)

    assert rogan_gladen(share, specificity, sensitivity) == pytest.approx(point, abs=1e-9)
    assert found == pytest.approx((low, high), abs=1e-9)


def test_a_judge_no_better_than_chance_cannot_be_corrected():
    with pytest.raises(ValueError, match="no better than chance"):
        rogan_gladen(0.4, 0.5, 0.5)


def test_rogan_gladen_uses_the_rows_without_a_label_alone():
    """Of the labelled rows only the error rates count, whatever their share of yes."""
    person, judge = [1.0] * 80 + [0.0] * 40, [1.0] * 72 + [0.0] * 8 + [1.0] * 8 + [0.0] * 32
    others = [1.0] * 300 + [0.0] * 700

    figures = correction(person, judge, others).rogan_gladen()

    assert figures.corrected.value == pytest.approx((0.3 + 0.8 - 1) / 0.7)
    expected = lee_interval(0.3, 0.8, 0.9, 1000, 40, 80)
    assert (figures.corrected.low, figures.corrected.high) == pytest.approx(expected, abs=2e-3)


@each(
    "judge, why",
    [
        ([1.0] * 17 + [0.0] * 13 + [1.0, 0.0] * 15,
         "Youden's J may be 0: the judge may know no more than chance"),
        ([0.0] * 30 + [1.0] * 30,
         "sensitivity + specificity is not above 1: the judge knows no more than chance"),
    ],
)  # fmt: skip
def test_rogan_gladen_of_a_judge_like_chance(judge, why):
    figures = correction([1.0] * 30 + [0.0] * 30, judge, [1.0, 0.0] * 50).rogan_gladen()

    assert figures.corrected.too_few == why
    assert figures.corrected.low is None


def test_rogan_gladen_needs_yes_no_and_both_answers():
    assert correction([0.3] * 60, [0.3] * 60, [0.3]).rogan_gladen() is None
    assert correction([1.0] * 60, [1.0] * 60, [1.0]).rogan_gladen() is None
    assert correction([1.0, 0.0] * 30, [1.0, 0.0] * 30, []).rogan_gladen() is None


def test_youden_without_an_interval():
    few = MeanFigure(0.9, 3, too_few="3 of the 5 labels that it needs")

    assert youden_figure(few, few).too_few == few.too_few


# -- weights --------------------------------------------------------------------------


def draws(count, *, weigh):
    """Yes/no, low scores labelled four times as often; the true share is 0.4."""
    rng = np.random.default_rng(4)
    for _ in range(count):
        person = rng.random(600) < 0.4
        judge = np.where(rng.random(600) < 0.85, person, ~person)
        chance = np.where(judge, 0.08, 0.32)
        chosen = rng.random(600) < chance
        weights = (1 / chance[chosen]).tolist() if weigh else None
        yield correction(
            person[chosen].astype(float).tolist(), judge[chosen].astype(float).tolist(),
            judge[~chosen].astype(float).tolist(), weights=weights,
        )  # fmt: skip


@pytest.mark.thorough
@each("by", ["ppi", "rogan_gladen"])
def test_weighted_labels_are_unbiased_and_ignoring_the_weights_is_not(by):
    found = {}
    for weigh in (True, False):
        figures = [getattr(one, by)() for one in draws(70, weigh=weigh)]
        values = np.array([one.corrected.value for one in figures])
        found[weigh] = (values.mean() - 0.4) / (values.std(ddof=1) / math.sqrt(len(values)))
        if weigh:
            ends = [c for one in figures if (c := one.corrected).low is not None]
            assert len(ends) > 50
            assert np.mean([c.low <= 0.4 <= c.high for c in ends]) >= 0.85

    assert abs(found[True]) < 2
    assert abs(found[False]) > 5


def test_fewest_labels():
    assert FEWEST_LABELS == 50


def without_verdicts(rng, mean, bad, good):
    """Draw values of people and of a judge that has none in `bad` to `good` of the rows."""
    person = rng.beta(4 * mean, 4 * (1 - mean), 300)
    judge = np.clip(person + 0.1 + rng.normal(0, 0.05, 300), 0, 1)
    silent = rng.random(300) < bad + (good - bad) * person
    return person, np.where(silent, judge[~silent].mean(), judge), silent


@pytest.mark.thorough
@each("mean, bad, good", [(0.2, 0.2, 0.6), (0.2, 0.6, 0.2), (0.8, 0.2, 0.6), (0.8, 0.6, 0.2)])
def test_abstentions_that_depend_on_the_truth_leave_the_mean_covered(mean, bad, good):
    """50 runs of 50 labels; `benchmarks/coverage_correction.py` has 2,000 for more kinds."""
    rng = np.random.default_rng(11)
    covered, dropped = [], []
    for _ in range(50):
        person, judge, silent = without_verdicts(rng, mean, bad, good)
        found = correction(person[:50], judge[:50], judge[50:]).ppi().corrected
        covered.append(found.low <= mean <= found.high)
        dropped.append(person[~silent].mean() - mean)
    assert np.mean(covered) >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / 50)
    assert abs(np.mean(dropped)) > 0.01  # without the labels of abstentions, the mean is another


def test_the_error_is_that_of_the_jackknife():
    """A lambda that is fitted to the labels makes the rows fit better than other rows."""
    person, judge, _ = without_verdicts(np.random.default_rng(2), 0.3, 0.2, 0.6)
    own, others = (person[:60], judge[:60]), judge[60:]
    found = correction(*own, others)
    figures = found.ppi()

    each = []
    for left_out in range(60):
        kept = [np.delete(side, left_out) for side in own]
        one = correction(*kept, others)
        each.append(one.point(one.lam()))
    rows = 59 / 60 * np.sum((np.array(each) - np.mean(each)) ** 2)
    error = math.sqrt(rows + found.lam() ** 2 * np.var(others, ddof=1) / len(others))

    assert figures.corrected.error == pytest.approx(error, rel=0.03)
    assert figures.corrected.error > 1.02 * found.error(found.person, found.lam())[0]
    assert figures.corrected.df < found.error(found.person, found.lam())[1] / 1.5


def test_the_end_on_the_side_of_a_skewed_error_is_johnsons():
    person, judge, _ = without_verdicts(np.random.default_rng(8), 0.2, 0.2, 0.6)
    found = correction(person[:60], judge[:60], judge[60:])
    corrected = found.ppi().corrected

    plain = mean_interval(corrected.value, corrected.error, corrected.df, bounds=(0, 1))
    assert corrected.low == plain[0]
    assert corrected.high > plain[1]
    turned = correction(1 - person[:60], 1 - judge[:60], 1 - judge[60:]).ppi().corrected
    assert (1 - turned.high, 1 - turned.low) == pytest.approx((corrected.low, corrected.high))


@each(
    "judge",
    [
        [1.0] * 60,  # one answer on the labelled rows, two on the rest
        [0.1] * 60,
        [0.7] + [0.3] * 59,
        [0.3] * 59 + [0.7],  # a single row has all differences
    ],
)
def test_a_judge_that_hardly_varies_on_the_labelled_rows_leaves_the_labels(judge):
    person = [0.2, 0.4, 0.6, 0.8, 0.9] * 12

    figures = correction(person, judge, [0.1, 0.3, 0.7] * 50).ppi()

    assert figures.lam == 0
    assert figures.corrected == figures.labels


def test_rare_answers_do_not_make_the_rows_fewer():
    """Heavy tails lower the degrees of freedom, and not the number of independent rows."""
    rng = np.random.default_rng(5)
    person = rng.random(1_000) < 0.03
    judge = np.where(rng.random(1_000) < 0.05, ~person, person).astype(float)
    person = person.astype(float)

    found = correction(person[:300], judge[:300], judge[300:]).ppi()

    assert found.lam > 0.1
    assert found.corrected.df < 100
    widths = [one.high - one.low for one in (found.corrected, found.labels)]
    assert widths[0] < 1.15 * widths[1]
