"""The filters of rubrics: a short list, all of them charged to the budget."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterator
from typing import Any

from jinja2 import TemplateRuntimeError
from jinja2.filters import FILTERS as JINJA_FILTERS
from jinja2.filters import make_attrgetter
from jinja2.tests import TESTS as JINJA_TESTS
from jinja2.utils import pass_environment

from judgekit.canonical import canonical_json, visible
from judgekit.rubric.budget import (
    built,
    check_length,
    checked_key,
    concat,
    counted,
    paid,
    plain,
    under_way,
    weighed,
)
from judgekit.rubric.hole import Hole


def fence(text: Any, tag: str) -> Any:
    """Wrap untrusted text in a tag that the text cannot close."""
    if text is None:
        raise TemplateRuntimeError(f"fence({tag!r}) was given a value that this case does not have")
    if not tag.replace("-", "_").isidentifier():
        raise TemplateRuntimeError("fence takes the name of a tag: letters, digits, _ and -")
    if isinstance(text, Hole):
        return text.fenced(tag)
    meter = under_way()
    whole = fenced(str(plain(text)), tag)
    meter.produce(len(whole))
    meter.refuse_marks(whole)
    return whole


def fenced(text: str, tag: str) -> str:
    """Return a text in its fence.

    The tag's suffix is a digest of the text, so it is the same in every run, and a text cannot
    hold its own closing tag; should one do so by any chance, the digest is taken again.
    """
    body = visible(text)
    suffix = hashlib.sha256(body.encode()).hexdigest()[:16]
    while f"{tag}-{suffix}" in body:
        suffix = hashlib.sha256(f"{suffix}{body}".encode()).hexdigest()[:16]
    return f"<{tag}-{suffix}>\n{body}\n</{tag}-{suffix}>"


def _replace(text: Any, old: str, new: str) -> str:
    text = weighed(str(plain(text)))
    check_length(text.count(old) * len(new) + len(text))
    return str(built(text.replace(old, new)))


@pass_environment
def _join(environment: Any, values: Any, by: str = "", attribute: str | None = None) -> str:
    taken = _taken(environment, values, attribute)
    return concat("", *[part for value in taken for part in (by, value)][1:])


def _indent(text: Any, width: int = 4) -> str:
    return _replace(text, "\n", "\n" + " " * min(int(width), 40))


def _json(value: Any) -> str:
    # A list may hold the same long text a thousand times: measure before writing.
    check_length(_length(weighed(value)))
    return str(built(canonical_json(value)))


def _length(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(len(str(key)) + _length(item) for key, item in value.items())
    return sum(map(_length, value)) if isinstance(value, (list, tuple)) else 1


def _round(value: float, precision: int = 0) -> float:
    # 10**9 digits take Python an hour.
    return round(value, max(-15, min(15, int(precision))))


@pass_environment
def _sum(environment: Any, values: Any, attribute: str | None = None, start: float = 0) -> float:
    """Add numbers; adding lists would copy each of them again and again."""
    total = start
    for value in _taken(environment, values, attribute):
        if not isinstance(value, (int, float)):
            raise TemplateRuntimeError("sum takes numbers")
        total += value
    return total


def _taken(environment: Any, values: Any, attribute: str | None) -> Iterator[Any]:
    taken = counted(values)
    return taken if attribute is None else map(make_attrgetter(environment, attribute), taken)


def _charged(function: Callable[..., Any]) -> Callable[..., Any]:
    """Charge a filter or test of Jinja's for what it is given and for what it makes."""
    name = function.__name__.removeprefix("sync_").removeprefix("do_")
    # These take a text apart: as many values as it has characters, or words.
    splits = name in _SPLITTING

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        for argument in (*args, *kwargs.values()):
            weighed(argument)
            if splits and isinstance(argument, str):
                under_way().step(len(argument) >> 3)
        made = function(*args, **kwargs)
        # What is lazy would be taken apart unpaid, and would remember what was taken from it.
        return built(list(counted(made)) if isinstance(made, Iterator) else made)

    return wrapped


_SPLITTING = {
    "dictsort", "first", "items", "last", "list", "map", "max", "min", "reject", "rejectattr",
    "select", "selectattr", "sort", "title", "unique", "wordcount",
}  # fmt: skip
_BORROWED = (
    "abs", "capitalize", "count", "d", "default", "dictsort", "first", "float", "int", "items",
    "last", "length", "list", "lower", "map", "max", "min", "reject", "rejectattr", "reverse",
    "select", "selectattr", "sort", "title", "trim", "truncate", "unique", "upper", "wordcount",
)  # fmt: skip
FILTERS: dict[str, Callable[..., Any]] = {
    **{name: _charged(JINJA_FILTERS[name]) for name in _BORROWED},
    "fence": fence,
    "indent": _indent,
    "join": _join,
    "json": _json,
    "replace": _replace,
    "round": _round,
    "sum": _sum,
    # What the sandbox puts into templates; authors cannot name them.
    "_built": built,
    "_concat": concat,
    "_counted": counted,
    "_key": checked_key,
    "_paid": paid,
    "_weighed": weighed,
}
TESTS: dict[str, Callable[..., Any]] = {
    name: _charged(test)  # type: ignore[arg-type]  # mypy sees a bare `function`
    for name, test in JINJA_TESTS.items()
    if name not in ("callable", "escaped", "filter", "test")
}
