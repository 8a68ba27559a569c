"""Coefficients beside those of scipy, scikit-learn, statsmodels and krippendorff."""

from __future__ import annotations

import json
from itertools import chain

import pytest

from judgekit.stats.agreement import PairColumns, Paired, kappa_figure, rank_figure
from judgekit.stats.coefficients import alpha_figure, kendall_figure, pearson_figure
from judgekit.stats.shares import error_figures, macro_f1_figure, same_figure, share_figures
from tests.stats.ratings import COUNT, ratings
from tests.stats.write_oracles import FILE

EXPECTED = json.loads(FILE.read_text("utf-8"))


def figures(given):
    size = len(given.values)
    found = {}
    for name, weights in (("", [1.0] * len(given.first)), ("weighted ", given.weights)):
        sides = list(zip(given.first, given.second, weights, strict=True))
        # One unit: these figures need no intervals.
        pairs = PairColumns.of([Paired(0, *side) for side in sides])
        for kind, power in (("none", None), ("linear", 1), ("quadratic", 2)):
            places = list(range(size)) if power else None
            found[f"{name}kappa {kind}"] = kappa_figure(pairs, size, places, power=power or 2)
        found[f"{name}pearson"] = pearson_figure(pairs, given.values)
        found[f"{name}macro_f1"] = macro_f1_figure(pairs, size).figure
        found[f"{name}same"] = same_figure(pairs).figure
        found |= {f"{name}{m}": one for m, one in error_figures(pairs, given.values).items()}
        yes = zip(*given.yes, weights, strict=True)
        shares = PairColumns.of([Paired(0, *side) for side in yes])
        found |= {f"{name}{m}": one.figure for m, one in share_figures(shares).items()}
        if not name:
            found["spearman"] = rank_figure(pairs)
            found["kendall"] = kendall_figure(pairs)
    cases = [[a for a in one if a is not None] for one in zip(*given.raters, strict=True)]
    numbers = [n for n, own in enumerate(cases) for _ in own]
    for level in ("nominal", "ordinal", "interval"):
        answers = list(chain(*cases))
        alpha = alpha_figure(numbers, answers, given.values, level, units=[0] * len(cases))
        found[f"alpha {level}"] = alpha.figure
    found |= {
        "statsmodels kappa": found["kappa none"],
        "statsmodels quadratic": found["kappa quadratic"],
    }
    return found


@pytest.fixture(scope="module")
def computed():
    return [figures(ratings(seed)) for seed in range(COUNT)]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_coefficient_is_that_of_other_libraries(computed, name):
    undefined = 0
    for seed, (own, expected) in enumerate(zip(computed, EXPECTED[name], strict=True)):
        value = own[name].value
        undefined += expected is None
        assert (value is None) == (expected is None), seed
        assert value is None or value == pytest.approx(expected, abs=1e-9), seed
    assert undefined < COUNT / 2


def test_inputs_have_ties_missing_answers_and_constant_columns():
    given = [ratings(seed) for seed in range(COUNT)]

    assert all(len(set(one.first)) < len(one.first) for one in given)
    assert sum(len(set(one.first)) == 1 for one in given) > 20
    assert sum(None in chain(*one.raters) for one in given) > 180
