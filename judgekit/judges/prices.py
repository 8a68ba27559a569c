"""Prices of models, and the cost of a response: tokens of a prompt cache, tiers, long prompts.

litellm's package has the prices, in a file that is read without importing it. A test compares
costs with those of litellm's own function.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from judgekit.judges.price import ModelPrice, Rates, TokenCounts
from judgekit.judges.response import STANDARD_TIERS, counts_in, usage_of

_TABLE = "model_prices_and_context_window_backup.json"
_READ, _WRITTEN = "input_cost_per_token", "output_cost_per_token"
_CACHE_READ, _CACHE_WRITE = "cache_read_input_token_cost", "cache_creation_input_token_cost"
_CACHE_WRITE_LONG = "cache_creation_input_token_cost_above_1hr"
_REASONING = "output_cost_per_reasoning_token"
_SUFFIXES: Mapping[str, str] = {
    "batch": "_batches",
    "flex": "_flex",
    "priority": "_priority",
    "fast": "_priority",
    "balanced": "_balanced",
    "ultrafast": "_ultrafast",
}
"""Service tier -> the end of the names of its prices in litellm's table."""
_INCLUSIVE = ("xai",)
"""Providers whose prices for long prompts begin at the threshold, not above it."""


@lru_cache(maxsize=64)
def price_entry(model: str) -> Mapping[str, Any]:
    """Return the entry of a model in litellm's 3 MB table; only that entry is parsed."""
    spec = find_spec("litellm")
    if spec is None or spec.origin is None:
        return {}
    try:
        text = Path(spec.origin).with_name(_TABLE).read_text(encoding="utf-8")
        for name in (model, model.partition("/")[2]):
            start = f"\n    {json.dumps(name)}: "
            if name and (at := text.find(start)) >= 0:
                entry = json.JSONDecoder().raw_decode(text, at + len(start))[0]
                return entry if isinstance(entry, dict) else {}
    except (OSError, ValueError):
        pass
    return {}


def listed_price(model: str, tier: str | None = None) -> ModelPrice | None:
    """Return litellm's price of a model for short prompts, without importing litellm."""
    rates = _rates(price_entry(model), 0, tier, provider=model.partition("/")[0])
    if rates is None:
        return None
    million = (rates.read, rates.written, rates.cache_read, rates.cache_write)
    return ModelPrice(*(rate * 1e6 for rate in million))


def listed_retirement(model: str) -> str | None:
    """Return the date, YYYY-MM-DD, on which a model retires by litellm's table, if it has one."""
    date = price_entry(model).get("deprecation_date")
    return date if isinstance(date, str) else None


def listed_cost(model: str, data: Mapping[str, Any]) -> float | None:
    """Return the cost of a chat response in US dollars by litellm's table; `None` if unknown.

    The cost is also unknown for tokens of audio, images and video, for tiers without a name in the
    table, and where the price depends on the hour.
    """
    tokens = counts_in(data)
    rates = None if tokens is None else listed_rates(model, tokens)
    return None if tokens is None or rates is None else rates.cost(tokens)


def cost_of(data: Mapping[str, Any], *, price: ModelPrice | tuple[float, float]) -> float | None:
    """Return the cost of a response at a price: a `ModelPrice`, or its first two numbers."""
    if usage_of(data) is None:
        return None
    usage = data["usage"]
    # Without valid details, everything is a plain token of the request or the reply.
    plain = {name: usage.get(name) for name in ("prompt_tokens", "completion_tokens")}
    tokens = counts_in(data) or counts_in({"usage": plain})
    return None if tokens is None else ModelPrice(*price).rates().cost(tokens)


def listed_rates(model: str, tokens: TokenCounts) -> Rates | None:
    """Return the prices that apply to a response; `None` if they are unknown."""
    if tokens.other:
        return None
    return _rates(price_entry(model), tokens.prompt, tokens.tier, model.partition("/")[0])


