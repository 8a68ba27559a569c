"""Where a template names a parameter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from jinja2 import nodes

from judgekit.core.errors import RubricError, place

_HOW = "write parameters.NAME; which parameters a template uses must be plain to see"


class Mention(NamedTuple):
    """One `parameters.NAME`."""

    name: str
    line: int


def mentions(inside: Iterable[nodes.Node], path: str) -> tuple[Mention, ...]:
    """Return every parameter a template names.

    Raises:
        RubricError: it takes the parameters apart in another way, or uses their name for its own.
    """
    found, plain, others = [], set(), []
    for node in inside:
        if isinstance(node, nodes.Getattr) and _is_parameters(node.node):
            found.append(Mention(node.attr, node.lineno))
            plain.add(id(node.node))
        elif isinstance(node, nodes.Name) and _is_parameters(node):
            others.append(node)
    for name in others:
        if name.ctx != "load":
            message = "parameters are the rubric's; give this another name"
            raise RubricError(message, where=place(path, name.lineno), rule="unknown-variable")
        if id(name) not in plain:
            raise RubricError(_HOW, where=place(path, name.lineno), rule="unknown-variable")
    return tuple(found)


def _is_parameters(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Name) and node.name == "parameters"
