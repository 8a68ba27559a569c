"""A plain function as a metric."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import numpy as np
import pytest

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError
from judgekit.core.protocols import Metric
from judgekit.core.score import Score
from judgekit.metrics.function import FunctionMetric
from judgekit.metrics.registry import metric


def score(made, **fields):
    return asyncio.run(made.score(Case(id="1", **{"output": "x", **fields})))


def giving(outcome, **options):
    return metric("m", **options)(lambda case: outcome)


def test_the_decorator_makes_a_metric_and_leaves_the_function_callable():
    @metric("polite", needs=("output",))
    def polite(case):
        return "please" in case.output

    assert isinstance(polite, Metric)
    assert isinstance(polite, FunctionMetric)
    assert polite.name == "polite"
    assert polite(Case(id="1", output="please")) is True
    assert score(polite, output="please").value == 1.0


@pytest.mark.parametrize(
    ("outcome", "value", "reason"),
    [
        (0.25, 0.25, ""),
        (True, 1.0, ""),
        (0, 0.0, ""),
        ((0.5, "half"), 0.5, "half"),
        (np.float32(0.5), 0.5, ""),
        (Decimal("0.5"), 0.5, ""),
    ],
)
def test_numbers_flags_and_pairs_are_taken(outcome, value, reason):
    found = score(giving(outcome))

    assert (found.value, found.reason, found.source) == (value, reason, "computed")


@pytest.mark.parametrize("outcome", [None, (None, "no question")])
def test_none_is_not_applicable(outcome):
    found = score(giving(outcome))

    assert (found.status, found.value) == ("not_applicable", None)
    assert found.reason


def test_a_coroutine_function_is_awaited():
    @metric("slow", range=(0, 10))
    async def slow(case):
        await asyncio.sleep(0)
        return 7

    assert score(slow).value == 7.0


def test_a_whole_score_is_passed_on():
    whole = Score(value=0.5, method="mine")

    assert score(giving(whole)) is whole
    assert score(giving(Score(status="abstained"))).status == "abstained"


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        (1.5, "m: returned 1.5, outside its range 0 to 1"),
        (-0.1, "m: returned -0.1, outside"),
        (float("nan"), "m: returned nan, outside"),
        (float("inf"), "m: returned inf, outside"),
        ("0.5", "m: returned '0.5', which is not a number"),
        ([0.5], "m: returned \\[0.5\\], which is not a number"),
        ((0.5, 3), "m: the reason must be a text, not 3"),
        ((0.5, "a", "b"), "m: returned 3 items"),
        (Score(value=2.0), "m: returned 2.0, outside"),
    ],
)
def test_what_is_no_number_in_range_is_an_error(outcome, message):
    with pytest.raises(ValueError, match=message):
        score(giving(outcome))


@pytest.mark.parametrize(
    ("needs", "fields", "message"),
    [
        (("output",), {"output": None}, r"^needs an output \(field 'output'\)$"),
        (("input",), {"input": " "}, r"^needs an input \(field 'input'\)$"),
        (("reference",), {"reference": [""]}, r"^needs a reference \(field 'reference'\)$"),
        (("expected",), {}, "needs an expected"),
        (("history",), {}, "needs a history"),
    ],
)
def test_a_needed_field_that_is_missing_is_named(needs, fields, message):
    with pytest.raises(CaseError, match=message):
        score(giving(1, needs=needs), **fields)


def test_needed_fields_that_are_there_are_enough():
    made = giving(1, needs=("expected", "reference"))

    assert score(made, expected={"facts": []}, reference="a").value == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"needs": ("outptu",)}, "m: needs: 'outptu' is not a field of a case"),
        ({"range": (1, 0)}, "m: range must be \\(low, high\\), not \\(1, 0\\)"),
        ({"range": (0, float("nan"))}, r"m: range\[1\] must be a number, not nan"),
        ({"higher_is_better": 1}, "m: higher_is_better must be True or False, not 1"),
    ],
)
def test_a_wrong_option_is_named(options, message):
    with pytest.raises(ConfigError, match=message):
        giving(1, **options)


def test_only_a_function_can_be_wrapped():
    with pytest.raises(ConfigError, match="m: not a function: 3"):
        metric("m")(3)
    with pytest.raises(ConfigError, match="m: a class is not a function"):
        metric("m")(dict)
