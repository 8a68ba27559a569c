"""Analysis of templates for lint: unfenced text of the case, unused names, keys of objects."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from jinja2 import nodes

from judgekit.core.case_field import JUDGED, OBJECTS
from judgekit.rubric.charge import walk
from judgekit.rubric.live import names_read
from judgekit.rubric.template_file import defined_names

_SAFE = {"fence", "length", "count", "wordcount", "int", "float", "round", "abs", "sum"}
"""Filters that return a fenced text or a number."""
_CLOSED = {"role"}
"""Attributes with a fixed set of values."""
_ROUNDS = 6
"""Maximum length of a chain of macros that is followed."""


class Spot(NamedTuple):
    """A place in a template."""

    template: str
    line: int
    words: str
    """The expression."""


class Literal(NamedTuple):
    """The text of a template outside its code, with line numbers."""

    text: str
    starts: tuple[tuple[int, int], ...]
    """Offset and line of the start of each piece."""

    def line_at(self, offset: int) -> int:
        """Return the line of an offset in the text."""
        start, line = max((s for s in self.starts if s[0] <= offset), default=(0, 1))
        return line + self.text.count("\n", start, offset)


def literal(tree: nodes.Template) -> Literal:
    """Return the text of a template, without comments and code."""
    pieces = [node for node in walk(tree) if isinstance(node, nodes.TemplateData)]
    offsets = itertools.accumulate((len(piece.data) for piece in pieces), initial=0)
    lines = [piece.lineno for piece in pieces]
    return Literal(
        "".join(piece.data for piece in pieces), tuple(zip(offsets, lines, strict=False))
    )


def unfenced(trees: Mapping[str, nodes.Template]) -> tuple[Spot, ...]:
    """Return the places that print text of a case outside a fence.

    The analysis follows loops, variables, conditions, filters, and macros across files.
    Conditions, comparisons and lengths do not print text.
    """
    return _Taint(trees).spots()


def fence_labels(trees: Mapping[str, nodes.Template]) -> frozenset[str]:
    """Return the constant names of the tags that templates put around material."""
    every = (node for tree in trees.values() for node in walk(tree))
    return frozenset(
        argument.value.casefold()
        for node in every
        if isinstance(node, nodes.Filter) and node.name == "fence"
        for argument in node.args[:1]
        if isinstance(argument, nodes.Const) and isinstance(argument.value, str)
    )


def unread(name: str, trees: Mapping[str, nodes.Template]) -> tuple[Spot, ...]:
    """Return the unused variables, macros and imports of a file."""
    read = set[str]().union(*(names_read(walk(tree)) for tree in trees.values()))
    return tuple(
        Spot(name, node.lineno, f"{kind} {defined!r}")
        for node in walk(trees[name])
        for defined, kind in defined_names(node)
        if defined not in read and not defined.startswith("_")
    )


def keys_read(trees: Mapping[str, nodes.Template]) -> dict[str, set[str]]:
    """Return the keys that templates read in the objects of a case, such as `case.metadata`."""
    keys: dict[str, set[str]] = {name: set() for name in OBJECTS if name in JUDGED}
    for node in (node for tree in trees.values() for node in walk(tree)):
        if not isinstance(node, (nodes.Getattr, nodes.Getitem)):
            continue
        inner = node.node
        key = node.attr if isinstance(node, nodes.Getattr) else node.arg
        key = key.value if isinstance(key, nodes.Const) else key
        if isinstance(inner, nodes.Getattr) and inner.attr in keys and isinstance(key, str):
            keys[inner.attr].add(key)
    return keys


Names = dict[str, bool]


class _Taint:
    """Follows text of the case through templates."""

    def __init__(self, trees: Mapping[str, nodes.Template]) -> None:
        self.trees = trees
        self.tainted: dict[str, set[str]] = {}
        """Macro -> its parameters that receive text of the case in some call."""
        self._spots: dict[tuple[str, int], Spot] = {}
        self.file = ""
        every = [node for tree in trees.values() for node in walk(tree)]
        self.macros = {node.name: node for node in every if isinstance(node, nodes.Macro)}
        imports = (node.names for node in every if isinstance(node, nodes.FromImport))
        for entry in itertools.chain.from_iterable(imports):
            if not isinstance(entry, str) and entry[0] in self.macros:
                self.macros[entry[1]] = self.macros[entry[0]]

    def spots(self) -> tuple[Spot, ...]:
        for _ in range(_ROUNDS):
            before = {name: set(params) for name, params in self.tainted.items()}
            self._spots.clear()
            for name, tree in self.trees.items():
                self.file = name
                self._body(tree.body, {"case": True})
            if before == self.tainted:
                break
        return tuple(spot for _, spot in sorted(self._spots.items()))

    # -- statements -----------------------------------------------------------------

    def _body(self, body: Iterable[nodes.Node], names: Names) -> bool:
        """Walk statements; return whether one of them prints text of the case."""
        printed = False
        for node in body:
            printed = self._statement(node, names) or printed
        return printed

    def _statement(self, node: nodes.Node, names: Names) -> bool:
        if isinstance(node, nodes.Output):
            return self._output(node, names)
        if isinstance(node, nodes.If):
            return self._body([*node.body, *node.elif_, *node.else_], names)
        if isinstance(node, (nodes.Assign, nodes.AssignBlock)):
            if isinstance(node, nodes.Assign):
                value = self._open(node.node, names)
            else:
                value = self._quietly(node.body, names, node.filter)
            self._bind(node.target, value, names)
            return False
        if isinstance(node, nodes.FilterBlock) and _fences(node.filter):
            self._quietly(node.body, names, None)
            return False
        inner = dict(names)
        if isinstance(node, nodes.For):
            self._bind(node.target, self._open(node.iter, names), inner)
        elif isinstance(node, nodes.With):
            for target, expression in zip(node.targets, node.values, strict=True):
                self._bind(target, self._open(expression, names), inner)
        elif isinstance(node, nodes.Macro):
            tainted = self.tainted.get(node.name, set())
            inner |= {name: name in tainted for name in _parameters(node)}
        elif isinstance(node, nodes.CallBlock):
            self._open(node.call, names)
        return self._body(node.iter_child_nodes(only=("body", "else_")), inner)

    def _quietly(self, body: Sequence[nodes.Node], names: Names, filter: Any) -> bool:
        """Walk statements with captured output; return whether that is unfenced text."""
        spots = dict(self._spots)
        printed = self._body(body, dict(names))
        self._spots = spots
        return printed and not _fences(filter)

    def _output(self, node: nodes.Output, names: Names) -> bool:
        printed = False
        for part in node.nodes:
            if isinstance(part, nodes.TemplateData) or not self._open(part, names):
                continue
            spot = Spot(self.file, part.lineno, _spelled(part))
            self._spots.setdefault((self.file, part.lineno), spot)
            printed = True
        return printed

    def _bind(self, target: nodes.Node, value: bool, names: Names) -> None:
        for node in walk(target):
            if isinstance(node, nodes.Name):
                names[node.name] = value

    # -- expressions -----------------------------------------------------------------

    def _open(self, node: nodes.Node | None, names: Names) -> bool:
        """Return whether an expression has unfenced text of the case."""
        if node is None or isinstance(node, (nodes.Const, nodes.Compare, nodes.Not, nodes.Test)):
            return False
        if isinstance(node, nodes.Name):
            return names.get(node.name, False)
        if isinstance(node, nodes.Getattr):
            inside = self._open(node.node, names)
            return node.attr not in _CLOSED and (inside or node.attr == "case")
        if isinstance(node, nodes.Filter):
            return self._filtered(node, names)
        if isinstance(node, nodes.Call):
            return self._called(node, names)
        # An index or a condition decides what is printed, but is not printed itself.
        return self._any(node.iter_child_nodes(exclude=("arg", "test")), names)

    def _any(self, inside: Iterable[nodes.Node], names: Names) -> bool:
        # A list, not a generator: every call of a macro must be seen.
        return True in [self._open(node, names) for node in inside]

    def _filtered(self, node: nodes.Filter, names: Names) -> bool:
        first = node.args[0] if node.args else None
        mapped = node.name == "map" and isinstance(first, nodes.Const) and first.value in _SAFE
        open_inside = self._open(node.node, names)
        if node.name in _SAFE or mapped:
            return False
        closed = any(
            isinstance(pair.value, nodes.Const) and pair.value.value in _CLOSED
            for pair in node.kwargs
            if pair.key == "attribute"
        )
        if closed and node.name in ("map", "join"):
            return False
        return self._any(node.args, names) or open_inside

    def _called(self, node: nodes.Call, names: Names) -> bool:
        callee = node.node
        name = callee.name if isinstance(callee, nodes.Name) else getattr(callee, "attr", "")
        values = [self._open(arg, names) for arg in node.args]
        named = {pair.key: self._open(pair.value, names) for pair in node.kwargs}
        macro = self.macros.get(name)
        if macro is not None:
            params = _parameters(macro)
            tainted = self.tainted.setdefault(macro.name, set())
            tainted.update(p for p, value in zip(params, values, strict=False) if value)
            tainted.update(p for p, value in named.items() if value and p in params)
            return any(values[len(params) :])
        return any(values) or any(named.values()) or self._open(callee, names)


def _parameters(macro: nodes.Macro) -> list[str]:
    return [arg.name for arg in macro.args if isinstance(arg, nodes.Name)]


def _fences(filter: Any) -> bool:
    """Return whether a chain of filters contains a fence."""
    while isinstance(filter, nodes.Filter):
        if filter.name == "fence":
            return True
        filter = filter.node
    return False


def _spelled(node: nodes.Node | None) -> str:
    """Return an expression roughly as it was written."""
    if isinstance(node, nodes.Getattr):
        return f"{_spelled(node.node)}.{node.attr}"
    if isinstance(node, nodes.Name):
        return node.name
    if isinstance(node, nodes.Filter):
        inner = _spelled(node.node)
        return inner if node.name.startswith("_") else f"{inner} | {node.name}"
    if isinstance(node, nodes.Call):
        return f"{_spelled(node.node)}(...)"
    if isinstance(node, nodes.Getitem):
        return f"{_spelled(node.node)}[...]"
    return "..."
