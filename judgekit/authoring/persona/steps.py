"""The steps of a calibration: the split, bounds of style, a model of words, and weights."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgekit.authoring.persona.labels import VoiceLabel
from judgekit.metrics.brand_voice.alignmenter import tokens_of
from judgekit.metrics.brand_voice.authenticity import WEIGHTS
from judgekit.metrics.brand_voice.calibration import AuthenticityWeights, TraitModel
from judgekit.metrics.brand_voice.phrases import plain
from judgekit.stats.logistic import logistic
from judgekit.stats.rates import f1_at, roc_auc

L2 = 1.0
"""The default penalty on the weights of words, as in scikit-learn and liblinear."""
FOLDS = 5
RARE = 2
"""Minimum number of labelled replies with a word to give it a weight."""
_CELLS = 20_000_000
"""Maximum size of the matrix of replies and words, in numbers."""
_STEPS = 100
DIGITS = 6
"""Decimals of written figures: the last bits of a solver's result differ between machines."""
_Numbers = NDArray[np.float64]


class SplitIndices(NamedTuple):
    """Indices of labels, ascending."""

    train: list[int]
    held_out: list[int]


def stratified_split(classes: Sequence[int], share: float, seed: int) -> SplitIndices:
    """Split indices with the same class shares on both sides.

    The draws are those of scikit-learn's `train_test_split(train_size=share, stratify=classes,
    random_state=seed)`, which Alignmenter calls.

    Args:
        classes: 0 or 1 for each index.
        share: share of the first side, 0..1.
        seed: seed of numpy's frozen generator.

    >>> stratified_split([1, 1, 1, 1, 1, 0, 0, 0, 0, 0], 0.8, 42)
    SplitIndices(train=[0, 1, 2, 3, 5, 6, 7, 9], held_out=[4, 8])
    """
    size = int(share * len(classes))
    places = [[at for at, each in enumerate(classes) if each == c] for c in sorted(set(classes))]
    generator = np.random.RandomState(seed)
    taken = _apportioned([len(each) for each in places], size, generator)
    orders = [generator.permutation(each).tolist() for each in places]
    train = [at for order, n in zip(orders, taken, strict=True) for at in order[:n]]
    return SplitIndices(sorted(train), sorted({*range(len(classes))}.difference(train)))


def _apportioned(counts: Sequence[int], draws: int, generator: Any) -> list[int]:
    """Return the number of draws per class by largest remainders; ties are broken at random."""
    exact = [count / sum(counts) * draws for count in counts]
    shares = [math.floor(each) for each in exact]
    while (left := draws - sum(shares)) > 0:
        remainders = [each - share for each, share in zip(exact, shares, strict=True)]
        tied = [at for at, each in enumerate(remainders) if each == max(remainders)]
        for at in generator.choice(tied, size=min(len(tied), left), replace=False):
            shares[at] += 1
    return shares


def grouped_split(labels: Sequence[VoiceLabel], share: float, seed: int) -> SplitIndices:
    """Split indices by group: no session and no text is on both sides.

    A group has the majority class of its labels; 1 for a tie.
    """
    members: dict[str, list[int]] = {}
    for at, each in enumerate(labels):
        members.setdefault(each.group, []).append(at)
    several = list(members.values())
    classes = [int(2 * sum(labels[i].label for i in each) >= len(each)) for each in several]
    parts = stratified_split(classes, share, seed)
    return SplitIndices(*(sorted(i for at in part for i in several[at]) for part in parts))


