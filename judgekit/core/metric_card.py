"""Metric cards: the documentation that `judgekit metrics show` prints and that tests check."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class CardExample(NamedTuple):
    """A case, and the value of the metric for it."""

    case: Mapping[str, Any]
    """The case's fields, as a row of a cases file has them; an `id` is not needed."""
    value: float | None
    """The value to four decimals; `None` where the example is not applicable or asks a judge."""
    options: Mapping[str, Any] = {}


class Card(NamedTuple):
    """Documentation for users who choose a metric.

    The metric itself has its range, direction, options and the fields it needs.
    """

    formula: str
    """How to compute the value by hand."""
    source: str
    """The origin of the formula, and how it was changed."""
    empty: str
    """The result for empty, missing or unsuitable input."""
    example: CardExample
    about: str = ""
    """What the metric measures: paragraphs, the first of one sentence."""
    options: Mapping[str, str] = {}
    """Option -> what it is for."""
    modes: str = ""
    """What compatible modes reproduce, and how they differ."""
