"""Effective votes: how many independent judges a jury is worth, by the errors of its members."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

from judgekit.stats.agreement import FEWEST_CASES, Units
from judgekit.stats.clusters import FEWEST
from judgekit.stats.intervals import TAIL, wilson
from judgekit.stats.student import student_t_quantile

FEWEST_ERRORS = 5
"""Minimum number of wrong, and of right, answers of each member for an interval."""
MOST_WRONG = 0.25
"""Share of wrong labels that an interval allows for if only one person labelled each case.

Two people who err in a quarter of yes/no cases agree in 62 %; people agreed in 66 to 81 % of the
pairs of MT-bench (arXiv 2306.05685, table 5)."""
_ADDED = 2.0
"""Number of added cases, in which the members err independently; see `judgekit.stats.agreement`."""
_TINY = 1e-12

Kind = Literal["two", "words", "numbers"]
"""What the members answer: one of two words, one of several, or numbers."""


@dataclass(frozen=True)
class LabelNoise:
    """How many labels may be wrong."""

    share: float
    """Share of wrong labels; of numbers, share of their variance that is noise. 0..1."""
    measured: bool
    """Whether it follows from the disagreement of labellers; otherwise, it is `MOST_WRONG`."""


@dataclass(frozen=True)
class EffectiveVotes:
    """The effective votes of a jury with their 95 % interval."""

    correlation: float | None
    """Mean correlation of the errors; `None` if no two members have errors that vary."""
    value: float | None
    low: float | None = None
    high: float | None = None
    too_few: str | None = None
    """Why there is no interval."""


def effective_votes(count: int, correlation: float) -> float:
    """Return the equivalent number of independent votes of correlated judges.

    n_eff = k / (1 + (k - 1) * r), where r is the mean correlation of their errors against labels
    (Kish 1965; arXiv 2605.29800 applies it to judges). A negative correlation counts as 0.

    >>> round(effective_votes(9, 0.5), 3), effective_votes(3, -0.2)
    (1.8, 3.0)
    """
    return count / (1 + (count - 1) * max(0.0, correlation))


def label_noise(labels: Sequence[Sequence[Any]], kind: Kind) -> LabelNoise:
    """Return how many majority labels may be wrong, by the disagreement of labellers.

    The upper 97.5 % bound of the disagreement of two labellers gives the share of single labels
    that are wrong, if labellers err independently; the share of wrong majorities follows from it.
    Without 20 cases with two labels it is `MOST_WRONG`.

    Args:
        labels: the labels of each case.
        kind: what labellers answer.
    """
    several = [own for own in labels if len(own) > 1]
    if len(several) < FEWEST_CASES:
        return LabelNoise(MOST_WRONG, measured=False)
    if kind == "numbers":
        return LabelNoise(_noise_of_numbers(labels, several), measured=True)
    apart = math.fsum(_apart(own) for own in several) / len(several)
    most = _upper(apart, len(several))
    wrong = (
        1 - math.sqrt(1 - most) if kind == "words" else (1 - math.sqrt(max(0, 1 - 2 * most))) / 2
    )
    return LabelNoise(
        math.fsum(_wrong_majority(wrong, len(own)) for own in labels) / len(labels), measured=True
    )


def _apart(labels: Sequence[Any]) -> float:
    """Return the share of pairs of labels that differ."""
    pairs = list(combinations(labels, 2))
    return sum(bool(one != other) for one, other in pairs) / len(pairs)


def _upper(share: float, n: int) -> float:
    """Return Wilson's upper bound of a mean of shares."""
    below = math.floor(share * n)
    low, high = (wilson(count, n)[1] for count in (below, min(n, below + 1)))
    return low + (high - low) * (share * n - below)


def _wrong_majority(wrong: float, count: int) -> float:
    """Return how often a majority of independent labels is wrong, where there is one."""
    each: list[float] = [math.comb(count, n) * wrong**n * (1 - wrong) ** (count - n)
                         for n in range(count + 1)]  # fmt: skip
    more = [n for n in range(count + 1) if 2 * n > count]
    false, true = math.fsum(each[n] for n in more), math.fsum(each[count - n] for n in more)
    return float(false / (false + true))


def _noise_of_numbers(labels: Sequence[Sequence[Any]], several: Sequence[Sequence[Any]]) -> float:
    """Return the share of the variance of mean labels that is noise, at its upper bound."""
    free = sum(len(own) - 1 for own in several)
    noise = math.fsum(float(np.var(own)) * len(own) for own in several) / free
    noise *= 1 + 2 * math.sqrt(2 / free)
    means = [float(np.mean(own)) for own in labels]
    mean_noise = noise * math.fsum(1 / len(own) for own in labels) / len(labels)
    whole = float(np.var(means))
    return min(1.0, mean_noise / whole) if whole > 0 else 0.0


