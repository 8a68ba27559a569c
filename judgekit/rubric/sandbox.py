"""The Jinja environment of rubrics: no code, no globals, no endless loops.

Jinja's own sandbox blocks private attributes but allows every public method of the variables, and
pydantic's `parse_raw` runs pickles. Here, templates can call only listed methods, and every part of
a template is charged to the budget (see `budget`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jinja2 import StrictUndefined, TemplateRuntimeError, TemplateSyntaxError, nodes
from jinja2 import Template as JinjaTemplate
from jinja2.compiler import CodeGenerator, Frame
from jinja2.environment import TemplateModule
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.parser import Parser
from jinja2.runtime import BlockReference, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing
from pydantic import BaseModel

from judgekit.core.canonical import visible
from judgekit.core.suggest import suggest
from judgekit.rubric import budget
from judgekit.rubric.budget import Placeholder
from judgekit.rubric.charge import charged, walk
from judgekit.rubric.filters import FILTERS, METHODS, TESTS


class View:
    """An object for templates: all its public attributes are safe, and it has no methods.

    The environment skips Jinja's check of attributes for a view; the check would take longer than
    the rest of a rendering.
    """

    __slots__ = ()


_MAX_ENTRIES = 2_000


def _refusal(node: nodes.Node) -> str | None:
    """Return why a template may not contain a node; `None` if it may."""
    if isinstance(node, nodes.Const) and isinstance(node.value, int):
        return None if node.value.bit_length() <= budget.MAX_BITS else "a number of that size"
    if isinstance(node, nodes.Dict) and len(node.items) > _MAX_ENTRIES:
        # Numbers can be chosen so that their hashes all collide.
        return f"a mapping of more than {_MAX_ENTRIES:,} entries"
    if isinstance(node, nodes.For) and node.recursive:
        return "a loop cannot be recursive; use a macro"
    if isinstance(node, nodes.ScopedEvalContextModifier):
        return "prompts are not escaped; remove autoescape"
    return None


MAX_TOKENS = 20_000
"""Maximum number of tokens of a template; parsing and compiling take up to a second."""


class _TokenLimit(Extension):
    """Refuses a template with too many tokens while it is parsed."""

    def filter_stream(self, stream: TokenStream) -> Iterator[Token]:
        """Yield the tokens, up to the limit."""
        for count, token in enumerate(stream):
            if count > MAX_TOKENS:
                message = f"more than {MAX_TOKENS:,} tokens; put varying text in the cases"
                raise TemplateSyntaxError(message, token.lineno, stream.name, stream.filename)
            yield token


class RoleTag(Extension):
    """`{% role system %}...{% endrole %}`: the text inside becomes one message."""

    tags = {"role"}  # noqa: RUF012 - jinja's contract

    def parse(self, parser: Parser) -> nodes.Node:
        """Parse the tag; the body is rendered in place, so blocks and super() work."""
        line = next(parser.stream).lineno
        role = parser.stream.expect("name")
        if role.value not in ("system", "user", "assistant"):
            parser.fail(f"unknown role {role.value!r}: system, user or assistant", role.lineno)
        body = parser.parse_statements(("name:endrole",), drop_needle=True)
        call = self.call_method("_collect", [nodes.Const(role.value)], lineno=line)
        return nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _collect(self, role: str, caller: Callable[[], str]) -> str:
        rendering = budget.under_way()
        if rendering.inside:
            raise TemplateRuntimeError(f"role {role!r} is inside {rendering.inside}")
        place = len(rendering.messages)
        text = rendering.cached.get(place)
        if text is None:
            rendering.inside = f"role {role!r}"
            text = budget.printed(caller()).strip()
            rendering.inside = None
            if not rendering.read():
                # The rendering has read nothing of the case so far, so neither this text nor
                # the path to it depends on the case.
                rendering.cached[place] = text
        rendering.messages.append((role, text))
        return ""


class _Sheet(JinjaTemplate):
    """A template of a rubric."""

    def _get_default_module(self, ctx: Any = None) -> TemplateModule:
        """Run an imported file. This happens only once, so a role in it would appear only once."""
        if self._module is not None:
            return self._module
        rendering = budget.under_way()
        outer, rendering.inside = rendering.inside, "an imported file; put it in a macro"
        module = super()._get_default_module(ctx)
        rendering.inside = outer
        return module


class _Generator(CodeGenerator):
    """Writes the code of a template and collects the names that it looks up.

    `jinja2.meta` would generate the code a second time.
    """

    def enter_frame(self, frame: Frame) -> None:
        super().enter_frame(frame)
        for action, name in frame.symbols.loads.values():
            if action == "resolve" and name is not None:
                self.environment.looked_up.add(name)  # type: ignore[attr-defined]

    def visit_Call(self, node: nodes.Call, frame: Frame, forward_caller: bool = False) -> None:
        """Call charging functions directly; no parser creates nodes of this kind."""
        if not isinstance(node.node, nodes.EnvironmentAttribute):
            super().visit_Call(node, frame, forward_caller=forward_caller)
            return
        self.write(f"environment.{node.node.name}(")
        for argument in node.args:
            self.visit(argument, frame)
            self.write(", ")
        self.write(")")


def _finalize(value: Any) -> Any:
    if isinstance(value, Placeholder):
        return budget.under_way().mark(value)
    text = value if type(value) is str else budget.plain(value)
    if isinstance(text, str):
        budget.under_way().produce(len(text) if text.isascii() else 2 * len(text))
    return text


def _joined(parts: Iterable[str]) -> Any:
    """Join the output of a macro or a block."""
    pieces = list(parts)
    rendering = budget.under_way()
    if rendering.placeholders:
        return rendering.joined(pieces)
    try:
        budget.check_length(sum(map(len, pieces)))
        return "".join(pieces)
    except TypeError:
        return budget.concat("", *pieces)  # raises, and names the value


_KINDS = {
    "CaseView": "a case",
    "CriterionView": "a criterion",
    "MessageView": "a message",
    "RubricView": "the rubric",
}


class Unknown(StrictUndefined):
    """An undefined value; its error names the object and the closest name in it."""

    __slots__ = ()

    @property
    def _undefined_message(self) -> str:
        looked_in, name = self._undefined_obj, self._undefined_name
        if self._undefined_hint or looked_in is missing or not isinstance(name, str):
            return str(super()._undefined_message)
        if isinstance(looked_in, dict):
            known = (visible(key)[:60] for key in looked_in if isinstance(key, str))
            hint = suggest(name, known)
            return f"there is no {name!r}{hint}; write | default('') if cases may lack it"
        kind = _KINDS.get(type(looked_in).__name__)
        if kind is None:
            return str(super()._undefined_message)
        fields = (field for field in dir(looked_in) if not field.startswith("_"))
        return f"{kind} has no field {name!r}{suggest(name, fields)}"


class RubricEnvironment(ImmutableSandboxedEnvironment):
    """Jinja with a budget, a short list of filters, and no globals."""

    intercepted_binops = frozenset({"*", "**", "%", "+", "-", "/", "//"})
    template_class = _Sheet
    code_generator_class = _Generator
    # The functions that charge the budget. Only generated code can call them: templates see
    # filters, tests and their variables, never the environment.
    charge_body = staticmethod(budget.paid)
    charge_built = staticmethod(budget.built)
    charge_concat = staticmethod(budget.concat)
    charge_key = staticmethod(budget.checked_key)
    charge_look = staticmethod(budget.weighed)
    charge_loop = staticmethod(budget.counted)
    charge_search = staticmethod(budget.searched)
    # Jinja joins the output of macros and blocks with this function.
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
        """The variables of the last compiled template."""
        self.written: list[nodes.Node] = []
        """The nodes of the last parsed template, before the charges were added."""
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
        """Compile without a rendering, so nothing is computed before it is charged."""
        token = budget.current.set(None)
        try:
            return super()._generate(*args, **kwargs)
        finally:
            budget.current.reset(token)

    # -- what a template may touch ----------------------------------------------------

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Read attributes of views directly, of other objects with checks."""
        if isinstance(obj, View) and not attribute.startswith("_"):
            try:
                return getattr(obj, attribute)
            except AttributeError:
                return self.undefined(obj=obj, name=attribute)
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Look up an item by a text or a number; filters call this for each item of a list."""
        meter = budget.under_way()
        meter.step(1 + (len(argument) >> 6) if isinstance(argument, str) else 1)
        value = super().getitem(obj, budget.checked_key(argument))
        if isinstance(value, str):
            meter.step(budget.size(value) >> 7)
        return value

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Allow attributes that are data, and the methods in a list.

        Jinja's own rule allows every public method, such as pydantic's `parse_raw`, which runs
        pickles, and `str.ljust`, which builds a gigabyte of blanks.
        """
        if attr.startswith("_"):
            return False
        if isinstance(obj, BaseModel):
            return attr in type(obj).model_fields
        if isinstance(obj, TemplateModule):
            return attr in vars(obj)
        return isinstance(obj, View) or attr in _METHODS.get(type(obj), ())

    def wrap_str_format(self, value: Any) -> None:
        """Disable `format`: it pads without limits and prints any object."""

    def unsafe_undefined(self, obj: Any, attribute: str) -> Any:
        """Return an undefined value that names the refused attribute."""
        hint = f"{attribute!r} of a {type(obj).__name__} is not for templates"
        return self.undefined(hint, name=attribute, obj=obj, exc=TemplateRuntimeError)

    def call(self, context: Any, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Charge for every call and its result."""
        budget.under_way().step(_CALL)
        values = args
        if kwargs:
            values = (*args, *[v for name, v in kwargs.items() if name[0] != "_"])
        owner = getattr(obj, "__self__", None)
        if isinstance(owner, str):
            METHODS[obj.__name__].charge(owner, *values)
        else:
            for argument in values:
                # A macro may print a placeholder; any other use of it is refused there.
                if not (isinstance(argument, Placeholder) and isinstance(obj, Macro)):
                    budget.weighed(argument)
        return budget.built(super().call(context, obj, *args, **kwargs))

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Allow arithmetic with numbers of limited size, and `+` with texts of limited size."""
        if operator == "+" and isinstance(left, str) and isinstance(right, str):
            return budget.concat(left, right)
        if not (isinstance(left, (int, float)) and isinstance(right, (int, float))):
            raise TemplateRuntimeError(f"{operator!r} supports only numbers in a rubric")
        budget.weighed(left)
        budget.weighed(right)
        if operator == "**" and (abs(right) > 64 or abs(left) > 1_000_000):
            raise TemplateRuntimeError("the power is too large for a rubric")
        if operator == "*" and max(abs(left), abs(right)) > 1e18:
            raise TemplateRuntimeError("the product is too large for a rubric")
        return super().call_binop(context, operator, left, right)


_CALL = 4
"""Steps of a call; a macro takes several times as long as a round of a loop."""
_METHODS: dict[type, frozenset[str]] = {
    str: frozenset(METHODS),
    dict: frozenset(("get", "items", "keys", "values")),
    # Without `changed`, which would carry state from one message into the next.
    LoopContext: frozenset({
        "cycle", "depth", "depth0", "first", "index", "index0", "last", "length", "nextitem",
        "previtem", "revindex", "revindex0",
    }),
    BlockReference: frozenset(("super",)),
}  # fmt: skip
"""Methods and attributes a template may use, by exact type."""
