"""Savings of a run: tokens of prompt caches, tiers, dollars."""

from judgekit.cassette.ledger import Savings
from judgekit.core.request import Reply, Try, Usage

TRY = Try(text="{}")


def test_nothing_is_stated_without_cache_and_tier():
    savings = Savings()
    savings.add(Reply(tries=(TRY,), usage=Usage(input_tokens=9), cost=1.0))

    assert savings.facts() == {}


def test_tokens_tiers_and_dollars_are_summed():
    savings = Savings()
    usage = Usage(input_tokens=9, cache_read_tokens=5, cache_write_tokens=2)
    savings.add(Reply(tries=(TRY,), usage=usage, tier="flex", saved=0.5))
    savings.add(Reply(tries=(TRY,), usage=usage, saved=-0.25))

    assert savings.facts() == {
        "cache_tokens": {"read": 10, "written": 4},
        "tiers": {"flex": 1},
        "saved": 0.25,
    }


def test_a_plain_reply_is_recorded_as_before():
    reply = Reply(tries=(TRY,), usage=Usage(input_tokens=9, output_tokens=1), cost=1.0)

    assert reply.model_dump(exclude_defaults=True)["usage"] == {
        "input_tokens": 9,
        "output_tokens": 1,
    }
