"""Parse, check and compile one template file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import NamedTuple

from jinja2 import nodes

from judgekit.core.errors import RubricError, place
from judgekit.rubric.charge import walk
from judgekit.rubric.checks import Complain, check_body, refuse
from judgekit.rubric.sandbox import RubricEnvironment
from judgekit.rubric.translated import translated

MAX_BODIES = 200_000
"""Characters that the templates of one rubric may have together; compiling them takes seconds."""
TOO_LONG = (
    f"the rubric's templates have more than {MAX_BODIES:,} characters; "
    "what varies belongs in the cases"
)


class Mention(NamedTuple):
    """One use of a parameter: `parameters.NAME`."""

    name: str
    line: int


class Sheet(NamedTuple):
    """One template file, ready for any environment."""

    code: CodeType
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
    tree: nodes.Template
    written: list[nodes.Node]
    """Every node, before the budget is added."""
    names: set[str]
    """The names that it looks up and does not define."""
    exports: frozenset[str]
    code: CodeType


def _parse(body: str, name: str, path: str) -> _Parsed:
    if len(body.lstrip("\n")) > MAX_BODIES:
        raise RubricError(TOO_LONG, where=path, rule="prompt-size")
    environment = RubricEnvironment(None)
    tree = environment.parse(body, name, path)
    written = environment.written
    code = environment.compile(tree, name, path)
    exports = frozenset(_exported(tree))
    return _Parsed(tree, written, environment.looked_up - exports, exports, code)


@lru_cache(maxsize=256)
def sheet_of(source: str, name: str, path: str, extends: bool) -> Sheet:
    """Parse, check and compile a template; rubrics that share it share the result."""
    with translated(file=path):
        tree, written, looked_up, exports, code = _parse(source, name, path)
        check_body(tree, written, looked_up, name, path, extends=extends, complain=refuse)
        blocks = [node for node in written if isinstance(node, nodes.Block)]
        within = [node for b in blocks if extends for node in walk(b)[1:]]
        return Sheet(
            code=code,
            length=len(source.lstrip("\n")),
            built_from=_built_from(written, path),
            blocks={node.name: node.lineno for node in blocks},
            inner=frozenset(node.name for node in within if isinstance(node, nodes.Block)),
            imports=list(_imports(written)),
            exports=exports,
            names=frozenset(node.name for node in written if isinstance(node, nodes.Name)),
            text="".join(node.data for node in written if isinstance(node, nodes.TemplateData)),
            mentions=_mentions(written, path),
        )


def tree_of(
    body: str, name: str, path: str, *, parent: str | None, complain: Complain
) -> nodes.Template:
    """Parse and check a template; return its syntax tree.

    Args:
        body: the template, without the front matter.
        name: its name.
        path: its file, for messages.
        parent: the template that its front matter extends.
        complain: called with each fault.

    Raises:
        RubricError: it cannot be parsed.
    """
    with translated(file=path):
        tree, written, looked_up, _, _ = _parse(body, name, path)
        if parent is not None:
            written.insert(0, nodes.Extends(nodes.Const(parent, lineno=1), lineno=1))
        check_body(
            tree, written, looked_up, name, path, extends=parent is not None, complain=complain
        )
    return tree


def _exported(tree: nodes.Template) -> Iterator[str]:
    """Yield the names that a template defines at its top level."""
    for node in tree.body:
        if isinstance(node, nodes.FromImport):
            yield from (name if isinstance(name, str) else name[1] for name in node.names)
        elif isinstance(node, nodes.Import):
            yield node.target
        elif isinstance(node, nodes.Macro):
            yield node.name
        elif isinstance(node, (nodes.Assign, nodes.AssignBlock)):
            yield from (n.name for n in node.target.find_all(nodes.Name))
            if isinstance(node.target, nodes.Name):
                yield node.target.name


def _built_from(written: list[nodes.Node], path: str) -> list[tuple[str, str | None]]:
    """Return the templates that a file names, each with its `file:line`."""
    names: list[tuple[str, str | None]] = []
    for node in written:
        if not isinstance(node, (nodes.Extends, nodes.Include, nodes.Import, nodes.FromImport)):
            continue
        template = node.template
        if not isinstance(template, nodes.Const) or not isinstance(template.value, str):
            message = "name the template in quotes; a name made while rendering is not allowed"
            raise RubricError(message, where=place(path, node.lineno), rule="template-syntax")
        names.append((template.value, place(path, node.lineno)))
    return names


def _imports(written: list[nodes.Node]) -> Iterator[tuple[str, str, int]]:
    """Yield file, name and line of each `{% from "file" import name %}`."""
    for node in written:
        if isinstance(node, nodes.FromImport) and isinstance(node.template, nodes.Const):
            for entry in node.names:
                yield (
                    node.template.value,
                    entry if isinstance(entry, str) else entry[0],
                    node.lineno,
                )


def _mentions(written: list[nodes.Node], path: str) -> tuple[Mention, ...]:
    """Return every parameter that a template names.

    Raises:
        RubricError: it uses `parameters` in another way, or sets this name.
    """
    mentions, plain, others = [], set(), []
    for node in written:
        if isinstance(node, nodes.Getattr) and _is_parameters(node.node):
            mentions.append(Mention(node.attr, node.lineno))
            plain.add(id(node.node))
        elif isinstance(node, nodes.Name) and _is_parameters(node):
            others.append(node)
    for name in others:
        message = "write parameters.NAME; which parameters a template uses must be plain to see"
        if name.ctx != "load":
            message = "parameters are the rubric's; give this another name"
        elif id(name) in plain:
            continue
        raise RubricError(message, where=place(path, name.lineno), rule="unknown-variable")
    return tuple(mentions)


def _is_parameters(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Name) and node.name == "parameters"
