"""The mean over slices, against other libraries and by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from judgekit.stats.clusters import FigureValues
from judgekit.stats.slices import SliceMean, mean_over_slices
from tests.later import Later

stats = Later("scipy.stats")
UNIT = (0.0, 1.0)


def slices_of(values, slices, clusters=None, bounds=UNIT):
    spreads = {}
    for place, (value, name) in enumerate(zip(values, slices, strict=True)):
        own = spreads.setdefault(name, FigureValues(clustered=clusters is not None))
        own.add(float(value), None if clusters is None else clusters[place])
    return [SliceMean.of(one.spread, bounds) for one in spreads.values()]


def test_two_slices_have_the_error_and_degrees_of_freedom_of_welch():
    draw = np.random.RandomState(4)
    one, other = draw.uniform(0.2, 0.9, 14), draw.uniform(0.4, 0.6, 33)

    found = mean_over_slices(slices_of([*one, *other], [0] * 14 + [1] * 33))

    welch = stats.ttest_ind(one, other, equal_var=False)
    assert found.mean == pytest.approx((one.mean() + other.mean()) / 2, abs=1e-12)
    assert found.error == pytest.approx(welch._standard_error / 2, abs=1e-12)
    assert found.df == pytest.approx(welch.df, abs=1e-9)


def test_the_error_is_that_of_a_regression_on_the_slices():
    """statsmodels 0.15.0: OLS on dummies, cov_type="HC2", t_test of the mean of all coefficients.

    numpy's matrices give the same here: HC2 divides a squared residual by 1 minus its leverage.
    """
    draw = np.random.RandomState(7)
    names = np.repeat([0, 1, 2, 3], [5, 9, 20, 31])
    values = draw.beta(2, 1 + names)
    x = np.eye(4)[names]
    bread = np.linalg.inv(x.T @ x)
    rest = values - x @ (bread @ x.T @ values)
    hat = np.einsum("ij,jk,ik->i", x, bread, x)
    meat = x.T @ (x * (rest**2 / (1 - hat))[:, None])
    contrast = np.full(4, 0.25)

    found = mean_over_slices(slices_of(values, names))

    expected = np.sqrt(contrast @ bread @ meat @ bread @ contrast)
    assert found.error == pytest.approx(expected, abs=1e-12)
    assert found.low < found.mean < found.high


def test_clusters_in_several_slices_have_the_error_of_cr2():
    draw = np.random.RandomState(3)
    names, clusters = np.arange(120) % 3, np.arange(120) // 5
    values = np.clip(draw.normal(0.5, 0.1, 24)[clusters] + draw.normal(0, 0.05, 120), 0, 1)
    x = np.eye(3)[names]
    bread = np.linalg.inv(x.T @ x)
    rest = values - x @ (bread @ x.T @ values)
    meat = np.zeros((3, 3))
    for cluster in range(24):
        own = clusters == cluster
        size, vectors = np.linalg.eigh(np.eye(own.sum()) - x[own] @ bread @ x[own].T)
        adjusted = vectors @ np.diag(size**-0.5) @ vectors.T @ rest[own]
        score = x[own].T @ adjusted
        meat += np.outer(score, score)
    contrast = np.full(3, 1 / 3)
    expected = np.sqrt(contrast @ bread @ meat @ bread @ contrast)

    found = mean_over_slices(slices_of(values, names, clusters))
    apart = mean_over_slices(slices_of(values, names, clusters + 100 * names))

    assert found.error == pytest.approx(expected, abs=1e-12)
    assert found.error > 1.3 * apart.error
    assert found.high - found.low > 1.3 * (apart.high - apart.low)


@pytest.mark.parametrize("sizes", [(5, 40), (10, 20, 80), (30, 30, 30, 30, 30)])
def test_the_interval_covers_means_near_the_end_of_the_range(sizes):
    """400 studies of yes and no: at least .95 less three errors of the simulation."""
    draw = np.random.RandomState(11)
    truth = np.linspace(0.95, 0.7, len(sizes))
    names = np.repeat(np.arange(len(sizes)), sizes)
    covered = []
    for _ in range(400):
        found = mean_over_slices(slices_of(draw.random_sample(len(names)) < truth[names], names))
        covered.append(found.low <= truth.mean() <= found.high)
        assert 0 <= found.low <= found.mean <= found.high <= 1
    assert np.mean(covered) >= 0.917


def test_a_slice_without_an_interval_leaves_the_mean_without_one():
    found = mean_over_slices(slices_of([0.1, 0.2, 0.3, 0.2, 0.4, 0.9], [0, 0, 0, 0, 0, 1]))

    assert found.mean == pytest.approx((0.24 + 0.9) / 2)
    assert (found.low, found.high, found.error, found.df) == (None, None, None, None)
    assert mean_over_slices([]).mean is None


def test_one_slice_is_its_own_mean():
    [only] = slices_of([0.1, 0.5, 0.3, 0.2, 0.4, 0.9], [0] * 6)

    found = mean_over_slices([only])

    assert (found.mean, found.low, found.high) == pytest.approx((only.mean, only.low, only.high))
    assert (found.error, found.df) == pytest.approx((only.error, 5))
