"""Static checks of a template: names, filters and text that would not be shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from jinja2 import nodes

from judgekit.core.errors import RubricError, place
from judgekit.core.suggest import closest, suggest
from judgekit.rubric.caseview import CASE_FIELDS
from judgekit.rubric.filters import FILTERS, TESTS
from judgekit.rubric.parameter import Parameter

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
    """Check the names in a template and the places of its text.

    Args:
        tree: the template.
        inside: every node in it.
        looked_up: the names that it looks up and does not define.
        name: its name; if it begins with `_` (a partial), only fields of the case are checked.
        path: its file, for messages.
        extends: whether it extends another.
        complain: called with each fault.

    Raises:
        RubricError: it extends another template in its body.
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
        complain(UnknownVariable(name, _hint(name), where=place(path, line)))
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


def _hint(name: str) -> str:
    """Return a hint such as `case.input` for `input`."""
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
    """Refuse text outside blocks if the template extends another: Jinja would leave it out."""
    led = 1 if extends else 0
    for extra in [node for node in inside if isinstance(node, nodes.Extends)][led:]:
        message = "say what this extends in the front matter: `extends: NAME`"
        raise RubricError(message, where=place(path, extra.lineno), rule="extends")
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
    """Return the line on which the text of a node begins, after empty lines."""
    if not isinstance(part, nodes.TemplateData):
        return part.lineno
    return part.lineno + part.data[: -len(part.data.lstrip())].count("\n")
