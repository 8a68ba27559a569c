"""The price of each filter, test and method of a template, charged before it runs."""

from __future__ import annotations

from typing import Any, NamedTuple

from judgekit.rubric.budget import check_length, plain, size, under_way, weighed


class Price(NamedTuple):
    """The work of one call, in proportion to its arguments.

    Every call pays for reading its arguments; the fields name further work.
    """

    text: bool = False
    """It works on a text: other values are printed first."""
    growth: int = 1
    """The result may be this many times as long."""
    pieces: bool = False
    """It splits its value: up to one piece per character."""
    order: bool = False
    """It compares the items of its value with each other and copies their texts."""
    search: bool = False
    """It searches a text: up to a hundred times the work of reading it."""
    product: bool = False
    """It may compare every character of its text with every character of its arguments."""

    def charge(self, *values: Any) -> None:
        """Charge a call for its values; it works on the first one.

        Raises:
            TemplateRuntimeError: the budget is spent, or the first value has the wrong type.
        """
        meter = under_way()
        before = meter.steps
        for value in values:
            weighed(value)
        read = meter.steps - before
        if self is _READS or not values:
            return
        first = values[0]
        if self.text and not isinstance(first, str):
            first = str(plain(first))
        texts = [size(value) for value in values if isinstance(value, str)]
        if self.pieces:
            # The name of an attribute is split at its dots.
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
_CASES = Price(text=True, growth=4)
_PIECES = Price(pieces=True)
_SEARCHES = Price(search=True)


def _table(*rows: tuple[Price, str]) -> dict[str, Price]:
    return {name: price for price, names in rows for name in names.split()}


FILTER_PRICES = _table(
    (_READS, "abs count d default float int json length reverse round"),
    (_PIECES, "first items join last list map reject rejectattr select selectattr sum"),
    (Price(pieces=True, order=True), "dictsort max min sort unique"),
    (_CASES, "capitalize lower upper"),
    (Price(text=True, search=True), "indent replace"),
    (Price(text=True, growth=4, pieces=True), "title"),
    (Price(text=True, product=True), "trim"),
    (Price(text=True), "truncate"),
    (Price(text=True, pieces=True), "wordcount"),
)
"""Every filter but `fence`, which computes its own price."""

TEST_PRICES = _table(
    (_READS, "!= < <= == > >= eq equalto ge greaterthan gt le lessthan lt ne sameas"),
    (_READS, "boolean defined divisibleby even false float integer iterable mapping none number"),
    (_READS, "odd sequence string true undefined"),
    (_SEARCHES, "in"),
    (Price(text=True), "lower upper"),
)

METHODS = _table(
    (_READS, "endswith isalnum isalpha isdigit islower isnumeric isspace isupper removeprefix"),
    (_READS, "removesuffix startswith"),
    (_CASES, "capitalize casefold lower title upper"),
    (_SEARCHES, "count find"),
    (Price(product=True), "lstrip rfind rstrip strip"),
    (Price(pieces=True, product=True), "rsplit"),
    (Price(pieces=True, search=True), "split"),
    (_PIECES, "splitlines"),
)
"""The methods of a text."""
