"""A sheet: one template file, parsed, checked and compiled."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import NamedTuple

from jinja2 import nodes

from judgekit.core.errors import RubricError, place
from judgekit.rubric.charge import walk
from judgekit.rubric.checks import check_body
from judgekit.rubric.complain import Complain, refuse
from judgekit.rubric.mention import Mention, mentions
from judgekit.rubric.sandbox import RubricEnvironment
from judgekit.rubric.translated import translated

MAX_BODIES = 200_000
"""Characters of template all files of a rubric may have together: compiling them takes seconds."""
TOO_LONG = (
    f"the rubric's templates have more than {MAX_BODIES:,} characters; "
    "what varies belongs in the cases"
)


class Sheet(NamedTuple):
    """One template file, ready for any environment."""

    code: CodeType
    length: int
    """Characters of its body."""
    built_from: list[tuple[str, str | None]]
    """The templates it names, and where it does."""
    blocks: dict[str, int]
    """The blocks in it, and their lines."""
    inner: frozenset[str]
    """Those of them that stand inside another; known only of a template that extends one."""
    taken: list[tuple[str, str, int]]
    """The names it imports: file, name, line."""
    offered: frozenset[str]
    """The names it defines at its top, which others may import."""
    names: frozenset[str]
    """Every name it reads or sets."""
    text: str
    """Its literal text."""
    mentions: tuple[Mention, ...]
    """The parameters it names."""


@lru_cache(maxsize=256)
def sheet_of(source: str, name: str, path: str, extends: bool) -> Sheet:
    """Parse, check and compile a template once, however many rubrics build on it."""
    environment = RubricEnvironment(None)
    with translated(file=path):
        length = len(source.lstrip("\n"))
        if length > MAX_BODIES:
            raise RubricError(TOO_LONG, where=path, rule="prompt-size")
        tree = environment.parse(source, name, path)
        inside = environment.written
        code = environment.compile(tree, name, path)
        offered = frozenset(_exported(tree))
        looked_up = environment.looked_up - offered
        check_body(tree, inside, looked_up, name, path, extends=extends, complain=refuse)
        blocks = [node for node in inside if isinstance(node, nodes.Block)]
        within = [node for b in blocks if extends for node in walk(b)[1:]]
        return Sheet(
            code=code,
            length=length,
            built_from=_built_from(inside, path),
            blocks={node.name: node.lineno for node in blocks},
            inner=frozenset(node.name for node in within if isinstance(node, nodes.Block)),
            taken=list(_taken(inside)),
            offered=offered,
            names=frozenset(node.name for node in inside if isinstance(node, nodes.Name)),
            text="".join(node.data for node in inside if isinstance(node, nodes.TemplateData)),
            mentions=mentions(inside, path),
        )


def tree_of(
    body: str, name: str, path: str, *, parent: str | None, complain: Complain
) -> nodes.Template:
    """Parse and check a template; return its syntax tree.

    Args:
        body: the template, without the front matter.
        name: its name.
        path: its file, for messages.
        parent: the template its front matter extends.
        complain: what is done with each fault.

    Raises:
        RubricError: it cannot be parsed.
    """
    with translated(file=path):
        if len(body.lstrip("\n")) > MAX_BODIES:
            raise RubricError(TOO_LONG, where=path, rule="prompt-size")
        environment = RubricEnvironment(None)
        tree = environment.parse(body, name, path)
        inside = environment.written
        environment.compile(tree, name, path, raw=True)
        looked_up = environment.looked_up.difference(_exported(tree))
        extends = parent is not None
        if extends:
            inside.insert(0, nodes.Extends(nodes.Const(parent, lineno=1), lineno=1))
        check_body(tree, inside, looked_up, name, path, extends=extends, complain=complain)
    return tree


def _exported(tree: nodes.Template) -> Iterator[str]:
    """Yield the names a template defines at its top, which its blocks may use."""
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


def _built_from(inside: list[nodes.Node], path: str) -> list[tuple[str, str | None]]:
    """Return the templates a file names, and where it does."""
    names: list[tuple[str, str | None]] = []
    for node in inside:
        if not isinstance(node, (nodes.Extends, nodes.Include, nodes.Import, nodes.FromImport)):
            continue
        template = node.template
        if not isinstance(template, nodes.Const) or not isinstance(template.value, str):
            message = "name the template in quotes; a name made while rendering is not allowed"
            raise RubricError(message, where=place(path, node.lineno), rule="template-syntax")
        names.append((template.value, place(path, node.lineno)))
    return names


def _taken(inside: list[nodes.Node]) -> Iterator[tuple[str, str, int]]:
    """Yield what `{% from "file" import name %}` names: the file, the name, the line."""
    for node in inside:
        if isinstance(node, nodes.FromImport) and isinstance(node.template, nodes.Const):
            for entry in node.names:
                yield (
                    node.template.value,
                    entry if isinstance(entry, str) else entry[0],
                    node.lineno,
                )
