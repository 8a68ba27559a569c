"""Prices of hosted models, read from litellm's package without importing it."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path


def listed_price(model: str) -> tuple[float, float] | None:
    """Return litellm's US dollars per million input and output tokens, without importing it."""
    spec = find_spec("litellm")
    if spec is None or spec.origin is None:
        return None
    table = Path(spec.origin).with_name("model_prices_and_context_window_backup.json")
    try:
        prices = json.loads(table.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    entry = prices.get(model) or prices.get(model.partition("/")[2]) or {}
    read, written = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if not (isinstance(read, (int, float)) and isinstance(written, (int, float))):
        return None
    return read * 1e6, written * 1e6
