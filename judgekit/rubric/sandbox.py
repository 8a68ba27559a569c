"""The Jinja environment rubrics render in: no code, no globals, no way to run for ever.

Jinja's own sandbox keeps templates away from private attributes, but lets them call any public
method of what they are given, and pydantic's `parse_raw` runs pickles. Here attributes are data
unless they are listed, and every body that can run more than once pays for what stands in it
(see budget), so that no part of a template is free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jinja2 import Template as JinjaTemplate
from jinja2 import TemplateRuntimeError, TemplateSyntaxError, nodes
from jinja2.compiler import CodeGenerator, DependencyFinderVisitor, Frame
from jinja2.environment import TemplateModule
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.parser import Parser
from jinja2.runtime import BlockReference, LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import BaseModel

from judgekit.rubric.budget import (
    MAX_BITS,
    built,
    check_length,
    checked_key,
    concat,
    counted,
    current,
    paid,
    plain,
    searched,
    size,
    under_way,
    weighed,
)
from judgekit.rubric.charge import charged, walk
from judgekit.rubric.filters import FILTERS, TESTS
from judgekit.rubric.hole import Hole
from judgekit.rubric.price import METHODS
from judgekit.rubric.unknown import Unknown


class View:
    """Something templates may look at: its public attributes are all safe, and it has no methods.

    Jinja's check of every attribute costs more than the rest of a rendering; a view needs none.
    """

    __slots__ = ()


_MAX_ENTRIES = 2_000


def _refusal(node: nodes.Node) -> str | None:
    """Return why a template may not hold a node, if it may not."""
    if isinstance(node, nodes.Const) and isinstance(node.value, int):
        return None if node.value.bit_length() <= MAX_BITS else "a number of that size"
    if isinstance(node, nodes.Dict) and len(node.items) > _MAX_ENTRIES:
        # Numbers can be chosen so that each of them is looked for in the places of all others.
        return f"a mapping of more than {_MAX_ENTRIES:,} entries"
    if isinstance(node, nodes.For) and node.recursive:
        return "a loop cannot be recursive; use a macro"
    if isinstance(node, nodes.ScopedEvalContextModifier):
        return "prompts are not escaped; remove autoescape"
    return None


MAX_TOKENS = 20_000
"""Tokens one template may have: parsing and compiling them takes up to a second."""


class _TokenLimit(Extension):
    """Refuse a template of too many tokens while it is parsed."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        """Yield the tokens, up to the limit."""
        for count, token in enumerate(stream):
            if count > MAX_TOKENS:
                message = f"more than {MAX_TOKENS:,} tokens; what varies belongs in the cases"
                raise TemplateSyntaxError(message, token.lineno, stream.name, stream.filename)
            yield token


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
        rendering = under_way()
        if rendering.inside:
            raise TemplateRuntimeError(f"role {role!r} stands inside {rendering.inside}")
        place = len(rendering.messages)
        text = rendering.cached.get(place)
        if text is None:
            rendering.inside = f"role {role!r}"
            text = caller().strip()
            rendering.inside = None
            if not rendering.read():
                # Nothing of the case was read up to here, in any role or between them, so
                # neither this text nor the way to it can depend on the case.
                rendering.cached[place] = text
        rendering.messages.append((role, text))
        return ""


class _Sheet(JinjaTemplate):
    """A template of a rubric."""

    def _get_default_module(self, ctx: Any = None) -> TemplateModule:
        """Run an imported file, which happens once: a role in it would be there once only."""
        if self._module is not None:
            return self._module
        rendering = under_way()
        outer, rendering.inside = rendering.inside, "an imported file; put it in a macro"
        module = super()._get_default_module(ctx)
        rendering.inside = outer
        return module


class _Generator(CodeGenerator):
    """Writes a template's code, and notes which names it will look up when it runs.

    `jinja2.meta` finds them by generating the code a second time, for half of what a rubric takes
    to load.
    """

    def enter_frame(self, frame: Frame) -> None:
        super().enter_frame(frame)
        for action, name in frame.symbols.loads.values():
            if action == "resolve" and name is not None:
                self.environment.looked_up.add(name)  # type: ignore[attr-defined]

    def visit_Call(self, node: nodes.Call, frame: Frame, forward_caller: bool = False) -> None:
        """Call what charges the budget directly: no parser makes a node of that kind."""
        if not isinstance(node.node, nodes.EnvironmentAttribute):
            super().visit_Call(node, frame, forward_caller=forward_caller)
            return
        self.write(f"environment.{node.node.name}(")
        for argument in node.args:
            self.visit(argument, frame)
            self.write(", ")
        self.write(")")

    def pull_dependencies(self, nodes: Iterable[nodes.Node]) -> None:
        """Give the filters and tests of a body their names in its code, in a line each.

        Jinja takes six, should one not be there when the code runs: a quarter of all lines.
        """
        body = list(nodes)
        finder = DependencyFinderVisitor()
        for node in body:
            finder.visit(node)
        known = self.environment
        if finder.filters - known.filters.keys() or finder.tests - known.tests.keys():
            super().pull_dependencies(body)
            return
        for kind, ids, names in (
            ("filters", self.filters, finder.filters),
            ("tests", self.tests, finder.tests),
        ):
            for name in sorted(names):
                if name not in ids:
                    ids[name] = self.temporary_identifier()
                self.writeline(f"{ids[name]} = environment.{kind}[{name!r}]")


def _finalize(value: Any) -> Any:
    if isinstance(value, Hole):
        return under_way().mark(value)
    text = value if type(value) is str else plain(value)
    if isinstance(text, str):
        under_way().produce(len(text) if text.isascii() else 2 * len(text))
    return text


def _joined(parts: Iterable[str]) -> str:
    """Join what a macro or a block printed."""
    pieces = list(parts)
    try:
        check_length(sum(map(len, pieces)))
        return "".join(pieces)
    except TypeError:
        return concat("", *pieces)  # says what cannot be printed


class RubricEnvironment(ImmutableSandboxedEnvironment):
    """Jinja with a budget, a short list of filters, and no globals."""

    intercepted_binops = frozenset({"*", "**", "%", "+", "-", "/", "//"})
    template_class = _Sheet
    code_generator_class = _Generator
    # What the budget puts into templates. Only the generator can call these: templates see the
    # filters, the tests and their variables, never the environment.
    charge_body = staticmethod(paid)
    charge_built = staticmethod(built)
    charge_concat = staticmethod(concat)
    charge_key = staticmethod(checked_key)
    charge_look = staticmethod(weighed)
    charge_loop = staticmethod(counted)
    charge_search = staticmethod(searched)
    # Jinja joins with this what a macro or a block printed.
    concat = staticmethod(_joined)

    def __init__(self, loader: Any) -> None:
        super().__init__(
            loader=loader,
            undefined=Unknown,
            optimized=False,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
            finalize=_finalize,
            extensions=[_TokenLimit, RoleTag],
        )
        self.looked_up: set[str] = set()
        """Names that what was compiled will look up: its variables."""
        self.written: list[nodes.Node] = []
        """What was parsed last, as it was written: before the budget was put in."""
        self.globals = {}
        self.filters = dict(FILTERS)
        self.tests = dict(TESTS)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = Parser(self, source, name, filename).parse()
        self.written = walk(tree)
        for node in self.written:
            if refusal := _refusal(node):
                raise TemplateSyntaxError(refusal, node.lineno, name, filename)
        return charged(tree)

    def _generate(self, *args: Any, **kwargs: Any) -> str:
        """Compile outside of any rendering, so that nothing is computed before it is paid for."""
        token = current.set(None)
        try:
            return super()._generate(*args, **kwargs)
        finally:
            current.reset(token)

    # -- what a template may touch ----------------------------------------------------

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Look into views directly, into everything else with care."""
        if isinstance(obj, View) and not attribute.startswith("_"):
            try:
                return getattr(obj, attribute)
            except AttributeError:
                return self.undefined(obj=obj, name=attribute)
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Look up text and numbers only; filters do it for each item of a list."""
        meter = under_way()
        meter.step(1 + (len(argument) >> 6) if isinstance(argument, str) else 1)
        value = super().getitem(obj, checked_key(argument))
        if isinstance(value, str):
            meter.step(size(value) >> 7)
        return value

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Let attributes through that are data, and a list of methods.

        Jinja's own rule lets every public method through, among them pydantic's `parse_raw`,
        which runs pickles, and `str.ljust`, which makes a gigabyte of blanks.
        """
        if attr.startswith("_"):
            return False
        if isinstance(obj, BaseModel):
            return attr in type(obj).model_fields
        if isinstance(obj, TemplateModule):
            return attr in vars(obj)
        return isinstance(obj, View) or attr in _METHODS.get(type(obj), ())

    def wrap_str_format(self, value: Any) -> None:
        """Offer no `format`: it pads without bounds and prints what has no spelling."""

    def unsafe_undefined(self, obj: Any, attribute: str) -> Any:
        """Say what is refused."""
        hint = f"{attribute!r} of a {type(obj).__name__} is not for templates"
        return self.undefined(hint, name=attribute, obj=obj, exc=TemplateRuntimeError)

    def call(self, context: Any, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Charge every call, and what it returns."""
        under_way().step(_CALL)
        given = args
        if kwargs:
            given = (*args, *[v for name, v in kwargs.items() if name[0] != "_"])
        owner = getattr(obj, "__self__", None)
        if isinstance(owner, str):
            METHODS[obj.__name__].charge(owner, *given)
        else:
            for argument in given:
                weighed(argument)
        return built(super().call(context, obj, *args, **kwargs))

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Keep arithmetic to numbers of a sane size, and `+` to texts of a sane size."""
        if operator == "+" and isinstance(left, str) and isinstance(right, str):
            return concat(left, right)
        if not (isinstance(left, (int, float)) and isinstance(right, (int, float))):
            raise TemplateRuntimeError(f"{operator!r} takes numbers in a rubric")
        weighed(left)
        weighed(right)
        if operator == "**" and (abs(right) > 64 or abs(left) > 1_000_000):
            raise TemplateRuntimeError("a power of that size is not for a rubric")
        if operator == "*" and max(abs(left), abs(right)) > 1e18:
            raise TemplateRuntimeError("a product of that size is not for a rubric")
        return super().call_binop(context, operator, left, right)


_CALL = 4
"""Steps of a call: a macro takes several times as long as a round of a loop."""
_METHODS: dict[type, frozenset[str]] = {
    str: frozenset(METHODS),
    dict: frozenset(("get", "items", "keys", "values")),
    # Without `changed`: it would carry what one message saw into the next.
    LoopContext: frozenset({
        "cycle", "depth", "depth0", "first", "index", "index0", "last", "length", "nextitem",
        "previtem", "revindex", "revindex0",
    }),
    BlockReference: frozenset(("super",)),
}  # fmt: skip
"""Methods and attributes a template may use, by exact type."""
