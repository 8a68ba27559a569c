"""Which built-in rubric is for what: the table in `data/guide.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

_DATA = Path(__file__).with_name("data") / "guide.json"


class Purpose(NamedTuple):
    """What a built-in rubric is for."""

    group: str
    use: str
    """The question that it answers, in a sentence."""
    instead: str
    """What to take where it does not fit; empty if there is nothing to say."""
    source: str
    """Where its idea or formula comes from."""


@cache
def guide() -> Mapping[str, Purpose]:
    """Return built-in rubric -> its purpose, in the order of the documentation."""
    groups = json.loads(_DATA.read_text("utf-8"))["groups"]
    return {
        name: Purpose(group, **entry)
        for group, rubrics in groups.items()
        for name, entry in rubrics.items()
    }
