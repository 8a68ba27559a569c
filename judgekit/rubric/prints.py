"""What a template prints: text of the case outside a fence, names nobody reads, fields it shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from jinja2 import nodes

from judgekit.rubric.charge import walk

_SAFE = {"fence", "length", "count", "wordcount", "int", "float", "round", "abs", "sum"}
"""Filters that make a fenced text or a number of what they are given."""
_CLOSED = {"role"}
"""Attributes that hold one of a few words, whoever wrote the case."""
_ROUNDS = 6
"""Macros that hand a text to one another in a longer row are not followed to the end."""


class Spot(NamedTuple):
    """A place in a template."""

    template: str
    line: int
    words: str
    """What stands there."""


class Literal(NamedTuple):
    """The words of a template that are no code, and where they stand."""

    text: str
    starts: tuple[tuple[int, int], ...]
    """Offset in the text -> line, where each piece begins."""

    def line_at(self, offset: int) -> int:
        """Return the line of a place in the text."""
        start, line = max((s for s in self.starts if s[0] <= offset), default=(0, 1))
        return line + self.text.count("\n", start, offset)


def literal(tree: nodes.Template) -> Literal:
    """Return the words of a template, comments and code left out."""
    pieces: list[str] = []
    starts: list[tuple[int, int]] = []
    length = 0
    for node in walk(tree):
        if isinstance(node, nodes.TemplateData):
            starts.append((length, node.lineno))
            pieces.append(node.data)
            length += len(node.data)
    return Literal("".join(pieces), tuple(starts))


def unfenced(trees: Mapping[str, nodes.Template]) -> tuple[Spot, ...]:
    """Return where text of a case is printed outside a fence.

    Followed through loops, variables, conditions, filters, and macros across files. What only
    decides something (a condition, a comparison, a length) is not printed.
    """
    return _Taint(trees).found()


def unread(name: str, trees: Mapping[str, nodes.Template]) -> tuple[Spot, ...]:
    """Return the variables, macros and imports of a file that no file of the rubric reads."""
    read = set[str]().union(*(names_read(tree) for tree in trees.values()))
    spots: list[Spot] = []
    for node in walk(trees[name]):
        for defined, kind in _defined(node):
            if defined not in read and not defined.startswith("_"):
                spots.append(Spot(name, node.lineno, f"{kind} {defined!r}"))
    return tuple(spots)


def _defined(node: nodes.Node) -> Iterator[tuple[str, str]]:
    if isinstance(node, (nodes.Assign, nodes.AssignBlock)):
        for target in walk(node.target):
            if isinstance(target, nodes.Name):
                yield target.name, "variable"
    elif isinstance(node, nodes.With):
        for target in node.targets:
            if isinstance(target, nodes.Name):
                yield target.name, "variable"
    elif isinstance(node, nodes.Import):
        yield node.target, "import"
    elif isinstance(node, nodes.FromImport):
        for entry in node.names:
            yield (entry if isinstance(entry, str) else entry[1]), "import"
    elif isinstance(node, nodes.Macro):
        yield node.name, "macro"


def names_read(tree: nodes.Template) -> set[str]:
    """Return every name and attribute a file reads, or imports from another."""
    found: set[str] = set()
    for node in walk(tree):
        if isinstance(node, nodes.Name) and node.ctx == "load":
            found.add(node.name)
        elif isinstance(node, nodes.Getattr):
            found.add(node.attr)
        elif isinstance(node, nodes.Const) and isinstance(node.value, str):
            found.add(node.value)
    return found


def keys_read(trees: Mapping[str, nodes.Template]) -> dict[str, set[str]]:
    """Return the keys of `case.metadata` and `case.expected` that templates read."""
    found: dict[str, set[str]] = {"metadata": set(), "expected": set()}
    for tree in trees.values():
        for node in walk(tree):
            if not isinstance(node, (nodes.Getattr, nodes.Getitem)):
                continue
            inner = node.node
            if not isinstance(inner, nodes.Getattr) or inner.attr not in found:
                continue
            key = node.attr if isinstance(node, nodes.Getattr) else node.arg
            key = key.value if isinstance(key, nodes.Const) else key
            if isinstance(key, str):
                found[inner.attr].add(key)
    return found


def shown(trees: Mapping[str, nodes.Template], chain: Sequence[str]) -> set[str]:
    """Return the names and attributes that the rendered parts of a rubric's templates read.

    A block that is replaced without `super()` is not rendered.

    Args:
        trees: every file of the rubric, by name.
        chain: the rubric's own template, then what it extends.
    """
    found: set[str] = set()
    for name, tree in trees.items():
        if name not in chain:
            found |= names_read(tree)
    replaced: set[str] = set()
    for place, name in enumerate(chain):
        tree = trees[name]
        blocks = [node for node in walk(tree) if isinstance(node, nodes.Block)]
        below = set(replaced)
        for block in blocks:
            if block.name in below:
                continue
            body = nodes.Template(block.body, lineno=block.lineno)
            found |= names_read(body)
            if "super" not in names_read(body):
                replaced.add(block.name)
        if place == len(chain) - 1:
            found |= _outside_blocks(tree)
    return found


def _outside_blocks(tree: nodes.Template) -> set[str]:
    waiting: list[nodes.Node] = [n for n in tree.body if not isinstance(n, nodes.Block)]
    kept: list[nodes.Node] = []
    while waiting:
        node = waiting.pop()
        if isinstance(node, nodes.Block):
            continue
        kept.append(node)
        waiting.extend(node.iter_child_nodes())
    found: set[str] = set()
    for node in kept:
        if isinstance(node, nodes.Name):
            found.add(node.name)
        elif isinstance(node, nodes.Getattr):
            found.add(node.attr)
        elif isinstance(node, nodes.Const) and isinstance(node.value, str):
            found.add(node.value)
    return found


Names = dict[str, bool]


class _Taint:
    """Follows text of the case through templates."""

    def __init__(self, trees: Mapping[str, nodes.Template]) -> None:
        self.trees = trees
        self.macros: dict[str, nodes.Macro] = {}
        self.given: dict[str, set[str]] = {}
        """Macro -> its parameters that are somewhere given text of a case."""
        self.spots: dict[tuple[str, int], Spot] = {}
        self.file = ""
        for tree in trees.values():
            for node in walk(tree):
                if isinstance(node, nodes.Macro):
                    self.macros[node.name] = node
                elif isinstance(node, nodes.FromImport):
                    self._alias(node)
        for tree in trees.values():
            for node in walk(tree):
                if isinstance(node, nodes.FromImport):
                    self._alias(node)

    def _alias(self, node: nodes.FromImport) -> None:
        for entry in node.names:
            if not isinstance(entry, str) and entry[0] in self.macros:
                self.macros[entry[1]] = self.macros[entry[0]]

    def found(self) -> tuple[Spot, ...]:
        for _ in range(_ROUNDS):
            before = {name: set(params) for name, params in self.given.items()}
            self.spots.clear()
            for name, tree in self.trees.items():
                self.file = name
                self._body(tree.body, {"case": True})
            if before == self.given:
                break
        return tuple(spot for _, spot in sorted(self.spots.items()))

    # -- statements -----------------------------------------------------------------

    def _body(self, body: Iterable[nodes.Node], names: Names) -> bool:
        """Walk statements; return whether any of them printed text of the case."""
        printed = False
        for node in body:
            printed = self._statement(node, names) or printed
        return printed

    def _statement(self, node: nodes.Node, names: Names) -> bool:
        if isinstance(node, nodes.Output):
            return self._output(node, names)
        if isinstance(node, nodes.For):
            inner = dict(names)
            self._bind(node.target, self._open(node.iter, names), inner)
            return self._body([*node.body, *node.else_], inner)
        if isinstance(node, nodes.If):
            return self._body([*node.body, *node.elif_, *node.else_], names)
        if isinstance(node, nodes.Assign):
            self._bind(node.target, self._open(node.node, names), names)
            return False
        if isinstance(node, nodes.AssignBlock):
            self._bind(node.target, self._quietly(node.body, names, node.filter), names)
            return False
        if isinstance(node, nodes.With):
            inner = dict(names)
            for target, value in zip(node.targets, node.values, strict=True):
                self._bind(target, self._open(value, names), inner)
            return self._body(node.body, inner)
        if isinstance(node, nodes.FilterBlock):
            if _fences(node.filter):
                self._quietly(node.body, names, None)
                return False
            return self._body(node.body, dict(names))
        if isinstance(node, nodes.Macro):
            params = {arg.name for arg in node.args if isinstance(arg, nodes.Name)}
            tainted = self.given.get(node.name, set())
            return self._body(node.body, {**names, **{p: p in tainted for p in params}})
        if isinstance(node, nodes.CallBlock):
            self._open(node.call, names)
            return self._body(node.body, dict(names))
        body = getattr(node, "body", None)
        return self._body(body, dict(names)) if isinstance(body, list) else False

    def _quietly(self, body: Sequence[nodes.Node], names: Names, filter: Any) -> bool:
        """Walk statements whose output is not printed here; return whether it is open text."""
        kept = dict(self.spots)
        printed = self._body(body, dict(names))
        self.spots = kept
        return printed and not _fences(filter)

    def _output(self, node: nodes.Output, names: Names) -> bool:
        printed = False
        for part in node.nodes:
            if isinstance(part, nodes.TemplateData) or not self._open(part, names):
                continue
            spot = Spot(self.file, part.lineno, _spelled(part))
            self.spots.setdefault((self.file, part.lineno), spot)
            printed = True
        return printed

    def _bind(self, target: nodes.Node, value: bool, names: Names) -> None:
        for node in walk(target):
            if isinstance(node, nodes.Name):
                names[node.name] = value

    # -- expressions -----------------------------------------------------------------

    def _open(self, node: nodes.Node | None, names: Names) -> bool:
        """Return whether an expression holds text of the case that is not fenced."""
        if node is None or isinstance(node, (nodes.Const, nodes.Compare, nodes.Not, nodes.Test)):
            return False
        if isinstance(node, nodes.Name):
            return names.get(node.name, False)
        if isinstance(node, nodes.Getattr):
            inside = self._open(node.node, names)
            return node.attr not in _CLOSED and (inside or node.attr == "case")
        if isinstance(node, nodes.Getitem):
            return self._open(node.node, names)
        if isinstance(node, nodes.Filter):
            return self._filtered(node, names)
        if isinstance(node, nodes.Call):
            return self._called(node, names)
        if isinstance(node, nodes.CondExpr):
            return self._open(node.expr1, names) or self._open(node.expr2, names)
        return self._any(node.iter_child_nodes(), names)

    def _any(self, given: Iterable[nodes.Node], names: Names) -> bool:
        # Each is looked at: a call to a macro tells what the macro is given.
        return True in [self._open(node, names) for node in given]

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
        given = [self._open(arg, names) for arg in node.args]
        named = {pair.key: self._open(pair.value, names) for pair in node.kwargs}
        macro = self.macros.get(name)
        if macro is not None:
            params = [arg.name for arg in macro.args if isinstance(arg, nodes.Name)]
            tainted = self.given.setdefault(macro.name, set())
            tainted.update(p for p, value in zip(params, given, strict=False) if value)
            tainted.update(p for p, value in named.items() if value and p in params)
            return any(given[len(params) :])
        return any(given) or any(named.values()) or self._open(callee, names)


def _fences(filter: Any) -> bool:
    """Return whether a chain of filters begins with, or holds, a fence."""
    while isinstance(filter, nodes.Filter):
        if filter.name == "fence":
            return True
        filter = filter.node
    return False


def _spelled(node: nodes.Node | None) -> str:
    """Return roughly how an expression was written."""
    if isinstance(node, nodes.Getattr):
        return f"{_spelled(node.node)}.{node.attr}"
    if isinstance(node, nodes.Name):
        return node.name
    if isinstance(node, nodes.Filter):
        return (
            _spelled(node.node)
            if node.name.startswith("_")
            else (f"{_spelled(node.node)} | {node.name}")
        )
    if isinstance(node, nodes.Call):
        return f"{_spelled(node.node)}(...)"
    if isinstance(node, nodes.Getitem):
        return f"{_spelled(node.node)}[...]"
    return "..."
