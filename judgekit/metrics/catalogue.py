"""The built-in metrics by family, and the class of each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """A built-in metric, described without importing it."""

    name: str
    path: str
    """`MODULE:CLASS` below `judgekit.metrics`."""
    summary: str
    """What it measures, in a phrase."""
    judged: bool = False
    """Whether it takes `judge`."""
    preset: Mapping[str, Any] = MappingProxyType({})
    """Options that differ from the defaults of the class."""
    stand_in: str | None = None
    """The computed metric that replaces it in a suite without a judge."""

    @property
    def module(self) -> str:
        """The full name of the module."""
        return f"judgekit.metrics.{self.path.partition(':')[0]}"

    @property
    def attribute(self) -> str:
        """The name of the class in the module."""
        return self.path.partition(":")[2]

    def load(self) -> Any:
        """Return the class; it is imported on first use."""
        return getattr(import_module(self.module), self.attribute)


_DATA = Path(__file__).with_name("data") / "catalogue.json"

FAMILIES: dict[str, tuple[Entry, ...]] = {
    family: tuple(Entry(**entry) for entry in entries)
    for family, entries in json.loads(_DATA.read_bytes()).items()
}

BUILTIN: dict[str, Entry] = {entry.name: entry for group in FAMILIES.values() for entry in group}

PAIRWISE = "preference"
"""The metric for the rubrics under `pairwise` in a suite."""

STAND_INS: dict[str, str] = {
    entry.name: entry.stand_in for entry in BUILTIN.values() if entry.stand_in is not None
}
"""Judged metric -> the computed metric that replaces it in a suite without a judge."""
