"""Heavy libraries for tests, imported with their first use: every worker collects every file."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Later:
    """A module that is imported when a test uses it.

    Args:
        name: its full name.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        """Return an attribute of the module; pytest asks every name for private ones."""
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        return getattr(import_module(self._name), attribute)
