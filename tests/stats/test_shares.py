"""Probabilities against the answers that were right."""

import random

import pytest

from judgekit.analysis.agreement.pairs import JudgedCase, JudgedPair, combined
from judgekit.stats.agreement import PairColumns, Paired
from judgekit.stats.shares import forecast_figures, probability_bins


def figures(forecasts, answers, **options):
    units = options.pop("units", range(len(answers)))
    weights = options.pop("weights", [1.0] * len(answers))
    pairs = [Paired(unit, 0, 0, weight) for unit, weight in zip(units, weights, strict=True)]
    return forecast_figures(forecasts, answers, PairColumns.of(pairs, **options))


def test_words_by_hand():
    forecasts = [{"good": 0.7, "fair": 0.2, "bad": 0.1}, {"good": 0.5, "fair": 0.5, None: 0.0}]

    found = figures(forecasts, ["good", "bad"])

    assert found["probability"].figure.value == pytest.approx((0.7 + 0.0) / 2)
    first = (0.7 - 1) ** 2 + 0.2**2 + 0.1**2
    assert found["brier"].figure.value == pytest.approx((first + 0.5**2 + 0.5**2 + 1) / 2)
    assert "of the" in found["brier"].figure.too_few


def test_the_score_of_two_answers_is_twice_the_squared_error_of_a_yes():
    draw = random.Random(4)
    shares = [draw.random() for _ in range(40)]
    answers = [draw.random() < share for share in shares]
    weights = [draw.uniform(1, 3) for _ in range(40)]

    found = figures([{True: p, False: 1 - p} for p in shares], answers, weights=weights)

    errors = [w * (p - a) ** 2 for w, p, a in zip(weights, shares, answers, strict=True)]
    assert found["brier"].figure.value == pytest.approx(2 * sum(errors) / sum(weights))
    assert found["brier"].n == 40


def test_answers_in_clusters_have_wider_intervals():
    draw = random.Random(5)
    forecasts, answers, units = [], [], []
    for unit in range(40):
        right = draw.random() < 0.6
        for _ in range(5):
            forecasts.append({"a": 0.9, "b": 0.1})
            answers.append("a" if right else "b")
            units.append(unit)

    alone = figures(forecasts, answers)["probability"].figure
    clustered = figures(forecasts, answers, units=units, clustered=True)["probability"].figure

    assert alone.value == clustered.value
    assert clustered.high - clustered.low > 1.5 * (alone.high - alone.low)


def test_certain_and_right_is_the_best_score():
    found = figures([{1.0: 1.0}] * 30, [1] * 30)

    assert (found["probability"].figure.value, found["brier"].figure.value) == (1.0, 0.0)
    assert found["brier"].figure.low == 0.0


def test_without_forecasts_there_are_no_figures():
    assert figures([], []) == {}


def test_a_mean_of_labels_is_no_answer_that_a_judge_finds_probable():
    case = JudgedCase("c", 0, None, None)
    pairs = [
        JudgedPair(case, 3.0, "", name, value, probabilities={3.0: 0.5, 4.0: 0.5})
        for name, value in (("ann", 3.0), ("ben", 4.0))
    ]

    (mean,), _ = combined([pairs], "mean")

    assert mean.person == 3.5
    assert not mean.probabilities


def test_other_spellings_share_their_probability():
    case = JudgedCase("c", 0, None, None)
    pair = JudgedPair(case, "Good", "", "ann", "good ", probabilities={"Good": 0.4, "good": 0.5})

    mapped = pair.map(lambda answer: answer.strip().lower())

    assert mapped.probabilities == {"good": pytest.approx(0.9)}


def test_probabilities_are_compared_with_how_often_they_are_right():
    forecasts = [{True: 0.97, False: 0.03}] * 60 + [{True: 0.2, False: 0.55, None: 0.25}] * 40
    answers = [n % 4 > 0 for n in range(60)] + [n % 2 == 0 for n in range(40)]
    pairs = PairColumns.of([Paired(n, 0, 0) for n in range(100)])

    found = {n: one.figure for n, one in forecast_figures(forecasts, answers, pairs).items()}
    high, low = reversed(probability_bins(forecasts, answers, pairs))

    assert found["stated"].value == pytest.approx(0.97 * 0.6 + 0.55 * 0.4)
    assert found["right"].value == pytest.approx(0.65)
    assert found["overconfidence"].value == pytest.approx(0.152)
    assert found["overconfidence"].low < 0.152 < found["overconfidence"].high
    yes = (45 + 20) / 100
    assert found["brier_reference"].value == pytest.approx(1 - yes**2 - (1 - yes) ** 2)
    assert (high.least, high.n, high.right) == (0.95, 60, 0.75)
    assert high.stated == pytest.approx(0.97)
    assert high.low < 0.75 < high.high < 0.97
    assert (low.least, low.n, low.stated, low.right) == (0.5, 40, pytest.approx(0.55), 0.5)


def test_equally_probable_answers_are_right_in_part():
    pairs = PairColumns.of([Paired(n, 0, 0) for n in range(30)])

    (one,) = probability_bins([{True: 0.5, False: 0.5}] * 30, [True] * 30, pairs)

    assert (one.stated, one.right) == (0.5, 0.5)
    assert probability_bins([], [], pairs) == []
