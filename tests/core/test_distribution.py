from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from judgekit.core.distribution import Distribution

STARS = {1.0: 0.1, 2.0: 0.2, 3.0: 0.0, 4.0: 0.3, 5.0: 0.2}
WORDS = {"good": 0.45, "bad": 0.45, None: 0.1}


def of(weights, **more):
    found = Distribution.of(weights, **{"source": "logprobs", **more})
    assert found is not None
    return found


def test_probabilities_are_of_the_legal_answers_alone():
    found = of(STARS)

    assert found.labels == (1.0, 2.0, 3.0, 4.0, 5.0)
    assert found.probabilities == pytest.approx((0.125, 0.25, 0.0, 0.375, 0.25))
    assert found.mass == pytest.approx(0.8)
    assert of(STARS, mass=0.9).mass == 0.9
    assert of({True: 2, False: 6}).mass == 1.0
    assert found.probability(2.0) == 0.25
    assert found.probability(7.0) == 0


def test_no_weight_is_no_distribution():
    assert Distribution.of({}, source="samples") is None
    assert Distribution.of({"good": 0.0, "bad": 0.0}, source="samples") is None


def test_expected_is_the_mean_of_numbers():
    assert of(STARS).expected == pytest.approx(0.125 + 0.5 + 1.5 + 1.25)
    assert of({True: 3, False: 1}).expected == 0.75
    assert of({1.0: 1, 3.0: 1, None: 8}).expected == 2.0  # "cannot tell" is left out
    assert of(WORDS).expected is None
    assert of({None: 1}).expected is None
    assert of(WORDS).expected_of({"good": 1.0, "bad": 0.5}) == pytest.approx(0.75)
    assert of(WORDS).expected_of({"worse": 1.0}) is None


def test_mode_of_a_tie_is_no_answer():
    assert of(STARS).mode == 4.0
    assert of(WORDS).mode is None
    assert of({"good": 0.45, "bad": 0.45 + 1e-12}).mode is None
    assert of({"good": 0.45, "bad": 0.45 + 1e-6}).mode == "bad"
    assert of({"good": 1, None: 2}).mode is None
    assert of({"good": 1}).mode == "good"
    assert of({True: 1, False: 2}).mode is False


def test_yes_is_the_share_of_yes_among_yes_and_no():
    assert of({True: 1, False: 3}).yes == 0.25
    assert of({True: 1, False: 3, None: 6}).yes == pytest.approx(0.25)
    assert of({True: 1}).yes == 1.0
    assert of(WORDS).yes is None
    assert of({None: 1}).yes is None
    assert of({0.0: 1, 1.0: 1}).yes is None  # numbers, though 1.0 equals True


def test_entropy_is_in_bits():
    assert of({True: 1, False: 1}).entropy == 1.0
    assert of(dict.fromkeys("abcd", 1)).entropy == 2.0
    assert of({True: 1, False: 0}).entropy == 0.0


@pytest.mark.parametrize(
    "fields",
    [{"labels": []}, {"mass": 1.2}, {"mass": -0.1}, {"bound": 2}, {"source": 1}],
)  # fmt: skip
def test_what_is_no_distribution_is_refused(fields):
    good = {"labels": ["a"], "probabilities": [1.0], "source": "samples"}

    assert Distribution.model_validate(good).mode == "a"
    with pytest.raises(ValidationError):
        Distribution.model_validate(good | fields)


def test_json_is_short_and_keeps_kinds_of_labels_apart():
    text = of({True: 0.25, False: 0.75}).model_dump_json(exclude_defaults=True)

    assert text == '{"labels":[true,false],"probabilities":[0.25,0.75],"source":"logprobs"}'
    numbers = of({0.0: 0.25, 1.0: 0.75})
    back = Distribution.model_validate_json(numbers.model_dump_json())
    assert [type(label) for label in back.labels] == [float, float]


labels = st.one_of(
    st.just([True, False]),
    st.just([True, False, None]),
    st.lists(st.text(max_size=5) | st.none(), min_size=1, max_size=6, unique=True),
    st.lists(st.integers(-9, 9).map(float), min_size=1, max_size=6, unique=True).map(sorted),
)


@st.composite
def distributions(draw):
    chosen = draw(labels)
    weights = draw(st.lists(st.floats(0, 1), min_size=len(chosen), max_size=len(chosen)))
    bound = draw(st.floats(0, 1))
    return Distribution.of(dict(zip(chosen, weights, strict=True)), source="decisions", bound=bound)


@given(distributions())
def test_readouts_of_any_distribution(found):
    if found is None:
        return
    assert math.fsum(found.probabilities) == pytest.approx(1)
    assert 0 < found.mass <= 1
    assert -1e-9 <= found.entropy <= math.log2(len(found.labels)) + 1e-9
    numbers = [float(n) for n in found.labels if isinstance(n, (bool, float))]
    if found.expected is not None:
        assert min(numbers) - 1e-9 <= found.expected <= max(numbers) + 1e-9
    if found.mode is not None:
        assert found.probability(found.mode) == max(found.probabilities)
    if found.yes is not None:
        assert 0 <= found.yes <= 1


@given(distributions())
def test_json_round_trip(found):
    if found is None:
        return
    back = Distribution.model_validate_json(found.model_dump_json())

    assert back == found
    assert list(map(type, back.labels)) == list(map(type, found.labels))
