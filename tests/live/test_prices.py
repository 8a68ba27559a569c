"""Costs of responses: those of litellm's function; savings; prices of one's own."""

from __future__ import annotations

from random import Random

import pytest

from judgekit.judges.price import ModelPrice
from judgekit.judges.prices import cost_of, listed_cost, listed_price, saved
from judgekit.judges.response import counts_in

from .priced import differences


def usage(prompt: int, completion: int = 0, **details: int) -> dict[str, object]:
    read = {f"{name}_tokens": count for name, count in details.items()}
    counts = {"prompt_tokens": prompt, "completion_tokens": completion}
    return {"usage": {**counts, "prompt_tokens_details": read}}


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_costs_are_those_of_litellm() -> None:
    assert differences(Random(7), 100) == []


def test_tokens_written_to_the_cache_are_in_the_cost() -> None:
    plain, read, written = (
        listed_cost("openai/gpt-5.6", usage(100_000, **details))
        for details in ({}, {"cached": 100_000}, {"cache_write": 100_000})
    )

    assert plain is not None
    assert read is not None
    assert read < plain / 5
    assert written == pytest.approx(1.25 * plain)


def test_an_unnamed_or_unknown_tier_is_not_taken_for_a_cheap_one() -> None:
    response = usage(1000, 10)

    assert listed_cost("openai/gpt-5", response | {"service_tier": "flex"}) == pytest.approx(
        listed_cost("openai/gpt-5", response) / 2  # type: ignore[operator]
    )
    assert listed_cost("openai/gpt-5", response | {"service_tier": "scale"}) is None
    for standard in (None, "", "auto", "default", 7):
        other = response | {"service_tier": standard}
        assert listed_cost("openai/gpt-5", other) == listed_cost("openai/gpt-5", response)


@pytest.mark.parametrize("count", ["many", -1, 1.5, True, 10**13, [1]])
def test_costs_are_unknown_where_a_count_is_impossible(count: object) -> None:
    broken = usage(1000, 10, cached=count)  # type: ignore[arg-type]

    assert listed_cost("openai/gpt-5", broken) is None
    # At a price of one's own, all is plain: the cache is not counted.
    assert cost_of(broken, price=(1.0, 0.0)) == pytest.approx(0.001)


def test_prices_of_ones_own_may_have_the_cache() -> None:
    response = usage(1_000_000, 0, cached=400_000, cache_write=100_000)

    assert cost_of(response, price=(2.0, 10.0)) == pytest.approx(2.0)
    assert cost_of(response, price=ModelPrice(2.0, 10.0, 0.2, 2.5)) == pytest.approx(1.33)
    tokens = counts_in(response)
    assert tokens is not None
    assert saved("openai/x", tokens, ModelPrice(2.0, 10.0, 0.2, 2.5)) == pytest.approx(0.67)
    assert saved("openai/x", tokens, None) is None


def test_a_write_that_is_never_read_saves_less_than_nothing() -> None:
    tokens = counts_in(usage(100_000, cache_write=100_000))
    none = counts_in(usage(100_000))
    assert tokens is not None
    assert none is not None

    assert saved("openai/gpt-5.6", tokens, None) == pytest.approx(-0.1)
    assert saved("openai/gpt-5.6", none, None) is None


def test_an_estimate_counts_what_may_be_written_to_the_cache() -> None:
    price = listed_price("openai/gpt-5.6")

    assert price is not None
    assert price.estimate(1e6, 0) == pytest.approx(1.25 * price.input)
