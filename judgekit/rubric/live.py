"""The parts of a rubric's templates that can reach a judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain as joined
from typing import Any

from jinja2 import nodes

from judgekit.rubric.charge import walk


def names_read(inside: Iterable[nodes.Node]) -> set[str]:
    """Return every name and attribute that nodes read, or import from another file."""
    names: set[str] = set()
    for node in inside:
        if isinstance(node, nodes.Name) and node.ctx == "load":
            names.add(node.name)
        elif isinstance(node, nodes.Getattr):
            names.add(node.attr)
        elif isinstance(node, nodes.Const) and isinstance(node.value, str):
            names.add(node.value)
    return names


def shown(trees: Mapping[str, nodes.Template], chain: Sequence[str]) -> set[str]:
    """Return the names and attributes that the templates read in parts that can be rendered.

    These parts cannot: a block that is replaced without `super()`, a macro that is never called, a
    value that is set and never read, and a branch with a constant condition that does not hold.

    Args:
        trees: every file of the rubric, by name.
        chain: the rubric's own template, then the templates that it extends.
    """
    return _Live(trees, chain).names


class _Live:
    """The nodes of templates that can be rendered."""

    def __init__(self, trees: Mapping[str, nodes.Template], chain: Sequence[str]) -> None:
        self._trees = trees
        every = [node for tree in trees.values() for node in walk(tree)]
        self._macros: dict[str, list[nodes.Macro]] = {}
        for macro in (node for node in every if isinstance(node, nodes.Macro)):
            self._macros.setdefault(macro.name, []).append(macro)
        self._aliases = {
            entry[1]: entry[0]
            for node in every
            if isinstance(node, nodes.FromImport)
            for entry in node.names
            if not isinstance(entry, str)
        }
        self._blocks = [
            {node.name: node for node in walk(trees[name]) if isinstance(node, nodes.Block)}
            for name in chain
        ]
        self.names: set[str] = set()
        self._set: list[tuple[set[str], list[nodes.Node]]] = []
        """The names that a statement sets, and the nodes of its value, which may be unused."""
        self._seen: set[int] = set()
        self._walk(trees[chain[-1]].body)
        for name in chain[:-1]:  # a child runs what it sets outside its blocks
            self._walk(node for node in trees[name].body if not isinstance(node, nodes.Output))
        self._follow()

    def _follow(self) -> None:
        """Walk the macros that are called and the values that are read, until there is no more."""
        before = -1
        while before != len(self._seen):
            before = len(self._seen)
            for name in sorted(self.names):
                for macro in self._macros.get(self._aliases.get(name, name), ()):
                    self._walk([*macro.defaults, *macro.body])
            for targets, value in self._set:
                if targets & self.names:
                    self._walk(value)

    def _walk(self, body: Iterable[nodes.Node]) -> None:
        waiting = list(body)
        while waiting:
            node = waiting.pop()
            if id(node) not in self._seen:
                self._seen.add(id(node))
                self.names |= names_read((node,))
                waiting.extend(self._inside(node))

    def _inside(self, node: nodes.Node) -> Iterator[nodes.Node]:
        """Yield the nodes in a node that can be rendered."""
        if isinstance(node, nodes.Block):
            yield from self._block(node.name)
        elif isinstance(node, (nodes.If, nodes.CondExpr)):
            yield from _branches(node)
        elif isinstance(node, nodes.Include):
            for name in names_read((node.template,)):
                yield from self._trees[name].body if name in self._trees else ()
        elif isinstance(node, nodes.Assign):
            self._set.append((_targets([node.target]), [node.node]))
        elif isinstance(node, nodes.AssignBlock):
            self._set.append((_targets([node.target]), [*node.body]))
        elif isinstance(node, nodes.With):
            for target, value in zip(node.targets, node.values, strict=True):
                self._set.append((_targets([target]), [value]))
            yield from node.body
        elif not isinstance(node, nodes.Macro):
            yield from node.iter_child_nodes()

    def _block(self, name: str) -> Iterator[nodes.Node]:
        """Yield the body of a block as the chain replaces it, with what `super()` adds."""
        for blocks in self._blocks:
            if name in blocks:
                yield from blocks[name].body
                if "super" not in names_read(walk(blocks[name])):
                    return


def _branches(node: nodes.If | nodes.CondExpr) -> Iterator[nodes.Node]:
    """Yield a condition and its branches, without those that a constant rules out."""
    if isinstance(node, nodes.CondExpr):
        yield node.test
        yield from _chosen(node.test, [node.expr1], [node.expr2] if node.expr2 else [])
        return
    rest: list[nodes.Node] = [*node.else_]
    for branch in reversed(node.elif_):
        rest = list(_chosen(branch.test, branch.body, rest))
    yield from (node.test, *(branch.test for branch in node.elif_))
    yield from _chosen(node.test, node.body, rest)


def _chosen(
    test: Any, body: Iterable[nodes.Node], rest: Iterable[nodes.Node]
) -> Iterable[nodes.Node]:
    try:
        return body if test.as_const() else rest
    except nodes.Impossible:
        return joined(body, rest)


def _targets(inside: Iterable[nodes.Node]) -> set[str]:
    """Return the names that an assignment sets; `namespace.name` sets both."""
    every = (node for target in inside for node in walk(target))
    return {
        name
        for node in every
        for name in (
            (node.name,)
            if isinstance(node, nodes.Name)
            else (node.name, node.attr)
            if isinstance(node, nodes.NSRef)
            else ()
        )
    }
