"""Prices of hosted models, read from litellm's package without importing it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_TABLE = "model_prices_and_context_window_backup.json"
_TIER = 128_000
"""Prompt tokens from which a model may have other prices."""


@lru_cache(maxsize=64)
def _entry(model: str) -> Mapping[str, Any]:
    """Return the entry of a model in litellm's table; only that entry is parsed, of 3 MB."""
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


def listed_price(model: str) -> tuple[float, float] | None:
    """Return litellm's US dollars per million input and output tokens, without importing it."""
    entry = _entry(model)
    read, written = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if not (isinstance(read, (int, float)) and isinstance(written, (int, float))):
        return None
    return read * 1e6, written * 1e6


def listed_cost(model: str, data: Mapping[str, Any]) -> float | None:
    """Return the US dollars of a chat response by litellm's table; `None` if it is unknown.

    Unknown are also audio tokens, long prompts with other prices, and other tiers of service.
    """
    entry = _entry(model)
    usage = data.get("usage")
    if listed_price(model) is None or not isinstance(usage, dict):
        return None
    read = usage.get("prompt_tokens_details") or {}
    audio = _count(read, "audio_tokens")
    audio += _count(usage.get("completion_tokens_details") or {}, "audio_tokens")
    prompt, written = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    cached = min(prompt, _count(read, "cached_tokens"))
    special = ("output_cost_per_reasoning_token", "off_peak_pricing")
    tiers = any("_above_" in name for name in entry)
    if audio or any(name in entry for name in special) or (tiers and prompt > _TIER):
        return None
    if data.get("service_tier") not in (None, "default"):
        return None
    rate = entry["input_cost_per_token"]
    return float(
        (prompt - cached) * rate
        + cached * entry.get("cache_read_input_token_cost", rate)
        + written * entry["output_cost_per_token"]
    )


def _count(usage: object, name: str) -> int:
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) else 0
