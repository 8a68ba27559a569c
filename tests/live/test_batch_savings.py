"""What the reply of a job cost and saved, at the price of the provider's jobs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from judgekit.core.request import Reply, Request
from judgekit.judges.litellm import LiteLLMJudge
from judgekit.judges.price import ModelPrice
from judgekit.judges.prices import listed_cost
from judgekit.judges.wire import LateResponse

from .server import completion
from .test_replies import ask, request

LISTED = "openai/gpt-5.6"
PRICE = ModelPrice(4.0, 20.0, 0.4, 5.0)
"""The listed price of that model."""


class Late:
    """The reply of a job, at half the price of a live one."""

    mode, open, tier, share = "json_schema", True, "batch", 0.5

    def __init__(self, usage: dict[str, Any], tier: object) -> None:
        self._usage, self._tier = usage, tier
        self.cost: float | None = None

    def answer(self, call: Any) -> LateResponse:
        self.open = False
        reply = completion(json.loads(call.body))
        reply |= {"usage": self._usage, "service_tier": self._tier, "model": "gpt-5.6"}
        return LateResponse(200, json.dumps(reply).encode())

    def paid(self, dollars: float | None) -> None:
        self.cost = dollars


def usage(read: object = 0, written: object = 0) -> dict[str, Any]:
    details = {"cached_tokens": read, "cache_write_tokens": written}
    counts = {"prompt_tokens": 10_000, "completion_tokens": 100, "total_tokens": 10_100}
    return {**counts, "prompt_tokens_details": details}


def collected(late: Late, *, via: Any, price: ModelPrice | None = None) -> Reply:
    judge = LiteLLMJudge(LISTED, api_key="none", via=via, mode="json_schema", price=price)

    async def later(asked: Request) -> Any:
        return late

    judge.later = later
    return ask(judge, request())


@pytest.mark.parametrize("price", [None, PRICE], ids=["listed", "given"])
@pytest.mark.parametrize(("read", "written"), [(0, 0), (8_000, 0), (0, 8_000), (4_000, 2_000)])
def test_a_job_saves_half_of_what_the_cache_left(
    price: ModelPrice | None, read: int, written: int
) -> None:
    late = Late(usage(read, written), None)
    reply = collected(late, via="litellm", price=price)

    full = (10_000 * 4.0 + 100 * 20.0) / 1e6
    live = full - read * 3.6e-6 + written * 1e-6
    assert reply.tier == "batch"
    assert reply.cost == pytest.approx(live / 2)
    assert reply.saved == pytest.approx(full - live / 2)
    assert late.cost == reply.cost


@pytest.mark.parametrize("tier", ["batch", "flex"])
def test_a_response_that_names_its_tier_is_not_halved_twice(tier: str) -> None:
    reply = collected(Late(usage(), tier), via="litellm")

    assert reply.cost == pytest.approx(0.021)
    assert reply.saved == pytest.approx(0.021)


def test_the_price_of_jobs_is_in_the_table() -> None:
    assert listed_cost(LISTED, {"usage": usage(), "service_tier": "batch"}) == pytest.approx(0.021)


@pytest.mark.parametrize("count", [-1, "many", 10**15])
def test_impossible_counts_of_a_job_save_nothing_that_is_not_known(count: object) -> None:
    reply = collected(Late(usage(count), None), via="litellm", price=PRICE)

    assert reply.cost == pytest.approx(0.021)
    assert reply.usage is not None
    assert reply.usage.cache_read_tokens == 0
