"""Texts outside templates that use fields of the case, such as the text of a criterion."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from jinja2 import nodes

from judgekit.core.case import Case, Message, is_given
from judgekit.core.case_field import MESSAGE_LISTS, OBJECTS
from judgekit.core.errors import CaseError, RubricError
from judgekit.rubric.charge import walk
from judgekit.rubric.folders import Folders
from judgekit.rubric.library import builtin_folder
from judgekit.rubric.template import Template

_PRINTS_CASE = re.compile(r"\{\{-?+[\s(]*+case\s*+[.\[]")
_TAG = re.compile(r"\{%[^%{}]*+%\}")
_READS_CASE = re.compile(r"\bcase\s*+[.\[]")
_PRINTED = re.compile(r"\{\{(-?+)([^{}]*+)\}\}")
_CHECKED = re.compile(r"\bif\b|\bdefault\b|\bd\(|\bdefined\b")
"""Signs that a text expects that a field may be missing."""
_NAME = "text"


def uses_case(text: str) -> bool:
    """Return whether a text is a template that uses fields of the case.

    Only such a text is a template: braces of any other kind are plain text.
    """
    if "{" not in text:
        return False
    tags = (tag[0] for tag in _TAG.finditer(text))
    return _PRINTS_CASE.search(text) is not None or any(map(_READS_CASE.search, tags))


@lru_cache(maxsize=1024)
def case_text(text: str) -> CaseTemplate:
    """Return a text as a template; equal texts share it.

    Raises:
        RubricError: it is not a valid template, or uses anything else than fields of the case.
    """
    return CaseTemplate(text)


class CaseTemplate:
    """A text that uses fields of the case.

    It is rendered like the template of a rubric: in the sandbox, within the budget, without
    undefined values. What it prints is data: a value is printed as JSON on one line, so that it
    cannot pass for the words around it, unless the text itself fences it. A value with template
    syntax is not rendered again.

    Args:
        text: the text.

    Attributes:
        tree: its syntax tree.

    Raises:
        RubricError: it is not a valid template, or uses anything else than fields of the case.
    """

    def __init__(self, text: str) -> None:
        source = _PRINTED.sub(_as_data, text)
        loader = Folders((), builtin=builtin_folder(), inline={_NAME: (Path(_NAME), source)})
        try:
            self._template = Template(_NAME, loader=loader)
            self.tree = loader.template_file(_NAME).tree
        except RubricError as exc:
            raise RubricError(_plain(exc), rule=exc.rule) from exc
        every = walk(self.tree)
        for node in every:
            if isinstance(node, nodes.Name) and node.ctx == "load" and node.name in _OTHERS:
                message = f"a text may use fields of the case, not {node.name!r}"
                raise RubricError(message, rule="unknown-variable")
            if isinstance(node, nodes.Output) and not all(map(_is_data, node.nodes)):
                message = (
                    "print one field at a time, without braces in it, so that it can be quoted"
                )
                raise RubricError(message, rule="unfenced-text")
        read = (node for node in every if isinstance(node, nodes.Getattr))
        named = {n.attr for n in read if isinstance(n.node, nodes.Name) and n.node.name == "case"}
        # Without a condition, every field must be there; an object is checked by key.
        optional = bool(_CHECKED.search(text))
        self._needs = () if optional else tuple(sorted(named - {*OBJECTS, *MESSAGE_LISTS}))

    def render(self, case: Case, history: tuple[Message, ...] | None = None) -> str:
        """Return the text for a case, on one line.

        Args:
            case: the case.
            history: the earlier messages to show; all of the case's by default.

        Raises:
            CaseError: the case lacks a field that the text uses, or the text fails on the case.
        """
        for field in self._needs:
            value = getattr(case, field)
            if not (is_given(field, value) if value is None or isinstance(value, str) else value):
                raise CaseError(f"uses case.{field}, which this case does not have")
        try:
            messages = self._template.render(
                variables={},
                case=case,
                history=case.history if history is None else history,
                variant=None,
            )
        except RubricError as exc:
            raise CaseError(_plain(exc)) from exc
        return messages[0].content if messages else ""


_OTHERS = frozenset({"criteria", "details", "examples", "groups", "mode", "parameters", "rubric"})


def _as_data(match: re.Match[str]) -> str:
    before, inside = match.groups()
    after = "-" if inside.endswith("-") else ""
    inside = inside.removesuffix("-")
    # A text that fences a value itself prints it as it likes.
    printed = inside if re.search(r"\|\s*+(?:fence|json)\b", inside) else f"({inside}) | json"
    return f"{{{{{before} {printed} {after}}}}}"


def _is_data(node: nodes.Node) -> bool:
    """Return whether what is printed is literal text, in a fence, or JSON."""
    while isinstance(node, nodes.Filter) and node.name not in ("fence", "json"):
        node = node.node or nodes.TemplateData("")
    return isinstance(node, (nodes.TemplateData, nodes.Filter))


def _plain(error: RubricError) -> str:
    """Return the message of an error without the name and line of the text."""
    return str(error).removeprefix(f"{error.where}: ") if error.where else str(error)
