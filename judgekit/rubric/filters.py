"""The filters, tests and methods of templates, and how each is charged to the budget."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from jinja2 import TemplateRuntimeError, Undefined
from jinja2.filters import FILTERS as JINJA_FILTERS
from jinja2.filters import do_float, do_int, ignore_case, make_attrgetter
from jinja2.tests import TESTS as JINJA_TESTS
from jinja2.utils import _PassArg, pass_environment

from judgekit.core.canonical import canonical_json, json_in_order, visible
from judgekit.rubric import budget


class Price(NamedTuple):
    """The work of one call, in proportion to its arguments.

    Every call is charged for reading its arguments; the fields describe further work.
    """

    text: bool = False
    """It works on a text: other values are printed first."""
    growth: int = 1
    """Maximum length of the result, as a multiple of the length of the argument."""
    pieces: bool = False
    """It splits its value: up to one piece per character."""
    order: bool = False
    """It compares the items of its value with each other and copies their texts."""
    search: bool = False
    """It searches a text: up to a hundred times the work of reading it."""
    product: bool = False
    """It may compare every character of its text with every character of its arguments."""

    def charge(self, *values: Any) -> None:
        """Charge a call for its values; its subject is the first one.

        Raises:
            TemplateRuntimeError: the budget is spent, or the first value has the wrong type.
        """
        meter = budget.under_way()
        before = meter.steps
        for value in values:
            budget.weighed(value)
        read = meter.steps - before
        if self is _READS or not values:
            return
        first = values[0]
        if self.text and not isinstance(first, str):
            first = str(budget.plain(first))
        texts = [budget.size(value) for value in values if isinstance(value, str)]
        if self.pieces:
            # The name of an attribute is split at its dots.
            meter.step(sum(texts) >> 4)
        if isinstance(first, str):
            budget.check_length(self.growth * budget.size(first))
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


def fence(text: Any, tag: str) -> Any:
    """Wrap untrusted text in a tag that the text cannot close."""
    if text is None:
        raise TemplateRuntimeError(f"fence({tag!r}) was given a value that this case does not have")
    if not tag.replace("-", "_").isidentifier():
        raise TemplateRuntimeError("fence takes the name of a tag: letters, digits, _ and -")
    if len(tag) > _MAX_TAG:
        raise TemplateRuntimeError(f"fence takes the name of a tag, of up to {_MAX_TAG} characters")
    if isinstance(text, budget.Placeholder):
        return text.fenced(tag)
    body = text if type(text) is str else str(budget.plain(text))
    length = budget.size(body)
    budget.check_length(2 * length)
    meter = budget.under_way()
    meter.step(1 + (length >> 8))
    whole = fenced(body, tag)
    meter.produce(length + 2 * len(tag))
    return whole


_MAX_TAG = 100


def fenced(text: str, tag: str) -> str:
    """Return a text in its fence.

    The suffix of the tag is a digest of the text: it is the same in every run, and a text cannot
    contain its own closing tag. If it does by chance, the digest is computed again.
    """
    body = visible(text)
    suffix = hashlib.sha256(body.encode()).hexdigest()[:16]
    while f"{tag}-{suffix}" in body:
        suffix = hashlib.sha256(f"{suffix}{body}".encode()).hexdigest()[:16]
    return f"<{tag}-{suffix}>\n{body}\n</{tag}-{suffix}>"


def _replace(text: Any, old: str, new: str) -> str:
    whole = str(budget.plain(text))
    budget.check_length(whole.count(old) * budget.size(new) + budget.size(whole))
    return whole.replace(old, new)


@pass_environment
def _join(environment: Any, values: Any, by: str = "", attribute: str | None = None) -> str:
    taken = _taken(environment, values, attribute)
    return budget.concat("", *[part for value in taken for part in (by, value)][1:])


def _indent(text: Any, width: int = 4) -> str:
    return _replace(text, "\n", "\n" + " " * min(int(width), 40))


def _json(value: Any, sort: bool = True) -> str:
    """Return JSON; `sort=false` keeps the order of keys, such as a reason before its verdict."""
    # A list may contain the same long text a thousand times, and an escape takes six characters.
    budget.check_length(6 * _length(value))
    if isinstance(value, Undefined):
        str(value)  # raises the error that names it
    return canonical_json(value) if sort else json_in_order(value)


def _length(value: Any) -> int:
    if isinstance(value, str):
        return budget.size(value)
    if isinstance(value, dict):
        return sum(budget.size(str(key)) + _length(item) for key, item in value.items())
    return sum(map(_length, value)) if isinstance(value, (list, tuple)) else 1


def _round(value: float, precision: int = 0) -> float:
    # 10**9 digits take Python an hour.
    return round(value, max(-15, min(15, int(precision))))


@pass_environment
def _sum(environment: Any, values: Any, attribute: str | None = None, start: float = 0) -> float:
    """Add numbers; adding lists would copy them repeatedly."""
    total = start
    for value in _taken(environment, values, attribute):
        if not isinstance(value, (int, float)):
            raise TemplateRuntimeError("sum takes numbers")
        total += value
    return total


def _taken(environment: Any, values: Any, attribute: str | None) -> Iterator[Any]:
    taken = budget.counted(values)
    return taken if attribute is None else map(make_attrgetter(environment, attribute), taken)


def _int(value: Any, default: Any = 0, base: int = 10) -> Any:
    return default if _too_long(value) else do_int(value, default, base)


def _float(value: Any, default: Any = 0.0) -> Any:
    return default if _too_long(value) else do_float(value, default)


def _too_long(value: Any) -> bool:
    """Return whether a text has too many digits for a number."""
    return isinstance(value, str) and len(value.strip()) > _MAX_DIGITS


_MAX_DIGITS = budget.MAX_BITS // 4  # each digit of base 16 is four bits


@pass_environment
def _unique(
    environment: Any, values: Any, case_sensitive: bool = False, attribute: Any = None
) -> list[Any]:
    """Keep the first of equal values.

    Numbers are compared as text: Jinja keeps them in a set, and numbers can be chosen so that
    their hashes all collide.
    """
    lower = None if case_sensitive else ignore_case
    key_of = make_attrgetter(environment, attribute, postprocess=lower)
    unique: dict[Any, Any] = {}
    for value in budget.counted(values):
        key = key_of(value)
        if isinstance(key, float) and key.is_integer():
            key = int(key)
        if isinstance(key, (int, float)):
            key = (repr(int(key) if isinstance(key, bool) else key),)
        elif key is not None and not isinstance(key, str):
            raise TemplateRuntimeError("unique takes texts and numbers")
        unique.setdefault(key, value)
    return list(unique.values())


def _charged(function: Callable[..., Any], price: Price) -> Callable[..., Any]:
    """Charge a filter or test for its arguments and its result."""
    # Jinja passes the environment or the context before the template's arguments.
    first = 0 if _PassArg.from_obj(function) is None else 1

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        price.charge(*args[first:], *kwargs.values())
        value = function(*args, **kwargs)
        # An iterator would be consumed without charges, and only once.
        return budget.built(list(budget.counted(value)) if isinstance(value, Iterator) else value)

    return wrapped


_OWN = (_float, _indent, _int, _join, _json, _replace, _round, _sum, _unique)
_FILTERS = {**JINJA_FILTERS, **{own.__name__.removeprefix("_"): own for own in _OWN}}
FILTERS: dict[str, Callable[..., Any]] = {"fence": fence}
FILTERS |= {name: _charged(_FILTERS[name], price) for name, price in FILTER_PRICES.items()}
TESTS: dict[str, Callable[..., Any]] = {
    name: _charged(JINJA_TESTS[name], price)  # type: ignore[arg-type]  # mypy sees a `function`
    for name, price in TEST_PRICES.items()
}
