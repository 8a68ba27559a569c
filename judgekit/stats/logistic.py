"""Ridge logistic regression on one number, and the win rate at equal length."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from judgekit.stats.intervals import FEWEST, TAIL
from judgekit.stats.student import student_t_quantile

RIDGE = 1.0
"""Penalty on the squared slope, over 2; it equals a prior with a standard deviation of 1."""
FEWEST_SHARE = 0.1
"""Smallest share of comparisons in which either answer is not the longer one."""
_STEPS = 100
_CLOSE = 1e-12


def logistic(value: float) -> float:
    """Return 1 / (1 + exp(-value)), without overflow."""
    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))


class LogisticFit(NamedTuple):
    """P(y = 1) = 1 / (1 + exp(-(intercept + slope * x)))."""

    intercept: float
    slope: float

    def probability(self, x: float) -> float:
        """Return the probability of y = 1 at x."""
        return logistic(self.intercept + self.slope * x)


class ControlledRate(NamedTuple):
    """A win rate at equal lengths."""

    rate: float | None
    """`None` if the lengths do not allow an estimate."""
    low: float | None = None
    """The lower end of its 95 % interval; `None` for few comparisons or without a slope."""
    high: float | None = None
    separated: bool = False
    """Whether the length, or the constant alone, separates all wins from all losses."""
    one_sided: bool = False
    """Whether one side is nearly always longer, so nothing shows how it does at equal length."""


def length_controlled_rate(wins: Sequence[float], longer: Sequence[float]) -> ControlledRate:
    """Return the win rate that answers of equal length would have.

    It is the logistic regression of the win on tanh(difference of lengths / its standard
    deviation), evaluated at the difference 0, after Dubois et al. 2024 (arXiv 2404.04475). The
    slope has a ridge penalty, so a fit always exists. If only the penalty keeps it finite, the
    comparisons are separated and the win rate is `None`. It is also `None` if one side is nearly
    always longer: each side must be no longer than the other in at least 10 % of the comparisons,
    and in at least 5 (or half of fewer than 10), or the regression extrapolates. The interval is
    that of the intercept, with the robust variance HC3 (MacKinnon and White 1985) of independent
    comparisons.

    Args:
        wins: 1 for a win, 0 for a loss, .5 for a tie; other shares of a win are allowed.
        longer: length of the answer minus length of the other answer.

    >>> length_controlled_rate([1.0, 0.0, 1.0, 0.0], [10, 10, -10, -10])
    ControlledRate(rate=0.5, low=None, high=None, separated=False, one_sided=False)
    >>> length_controlled_rate([1.0, 1.0, 0.0], [10, 5, -3])
    ControlledRate(rate=None, low=None, high=None, separated=True, one_sided=False)
    >>> length_controlled_rate([1.0, 0.0, 0.0, 1.0] * 5, [10, 20] * 10).one_sided
    True
    """
    count = len(wins)
    if not count:
        return ControlledRate(None)
    if separated(longer, wins):
        return ControlledRate(None, separated=True)
    mean = math.fsum(longer) / count
    sd = math.sqrt(math.fsum((d - mean) ** 2 for d in longer) / max(1, count - 1))
    if sd == 0:  # without any difference, length explains nothing; a constant one cannot be removed
        return ControlledRate(math.fsum(wins) / count if mean == 0 else None)
    sides = sum(d <= 0 for d in longer), sum(d >= 0 for d in longer)
    if min(sides) < max(min(FEWEST, count // 2), FEWEST_SHARE * count):
        return ControlledRate(None, one_sided=True)
    xs = [math.tanh(d / sd) for d in longer]
    fit = ridge_logistic(xs, wins)
    error = _error(fit, xs, wins) if count >= FEWEST else None
    if error is None:
        return ControlledRate(fit.probability(0.0))
    half = error * student_t_quantile(TAIL, count - 2)
    ends = (logistic(fit.intercept - half), logistic(fit.intercept + half))
    return ControlledRate(fit.probability(0.0), *ends)


def _error(fit: LogisticFit, xs: Sequence[float], ys: Sequence[float]) -> float | None:
    """Return the robust standard error of the intercept; `None` for a flat likelihood."""
    h00, h01, h11 = _curvature(fit, xs)
    determinant = h00 * h11 - h01 * h01
    if determinant <= 0:
        return None
    squares = []
    for x, y in zip(xs, ys, strict=True):
        p = fit.probability(x)
        leverage = p * (1 - p) * (h11 - 2 * h01 * x + h00 * x * x) / determinant
        squares.append(((h11 - h01 * x) / determinant * (y - p) / max(_CLOSE, 1 - leverage)) ** 2)
    return math.sqrt(math.fsum(squares))


def _curvature(fit: LogisticFit, xs: Sequence[float]) -> tuple[float, float, float]:
    """Return the second derivatives of the loss: for the intercept, mixed, for the slope."""
    shares = [(x, p * (1 - p)) for x in xs for p in [fit.probability(x)]]
    h00 = math.fsum(w for _, w in shares)
    h01 = math.fsum(w * x for x, w in shares)
    return h00, h01, math.fsum(w * x * x for x, w in shares) + RIDGE


def separated(xs: Sequence[float], ys: Sequence[float]) -> bool:
    """Return whether a threshold on x separates 1 from 0, so that the slope diverges.

    A y between 0 and 1 counts as both. Both kinds may occur at the threshold (quasi-separation),
    and values of one kind only are separated.

    >>> separated([1, 2, 3, 4], [0, 0, 1, 1]), separated([1, 2, 3, 4], [0, 1, 0, 1])
    (True, False)
    """
    ones = [x for x, y in zip(xs, ys, strict=True) if y > 0]
    zeros = [x for x, y in zip(xs, ys, strict=True) if y < 1]
    if not ones or not zeros:
        return True
    if min(xs) == max(xs):
        return False
    return max(zeros) <= min(ones) or max(ones) <= min(zeros)


def ridge_logistic(xs: Sequence[float], ys: Sequence[float]) -> LogisticFit:
    """Return the fit that maximises likelihood - RIDGE / 2 * slope ** 2, by Newton's method.

    The intercept has no penalty. A step that worsens the fit is halved.

    Args:
        xs: the predictor.
        ys: 0 to 1; not all 0 or all 1, for which the intercept diverges.
    """
    mean = math.fsum(ys) / len(ys)
    fit = LogisticFit(math.log(mean / (1 - mean)), 0.0)
    loss = _loss(fit, xs, ys)
    for _ in range(_STEPS):
        step = _newton(fit, xs, ys)
        scale = 1.0
        while True:
            new = LogisticFit(fit.intercept - scale * step[0], fit.slope - scale * step[1])
            worse = (new_loss := _loss(new, xs, ys)) > loss + _CLOSE * abs(loss)
            if not worse or scale < _CLOSE:
                break
            scale /= 2
        fit, loss = new, new_loss
        if max(abs(step[0]), abs(step[1])) * scale < _CLOSE:
            break
    return fit


def _newton(fit: LogisticFit, xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float]:
    """Return the Newton step of the loss, for intercept and slope."""
    errors = [fit.probability(x) - y for x, y in zip(xs, ys, strict=True)]
    g0 = math.fsum(errors)
    g1 = math.fsum(e * x for e, x in zip(errors, xs, strict=True)) + RIDGE * fit.slope
    h00, h01, h11 = _curvature(fit, xs)
    determinant = h00 * h11 - h01 * h01
    if determinant <= 0:
        return 0.0, 0.0
    return (h11 * g0 - h01 * g1) / determinant, (h00 * g1 - h01 * g0) / determinant


def _loss(fit: LogisticFit, xs: Sequence[float], ys: Sequence[float]) -> float:
    places = ((fit.intercept + fit.slope * x, y) for x, y in zip(xs, ys, strict=True))
    # log(1 + exp(z)) - y * z, without overflow
    likelihood = math.fsum(max(z, 0.0) + math.log1p(math.exp(-abs(z))) - y * z for z, y in places)
    return likelihood + RIDGE / 2 * fit.slope**2
