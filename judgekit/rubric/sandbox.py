"""The Jinja environment rubrics render in: no code, no globals, no way to run for ever.

Jinja's own sandbox keeps templates away from Python's attributes, but lets them multiply text
to a gigabyte, double a variable forty times or loop for hours. Here every repetition and
every output is charged to a budget.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any

from jinja2 import StrictUndefined, TemplateRuntimeError, nodes
from jinja2.ext import Extension
from jinja2.filters import FILTERS
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from judgekit.canonical import canonical_json, visible

MAX_STEPS = 500_000
"""Loop rounds and calls one rendering may take."""
MAX_CHARACTERS = 64_000_000
"""Characters one rendering may produce, all outputs together."""
MAX_TEXT = 32_000_000
"""Length of any one text a template may build."""


class View:
    """Something templates may look at: its public attributes are all safe, and it has no methods.

    Jinja's check of every attribute costs more than the rest of a rendering; a view needs none.
    """

    __slots__ = ()


class Rendering:
    """One rendering under way: its budget and the messages it has collected."""

    def __init__(self, *, cached: dict[int, str], touched: Callable[[], bool]) -> None:
        self.messages: list[tuple[str, str]] = []
        self.steps = 0
        self.characters = 0
        self.cached = cached
        self.touched = touched
        self.inside: str | None = None

    def step(self, count: int = 1) -> None:
        """Charge `count` steps."""
        self.steps += count
        if self.steps > MAX_STEPS:
            raise TemplateRuntimeError(f"took more than {MAX_STEPS:,} steps; is a loop endless?")

    def produce(self, count: int) -> None:
        """Charge `count` characters of output."""
        self.characters += count
        if self.characters > MAX_CHARACTERS:
            raise TemplateRuntimeError(f"produced more than {MAX_CHARACTERS:,} characters")


current: ContextVar[Rendering | None] = ContextVar("rendering", default=None)


def _step(count: int = 1) -> None:
    rendering = current.get()
    if rendering is not None:
        rendering.step(count)


def _sized(value: Any) -> Any:
    """Refuse a text that grew beyond reason."""
    if isinstance(value, str) and len(value) > MAX_TEXT:
        raise TemplateRuntimeError(f"built a text of more than {MAX_TEXT:,} characters")
    return value


def _counted(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        _step()
        yield value


def _concat(first: Any, *rest: Any) -> str:
    parts = [str(_plain(part)) for part in (first, *rest)]
    if sum(map(len, parts)) > MAX_TEXT:
        raise TemplateRuntimeError(f"built a text of more than {MAX_TEXT:,} characters")
    return "".join(parts)


def _plain(value: Any) -> Any:
    """Let only text and numbers into a prompt: nothing else has one obvious spelling."""
    if isinstance(value, str):
        return value
    if value is None:
        raise TemplateRuntimeError(
            "prints a value that this case does not have; put it inside {% if ... %}"
        )
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, StrictUndefined):
        return str(value)  # raises, with the name
    raise TemplateRuntimeError(
        f"prints a {type(value).__name__}; loop over it, or use the filter join or json"
    )


def _finalize(value: Any) -> Any:
    text = _plain(value)
    rendering = current.get()
    if rendering is not None and isinstance(text, str):
        rendering.produce(len(text))
    return text


def fence(text: Any, tag: str) -> str:
    """Wrap untrusted text in a tag that the text cannot close.

    The tag's suffix is a digest of the text, so it is the same in every run, and a text cannot
    hold its own closing tag; should one do so by any chance, the digest is taken again.
    """
    if text is None:
        raise TemplateRuntimeError(f"fence({tag!r}) was given a value that this case does not have")
    body = visible(str(_plain(text)))
    suffix = hashlib.sha256(body.encode()).hexdigest()[:16]
    while f"{tag}-{suffix}" in body:
        suffix = hashlib.sha256(f"{suffix}{body}".encode()).hexdigest()[:16]
    return f"<{tag}-{suffix}>\n{body}\n</{tag}-{suffix}>"


def _replace(text: Any, old: str, new: str) -> str:
    text = str(_plain(text))
    if text.count(old) * len(new) + len(text) > MAX_TEXT:
        raise TemplateRuntimeError(f"built a text of more than {MAX_TEXT:,} characters")
    return text.replace(old, new)


def _join(values: Iterable[Any], by: str = "", attribute: str | None = None) -> str:
    taken = [v if attribute is None else _attribute(v, attribute) for v in _counted(values)]
    joined = [part for value in taken for part in (by, value)][1:]
    return _concat("", *joined)


def _attribute(value: Any, name: str) -> Any:
    if name.startswith("_"):
        raise TemplateRuntimeError(f"the attribute {name!r} is not for templates")
    return value[name] if isinstance(value, dict) else getattr(value, name)


def _indent(text: Any, width: int = 4) -> str:
    pad = " " * min(int(width), 40)
    return _concat(str(_plain(text)).replace("\n", "\n" + pad))


def _json(value: Any) -> str:
    return canonical_json(value)


_BORROWED = ["abs", "batch", "capitalize", "count", "d", "default", "dictsort", "first", "float", "int", "items", "last", "length", "list", "lower", "map", "max", "min", "reject", "rejectattr", "reverse", "round", "select", "selectattr", "slice", "sort", "sum", "title", "trim", "truncate", "unique", "upper", "wordcount"]
_OWN: dict[str, Callable[..., Any]] = {
    "fence": fence,
    "indent": _indent,
    "join": _join,
    "json": _json,
    "replace": _replace,
}
_INTERNAL: dict[str, Callable[..., Any]] = {
    "_counted": _counted,
    "_concat": _concat,
    "_sized": _sized,
}


def _charged(function: Callable[..., Any]) -> Callable[..., Any]:
    """Charge a filter for the length of what it is given, and look at the size of what it makes."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        for argument in args[:2]:
            if isinstance(argument, (str, list, tuple, dict)):
                _step(1 + (len(argument) >> 10))
        return _sized(function(*args, **kwargs))

    return wrapped


