"""Add charges to a parsed template, for all nodes that run, repeat, compare or build."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jinja2 import nodes
from jinja2.visitor import NodeTransformer


def walk(node: nodes.Node) -> list[nodes.Node]:
    """Return a node and all nodes in it, in the order of the text.

    Without recursion, so that a deeply nested template cannot exceed the stack.
    """
    every: list[nodes.Node] = []
    waiting = [node]
    while waiting:
        every.append(current := waiting.pop())
        waiting.extend(reversed(_children(current)))
    return every


def _children(node: nodes.Node) -> list[nodes.Node]:
    children: list[nodes.Node] = []
    for field in node.fields:
        value = getattr(node, field, None)
        if isinstance(value, nodes.Node):
            children.append(value)
        elif isinstance(value, list):
            children += [item for item in value if isinstance(item, nodes.Node)]
    return children


def _price(body: Iterable[nodes.Node]) -> tuple[int, int]:
    """Return the steps and characters of one run of a body, without separately charged nodes."""
    count = characters = 0
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        count += 1
        if isinstance(node, nodes.TemplateData):
            characters += len(node.data)
        elif isinstance(node, nodes.Const) and isinstance(node.value, str):
            characters += len(node.value)
        elif isinstance(node, nodes.For):
            waiting += (node.iter, *node.else_)
        elif isinstance(node, nodes.Macro):
            waiting += node.defaults
        elif isinstance(node, nodes.CallBlock):
            waiting.append(node.call)
        elif not isinstance(node, nodes.Block):
            waiting += _children(node)
    return 1 + (count >> 4), characters


def _charged(name: str, *values: Any, line: int | None = None) -> nodes.Call:
    """Return a call of a charging function, which no template can name (see `_Generator`).

    Args:
        name: the function.
        values: its arguments.
        line: the line of the call; that of the first argument by default.
    """
    args: list[nodes.Expr] = [g if isinstance(g, nodes.Expr) else nodes.Const(g) for g in values]
    function = nodes.EnvironmentAttribute(name)
    return nodes.Call(function, args, [], None, None, lineno=line or args[0].lineno)


class _Charge(NodeTransformer):
    """Adds the charges to a template."""

    def _pays(self, node: Any) -> nodes.Node:
        steps, characters = _price(node.body)
        self.generic_visit(node)
        line = node.body[0].lineno if node.body else node.lineno
        paid = _charged("charge_body", steps, characters, line=line)
        node.body.insert(0, nodes.ExprStmt(paid, lineno=line))
        return node  # type: ignore[no-any-return]

    visit_Template = visit_Block = visit_Macro = visit_CallBlock = _pays

    def _leaf(self, node: nodes.Node) -> nodes.Node:
        return node

    visit_TemplateData = visit_Const = visit_Name = _leaf

    def visit_For(self, node: nodes.For) -> nodes.Node:
        steps, characters = _price([*node.body, *filter(None, [node.test])])
        self.generic_visit(node)
        node.iter = _charged("charge_loop", node.iter, steps, characters)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return _charged("charge_concat", *node.nodes, line=node.lineno)

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:
        self.generic_visit(node)
        return _charged("charge_built", node) if isinstance(node.arg, nodes.Slice) else node

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:
        self.generic_visit(node)
        if not isinstance(node.expr, nodes.Const):
            node.expr = _charged("charge_look", node.expr)
        for operand in node.ops:
            if not isinstance(operand.expr, nodes.Const):
                charge = "charge_search" if operand.op in ("in", "notin") else "charge_look"
                operand.expr = _charged(charge, operand.expr)
        return node

    def visit_Pair(self, node: nodes.Pair) -> nodes.Node:
        self.generic_visit(node)
        if not isinstance(node.key, nodes.Const):
            node.key = _charged("charge_key", node.key)
        return node


def charged(tree: nodes.Template) -> nodes.Template:
    """Add the charges to a template, in place."""
    whole: nodes.Template = _Charge().visit(tree)
    return whole
