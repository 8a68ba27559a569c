"""Models that their provider retired, beside the dates in litellm's table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from judgekit.core.sourced import read_tables

DATA = Path(__file__).with_name("data") / "retirements.json"


@cache
def announced() -> Mapping[str, Mapping[str, Any]]:
    """Return the rows of the table by model: `day` as YYYY-MM-DD, and `by`, who says so."""
    return {row["model"]: row for row in read_tables(DATA)["models"]}
