"""Spans of private data in a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class PrivateSpan(NamedTuple):
    """The place of private data in a text, and its value."""

    start: int
    end: int
    value: str
    """The normalised value: a card number without spaces, an address in lower case."""


def without_overlap(spans: Iterable[PrivateSpan]) -> Iterator[PrivateSpan]:
    """Yield the spans that do not overlap one before; they come by place."""
    end = 0
    for span in spans:
        if span.start >= end:
            end = span.end
            yield span
