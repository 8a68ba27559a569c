"""A span: where in a text something private stands, and what it is whatever its spelling."""

from __future__ import annotations

from typing import NamedTuple


class PrivateSpan(NamedTuple):
    """One thing found in a text."""

    start: int
    end: int
    value: str
    """The thing in its one spelling: a card without spaces, an address in small letters."""
