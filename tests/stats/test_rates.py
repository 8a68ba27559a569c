"""ROC-AUC, its interval, and thresholds, against plain counting and their definitions."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.stats.correction import MeanFigure
from judgekit.stats.rates import (
    auc_interval,
    best_threshold,
    f1_at,
    independent_size,
    pearson,
    roc_auc,
)

labelled = st.lists(
    st.tuples(st.integers(0, 8).map(lambda n: n / 8), st.integers(0, 1)), min_size=2, max_size=40
).filter(lambda rows: len({label for _, label in rows}) == 2)


@given(labelled)
def test_the_auc_counts_pairs_in_the_right_order(rows):
    up = [score for score, label in rows if label]
    down = [score for score, label in rows if not label]
    counted = sum((a > b) + (a == b) / 2 for a in up for b in down) / (len(up) * len(down))

    value = roc_auc([score for score, _ in rows], [label for _, label in rows])

    assert value == pytest.approx(counted)
    low, high = auc_interval(value, len(up), len(down))
    assert 0 <= low <= value <= high <= 1


@given(labelled)
def test_no_threshold_has_a_better_f1(rows):
    scores, labels = [score for score, _ in rows], [label for _, label in rows]

    threshold, best = best_threshold(scores, labels)

    if best:
        assert best == pytest.approx(f1_at(scores, labels, threshold))
    for other in sorted(set(scores)):
        if 0 < sum(score >= other for score in scores) < len(scores):
            assert f1_at(scores, labels, other) <= best + 1e-12


def test_an_auc_needs_both_classes():
    with pytest.raises(ValueError, match="positives and negatives"):
        roc_auc([0.1, 0.2], [1, 1])


@pytest.mark.parametrize(("size", "true", "shift"), [(10, 0.8, 1.1902), (25, 0.95, 2.3262)])
def test_the_interval_covers_the_true_auc(size, true, shift):
    draw = random.Random(5)
    labels = [1] * size + [0] * size
    covered = 0
    for _ in range(300):
        scores = [draw.gauss(shift * label, 1) for label in labels]
        low, high = auc_interval(roc_auc(scores, labels), size, size)
        covered += low <= true <= high

    assert covered / 300 >= 0.91


def test_a_perfect_auc_has_an_interval_and_more_labels_make_it_narrow():
    few, many = auc_interval(1.0, 5, 5), auc_interval(1.0, 50, 50)

    assert few[1] == many[1] == 1.0
    assert few[0] < many[0] < 1.0
    assert auc_interval(0.0, 5, 5)[0] == 0.0


def test_a_correlation_needs_two_sides_that_vary():
    assert pearson([1.0, 1.0], [0.0, 1.0]) is None
    assert pearson([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]) == pytest.approx(1.0)


@pytest.mark.parametrize(("yes", "n"), [(7, 10), (140, 200), (1, 40)])
def test_independent_values_are_as_many_as_there_are(yes, n):
    share = yes / n
    error = math.sqrt(share * (1 - share) / (n - 1))  # the standard deviation divides by n - 1

    assert independent_size(MeanFigure(share, n, error, n - 1)) == pytest.approx(n)
    assert independent_size(MeanFigure(share, n, 2 * error, n - 1)) < n / 3
