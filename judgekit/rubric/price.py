"""Prices: what each filter, test and method of a template costs before it runs."""

from __future__ import annotations

from typing import Any, NamedTuple

from judgekit.rubric.budget import check_length, plain, size, under_way, weighed


class Price(NamedTuple):
    """The work of one call, in proportion to what it is given.

    Every call pays for reading its arguments; the fields name what it does beyond that.
    """

    text: bool = False
    """It works on a text: anything else would be printed first."""
    growth: int = 1
    """It can make a text this many times as long."""
    pieces: bool = False
    """It takes its value apart: up to one piece per character."""
    order: bool = False
    """It compares the items of its value with one another, and copies their texts."""
    search: bool = False
    """It searches a text: at worst a hundred times the work of reading it."""
    product: bool = False
    """It may compare every character of its text with every character of its arguments."""

    def charge(self, *given: Any) -> None:
        """Charge a call for its values, the first of which it works on.

        Raises:
            TemplateRuntimeError: the budget is spent, or the value is none it works on.
        """
        meter = under_way()
        before = meter.steps
        for value in given:
            weighed(value)
        read = meter.steps - before
        if self is _READS or not given:
            return
        first = given[0]
        if self.text and not isinstance(first, str):
            first = str(plain(first))
        texts = [size(value) for value in given if isinstance(value, str)]
        if self.pieces:
            # The name of an attribute is taken apart at its dots.
            meter.step(sum(texts) >> 4)
        if isinstance(first, str):
            check_length(self.growth * size(first))
            if self.pieces:
                meter.step(len(first) >> 2)
            if self.product:
                meter.step(len(first) * sum(texts[1:]) >> 12)
        if self.search:
            meter.step(sum(texts) >> 6)
        if self.order:
            count = len(first) if hasattr(first, "__len__") else 1
            meter.step(read * count.bit_length())
            meter.produce(read << 8)


_READS = Price()
_TEXT = Price(text=True)
_CASES = Price(text=True, growth=4)
_PIECES = Price(pieces=True)
_WORDS = Price(text=True, pieces=True)
_ORDERS = Price(pieces=True, order=True)
_SEARCHES = Price(search=True)
_STRIPS = Price(product=True)

FILTER_PRICES: dict[str, Price] = {
    "abs": _READS,
    "capitalize": _CASES,
    "count": _READS,
    "d": _READS,
    "default": _READS,
    "dictsort": _ORDERS,
    "first": _PIECES,
    "float": _READS,
    "indent": Price(text=True, search=True),
    "int": _READS,
    "items": _PIECES,
    "join": _PIECES,
    "json": _READS,
    "last": _PIECES,
    "length": _READS,
    "list": _PIECES,
    "lower": _CASES,
    "map": _PIECES,
    "max": _ORDERS,
    "min": _ORDERS,
    "reject": _PIECES,
    "rejectattr": _PIECES,
    "replace": Price(text=True, search=True),
    "reverse": _READS,
    "round": _READS,
    "select": _PIECES,
    "selectattr": _PIECES,
    "sort": _ORDERS,
    "sum": _PIECES,
    "title": Price(text=True, growth=4, pieces=True),
    "trim": Price(text=True, product=True),
    "truncate": _TEXT,
    "unique": _ORDERS,
    "upper": _CASES,
    "wordcount": _WORDS,
}
"""Every filter but `fence`, which has a price of its own."""

TEST_PRICES: dict[str, Price] = {
    **dict.fromkeys(
        (
            "!=", "<", "<=", "==", ">", ">=", "boolean", "defined", "divisibleby", "eq", "equalto",
            "even", "false", "float", "ge", "greaterthan", "gt", "integer", "iterable", "le",
            "lessthan", "lt", "mapping", "ne", "none", "number", "odd", "sameas", "sequence",
            "string", "true", "undefined",
        ),
        _READS,
    ),
    "in": _SEARCHES,
    "lower": _TEXT,
    "upper": _TEXT,
}  # fmt: skip

METHODS: dict[str, Price] = {
    "capitalize": _CASES,
    "casefold": _CASES,
    "count": _SEARCHES,
    "endswith": _READS,
    "find": _SEARCHES,
    "isalnum": _READS,
    "isalpha": _READS,
    "isdigit": _READS,
    "islower": _READS,
    "isnumeric": _READS,
    "isspace": _READS,
    "isupper": _READS,
    "lower": _CASES,
    "lstrip": _STRIPS,
    "removeprefix": _READS,
    "removesuffix": _READS,
    "rfind": _STRIPS,
    "rsplit": Price(pieces=True, product=True),
    "rstrip": _STRIPS,
    "split": Price(pieces=True, search=True),
    "splitlines": _PIECES,
    "startswith": _READS,
    "strip": _STRIPS,
    "title": _CASES,
    "upper": _CASES,
}
"""The methods of a text."""
