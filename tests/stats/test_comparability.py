"""Labelled rows against the rest: a false alarm is rare, and a shift is seen."""

from __future__ import annotations

import pytest

from benchmarks.comparability import (
    KINDS,
    planned_runs,
    random_runs,
    share_flagged,
    shifted_runs,
)
from judgekit.stats.clusters import FigureValues
from judgekit.stats.comparability import compare_rows
from judgekit.stats.correction import Correction, LabelledRow
from tests.each import each

RUNS = 60


def compared(labelled, rest, *, clusters=None, chance=None):
    others = FigureValues(clustered=clusters is not None)
    names = clusters or [None] * (len(labelled) + len(rest))
    for value, name in zip(rest, names[len(labelled) :], strict=True):
        others.add(value, name)
    rows = [LabelledRow(v, 0.0, c, chance) for v, c in zip(labelled, names, strict=False)]
    return compare_rows(Correction(rows, others), span=1.0)


def test_labels_of_one_verdict_are_seen():
    found = compared([1.0] * 100, [1.0] * 96 + [0.0] * 204)

    assert (found.labelled, found.rest) == (1.0, pytest.approx(0.32))
    assert found.p < 1e-6


def test_one_label_is_not_compared():
    assert compared([1.0], [0.0] * 50) is None


def test_nothing_is_compared_if_all_rows_are_labelled():
    assert compared([1.0, 0.0, 1.0], []) is None


def test_a_constant_judge_shows_no_gap():
    assert compared([0.5] * 20, [0.5] * 50).p == 1.0


def test_one_rare_value_in_few_labels_is_no_gap():
    assert compared([1.0] * 9 + [0.0], [1.0] * 390).p == 1.0


def test_a_few_clusters_say_less_than_as_many_rows():
    rows = [1.0] * 40, [1.0] * 80 + [0.0] * 80
    users = [n // 20 for n in range(40)] + [2 + n // 20 for n in range(160)]

    assert compared(*rows).p < 0.001
    assert compared(*rows, clusters=users).p > 0.2


def test_weights_undo_a_plan():
    # 40 of 50 low values and 10 of 350 high ones are labelled.
    others = FigureValues()
    for value in [0.0] * 10 + [1.0] * 340:
        others.add(value)
    low, high = LabelledRow(0.0, 0.0), LabelledRow(1.0, 0.0)
    planned = [low._replace(probability=0.8)] * 40 + [high._replace(probability=1 / 35)] * 10

    assert compare_rows(Correction(planned, others), span=1.0).p == 1.0
    assert compare_rows(Correction([low] * 40 + [high] * 10, others), span=1.0).p < 1e-6


@pytest.mark.thorough
@each("name", KINDS)
def test_false_alarms_are_rare(name):
    assert share_flagged(random_runs(KINDS[name], labels=80, runs=RUNS)) <= 0.05
    assert share_flagged(planned_runs(KINDS[name], labels=80, runs=RUNS)) <= 0.05


@each("shift, spread", [(0.3, 0.5), (0.2, 0.3)])
def test_shifts_are_seen(shift, spread):
    assert share_flagged(shifted_runs(shift, spread, runs=RUNS)) >= 0.9
