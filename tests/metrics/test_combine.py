"""Combined: one score out of several metrics."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError, JudgeRefused, JudgeUnavailable
from judgekit.core.judgment import Judgment
from judgekit.core.protocols import Metric
from judgekit.core.score import Failure, Fallback, Score, guarded
from judgekit.metrics.adapter import as_metric
from judgekit.metrics.brand_voice.safety import SafetyPatterns
from judgekit.metrics.combine import Combined
from judgekit.metrics.fallback import WithFallback


@dataclass
class Fixed:
    """Gives what it was told to."""

    name: str
    outcome: object
    range: tuple = (0.0, 1.0)
    higher_is_better: bool = True
    extra: dict = field(default_factory=dict)

    async def score(self, case):
        if isinstance(self.outcome, Exception):
            raise self.outcome
        if isinstance(self.outcome, str):
            return Score(status=self.outcome, reason="because", **self.extra)
        return Score(value=self.outcome, **self.extra)


def combined(*outcomes, **options):
    metrics = tuple(
        outcome if isinstance(outcome, Fixed) else Fixed(f"m{number}", outcome)
        for number, outcome in enumerate(outcomes)
    )
    return Combined(name="all", of=metrics, **options)


def score(*outcomes, **options):
    return asyncio.run(combined(*outcomes, **options).score(Case(id="1")))


@pytest.mark.parametrize(
    ("combine", "weights", "expected"),
    [
        ("mean", None, 0.5),
        ("min", None, 0.2),
        ("max", None, 0.8),
        ("all", None, 0.0),
        ("weighted_mean", (3, 1), 0.35),
        ("weighted_mean", {"m1": 1, "m0": 3}, 0.35),
        ("weighted_mean", [1, 0], 0.2),
    ],
)
def test_values_are_combined_as_asked(combine, weights, expected):
    found = score(0.2, 0.8, combine=combine, weights=weights)

    assert found.value == pytest.approx(expected)
    assert isinstance(combined(0.2), Metric)
    assert sum(part.weight * part.value for part in found.parts) == pytest.approx(found.value)
    assert found.reason.endswith("of: m0 0.20, m1 0.80.")


def test_inner_values_are_mapped_by_range_and_direction():
    found = score(
        Fixed("one_to_five", 4.0, range=(1.0, 5.0)),
        Fixed("toxicity", 0.1, higher_is_better=False),
    )

    assert [part.value for part in found.parts] == [0.75, 0.9]
    assert [part.details["value"] for part in found.parts] == [4.0, 0.1]


def test_min_gives_the_whole_weight_to_the_metric_that_decides():
    assert [part.weight for part in score(0.2, 0.8, combine="min").parts] == [1.0, 0.0]


def test_all_is_1_if_each_metric_is_at_its_best():
    assert score(1.0, 1.0, combine="all").value == 1.0
    assert score(1.0, 0.5, combine="all").reason == "All of: m0 1.00, m1 0.50."


def test_metrics_without_a_value_leave_and_weights_are_renormalised():
    found = score(0.2, "not_applicable", 0.8, combine="weighted_mean", weights=(1, 2, 3))

    assert [part.weight for part in found.parts] == [0.25, 0.0, 0.75]
    assert [part.status for part in found.parts] == ["scored", "not_applicable", "scored"]
    assert found.value == pytest.approx(0.65)


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        (("not_applicable", "not_applicable"), "not_applicable"),
        (("abstained", "abstained"), "abstained"),
        (("not_applicable", "abstained"), "abstained"),
    ],
)
@pytest.mark.parametrize("combine", ["mean", "min", "all"])
def test_where_all_leave_so_does_the_combination(outcomes, status, combine):
    found = score(*outcomes, combine=combine)

    assert (found.status, found.value) == (status, None)


def test_a_weight_of_zero_on_all_that_is_left_is_not_a_score():
    found = score(0.2, "not_applicable", combine="weighted_mean", weights=(0, 1))

    assert (found.status, found.value) == ("not_applicable", None)


def test_source_judgments_meta_and_fallback_are_carried():
    judgment = Judgment(request_key="k")
    fallback = Fallback(substitute="rules", cause="no_judge")
    found = score(
        Fixed("a", 1.0, extra={"source": "judge", "judgments": (judgment,)}),
        Fixed("b", 1.0, extra={"fallback": fallback, "meta": {"x": 1}}),
        Fixed("c", 1.0, extra={"fallback": fallback}),
    )

    assert (found.source, found.judgments) == ("judge", (judgment,))
    assert (found.fallback, found.meta) == (fallback, {"b": {"x": 1}})
    assert score(1.0).source == "computed"
    assert score(1.0).fallback is None


def test_the_first_error_in_order_is_raised():
    with pytest.raises(JudgeRefused, match="no"):
        score(0.5, JudgeRefused("no"), JudgeUnavailable("down"))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_the_result_is_in_range_and_between_least_and_greatest(values):
    least, mean, most = (score(*values, combine=c).value for c in ("min", "mean", "max"))

    assert 0 <= least <= most <= 1
    assert least - 1e-12 <= mean <= most + 1e-12


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: combined(), "all: combine needs `of: [metric, ...]`"),
        (lambda: combined(Fixed("a", 1), Fixed("a", 1)), "all: of must name metrics, each once"),
        (
            lambda: combined(1, combine="sum"),
            "all: combine must be one of weighted_mean, mean, min, max, all",
        ),
        (lambda: combined(1, weights=(1,)), "all: weights belong to combine weighted_mean"),
        (
            lambda: combined(1, combine="weighted_mean"),
            "all: combine weighted_mean needs weights: {m0: 1}",
        ),
        (lambda: combined(1, combine="weighted_mean", weights=(1, 2)), "all: weights must be 1 n"),
        (lambda: combined(1, combine="weighted_mean", weights={"x": 1}), "all: weights must name"),
        (
            lambda: combined(1, combine="weighted_mean", weights=(-1,)),
            "all: each weight must be a number of at least 0",
        ),
        (lambda: combined(1, combine="weighted_mean", weights=(0,)), "all: weights must not all"),
        (
            lambda: combined(Fixed("ppl", 1, range=(1.0, float("inf")))),
            "ppl: a range of 1 to inf cannot be mapped",
        ),
    ],
)
def test_a_wrong_option_is_named(make, message):
    with pytest.raises(ConfigError) as caught:
        make()

    assert str(caught.value).startswith(message)


def nested(metric, *, by):
    """Return the metric inside something that scores by it."""
    judged = Fixed("judged", JudgeUnavailable("no answer"))
    makers = {
        "alone": lambda: metric,
        "combine": lambda: Combined(name="all", of=(metric,)),
        "combine of combine": lambda: Combined(name="a", of=(Combined(name="b", of=(metric,)),)),
        "fallback": lambda: WithFallback(judged, metric),
        "stand-in": lambda: WithFallback(judged, metric, no_judge=True),
        "fallback on another scale": lambda: WithFallback(
            Fixed("judged", JudgeUnavailable("no answer"), range=(1.0, 5.0)), metric
        ),
        "metric with a fallback": lambda: WithFallback(metric, Fixed("rules", 1.0)),
    }
    return makers[by]()


@pytest.mark.parametrize(
    "by",
    [
        "alone",
        "combine",
        "combine of combine",
        "fallback",
        "stand-in",
        "fallback on another scale",
        "metric with a fallback",
    ],
)
@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        (7.0, "wrong: the value 7.0 is outside the range 0.0 to 1.0"),
        (-0.5, "wrong: the value -0.5 is outside the range 0.0 to 1.0"),
    ],
)
def test_a_value_outside_the_range_fails_at_every_depth(by, outcome, message):
    found = asyncio.run(guarded(Case(id="1"), as_metric(nested(Fixed("wrong", outcome), by=by))))

    assert isinstance(found, Failure)
    assert (found.kind, found.message) == ("metric_error", f"ValueError: {message}")


@pytest.mark.parametrize("made", [float("nan"), "0.5"], ids=["nan", "text"])
def test_a_score_that_was_not_validated_fails_inside_a_combination(made):
    class Unchecked(Fixed):
        async def score(self, case):
            return Score.model_construct(value=made) if made != "0.5" else made

    for metric in (Unchecked("wrong", None), Combined(name="all", of=(Unchecked("wrong", None),))):
        found = asyncio.run(guarded(Case(id="1"), as_metric(metric)))
        assert isinstance(found, Failure)
        assert found.kind == "metric_error"
        assert "wrong: " in found.message


def test_a_subclass_of_another_package_does_not_inherit_the_trust_in_ours():
    class Louder(SafetyPatterns):
        async def score(self, case):
            return Score(value=7.0)

    found = asyncio.run(guarded(Case(id="1", output="Hello."), Louder()))

    assert isinstance(found, Failure)
