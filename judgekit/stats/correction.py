"""The mean of a judge, corrected with human labels.

PPI++ is the method of Angelopoulos, Duchi and Zrnic (2023), arXiv 2311.01453. The share of Rogan
and Gladen (1978) has the interval of Lee et al. (2025), arXiv 2511.21140.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from judgekit.stats.clusters import FEWEST as FEWEST_CLUSTERS
from judgekit.stats.clusters import ClusteredMean, FigureValues
from judgekit.stats.intervals import CHANGED, Bounds, Z, mean_interval
from judgekit.stats.rates import (
    MeanFigure,
    independent_size,
    lee_interval,
    rogan_gladen,
    youden_figure,
)
from judgekit.stats.student import student_t_quantile

FEWEST_LABELS = 50
"""Minimum number of labels for a corrected mean; with fewer, the coverage of its interval is too
low."""
FEWEST_OTHER = 5
"""Minimum number of labels that differ from the most common one; with fewer, a rare outcome may be
missing by chance."""
FEWEST_EFFECTIVE = 20
"""Minimum effective number of weighted labels: the number of labels of equal weight with the same
precision."""

_SMALL = 1e-12
"""A sum of squares below this share of the variance is a rounding error."""
FOLDS = 10
"""Number of parts of weighted labels; each part is corrected with the others."""


class LabelledRow(NamedTuple):
    """One row with a label."""

    judge: float
    person: float
    cluster: Hashable = None
    """Its cluster; unique to the row if rows are independent."""
    probability: float | None = None
    """The probability with which a plan selected the row for labelling; `None` without a plan."""


class CorrectionFigures(NamedTuple):
    """A corrected mean, and the figures from which it is computed."""

    corrected: MeanFigure
    labels: MeanFigure
    """The mean of the labels alone."""
    lam: float | None
    """The weight of the judge, 0..1; `None` for Rogan and Gladen."""
    saved: int
    """Number of additional labels that labels alone would need for the same standard error."""


class _Spread(NamedTuple):
    """How far a mean is uncertain."""

    error: float
    """Its standard error."""
    df: float
    """Degrees of freedom of the error, by the number of rows; df + 1 of them are independent."""
    tails: float = math.inf
    """Degrees of freedom by the kurtosis of the rows."""
    third: float = 0.0
    """Its third central moment."""


class Correction:
    """The corrections of one mean.

    Without a plan, the rows with a label and the rows without one are two random samples. With a
    plan, the weight of a label is the inverse of its probability. Then the rows without a label are
    not a random sample, and the mean of the judge is computed over all rows (the difference
    estimator of survey sampling, with Hajek's weights).

    Args:
        rows: the rows with a label, at least one.
        others: the values of the judge for all other rows.
        bounds: minimum and maximum possible value.
    """

    def __init__(
        self, rows: Sequence[LabelledRow], others: FigureValues, *, bounds: Bounds = (None, None)
    ) -> None:
        self.bounds, self.others, self._spread = bounds, others.rows, others.spread
        clustered = isinstance(others.spread, ClusteredMean)
        self.judge = np.array([row.judge for row in rows], float)
        self.person = np.array([row.person for row in rows], float)
        weights = np.array([1 / (row.probability or 1) for row in rows])
        self.n = len(rows)
        self.weighted = rows[0].probability is not None
        self.share = weights / weights.sum()
        self.effective = float(1 / (self.share**2).sum())
        """The effective number of labels (Kish): labels of equal weight with the same precision."""
        self._places: dict[Hashable, int] = {}
        """Cluster -> its number."""
        names = [row.cluster if clustered else number for number, row in enumerate(rows)]
        self.units: Any = np.array([self._places.setdefault(n, len(self._places)) for n in names])
        self.clusters = len(self._places) if clustered else None
        """The number of clusters with a label."""

    # -- PPI++ ----------------------------------------------------------------------

    def lam(self, share: Any = None) -> float:
        """Return the weight of the judge that minimises the variance, 0..1.

        Args:
            share: the share of each labelled row; that of its weight by default.
        """
        share = self.share if share is None else share
        if not self.others.n or self.pooled <= 0:
            return 0.0
        centred = self.judge - share @ self.judge
        if float(share @ centred**2) <= _SMALL * self.pooled:  # one value for all labelled rows
            return 0.0
        covariance = float(share @ ((self.person - share @ self.person) * centred))
        return min(1.0, max(0.0, covariance / ((1 + self.n / self.others.n) * self.pooled)))

    @property
    def _lams(self) -> Any:
        """The weight of the judge for each labelled row.

        With weights, it is estimated without the row. A common estimate would be correlated with
        the rows with large weights, and so bias the mean.
        """
        if not self.weighted:
            return np.full(self.n, self.lam())
        folds = self.units % FOLDS
        lams = np.zeros(self.n)
        for fold in range(min(FOLDS, int(folds.max()) + 1)):
            outside = np.where(folds == fold, 0.0, self.share)
            if outside.any():
                lams[folds == fold] = self.lam(outside / outside.sum())
        return lams

    @property
    def pooled(self) -> float:
        """The variance of the judge's values over all rows."""
        others, n = self.others, self.n
        own = self.judge.mean()
        squares = float(((self.judge - own) ** 2).sum()) + (others.sd or 0.0) ** 2 * (others.n - 1)
        gap = own - (others.mean or 0.0)
        return float(squares + gap**2 * n * others.n / (n + others.n)) / max(1, n + others.n - 1)

    @property
    def judged(self) -> float:
        """The mean of the judge over the rows without a label; with weights, over all rows."""
        mean, n = self.others.mean or 0.0, self.others.n
        if not self.weighted:
            return mean
        return (float(self.judge.sum()) + n * mean) / (self.n + n)

    def point(self, lam: Any) -> float:
        """Return lam * mean of the judge + mean of (person - lam * judge).

        Args:
            lam: how much the judge counts, for all rows or by labelled row.
        """
        if self.weighted and self.others.n:
            lam = lam * (1 + self.n / self.others.n)
        return float(self.share @ (self.person - lam * (self.judge - self.judged)))

    def ppi(self) -> CorrectionFigures:
        """Return the PPI++ mean with a t interval inside the bounds."""
        labels = self._figure(0.0, 0)
        lam = self._lams
        changed = len({*self.units[self.judge != self.person].tolist()})
        corrected = self._figure(lam, max(0, CHANGED - changed))
        if not corrected.error <= labels.error and (labels.error or math.isinf(corrected.error)):
            lam, corrected = 0.0 * lam, labels
        saved = 0
        if 0 < corrected.error < labels.error:
            saved = round(self.n * ((labels.error / corrected.error) ** 2 - 1))
        return CorrectionFigures(corrected, labels, float(self.share @ lam), saved)

    def _refitted(self, lam: float) -> Any:
        """Return for each labelled row by what its influence grows because `lam` was fitted to it.

        If the judge's mean differs between the two samples, a row also moves the mean through
        `lam` (the g-weights of the regression estimator, Sarndal, Swensson and Wretman 1989). And
        `lam` fits the rows of a unit better than others, so they get the error that they have if
        `lam` is fitted without them (the jackknife). Weighted rows have such a `lam` already.
        """
        if self.weighted or not 0 < lam < 1:
            return 1.0
        centred = self.judge - self.judge.mean()
        squares = np.bincount(self.units, weights=centred**2)
        if squares.max() >= squares.sum():
            return math.inf
        gap = self.judged - float(self.judge.mean())
        weights = 1 + gap * centred / ((1 + self.n / self.others.n) * self.pooled)
        return weights / (1 - squares / squares.sum())[self.units]

    def _figure(self, lam: Any, missing: int) -> MeanFigure:
        """Return the mean with its interval.

        Args:
            lam: how much the judge counts.
            missing: number of further rows with a difference between judge and person that are
                needed to show the spread; each is assumed to differ by the whole range.
        """
        error, df, tails, third = self._spread_of(self.person, lam, fitted=True)
        least = -math.inf if self.bounds[0] is None else self.bounds[0]
        most = math.inf if self.bounds[1] is None else self.bounds[1]
        value = min(most, max(least, self.point(lam)))
        if missing and self.effective > 1 and most - least < math.inf:
            # Each counts with the mean squared share of a label, 1 / (n * effective).
            unseen = math.sqrt(missing / self.n / (self.effective - 1))
            error, tails, third = math.hypot(error, (most - least) * unseen), math.inf, 0.0
        figure = MeanFigure(value, self.n, error, min(df, tails))
        if why := self.too_few:
            return figure._replace(too_few=why)
        if math.isinf(error):
            return figure._replace(too_few="one label has all differences of the judge's values")
        t = student_t_quantile(0.975, figure.df)
        # `df` also says how many rows there are, and heavy tails do not make them fewer.
        wider = t / student_t_quantile(0.975, df)
        ends = mean_interval(value, wider * error, df, bounds=self.bounds)
        if ends is None:
            return figure._replace(too_few="all labels are the same, and the range has no bounds")
        low, high = ends
        if third:
            # A skewed error is rarely seen whole in few labels: the end on that side is at least
            # that of Johnson's interval (1978).
            shift = third / error**2 * (1 + 2 * t * t) / 6
            if shift > 0:
                high = max(high, min(most, value + shift + t * error))
            else:
                low = min(low, max(least, value + shift - t * error))
        return figure._replace(low=low, high=high)

    @property
    def too_few(self) -> str | None:
        """The reason why there is no interval; `None` if there is one."""
        if self.n < FEWEST_LABELS:
            return f"{self.n} of the {FEWEST_LABELS} labels that a corrected mean needs"
        if self.clusters is not None and self.clusters < FEWEST_CLUSTERS:
            return f"labels in {self.clusters} of the {FEWEST_CLUSTERS} clusters that it needs"
        if self.effective < FEWEST_EFFECTIVE:
            return (
                f"by their weights, the labels are worth {self.effective:.0f} of {FEWEST_EFFECTIVE}"
            )
        other = self.n - Counter(self.person.tolist()).most_common(1)[0][1]
        if other < FEWEST_OTHER:
            return f"{other} of the {FEWEST_OTHER} labels needed that differ from the most common"
        return None

    def error(self, values: Any, lam: Any = 0.0, share: Any = None) -> tuple[float, float]:
        """Return standard error and degrees of freedom of mean(values) plus the judge's mean.

        Args:
            values: a value for each labelled row.
            lam: how much the judge counts, for all rows or by labelled row.
            share: the share of each labelled row in the mean; that of its weight by default.
        """
        return self._spread_of(values, lam, share)[:2]

    def _spread_of(
        self, values: Any, lam: Any = 0.0, share: Any = None, *, fitted: bool = False
    ) -> _Spread:
        """Return how far mean(values) plus the judge's mean is uncertain.

        This is the sandwich of `judgekit.stats.clusters.cr2` for two means: lam * the judge over
        the rows without a label (with a plan, over all rows), and `values - lam * judge` over the
        labelled rows. Each is a regression on a constant, so the matrix of a cluster has one entry
        for each mean, and the closed form applies. The working model has independent rows, with one
        variance for each mean.

        If `lam` is fitted, the rows that the judge knows little of, such as those without a
        verdict, carry most of the variance. The degrees of freedom are then at most 2 / (relative
        variance of the estimated variance), as in `judgekit.stats.agreement`.

        Args:
            values: a value for each labelled row.
            lam: how much the judge counts, for all rows or by labelled row.
            share: the share of each labelled row in the mean; that of its weight by default.
            fitted: whether `lam` was estimated from these rows.
        """
        others = self.others
        shares = self.share if share is None else share
        if self.weighted and others.n:
            lam = lam * (1 + self.n / others.n)
        units, (count, total) = self.units, self.judged_units()
        # Without clusters, each row without a label is one unit.
        alone = others.n if self.clusters is None else 0
        size = float(count.sum()) + alone
        mean = (float(total.sum()) + alone * (others.mean or 0.0)) / size if size else 0.0
        if size < 2:
            lam, size = 0.0, max(size, 2.0)
        rest = values - lam * (self.judge - mean)
        centred = rest - shares @ rest
        lam = float(np.mean(lam))
        factors = self._refitted(lam) if fitted else 1.0
        if not np.isfinite(factors).all():
            return _Spread(math.inf, 1.0)
        spread = lam**2 * (self.pooled if self.weighted else (others.sd or 0.0) ** 2)
        own = float((shares**2).sum())
        if own >= 1:
            return _Spread(math.inf, 1.0)
        residual = float(shares @ centred**2) / (1 - own)

        def by_unit(each: Any) -> Any:
            return np.bincount(units, weights=each, minlength=len(count))

        leverage = np.stack([count / size, by_unit(shares)])
        if leverage.max() >= 1:
            return _Spread(math.inf, 1.0)
        sums = np.stack([lam * (total - count * mean) / size, by_unit(shares * centred * factors)])
        free = np.sqrt(1 - leverage)
        if self.weighted:
            free[1] **= 2  # CR3: a label of large weight hides its own error
        gap = (others.mean or 0.0) - mean
        squares = ((others.sd or 0.0) ** 2 * (others.n - 1) + others.n * gap**2) if alone else 0.0
        single = 1 / size**2 / (1 - 1 / size)
        each = (sums / free).sum(axis=0)
        variance = float((each**2).sum()) + lam**2 * squares * single
        parts = np.array([spread / size, residual * own])
        if parts.sum() <= 0:
            return _Spread(0.0, max(1.0, self.effective - 1))
        diagonal = spread * count / size**2 + residual * by_unit(shares**2)
        across = float((diagonal**2).sum()) + alone * (spread / size**2) ** 2
        w = leverage / free
        products = w @ w.T
        fourth = (w**2) @ (w**2).T
        products[0, 0] += alone * single
        fourth[0, 0] += alone * single**2
        across += float(parts @ (products**2 - fourth) @ parts)
        error, df = math.sqrt(variance), max(1.0, float(parts.sum()) ** 2 / across)
        if not fitted or self.weighted or not lam:
            return _Spread(error, df)
        varied = float(((each**2 - (each**2).mean()) ** 2).sum())
        tails = 2 * float((each**2).sum()) ** 2 / varied if varied > 0 else math.inf
        return _Spread(error, df, max(1.0, tails), float((each**3).sum()))

    def judged_units(self) -> tuple[Any, Any]:
        """Return the number of the judge's values and their sum, by unit.

        These are the rows without a label; with weights, all rows.
        """
        clusters = self._spread.sums if isinstance(self._spread, ClusteredMean) else {}
        places = {**self._places}
        for name in clusters:
            places.setdefault(name, len(places))
        count, total = np.zeros((2, len(places)))
        for name, (sums, number) in clusters.items():
            count[places[name]], total[places[name]] = number, sums
        if self.weighted:
            np.add.at(count, self.units, 1.0)
            np.add.at(total, self.units, self.judge)
        return count, total

    # -- how good the judge is -------------------------------------------------------

    def rho(self) -> MeanFigure | None:
        """Return Pearson's correlation of judge and person, with an interval by Fisher's z.

        The result is `None` if either is constant.
        """
        judge, person = (side - self.share @ side for side in (self.judge, self.person))
        spreads = [math.sqrt(float(self.share @ side**2)) for side in (judge, person)]
        if min(spreads) < 1e-12:
            return None
        u, v = judge / spreads[0], person / spreads[1]
        rho = max(-1.0, min(1.0, float(self.share @ (u * v))))
        error, df = self.error(u * v - rho / 2 * (u**2 + v**2))
        figure = MeanFigure(rho, self.n, error, df, too_few=self.too_few)
        if figure.too_few is None and 1 - rho**2 < 1e-9:
            figure = figure._replace(too_few="no label differs from the judge")
        if figure.too_few is not None or not math.isfinite(error):
            return figure
        half = student_t_quantile(0.975, df) * error / (1 - rho**2)
        low, high = (math.tanh(math.atanh(rho) + sign * half) for sign in (-1, 1))
        return figure._replace(low=low, high=high)

    @property
    def yes_no(self) -> bool:
        """Whether every value of the judge is 0 or 1, given that all values are on 0..1."""
        others = self.others
        mean = others.mean or 0.0
        spread = (others.sd or 0.0) ** 2 * (others.n - 1)  # the largest that values 0..1 can have
        known = math.isclose(spread, others.n * mean * (1 - mean), rel_tol=1e-9, abs_tol=1e-9)
        return known and bool(((self.judge == 0) | (self.judge == 1)).all())

    def rates(self) -> tuple[MeanFigure, MeanFigure] | None:
        """Return sensitivity and specificity of a judge with yes/no verdicts.

        The result is `None` if all labels have the same answer. A label between 0 and 1, the mean
        of several people, counts in part for each answer.
        """
        rates = []
        for truth, judged in ((self.person, self.judge), (1 - self.person, 1 - self.judge)):
            weights = self.share * truth
            if weights.sum() <= 0:
                return None
            share = weights / weights.sum()
            rates.append(self._share_of(judged, share, float(truth.sum())))
        return rates[0], rates[1]

    def _share_of(self, judged: Any, share: Any, n: float) -> MeanFigure:
        value = min(1.0, float(share @ judged))
        error, df = self.error(judged, share=share)
        df = min(df, max(1.0, 1 / float((share**2).sum()) - 1))
        figure = MeanFigure(value, n, error, df)
        if n < FEWEST_OTHER or not math.isfinite(error):
            return figure._replace(too_few=f"{n:g} of the {FEWEST_OTHER} labels that it needs")
        ends = mean_interval(value, error, df, bounds=(0.0, 1.0))
        return figure if ends is None else figure._replace(low=ends[0], high=ends[1])

    # -- Rogan and Gladen --------------------------------------------------------------

    def rogan_gladen(self) -> CorrectionFigures | None:
        """Return the corrected share of yes.

        It is the share over the rows without a label, in which it may differ from the labelled
        rows; with a plan, it is the share over all rows. The result is `None` if there are no such
        rows, no rates, or other verdicts than yes and no.
        """
        rates = self.rates()
        if rates is None or not self.others.n or not self.yes_no:
            return None
        sens, spec = rates
        youden = youden_figure(sens, spec)
        n = self.others.n + self.n * self.weighted
        alone = math.sqrt(self.judged * (1 - self.judged) / n)
        error = alone if self.clusters is None else self._spread.standard_error or alone
        judged = MeanFigure(self.judged, n, error)
        figure, why = judged, self.too_few or sens.too_few or spec.too_few
        if youden.value <= 0:
            why = "sensitivity + specificity is not above 1: the judge knows no more than chance"
            figure = judged._replace(value=math.nan)
        else:
            figure = judged._replace(value=rogan_gladen(self.judged, spec.value, sens.value))
            if why is None and (youden.low is None or youden.low <= 0):
                why = "Youden's J may be 0: the judge may know no more than chance"
        if why is None:
            sizes = [independent_size(one) for one in (judged, spec, sens)]
            low, high = lee_interval(self.judged, spec.value, sens.value, *sizes)
            error = (high - low) / 2 / Z
            low, high = min(low, figure.value), max(high, figure.value)
            figure = figure._replace(low=low, high=high, error=error, df=math.inf)
            if not error:
                why = "the judge says yes less, or more, often than its errors alone would let it"
        if why is not None:
            figure = figure._replace(low=None, high=None, too_few=why)
        return CorrectionFigures(figure, self._figure(0.0, 0), None, 0)
