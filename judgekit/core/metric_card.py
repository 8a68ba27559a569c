"""What a metric says of itself: the card that `judgekit metrics show` prints and tests hold to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Example(NamedTuple):
    """A case, and what the metric gives for it."""

    case: Mapping[str, Any]
    """The case's fields, as a row of a cases file has them; an `id` is not needed."""
    value: float | None
    """The value to four decimals; `None` where the example is not applicable or asks a judge."""
    options: Mapping[str, Any] = {}


class Card(NamedTuple):
    """A metric in the words of whoever chooses one.

    Range, direction and options are not repeated here: the metric has them.
    """

    formula: str
    """How the value is made, so that it can be worked out by hand."""
    source: str
    """Where the formula comes from, and where it was changed."""
    needs: tuple[str, ...]
    """Fields of the case; `expected.facts` for a key of `expected`."""
    empty: str
    """What an empty, missing or unsuitable input gives."""
    example: Example
    modes: str = ""
    """What the compatible modes reproduce, and how they differ."""