def saved(model: str, tokens: TokenCounts, price: ModelPrice | None) -> float | None:
    """Return what prompt cache and tier saved, in US dollars.

    The comparison is the price of the same tokens at the standard tier without a cache. Tokens that
    are written to the cache and not read later cost more, so the saving can be negative.

    Args:
        model: the model.
        tokens: the tokens of the response.
        price: its price, instead of litellm's.

    Returns:
        `None` if there was neither cache nor tier, or if a price is unknown.
    """
    if not (tokens.cache_read or tokens.cache_write or tokens.tier):
        return None
    plain = tokens._replace(cache_read=0, cache_write=0, cache_write_long=0, tier=None)
    if price is not None:
        return price.rates().cost(plain) - price.rates().cost(tokens)
    paid, full = listed_rates(model, tokens), listed_rates(model, plain)
    return None if paid is None or full is None else full.cost(plain) - paid.cost(tokens)


def _rates(
    entry: Mapping[str, Any], prompt: int, tier: str | None, provider: str = ""
) -> Rates | None:
    """Return the prices for a prompt of so many tokens."""
    suffix = "" if tier is None or tier in STANDARD_TIERS else _SUFFIXES.get(tier)
    if suffix is None or "off_peak_pricing" in entry:
        return None
    if (part := _part(entry.get("tiered_pricing"), prompt)) is not None:
        # All tokens have the prices of one part, and those of other tiers do not exist.
        merged = {_WRITTEN: entry.get(_WRITTEN), **part}
        if _REASONING not in part and _WRITTEN in part:
            merged[_REASONING] = part[_WRITTEN]
        elif _REASONING in entry:
            merged.setdefault(_REASONING, entry[_REASONING])
        return _rates(merged, prompt, None)
    ends = ("", *_ends(entry, prompt, suffix, inclusive=provider in _INCLUSIVE))

    def rate(name: str) -> float | None:
        price = None
        for end in ends:  # the price of a longer prompt replaces that of a shorter one
            names = (f"{name}{end}{suffix}", f"{name}{end}")
            # litellm takes no standard price of long prompts for what is kept for an hour
            exact = name == _CACHE_WRITE_LONG and end != ""
            values = (_number(entry.get(key)) for key in names[: 1 if exact else 2])
            price = next((value for value in values if value is not None), price)
        return price

    read, written = rate(_READ), rate(_WRITTEN)
    if read is None or written is None:
        return None
    write = _or(rate(_CACHE_WRITE), read)
    reasoning = _number(entry.get(f"{_REASONING}{suffix}"))
    if reasoning is None and not (suffix and f"{_WRITTEN}{suffix}" in entry):
        reasoning = _number(entry.get(_REASONING))
    return Rates(
        read,
        written,
        cache_read=_or(rate(_CACHE_READ), read),
        cache_write=write,
        cache_write_long=_or(rate(_CACHE_WRITE_LONG), write),
        reasoning=_or(reasoning, written),
    )


def _ends(entry: Mapping[str, Any], prompt: int, suffix: str, *, inclusive: bool) -> list[str]:
    """Return `_above_200k_tokens` and the like for the thresholds below a prompt, in order."""
    reached: dict[str, float] = {}
    for key, value in entry.items():
        start, above, rest = key.rpartition("_above_")
        size, tokens, tier = rest.partition("_tokens")
        if not above or not tokens or tier not in ("", suffix) or value is None:
            continue
        if not start.startswith((_READ, _WRITTEN, _CACHE_READ, _CACHE_WRITE)):
            continue
        number = size.removesuffix("k")
        if not (number.isascii() and number.isdecimal() and len(number) < 10):
            continue
        most = int(number) * (1000 if size.endswith("k") else 1)
        if prompt > most or (inclusive and prompt == most):
            reached[f"_above_{size}_tokens"] = most
    return sorted(reached, key=lambda end: reached[end])


def _part(parts: object, prompt: int) -> Mapping[str, Any] | None:
    """Return the part of a list of prices by length that a prompt is in; the last above all."""
    if not isinstance(parts, list) or prompt <= 0:
        return None
    ranges = [
        (part["range"][0], part["range"][1], part)
        for part in parts
        if isinstance(part, dict) and isinstance(part.get("range"), list)
        if len(part["range"]) == 2 and None not in map(_number, part["range"])
    ]
    ranges.sort(key=lambda one: one[0])
    inside = [part for low, high, part in ranges if low < prompt <= high] or [
        part for *_, part in ranges[-1:]
    ]
    return inside[0] if inside and _READ in inside[0] else None


def _number(value: object) -> float | None:
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return float(value) if isinstance(value, (int, float)) else None


def _or(value: float | None, default: float) -> float:
    return default if value is None else value
