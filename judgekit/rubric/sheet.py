"""Parse, check and compile one template file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from jinja2 import nodes

from judgekit.core.errors import RubricError, place
from judgekit.core.suggest import closest, suggest
from judgekit.rubric.charge import walk
from judgekit.rubric.filters import FILTERS, TESTS
from judgekit.rubric.sandbox import RubricEnvironment
from judgekit.rubric.translated import translated
from judgekit.rubric.variant import CASE_FIELDS

MAX_BODIES = 200_000
"""Characters that the templates of one rubric may have together; compiling them takes seconds."""
TOO_LONG = (
    f"the rubric's templates have more than {MAX_BODIES:,} characters; "
    "what varies belongs in the cases"
)
Complain = Callable[[RubricError], None]
"""Called with a fault: loading raises the first one, lint collects all."""


def refuse(error: RubricError) -> None:
    """Raise the fault."""
    raise error


VARIABLES = (
    "case", "criteria", "details", "examples", "groups", "mode", "parameters", "rubric",
)  # fmt: skip
"""The variables of a template."""
_WRITTEN = {"case": "case.FIELD", "parameters": "parameters.NAME", "rubric": "rubric.NAME"}
_FULL_NAMES = {
    **{name: name for name in VARIABLES},
    **{field: f"case.{field}" for field in CASE_FIELDS},
    **dict.fromkeys(("prompt", "query", "question", "user_message"), "case.input"),
    **dict.fromkeys(("answer", "completion", "prediction", "response"), "case.output"),
    "description": "rubric.description",
    "system_prompt": "case.system",
}
"""Common spellings -> the variable."""


class UnknownVariable(RubricError):
    """A template uses a variable that does not exist."""

    def __init__(self, name: str, hint: str, *, where: str | None) -> None:
        super().__init__(f"unknown variable {name!r}{hint}", where=where, rule="unknown-variable")
        self.name = name


def with_parameter_hint(error: RubricError, parameters: Iterable[str]) -> RubricError:
    """Return an error that suggests `parameters.NAME` if the variable is a declared parameter."""
    if isinstance(error, UnknownVariable):
        for name in closest(error.name, parameters, alike=0.8):
            hint = f"; did you mean 'parameters.{name}'?"
            return UnknownVariable(error.name, hint, where=error.where)
    return error


class Mention(NamedTuple):
    """One use of a parameter: `parameters.NAME`."""

    name: str
    line: int


class Sheet(NamedTuple):
    """One template file, ready for any environment."""

    code: CodeType
    tree: nodes.Template
    """Its syntax tree, which nobody may change."""
    length: int
    """Characters of its body."""
    built_from: list[tuple[str, str | None]]
    """The templates it names, each with its `file:line`."""
    blocks: dict[str, int]
    """Its blocks and their lines."""
    inner: frozenset[str]
    """Blocks inside other blocks; only filled if the template extends another."""
    imports: list[tuple[str, str, int]]
    """The names it imports: file, name, line."""
    exports: frozenset[str]
    """The names it defines at its top level, which other files may import."""
    names: frozenset[str]
    """Every name it reads or sets."""
    text: str
    """Its literal text."""
    mentions: tuple[Mention, ...]
    """The parameters it names."""


class _Parsed(NamedTuple):
    """A template file, parsed and compiled, before its checks."""

    name: str
    path: str
    tree: nodes.Template
    written: list[nodes.Node]
    """Every node, before the budget is added."""
    looked_up: set[str]
    """The names that it looks up and does not define."""
    exports: frozenset[str]
    code: CodeType
    extends: bool
    """Whether it extends another template."""
    complain: Complain
    """Called with each fault."""

    def of(self, *kinds: type[nodes.Node]) -> Iterator[Any]:
        """Yield the nodes of some kinds."""
        return (node for node in self.written if isinstance(node, kinds))

    def fault(self, rule: str, message: str, line: int) -> RubricError:
        """Return the error of a fault on a line."""
        return RubricError(message, where=place(self.path, line), rule=rule)


def _parse(body: str, name: str, path: str, *, extends: bool, complain: Complain) -> _Parsed:
    if len(body.lstrip("\n")) > MAX_BODIES:
        raise RubricError(TOO_LONG, where=path, rule="prompt-size")
    environment = RubricEnvironment(None)
    tree = environment.parse(body, name, path)
    written = environment.written
    code = environment.compile(tree, name, path)
    exports = frozenset(_exported(tree))
    looked_up = environment.looked_up - exports
    return _Parsed(name, path, tree, written, looked_up, exports, code, extends, complain)


@lru_cache(maxsize=256)
def sheet_of(source: str, name: str, path: str, extends: bool) -> Sheet:
    """Parse, check and compile a template; rubrics that share it share the result.

    Args:
        source: the template, after the `extends` of its front matter.
        name: its name.
        path: its file, for messages.
        extends: whether its front matter extends another.

    Raises:
        RubricError: the first fault.
    """
    with translated(file=path):
        parsed = _parse(source, name, path, extends=extends, complain=refuse)
        _check(parsed)
        blocks = list(parsed.of(nodes.Block))
        within = [node for b in blocks if extends for node in walk(b)[1:]]
        return Sheet(
            code=parsed.code,
            tree=parsed.tree,
            length=len(source.lstrip("\n")),
            built_from=_built_from(parsed),
            blocks={node.name: node.lineno for node in blocks},
            inner=frozenset(node.name for node in within if isinstance(node, nodes.Block)),
            imports=[
                (node.template.value, entry if isinstance(entry, str) else entry[0], node.lineno)
                for node in parsed.of(nodes.FromImport)
                for entry in node.names
            ],
            exports=parsed.exports,
            names=frozenset(node.name for node in parsed.of(nodes.Name)),
            text="".join(node.data for node in parsed.of(nodes.TemplateData)),
            mentions=_mentions(parsed),
        )


def faults_of(source: str, name: str, path: str, extends: bool) -> list[RubricError]:
    """Return all faults of a template (see `sheet_of`)."""
    faults: list[RubricError] = []
    try:
        with translated(file=path):
            parsed = _parse(source, name, path, extends=extends, complain=faults.append)
            _check(parsed)
            _built_from(parsed)
            _mentions(parsed)
    except RubricError as exc:
        faults.append(exc)
    return faults


def defined_names(node: nodes.Node) -> Iterator[tuple[str, str]]:
    """Yield the names that a node defines, each with what it is: a variable, import or macro."""
    if isinstance(node, (nodes.Assign, nodes.AssignBlock, nodes.With)):
        targets = node.targets if isinstance(node, nodes.With) else [node.target]
        for inner in (inner for target in targets for inner in walk(target)):
            if isinstance(inner, nodes.Name):
                yield inner.name, "variable"
    elif isinstance(node, nodes.Import):
        yield node.target, "import"
    elif isinstance(node, nodes.FromImport):
        yield from ((name if isinstance(name, str) else name[1], "import") for name in node.names)
    elif isinstance(node, nodes.Macro):
        yield node.name, "macro"


def _exported(tree: nodes.Template) -> Iterator[str]:
    """Yield the names that a template defines at its top level."""
    for node in tree.body:
        if not isinstance(node, nodes.With):
            yield from (name for name, _ in defined_names(node))


def _built_from(parsed: _Parsed) -> list[tuple[str, str | None]]:
    """Return the templates that a file names, each with its `file:line`."""
    names: list[tuple[str, str | None]] = []
    for node in parsed.of(nodes.Extends, nodes.Include, nodes.Import, nodes.FromImport):
        template = node.template
        if not isinstance(template, nodes.Const) or not isinstance(template.value, str):
            message = "name the template in quotes; a name made while rendering is not allowed"
            raise parsed.fault("template-syntax", message, node.lineno)
        names.append((template.value, place(parsed.path, node.lineno)))
    return names


def _mentions(parsed: _Parsed) -> tuple[Mention, ...]:
    """Return every parameter that a template names.

    Raises:
        RubricError: it uses `parameters` in another way, or sets this name.
    """
    plain = [node for node in parsed.of(nodes.Getattr) if _is_name(node.node, "parameters")]
    known = {id(node.node) for node in plain}
    for node in parsed.of(nodes.Name):
        if _is_name(node, "parameters") and (node.ctx != "load" or id(node) not in known):
            message = "write parameters.NAME; which parameters a template uses must be plain to see"
            if node.ctx != "load":
                message = "parameters are the rubric's; give this another name"
            raise parsed.fault("unknown-variable", message, node.lineno)
    return tuple(Mention(node.attr, node.lineno) for node in plain)


def _is_name(node: nodes.Node, name: str) -> bool:
    return isinstance(node, nodes.Name) and node.name == name


# -- the checks --------------------------------------------------------------------


def _check(parsed: _Parsed) -> None:
    """Check the names in a template and the places of its text.

    A partial, whose name begins with `_`, gets its variables from the file that includes it.

    Raises:
        RubricError: it extends another template in its body.
    """
    _check_filters(parsed)
    partial = parsed.name.startswith("_") or "/_" in parsed.name
    if not partial:
        _check_variables(parsed)
    for node in parsed.of(nodes.Getattr):
        if _is_name(node.node, "case") and node.attr not in CASE_FIELDS:
            message = f"a case has no field {node.attr!r} for templates"
            hint = suggest(node.attr, CASE_FIELDS)
            parsed.complain(parsed.fault("unknown-field", f"{message}{hint}", node.lineno))
    if not partial:
        _check_top(parsed)


def _check_filters(parsed: _Parsed) -> None:
    """Refuse unknown filters and tests; inside `if`, Jinja finds them when the line runs."""
    for node in parsed.of(nodes.Filter, nodes.Test):
        what, known = ("filter", FILTERS) if isinstance(node, nodes.Filter) else ("test", TESTS)
        if node.name not in known:
            message = f"template: unknown {what} {node.name!r}{suggest(node.name, known)}"
            parsed.complain(parsed.fault("template-syntax", message, node.lineno))


def _check_variables(parsed: _Parsed) -> None:
    for name in sorted(parsed.looked_up.difference(VARIABLES)):
        line = next((n.lineno for n in parsed.of(nodes.Name) if n.name == name), None)
        parsed.complain(UnknownVariable(name, _hint(name), where=place(parsed.path, line)))


def _hint(name: str) -> str:
    """Return a hint such as `case.input` for `input`."""
    full = _FULL_NAMES.get(next(iter(closest(name, _FULL_NAMES)), ""))
    if full is None:
        return f"; known: {', '.join(_WRITTEN.get(known, known) for known in VARIABLES)}"
    return f"; did you mean {full!r}?"


def _check_top(parsed: _Parsed) -> None:
    """Refuse text outside blocks if the template extends another: Jinja would leave it out."""
    for extra in list(parsed.of(nodes.Extends))[1 if parsed.extends else 0 :]:
        message = "say what this extends in the front matter: `extends: NAME`"
        raise parsed.fault("extends", message, extra.lineno)
    if not parsed.extends:
        return
    outputs = (node for node in parsed.tree.body if isinstance(node, nodes.Output))
    for part in (part for output in outputs for part in output.nodes):
        data = part.data if isinstance(part, nodes.TemplateData) else ""
        if data.strip() or not isinstance(part, nodes.TemplateData):
            message = "text outside the blocks of a rubric that extends another is never shown"
            empty_lines = data[: -len(data.lstrip())].count("\n") if data else 0
            parsed.complain(parsed.fault("text-never-shown", message, part.lineno + empty_lines))
