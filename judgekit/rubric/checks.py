"""What is wrong with a template by the look of it, before anything is rendered."""

from __future__ import annotations

from collections.abc import Iterable

from jinja2 import nodes

from judgekit.core.errors import RubricError, place
from judgekit.core.suggest import closest, suggest
from judgekit.rubric.caseview import CASE_FIELDS
from judgekit.rubric.complain import Complain
from judgekit.rubric.filters import FILTERS, TESTS
from judgekit.rubric.parameter import Parameter

VARIABLES = (
    "case", "criteria", "details", "examples", "groups", "mode", "parameters", "rubric",
)  # fmt: skip
"""Everything a template may name."""
_WRITTEN = {"case": "case.FIELD", "parameters": "parameters.NAME", "rubric": "rubric.NAME"}
_FULL_NAMES = {
    **{name: name for name in VARIABLES},
    **{field: f"case.{field}" for field in CASE_FIELDS},
    **dict.fromkeys(("prompt", "query", "question", "user_message"), "case.input"),
    **dict.fromkeys(("answer", "completion", "prediction", "response"), "case.output"),
    "description": "rubric.description",
    "system_prompt": "case.system",
}
"""What people write -> the variable."""


class UnknownVariable(RubricError):
    """A template uses a variable that does not exist."""

    def __init__(self, name: str, hint: str, *, where: str | None) -> None:
        super().__init__(f"unknown variable {name!r}{hint}", where=where, rule="unknown-variable")
        self.name = name


def with_parameter_hint(error: RubricError, parameters: Iterable[Parameter]) -> RubricError:
    """Return an error that suggests `parameters.NAME` if the variable is a declared parameter."""
    if isinstance(error, UnknownVariable):
        names = [parameter.name for parameter in parameters]
        for name in closest(error.name, names, alike=0.8):
            hint = f"; did you mean 'parameters.{name}'?"
            return UnknownVariable(error.name, hint, where=error.where)
    return error


def check_body(
    tree: nodes.Template,
    inside: list[nodes.Node],
    looked_up: set[str],
    name: str,
    path: str,
    *,
    extends: bool,
    complain: Complain,
) -> None:
    """Say what is wrong with the names in a template and with where its text stands.

    Args:
        tree: the template.
        inside: every node in it.
        looked_up: the names it looks up and does not define.
        name: its name; of one that begins with `_`, a part of others, only the fields are checked.
        path: its file, for messages.
        extends: whether it extends another.
        complain: what is done with each fault.

    Raises:
        RubricError: it names what it extends in its body.
    """
    _check_filters(inside, path, complain)
    if name.startswith("_") or "/_" in name:
        _check_cases(inside, path, complain)
    else:
        _check_variables(looked_up, inside, path, complain)
        _check_top(tree, inside, path, extends=extends, complain=complain)


def _check_variables(
    looked_up: set[str], inside: list[nodes.Node], path: str, complain: Complain
) -> None:
    for name in sorted(looked_up.difference(VARIABLES)):
        named = (n for n in inside if isinstance(n, nodes.Name) and n.name == name)
        line = next((n.lineno for n in named), None)
        complain(UnknownVariable(name, _meant(name), where=place(path, line)))
    _check_cases(inside, path, complain)


def _check_filters(inside: list[nodes.Node], path: str, complain: Complain) -> None:
    """Refuse unknown filters and tests; inside `if`, Jinja finds them when the line runs."""
    for node in inside:
        if not isinstance(node, (nodes.Filter, nodes.Test)):
            continue
        what, known = ("filter", FILTERS) if isinstance(node, nodes.Filter) else ("test", TESTS)
        if node.name not in known:
            public = [name for name in known if not name.startswith("_")]
            message = f"template: unknown {what} {node.name!r}{suggest(node.name, public)}"
            where = place(path, node.lineno)
            complain(RubricError(message, where=where, rule="template-syntax"))


def _meant(name: str) -> str:
    """Return a hint at the variable that is meant: `case.input` for `input`."""
    full = _FULL_NAMES.get(next(iter(closest(name, _FULL_NAMES)), ""))
    if full is None:
        return f"; known: {', '.join(_WRITTEN.get(known, known) for known in VARIABLES)}"
    return f"; did you mean {full!r}?"


def _check_cases(inside: list[nodes.Node], path: str, complain: Complain) -> None:
    for node in inside:
        if not isinstance(node, nodes.Getattr):
            continue
        of_case = isinstance(node.node, nodes.Name) and node.node.name == "case"
        if of_case and node.attr not in CASE_FIELDS:
            complain(
                RubricError(
                    f"a case has no field {node.attr!r} for templates"
                    f"{suggest(node.attr, list(CASE_FIELDS))}",
                    where=place(path, node.lineno),
                    rule="unknown-field",
                )
            )


def _check_top(
    tree: nodes.Template,
    inside: list[nodes.Node],
    path: str,
    *,
    extends: bool,
    complain: Complain,
) -> None:
    """Refuse what would be left out without a word: text beside the blocks of an heir."""
    led = 1 if extends else 0
    for said in [node for node in inside if isinstance(node, nodes.Extends)][led:]:
        message = "say what this extends in the front matter: `extends: NAME`"
        raise RubricError(message, where=place(path, said.lineno), rule="extends")
    if not extends:
        return
    for node in tree.body:
        parts = node.nodes if isinstance(node, nodes.Output) else []
        for part in parts:
            if not isinstance(part, nodes.TemplateData) or part.data.strip():
                message = "text outside the blocks of a rubric that extends another is never shown"
                where = place(path, _line_in(part))
                complain(RubricError(message, where=where, rule="text-never-shown"))


def _line_in(part: nodes.Node) -> int:
    """Return the line on which a node's text begins, leading empty lines left out."""
    if not isinstance(part, nodes.TemplateData):
        return part.lineno
    return part.lineno + part.data[: -len(part.data.lstrip())].count("\n")