def votes_of_errors(
    errors: Any, units: Units, kind: Kind, *, noise: LabelNoise, spread: float = 0.0
) -> EffectiveVotes:
    """Return the effective votes, from the errors of each member against the labels.

    A wrong label makes an error of all members that are right, so it counts as a shared error. With
    a share e of wrong labels and c the covariance of the errors, the covariance without them is
    proportional to c - t * v * v': v is the mean agreement and t = 1 / (1 - 2e) ** 2 - 1 of two
    answers (agreement 1 or -1), t = 1 / (1 - e) - 1 of more (1 or 0), and v = 1 and t the variance
    of the noise of numbers. The lower end of the interval is for right labels, the upper end for
    as many wrong ones as `noise` allows. Each end is that of a jackknife over cases or clusters, on
    Fisher's scale of the mean correlation, with two added cases of independent errors.

    Args:
        errors: a row for each case and a column for each member: 1 for wrong and 0 for right, or
            the difference of numbers.
        units: the units and weights of the cases.
        kind: what the members answer.
        noise: the labels that may be wrong.
        spread: variance of the labels, for numbers.
    """
    errors = np.asarray(errors, float)
    count = errors.shape[1]
    x = errors if kind == "numbers" else 1 - errors if kind == "words" else 1 - 2 * errors
    plain = _Moments(x, units, kind, added=0.0)
    correlation = plain.correlation(0.0)
    if correlation is None:
        return EffectiveVotes(None, None)
    value = effective_votes(count, correlation)
    if few := _too_few(errors, units, kind):
        return EffectiveVotes(correlation, value, too_few=few)
    e = noise.share
    if kind == "numbers":
        t = e * spread
    else:
        t = 1 / (1 - e) - 1 if kind == "words" else 1 / max(_TINY, 1 - 2 * e) ** 2 - 1
    # Added cases pull a correlation near 1 down, so the ends are the widest with and without them.
    both = (plain, _Moments(x, units, kind, added=_ADDED))
    low = max(moments.end(0.0, 1) for moments in both)
    high = min(moments.end(removed, -1) for moments in both for removed in (0.0, t))
    return EffectiveVotes(
        correlation, value,
        min(value, effective_votes(count, low)), max(value, effective_votes(count, high)),
    )  # fmt: skip


def _too_few(errors: Any, units: Units, kind: Kind) -> str | None:
    count = int(units.units.max()) + 1
    least, what = (FEWEST, "clusters") if units.clustered else (FEWEST_CASES, "cases")
    if count < least:
        return f"{count} of the {least} {what} that an interval needs"
    if kind == "numbers":
        return None
    rarest = int(min(errors.sum(axis=0).min(), (1 - errors).sum(axis=0).min()))
    if rarest < FEWEST_ERRORS:
        return f"a member has {rarest} of the {FEWEST_ERRORS} wrong and right answers it needs"
    return None


class _Moments:
    """Means and covariances of the columns, also without each unit."""

    def __init__(self, x: Any, units: Units, kind: Kind, *, added: float) -> None:
        k = x.shape[1]
        w, u = units.weights, units.units
        size = int(u.max()) + 1
        products = np.einsum("ni,nj->nij", x, x) * w[:, None, None]
        each = [np.zeros(size), np.zeros((size, k)), np.zeros((size, k, k))]
        for sums, of in zip(each, (w, x * w[:, None], products), strict=True):
            np.add.at(sums, u, of)
        whole = [sums.sum(axis=0) for sums in each]
        if added:
            centre = whole[1] / whole[0] if kind == "numbers" else np.full(k, kind == "words") / 2
            spread = np.full(k, {"two": 1.0, "words": 0.25}.get(kind, 0.0))
            if kind == "numbers":
                spread = np.diag(whole[2]) / whole[0] - centre**2
            extra = np.outer(centre, centre) + np.diag(spread)
            weight = added * float(w.max())
            whole = [a + weight * b for a, b in zip(whole, (1.0, centre, extra), strict=True)]
        self._kind, self._size, self._whole = kind, size, whole
        self._left = [total - sums for total, sums in zip(whole, each, strict=True)]

    def correlation(self, removed: float) -> float | None:
        """Return the mean correlation; `None` if no two columns vary."""
        n, first, second = (np.asarray(part)[None] for part in self._whole)
        found = self._mean(n, first, second, removed)[0]
        return None if math.isnan(found) else float(found)

    def end(self, removed: float, side: int) -> float:
        """Return an end of the interval of the mean correlation: 1 the upper, -1 the lower one."""
        middle = self.correlation(removed)
        if middle is None:
            return 0.0
        n, first, second = self._left
        with np.errstate(all="ignore"):
            left = np.arctanh(np.clip(self._mean(n, first, second, removed), -1 + 1e-9, 1 - 1e-9))
        left = left[~np.isnan(left)]
        df = self._size - 1
        error = math.sqrt(df / self._size * float(((left - left.mean()) ** 2).sum()))
        z = math.atanh(min(1 - 1e-9, max(-1 + 1e-9, middle)))
        return math.tanh(z + side * student_t_quantile(TAIL, df) * error)

    def _mean(self, n: Any, first: Any, second: Any, removed: float) -> Any:
        """Return the mean correlation for each set of sums."""
        means = first / n[:, None]
        covariance = second / n[:, None, None] - np.einsum("ui,uj->uij", means, means)
        v = np.ones_like(means) if self._kind == "numbers" else means
        spread = np.einsum("uii->ui", covariance)
        if removed:
            # Beyond this, a member would be right more often than always.
            with np.errstate(all="ignore"):
                most = np.where(v**2 > _TINY, spread / v**2, np.inf).min(axis=1) * (1 - 1e-3)
            t = np.minimum(removed, np.maximum(0.0, most))[:, None, None]
            covariance = covariance - t * np.einsum("ui,uj->uij", v, v)
            spread = np.einsum("uii->ui", covariance)
        ones, others = np.triu_indices(means.shape[1], 1)
        with np.errstate(all="ignore"):
            r = covariance[:, ones, others] / np.sqrt(spread[:, ones] * spread[:, others])
            varied = (spread[:, ones] > _TINY) & (spread[:, others] > _TINY)
        r = np.where(varied, np.clip(r, -1.0, 1.0), 0.0)
        counts = varied.sum(axis=1)
        return np.where(counts > 0, r.sum(axis=1) / np.maximum(1, counts), np.nan)
