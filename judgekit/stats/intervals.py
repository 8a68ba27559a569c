"""Mean, standard deviation and interval of numbers; interval of a share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from math import isfinite
from statistics import NormalDist
from typing import NamedTuple

from judgekit.stats.student import student_t_quantile

Bounds = tuple[float | None, float | None]
"""The smallest and the largest possible number; `None` for no bound."""

TAIL = 0.975
"""Probability below the upper end of a 95 % interval."""
Z = NormalDist().inv_cdf(TAIL)
FEWEST = 5
"""Minimum number of independent values for an interval; with fewer, its coverage is too low."""
_NEAR = 1.0
"""Total distance of all values to a bound, in ranges, below which they do not show their spread."""
_ALIKE = 1e-9
"""Standard error, in ranges, below which values differ only by rounding."""
CHANGED = 7
"""Minimum number of differences other than 0 that show their spread."""


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of agreement with its 95 % interval."""

    value: float | None
    """`None` if it is not defined, because all answers are the same."""
    low: float | None = None
    high: float | None = None
    too_few: str | None = None
    """The reason why there is no interval."""

    @property
    def text(self) -> str:
        """The coefficient with its interval.

        >>> Coefficient(value=0.5, low=0.25, high=0.75).text
        '0.50 [0.25, 0.75]'
        """
        if self.value is None:
            return "undefined"
        if self.low is None or self.high is None:
            return f"{self.value:.2f} [too few]"
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


class CountedFigure(NamedTuple):
    """A coefficient with the number of items that it counts."""

    n: int
    figure: Coefficient


class MeanError(NamedTuple):
    """A mean with its standard error."""

    mean: float
    error: float
    df: float
    """Degrees of freedom; df + 1 counts as the number of independent values."""


class MeanSpread(ABC):
    """Mean, standard error and 95 % interval of numbers added one by one."""

    n = 0
    """The number of values."""
    _fewest, _unit = FEWEST, "values"

    @abstractmethod
    def add(self, value: float, cluster: Hashable = None) -> None:
        """Add a number, and its cluster if numbers have clusters.

        Raises:
            ValueError: it is NaN or an infinity.
        """

    @property
    @abstractmethod
    def mean(self) -> float | None:
        """The mean; `None` without values."""

    @property
    @abstractmethod
    def figures(self) -> MeanError | None:
        """The mean with its standard error; `None` for fewer than two values or clusters."""

    @property
    def clusters(self) -> int | None:
        """The number of clusters; `None` if the numbers are independent of each other."""
        return None

    @property
    def df(self) -> float:
        """Degrees of freedom of the interval; 0 for fewer than two values or clusters."""
        figures = self.figures
        return figures.df if figures else 0.0

    @property
    def standard_error(self) -> float | None:
        """Standard error of the mean; `None` for fewer than two values or clusters."""
        figures = self.figures
        return figures.error if figures else None

    @property
    def too_few(self) -> str | None:
        """The reason why there is no interval; `None` if there is one."""
        count = self.n if self.clusters is None else self.clusters
        if count >= self._fewest:
            return None
        return f"{count} of the {self._fewest} {self._unit} that an interval needs"

    def interval(
        self, *, bounds: Bounds = (None, None), changed: int | None = None
    ) -> tuple[float, float] | None:
        """Return the interval of the mean (see `mean_interval`); `None` for too few values.

        Args:
            bounds: minimum and maximum possible number.
            changed: if the numbers are differences, how many are not 0.
        """
        figures = self.figures
        if figures is None or self.too_few:
            return None
        return mean_interval(*figures, bounds=bounds, changed=changed)


class MeanInterval(MeanSpread):
    """Mean, standard deviation and 95 % interval of independent numbers.

    It uses Welford's algorithm (1962): one pass, constant memory, stable for numbers that differ
    little relative to their size. The same numbers in the same order give the same bits.

    >>> figures = MeanInterval()
    >>> for value in (0.5, 0.7, 0.9):
    ...     figures.add(value)
    >>> round(figures.mean, 6), round(figures.sd, 6)
    (0.7, 0.2)
    """

    def __init__(self) -> None:
        self._mean = 0.0
        self._squares = 0.0

    def add(self, value: float, cluster: Hashable = None) -> None:
        """Add a number; its cluster is ignored.

        Raises:
            ValueError: it is NaN or an infinity.
        """
        if not isfinite(value):
            raise ValueError(f"a mean needs finite numbers, not {value}")
        self.n = n = self.n + 1
        step = value - self._mean
        self._mean = mean = self._mean + step / n
        self._squares += step * (value - mean)

    @property
    def mean(self) -> float | None:
        """The mean; `None` without values."""
        return self._mean if self.n else None

    @property
    def sd(self) -> float | None:
        """The sample standard deviation (divisor n - 1); `None` for fewer than two values."""
        return math.sqrt(self._squares / (self.n - 1)) if self.n > 1 else None

    @property
    def figures(self) -> MeanError | None:
        """The mean with its standard error, sd / sqrt(n); `None` for fewer than two values."""
        sd = self.sd
        return None if sd is None else MeanError(self._mean, sd / math.sqrt(self.n), self.n - 1)