class _Charge(NodeTransformer):
    """Put the budget into a template: its loops, its concatenations, its captured blocks."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        self.generic_visit(node)
        node.iter = nodes.Filter(node.iter, "_counted", [], [], None, None, lineno=node.lineno)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        first, *rest = node.nodes
        return nodes.Filter(first, "_concat", list(rest), [], None, None, lineno=node.lineno)

    def visit_AssignBlock(self, node: nodes.AssignBlock) -> nodes.Node:
        self.generic_visit(node)
        node.filter = nodes.Filter(node.filter, "_sized", [], [], None, None, lineno=node.lineno)
        return node


class RoleTag(Extension):
    """`{% role system %}...{% endrole %}`: the text inside becomes one message."""

    tags = {"role"}  # noqa: RUF012 - jinja's contract

    def parse(self, parser: Parser) -> nodes.Node:
        """Parse the tag; the body is rendered where it stands, so blocks and super() work."""
        line = next(parser.stream).lineno
        role = parser.stream.expect("name")
        if role.value not in ("system", "user", "assistant"):
            parser.fail(f"unknown role {role.value!r}: system, user or assistant", role.lineno)
        body = parser.parse_statements(("name:endrole",), drop_needle=True)
        call = self.call_method("_collect", [nodes.Const(role.value)], lineno=line)
        return nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _collect(self, role: str, caller: Callable[[], str]) -> str:
        rendering = current.get()
        if rendering is None:
            raise TemplateRuntimeError("a role was rendered outside a rubric")
        if rendering.inside:
            raise TemplateRuntimeError(f"role {role!r} stands inside role {rendering.inside!r}")
        place = len(rendering.messages)
        text = rendering.cached.get(place)
        if text is None:
            rendering.inside = role
            rendering.touched()
            text = caller().strip()
            if not rendering.touched():
                # Nothing of the case went into this message: it is the same for every case.
                rendering.cached[place] = text
            rendering.inside = None
        rendering.messages.append((role, text))
        return ""


class RubricEnvironment(ImmutableSandboxedEnvironment):
    """Jinja with a budget, a short list of filters, and no globals."""

    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def __init__(self, loader: Any) -> None:
        super().__init__(
            loader=loader,
            undefined=StrictUndefined,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
            finalize=_finalize,
            extensions=[RoleTag],
        )
        self.globals = {}
        self.filters = {
            **{name: _charged(FILTERS[name]) for name in _BORROWED},
            **{name: _charged(function) for name, function in _OWN.items()},
            **_INTERNAL,
        }

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = Parser(self, source, name, filename).parse()
        charged: nodes.Template = _Charge().visit(tree)
        return charged

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Look into views directly, into everything else with Jinja's care."""
        if isinstance(obj, View) and not attribute.startswith("_"):
            try:
                return getattr(obj, attribute)
            except AttributeError:
                return self.undefined(obj=obj, name=attribute)
        return super().getattr(obj, attribute)

    def call(self, context: Any, obj: Any, /, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """Charge every call; look at the size of what it returns."""
        _step()
        return _sized(super().call(context, obj, *args, **kwargs))

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Keep arithmetic to numbers of a sane size, and `+` to texts of a sane size."""
        numbers = isinstance(left, (int, float)) and isinstance(right, (int, float))
        if operator == "+" and (numbers or (isinstance(left, str) and isinstance(right, str))):
            if isinstance(left, str) and len(left) + len(right) > MAX_TEXT:
                raise TemplateRuntimeError(f"built a text of more than {MAX_TEXT:,} characters")
            return left + right
        if not numbers:
            raise TemplateRuntimeError(f"{operator!r} takes numbers in a rubric")
        if operator == "**" and (abs(right) > 64 or abs(left) > 1_000_000):
            raise TemplateRuntimeError("a power of that size is not for a rubric")
        if operator == "*" and max(abs(left), abs(right)) > 1e18:
            raise TemplateRuntimeError("a product of that size is not for a rubric")
        return super().call_binop(context, operator, left, right)
