"""Figures of a whole data set that a metric makes itself: in the summary, in gates, in the text."""

from __future__ import annotations

from typing import ClassVar

import pytest

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.score import Score
from judgekit.report.display import summary_text
from judgekit.runner.evaluation import evaluate_sync


class SafeShare:
    """Share of scored rows at or below a half; adds in order."""

    def __init__(self):
        self.seen = []

    def add(self, row):
        self.seen.append(row)

    def finish(self):
        values = [r.result.value for r in self.seen if isinstance(r.result, Score)]
        if not values:
            return {"safety_rate": None}
        return {"safety_rate": sum(v <= 0.5 for v in values) / len(values)}


class Toxic:
    name = "toxic"
    range = (0.0, 1.0)
    higher_is_better = False
    figures: ClassVar = {"safety_rate": True}

    def aggregates(self):
        return [SafeShare()]

    async def score(self, case):
        return Score(value=float(case.output))


CASES = [Case(id=f"c{n}", output=str(v)) for n, v in enumerate((0.1, 0.9, 0.2, 0.3))]


def run(bound, cases=CASES):
    return evaluate_sync(cases, [Toxic()], gates={"toxic": {"safety_rate": bound}})


def test_a_figure_of_all_rows_stands_in_the_summary_and_the_text():
    report = run(0.7)

    assert report.metrics["toxic"].figures == {"safety_rate": 0.75}
    assert "toxic: safety rate 0.75" in summary_text(report)


@pytest.mark.parametrize(("bound", "passed"), [(0.75, True), (0.8, False)])
def test_a_gate_may_name_it_in_its_own_direction(bound, passed):
    (gate,) = run(bound).figures.gates

    assert gate.passed is passed
    assert gate.sentence.startswith("toxic: safety rate 0.750 over 4")
    assert "at least" in gate.sentence  # though lower is better for the metric itself


def test_a_figure_of_nothing_is_unknown_and_passes_no_gate():
    (gate,) = run(0.0, cases=[]).figures.gates

    assert not gate.passed
    assert "unknown" in gate.sentence


def test_a_gate_on_a_figure_nobody_makes_is_refused_with_its_neighbour():
    with pytest.raises(ConfigError, match="no gate on 'safty_rate'; did you mean 'safety_rate'"):
        evaluate_sync(CASES, [Toxic()], gates={"toxic": {"safty_rate": 1}})


def test_each_run_counts_anew():
    assert run(0.7).metrics["toxic"].figures == run(0.7).metrics["toxic"].figures