def mean_interval(
    mean: float,
    error: float,
    df: float,
    *,
    bounds: Bounds = (None, None),
    changed: int | None = None,
) -> tuple[float, float] | None:
    """Return a 95 % interval of a mean that stays inside its bounds.

    With two bounds, it is Wilson's interval of a share (1927) with t instead of z; the number of
    cases is that of a share with the given standard error. Near the bounds, the spread decreases,
    so the ends stay inside. Far from the bounds and with a small error, it is mean -+ t * error.
    Without two bounds it always is, cut off at the one bound if there is one.

    Some values do not show how far they spread. Then the function uses a wider spread:

    - The total distance of all values to a bound is less than one range, as for 60 scores of 1. The
      spread is that of pass and fail: Wilson's interval of the mean as a share of df + 1 cases.
    - All values are equal, elsewhere. At most a share of further values differs (Wilson's bound for
      0 of df + 1); the ends are the means if all of those were at a bound.
    - Fewer than seven differences are not 0. The missing ones are assumed to be as large as
      possible.

    Args:
        mean: the mean.
        error: its standard error.
        df: degrees of freedom of the standard error, not necessarily whole; df + 1 counts as the
            number of independent values.
        bounds: minimum and maximum possible number.
        changed: if the numbers are differences, how many are not 0.

    Returns:
        The ends; `None` if a wider spread is needed and there are no bounds that limit it.

    >>> [round(end, 3) for end in mean_interval(0.8, 0.05, 9, bounds=(0.0, 1.0))]
    [0.667, 0.889]
    >>> [round(end, 3) for end in mean_interval(1.0, 0.0, 2, bounds=(0.0, 1.0))]
    [0.439, 1.0]
    """
    least, most = bounds
    missing = 0 if changed is None else max(0, CHANGED - changed)
    if least is None or most is None:
        if error == 0 or missing:
            return None
        half = student_t_quantile(TAIL, df) * error
        low, high = mean - half, mean + half
        return (
            low if least is None else max(least, low),
            high if most is None else min(most, high),
        )
    size, span = df + 1, most - least
    share = min(1.0, max(0.0, (mean - least) / span))
    spread = error / span if error / span > _ALIKE else 0.0
    variance = spread**2 + missing / (4 * size * df)
    low, high = _ends(share, variance, df)
    return max(least, least + span * low), min(most, least + span * high)


def _ends(share: float, variance: float, df: float) -> tuple[float, float]:
    """Return the ends of the interval of a mean on 0..1."""
    size = df + 1
    like = share * (1 - share) / variance if variance else math.inf
    # The total distance is often exactly one range; then rounding must not decide.
    if size * min(share, 1 - share) < _NEAR - _ALIKE:
        return _wilson(share, min(size, like) if 0 < share < 1 else size, Z)
    if variance == 0:
        differing = Z * Z / (size + Z * Z)
        return share - differing * share, share + differing * (1 - share)
    return _wilson(share, like, student_t_quantile(TAIL, df))


def wilson(successes: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval (1927) of a share; it is inside 0..1 and valid for few cases.

    Raises:
        ValueError: n is not positive, or successes are not between 0 and n.

    >>> [round(end, 4) for end in wilson(8, 10)]
    [0.4902, 0.9433]
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"a share needs 0 <= successes <= n and n > 0, not {successes} of {n}")
    return _wilson(successes / n, n, Z)


def _wilson(share: float, n: float, z: float) -> tuple[float, float]:
    fraction = z * z / n
    centre = (share + fraction / 2) / (1 + fraction)
    half = z / (1 + fraction) * math.sqrt(share * (1 - share) / n + fraction / (4 * n))
    # At the ends the formula is exact, but rounding errors remain.
    return (
        0.0 if share == 0 else max(0.0, centre - half),
        1.0 if share == 1 else min(1.0, centre + half),
    )