def fit_traits(labels: Sequence[VoiceLabel], *, l2: float = L2) -> TraitModel:
    """Return the logistic model with the best penalised likelihood.

    Maximises the log-likelihood minus l2 / 2 times the sum of squared weights by Newton's method;
    the bias is not penalised. Words in fewer than two replies are omitted, as are the rarest words
    above a size limit.
    """
    sets = [{*tokens_of(plain(each.text))} for each in labels]
    counts = Counter(token for tokens in sets for token in tokens)
    most = min(4000, max(50, _CELLS // max(1, len(labels))))
    frequent = sorted(counts, key=lambda token: (-counts[token], token))[:most]
    words = sorted(token for token in frequent if counts[token] >= RARE)
    matrix = np.ones((len(labels), len(words) + 1))
    for row, tokens in zip(matrix, sets, strict=True):
        row[:-1] = [word in tokens for word in words]
    penalty = np.full(len(words) + 1, max(l2, 1e-6))  # without any, weights may have no end
    penalty[-1] = 1e-6
    weights = _newton(matrix, np.array([each.label for each in labels], dtype=float), penalty)
    rounded = [round(float(weight), DIGITS) + 0.0 for weight in weights]
    learned = {word: weight for word, weight in zip(words, rounded, strict=False) if weight}
    return TraitModel(bias=rounded[-1], tokens=learned)


def _newton(matrix: _Numbers, labels: _Numbers, penalty: _Numbers) -> _Numbers:
    """Return the weights where the gradient of the penalised loss is 0."""

    def loss(weights: _Numbers) -> float:
        logits = matrix @ weights
        likelihood = np.logaddexp(0.0, logits) - labels * logits
        return float(likelihood.sum() + (penalty * weights**2).sum() / 2)

    weights = np.zeros(matrix.shape[1])
    best = loss(weights)
    for _ in range(_STEPS):
        shares = np.exp(-np.logaddexp(0.0, -(matrix @ weights)))
        gradient = matrix.T @ (shares - labels) + penalty * weights
        curvature = (matrix.T * (shares * (1 - shares))) @ matrix + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while (value := loss(weights - size * step)) > best and size > 1e-6:
            size /= 2
        weights, best = weights - size * step, min(best, value)
        if float(np.abs(size * step).max()) < 1e-9:
            break
    return weights


def cross_fitted(labels: Sequence[VoiceLabel], *, l2: float = L2) -> list[float]:
    """Return the probability of each reply, by a model trained without its group."""
    groups = dict.fromkeys(each.group for each in labels)
    folds = {group: at % FOLDS for at, group in enumerate(groups)}
    models = [
        fit_traits([each for each in labels if folds[each.group] != fold], l2=l2)
        for fold in range(FOLDS)
    ]
    return [models[folds[each.group]].probability(each.text) for each in labels]


def sgd_traits(
    labels: Sequence[VoiceLabel], *, epochs: int = 300, learning_rate: float = 0.1, l2: float = 0.0
) -> TraitModel:
    """Return the logistic model of Alignmenter: stochastic gradient descent in file order."""
    sets = [list(dict.fromkeys(tokens_of(each.text))) for each in labels]
    weights = {token: 0.0 for tokens in sets for token in tokens}
    bias = 0.0
    for _ in range(epochs):
        for tokens, each in zip(sets, labels, strict=True):
            error = logistic(math.fsum([bias, *map(weights.__getitem__, tokens)])) - each.label
            bias -= learning_rate * error
            for token in tokens:
                weights[token] -= learning_rate * (error + l2 * weights[token])
    return TraitModel(bias=bias, tokens={token: w for token, w in weights.items() if w})


MeasuredParts = Mapping[str, float | None]
"""The parts of one reply by their names in `WEIGHTS`, 0..1; `None` if a part does not apply."""


def fold_all(parts: Sequence[MeasuredParts], weights: AuthenticityWeights) -> list[float | None]:
    """Return the weighted mean of the applicable parts of each reply, as in `authenticity`."""
    shares = weights.model_dump().items()
    folded: list[float | None] = []
    for each in parts:
        terms = [(w, part) for name, w in shares if (part := each[name]) is not None]
        total = math.fsum(w for w, _ in terms)
        folded.append(math.fsum(w * part for w, part in terms) / total if total > 1e-9 else None)
    return folded


class BestWeights(NamedTuple):
    """The result of the grid search."""

    rank: tuple[float, ...]
    """Number of scored replies, ROC-AUC, F1 at .5, and closeness to the default weights."""
    weights: AuthenticityWeights


def best_weights(parts: Sequence[MeasuredParts], labels: Sequence[int]) -> BestWeights | None:
    """Return the weights of a grid of step .1 with the best ROC-AUC, then the best F1 at .5.

    Ties are broken by closeness to the default weights. A part that never applies has weight 0.
    Weights that give more replies a score are preferred. `None` if no part applies to replies of
    both classes.
    """
    applies = [any(each[name] is not None for each in parts) for name in WEIGHTS]
    best: BestWeights | None = None
    for tenths in product(range(11), repeat=len(WEIGHTS)):
        vain = any(n and not there for n, there in zip(tenths, applies, strict=True))
        if vain or sum(tenths) != 10:
            continue
        shares = {name: n / 10 for name, n in zip(WEIGHTS, tenths, strict=True)}
        weights = AuthenticityWeights(**shares)
        folded = zip(fold_all(parts, weights), labels, strict=True)
        scored = [(round(score, 9), label) for score, label in folded if score is not None]
        if len({label for _, label in scored}) < 2:
            continue
        values, classes = zip(*scored, strict=True)
        far = math.fsum((shares[name] - default) ** 2 for name, default in WEIGHTS.items())
        figures = (roc_auc(values, classes), f1_at(values, classes, 0.5), -far)
        rank = (len(values), *(round(figure, 9) for figure in figures))
        if best is None or rank > best.rank:
            best = BestWeights(rank, weights)
    return best
