from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from judgekit.core.case import Case
from judgekit.core.score import Failure, Fallback, Part, Result, Row, Score
from judgekit.pages.run.slice_tables import slice_tables
from judgekit.pages.run.tallies import (
    FIELDS,
    VALUES,
    Field,
    Histograms,
    SliceCell,
    Slices,
    saturation,
    value_text,
)
from judgekit.report.folder import Scored
from judgekit.stats.intervals import mean_interval


def sliced(*cases: tuple[dict[str, Any], Result]) -> tuple[Field, ...]:
    slices = Slices({"m": (0.0, 1.0)})
    for number, (metadata, result) in enumerate(cases):
        case = Case(id=str(number), metadata=metadata)
        slices.add(Scored(case, (Row(case=case.id, metric="m", result=result),)))
    return slices.finish()


def test_figures_of_every_value_leave_out_what_is_no_score_of_the_metric() -> None:
    stand_in = Score(value=0.0, fallback=Fallback(substitute="s", cause="c"))
    [field] = sliced(
        ({"topic": "b"}, Score(value=0.5)),
        ({"topic": "b"}, Score(value=0.7)),
        *[({"topic": "b"}, Score(value=0.6))] * 3,
        ({"topic": "b"}, stand_in),
        ({"topic": "a"}, Failure(kind="refused", message="no")),
    )

    a, b = field.slices
    assert (a.value, a.cases, a.cells[0]) == ("a", 1, SliceCell(0, None, None, None))
    assert (b.value, b.cases, b.cells[0].n) == ("b", 6, 5)
    assert b.cells[0].mean == pytest.approx(0.6)
    assert b.cells[0][2:4] == pytest.approx(INSIDE, abs=1e-4)
    assert b.cells[0].too_few is None


def test_the_mean_over_slices_counts_each_alike() -> None:
    [field] = sliced(
        *[({"topic": "a"}, Score(value=0.5 + n / 10)) for n in range(5)],
        *[({"topic": "b"}, Score(value=n / 20)) for n in range(15)],
        ({}, Score(value=1.0)),  # no topic: in no slice
    )

    [over] = field.over

    assert over.n == 20
    assert over.mean == pytest.approx((0.7 + 0.35) / 2)
    assert over.low is not None
    assert over.high is not None
    assert over.low < 0.525 < over.high


INSIDE = mean_interval(0.6, math.sqrt(0.005 / 5), 4, bounds=(0, 1))


def test_slices_go_by_clusters_and_say_where_they_are_too_few() -> None:
    slices = Slices({"m": (0.0, 1.0)}, cluster="user")
    for number in range(60):
        case = Case(id=str(number), metadata={"topic": "ab"[number % 2], "user": number % 24})
        result = Score(value=(number * 7 % 11) / 10)
        slices.add(Scored(case, (Row(case=case.id, metric="m", result=result),)))

    [field] = [field for field in slices.finish() if field.name == "topic"]

    assert [cell.too_few for s in field.slices for cell in s.cells] == [None, None]
    few = Slices({"m": (0.0, 1.0)}, cluster="user")
    for number in range(60):
        case = Case(id=str(number), metadata={"topic": "ab"[number % 2], "user": number % 6})
        few.add(Scored(case, (Row(case=case.id, metric="m", result=Score(value=1.0)),)))
    [topic, _] = few.finish()
    assert [s.cells[0].low for s in topic.slices] == [None, None]
    assert topic.slices[0].cells[0].too_few == "3 of the 10 clusters that an interval needs"


def test_cases_without_the_field_are_a_slice_whenever_it_turns_up() -> None:
    [field] = sliced(
        ({}, Score(value=0.1)),
        ({"topic": None}, Score(value=0.3)),
        ({"topic": "x"}, Score(value=1.0)),
        ({}, Score(value=0.5)),
    )

    assert [(s.value, s.cases) for s in field.slices] == [("x", 1), (None, 3)]
    assert field.slices[1].cells[0].mean == pytest.approx(0.3)


