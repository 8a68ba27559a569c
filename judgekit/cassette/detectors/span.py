"""Spans of private data in a text."""

from __future__ import annotations

from typing import NamedTuple


class PrivateSpan(NamedTuple):
    """The place of private data in a text, and its value."""

    start: int
    end: int
    value: str
    """The normalised value: a card number without spaces, an address in lower case."""
