"""The distribution that several ballots come to."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgekit.core.distribution import Distribution
from judgekit.core.judgment import Answer
from judgekit.core.request import Question
from judgekit.metrics.opinions.vote import Ballot, distribution_of, vote_on
from judgekit.rubric.criterion import Criterion, Level

WORDS = Criterion(
    question=Question(id="a", kind="score", text="A.", labels=("good", "bad")),
    weight=1.0,
    levels=(Level(label="good", value=1.0), Level(label="bad", value=0.0)),
)
NUMBERS = Criterion(question=Question(id="a", kind="score", text="A.", maximum=3.0), weight=1.0)


def ballot(weights, *, weight=1.0, source="logprobs", **more):
    distribution = Distribution.of(weights, source=source, **more)
    answer = Answer(value=None if distribution is None else distribution.mode)
    answer = answer.model_copy(update={"distribution": distribution})
    return Ballot(answer, ("scored", 1.0), weight)


def test_the_mean_of_distributions():
    found = distribution_of(
        WORDS,
        [ballot({"good": 1.0}), ballot({"bad": 0.25, "good": 0.25}, weight=3.0, bound=0.3)],
    )

    assert found.labels == ("good", "bad")
    assert dict(found.items()) == pytest.approx({"good": 0.25 + 0.375, "bad": 0.375})
    assert found.source == "logprobs"
    assert found.mass == pytest.approx((1 + 3 * 0.5) / 4)
    assert found.bound == pytest.approx(3 * 0.3 / 4)


def test_an_answer_without_probabilities_is_certain_and_makes_it_one_of_samples():
    plain = Ballot(Answer(value="bad"), ("scored", 0.0))

    found = distribution_of(WORDS, [ballot({"good": 0.5, "bad": 0.5}), plain])

    assert dict(found.items()) == {"good": 0.25, "bad": 0.75}
    assert found.source == "samples"


def test_ballots_without_weight_have_no_distribution():
    assert distribution_of(WORDS, [ballot({"good": 1.0}, weight=0.0)] * 2) is None


def test_a_verdict_does_not_depend_on_the_sign_of_zero_in_earlier_ones():
    def combined(zero, weight):
        ballot = Ballot(Answer(value=zero), ("scored", zero), weight)
        return repr(vote_on(NUMBERS, [ballot, ballot, Ballot(Answer(), ("abstained", None))]))

    def without_weight(zero):
        return repr(vote_on(NUMBERS, [Ballot(Answer(value=zero), ("scored", zero), 0.0)] * 2))

    assert combined(-0.0, 1.0) == combined(0.0, 1.0)
    assert "-0.0" not in combined(-0.0, 2.0)
    assert without_weight(-0.0) == without_weight(0.0)
    assert "-0.0" not in without_weight(-0.0)


@given(
    st.lists(
        st.tuples(st.floats(0.1, 9), st.lists(st.floats(0.01, 1), min_size=3, max_size=3)),
        min_size=2,
        max_size=5,
    )
)
def test_the_mean_is_linear(parts):
    ballots = [
        ballot(dict(zip((1.0, 2.0, 3.0), values, strict=True)), weight=weight)
        for weight, values in parts
    ]

    found = distribution_of(NUMBERS, ballots)

    total = math.fsum(one.weight for one in ballots)
    expected = math.fsum(b.weight * b.answer.distribution.expected for b in ballots) / total
    assert found.expected == pytest.approx(expected)