def test_fields_of_many_values_of_one_value_or_of_texts_are_no_slices() -> None:
    def fields(values: list[Any]) -> list[str]:
        return [f.name for f in sliced(*[({"f": v}, Score(value=1.0)) for v in values])]

    assert fields([str(n % VALUES) for n in range(60)]) == ["f"]
    assert fields([str(n % (VALUES + 1)) for n in range(60)]) == []
    assert fields(["same"] * 9) == []
    assert fields(["a", "b" * 61]) == ["f"]
    assert fields(["a", "b" * 1001]) == []
    assert fields([["a"], {"b": 1}]) == []


def test_no_more_fields_are_shown_than_a_person_looks_at() -> None:
    rows = [({f"f{i}": n % 2 for i in range(200)}, Score(value=1.0)) for n in range(4)]

    assert [field.name for field in sliced(*rows)] == [f"f{i}" for i in range(FIELDS)]


def test_values_stand_in_the_order_people_count() -> None:
    [field] = sliced(*[({"n": v}, Score(value=1.0)) for v in [10, 9, "b", "A", 2.5] * 2])

    assert [s.value for s in field.slices] == ["2.5", "9", "10", "A", "b"]
    assert [value_text(v) for v in (2.0, False, None, {})] == ["2", "no", None, None]


def test_saturation_is_said_of_nearly_all_and_of_enough() -> None:
    assert saturation([0] * 19 + [20]) == "top"
    assert saturation([19, 1]) == "bottom"
    assert saturation([18, 2]) is None
    assert saturation([0, 9]) is None


def test_criteria_are_counted_where_they_have_a_value(runs: SimpleNamespace) -> None:
    counted = Histograms()
    parts = (Part(id="a", value=1.0, weight=1.0), Part(id="b", status="abstained"))
    row = Row(case="c", metric="m", result=runs.judged(1.0, parts=parts))
    counted.add(Scored(Case(id="c"), (row, row)))

    assert list(counted.of("m", "a")) == [0] * 19 + [2]
    assert list(counted.of("m", "b")) == []


def test_the_worst_value_is_first_and_figures_are_shaded_by_their_distance(
    runs: SimpleNamespace,
) -> None:
    rows = [
        (Case(id=f"{topic}{n}", metadata={"topic": topic}),
         {"m": Score(value=min(1.0, max(0.0, value + n / 50))), "bias": Score(value=0.9 - value)})
        for topic, value in (("good", 0.8), ("a" * 99, 0.1), ("even", 0.5)) for n in range(6)
    ]  # fmt: skip
    report = runs.report_of(rows, lower_is_better=["bias"])
    slices = Slices({"m": (0.0, 1.0), "bias": (0.0, 1.0)})
    for scored in report.results:
        slices.add(scored)

    [table] = slice_tables(slices.finish(), report.figures.metrics)

    assert [label.text for label in table.head] == ["Cases", "m", "bias"]
    labels, cells = zip(*table.rows, strict=True)
    assert [each.text for each in labels] == ["a" * 59 + "…", "even", "good", "mean over topic"]
    assert labels[0].whole == "a" * 99
    assert [[cell.shade for cell in row[1:]] for row in cells] == [
        ["low2", "low2"], ["", ""], ["high2", "high2"], ["", ""],
    ]  # fmt: skip
    # With more metrics than values, the values are columns.
    many = [*report.figures.metrics] * 2
    [field] = slices.finish()
    wide = field._replace(slices=tuple(s._replace(cells=s.cells * 2) for s in field.slices),
                          over=field.over * 2)  # fmt: skip
    [turned] = slice_tables([wide], many)
    assert turned.corner == "Metric"
    assert [label.text for label in turned.head] == [each.text for each in labels]
    assert [label.text for label, _ in turned.rows] == ["Cases", "m", "bias", "m", "bias"]
    assert [cell.text for cell in turned.rows[0][1]] == ["6", "6", "6", ""]
