"""Parse, check and compile one template file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from jinja2 import nodes

from judgekit.core.case_field import CASE_FIELDS
from judgekit.core.errors import RubricError, place
from judgekit.core.suggest import closest, suggest
from judgekit.rubric.charge import walk
from judgekit.rubric.filters import FILTERS, TESTS
from judgekit.rubric.live import names_read
from judgekit.rubric.sandbox import RubricEnvironment
from judgekit.rubric.translated import translated
from judgekit.rubric.variant import TEMPLATE_FIELDS

MAX_BODIES = 200_000
"""Maximum number of characters of the templates of a rubric; compiling them takes seconds."""
TOO_LONG = (
    f"the rubric's templates have more than {MAX_BODIES:,} characters; "
    "put varying text in the cases"
)

VARIABLES = (
    "case", "criteria", "details", "examples", "groups", "mode", "parameters", "rubric",
)  # fmt: skip
"""The variables of a template."""
_WRITTEN = {"case": "case.FIELD", "parameters": "parameters.NAME", "rubric": "rubric.NAME"}
_FULL_NAMES = {
    **{name: name for name in VARIABLES},
    **{name: f"case.{name}" for name in TEMPLATE_FIELDS},
    **{alias: f"case.{field.name}" for field in CASE_FIELDS for alias in field.aliases},
    "user_message": "case.input",
    "description": "rubric.description",
}
"""Common spellings -> the variable."""


class UnknownVariable(RubricError):
    """A template uses a variable that does not exist."""

    def __init__(self, name: str, hint: str, *, where: str | None) -> None:
        super().__init__(f"unknown variable {name!r}{hint}", where=where, rule="unknown-variable")
        self.name = name


def with_parameter_hint(error: RubricError, parameters: Iterable[str]) -> RubricError:
    """Return an error that suggests `parameters.NAME` if the variable is a declared parameter."""
    if isinstance(error, UnknownVariable):
        for name in closest(error.name, parameters, alike=0.8):
            hint = f"; did you mean 'parameters.{name}'?"
            return UnknownVariable(error.name, hint, where=error.where)
    return error


class ParsedTemplate:
    """One template file, parsed, checked and compiled, for use in any environment.

    Args:
        source: the template, after the `extends` of its front matter.
        name: its name.
        path: its file, for messages.
        extends: whether its front matter extends another.
        faults: collects the faults after which the checks go on.

    Raises:
        RubricError: a fault that ends the checks.
    """

    def __init__(
        self, source: str, name: str, path: str, extends: bool, faults: list[RubricError]
    ) -> None:
        self.length = len(source.lstrip("\n"))
        """Characters of its body."""
        if self.length > MAX_BODIES:
            raise RubricError(TOO_LONG, where=path, rule="prompt-size")
        environment = RubricEnvironment(None)
        self.tree = environment.parse(source, name, path)
        """Its syntax tree; it must not be changed."""
        self._nodes = environment.written
        self._path, self._extends, self._faults = path, extends, faults
        self.code = environment.compile(self.tree, name, path)
        self.exports = frozenset(_exported(self.tree))
        """The names it defines at its top level, which other files may import."""
        # A partial gets its variables from the file that includes it.
        partial = name.startswith("_") or "/_" in name
        self._check_filters()
        if not partial:
            self._check_variables(environment.looked_up - self.exports)
        self._check_fields()
        if not partial:
            self._check_top()
        self.built_from = list(self._built_from())
        """The templates it names, each with its `file:line`."""
        self.mentions = self._mentions()
        """The parameters it names, each with its `file:line`."""
        blocks = list(self._of(nodes.Block))
        within = [node for block in blocks if extends for node in walk(block)[1:]]
        self.blocks = {node.name: place(path, node.lineno) for node in blocks}
        """Its blocks, each with its `file:line`."""
        self.inner = frozenset(node.name for node in within if isinstance(node, nodes.Block))
        """Blocks inside other blocks; only filled if the template extends another."""
        self.imports = [
            (node.template.value, name if isinstance(name, str) else name[0], node.lineno)
            for node in self._of(nodes.FromImport)
            for name in node.names
        ]
        """The names it imports: file, name, line."""
        self.names = frozenset(node.name for node in self._of(nodes.Name))
        """Every name it reads or sets."""
        self.reads = frozenset(names_read(self._of(nodes.Name, nodes.Getattr, nodes.Const)))
        """Every name, attribute and text in its code: the fields of a case are among them."""
        self.text = "".join(node.data for node in self._of(nodes.TemplateData))
        """Its literal text."""

    def _of(self, *kinds: type[nodes.Node]) -> Iterator[Any]:
        """Yield the nodes of some kinds, without the nodes added for the budget."""
        return (node for node in self._nodes if isinstance(node, kinds))

    def _fault(self, rule: str, message: str, line: int) -> RubricError:
        return RubricError(message, where=place(self._path, line), rule=rule)

    def _check_filters(self) -> None:
        """Refuse unknown filters and tests; inside `if`, Jinja finds them when the line runs."""
        for node in self._of(nodes.Filter, nodes.Test):
            what, known = ("filter", FILTERS) if isinstance(node, nodes.Filter) else ("test", TESTS)
            if node.name not in known:
                message = f"template: unknown {what} {node.name!r}{suggest(node.name, known)}"
                self._faults.append(self._fault("template-syntax", message, node.lineno))

    def _check_variables(self, looked_up: set[str]) -> None:
        for name in sorted(looked_up.difference(VARIABLES)):
            line = next((n.lineno for n in self._of(nodes.Name) if n.name == name), None)
            self._faults.append(UnknownVariable(name, _hint(name), where=place(self._path, line)))

    def _check_fields(self) -> None:
        for node in self._of(nodes.Getattr):
            if _is_name(node.node, "case") and node.attr not in TEMPLATE_FIELDS:
                message = f"a case has no field {node.attr!r} for templates"
                hint = suggest(node.attr, TEMPLATE_FIELDS)
                self._faults.append(self._fault("unknown-field", f"{message}{hint}", node.lineno))

    def _check_top(self) -> None:
        """Refuse text outside blocks if the template extends another: Jinja would leave it out.

        Raises:
            RubricError: it extends another template in its body.
        """
        for extra in list(self._of(nodes.Extends))[1 if self._extends else 0 :]:
            message = "name the extended rubric in the front matter: `extends: NAME`"
            raise self._fault("extends", message, extra.lineno)
        if not self._extends:
            return
        outputs = (node for node in self.tree.body if isinstance(node, nodes.Output))
        for part in (part for output in outputs for part in output.nodes):
            data = part.data if isinstance(part, nodes.TemplateData) else ""
            if data.strip() or not isinstance(part, nodes.TemplateData):
                message = "text outside the blocks of a rubric that extends another is never shown"
                line = (
                    part.lineno + data[: -len(data.lstrip())].count("\n") if data else part.lineno
                )
                self._faults.append(self._fault("text-never-shown", message, line))

    def _built_from(self) -> Iterator[tuple[str, str | None]]:
        """Yield the templates that the file names, each with its `file:line`.

        Raises:
            RubricError: a name is computed.
        """
        for node in self._of(nodes.Extends, nodes.Include, nodes.Import, nodes.FromImport):
            template = node.template
            if not isinstance(template, nodes.Const) or not isinstance(template.value, str):
                message = "name the template in quotes; a name made while rendering is not allowed"
                raise self._fault("template-syntax", message, node.lineno)
            yield template.value, place(self._path, node.lineno)

    def _mentions(self) -> list[tuple[str, str]]:
        """Return every parameter that the template names, with its `file:line`.

        Raises:
            RubricError: it uses `parameters` in another way, or sets this name.
        """
        plain = [node for node in self._of(nodes.Getattr) if _is_name(node.node, "parameters")]
        known = {id(node.node) for node in plain}
        for node in self._of(nodes.Name):
            if node.name == "parameters" and (node.ctx != "load" or id(node) not in known):
                reason = "which parameters a template uses must be plain to see"
                message = f"write parameters.NAME; {reason}"
                if node.ctx != "load":
                    message = "parameters are the rubric's; give this another name"
                raise self._fault("unknown-variable", message, node.lineno)
        return [(node.attr, place(self._path, node.lineno)) for node in plain]


@lru_cache(maxsize=256)
def template_file_of(source: str, name: str, path: str, extends: bool) -> ParsedTemplate:
    """Parse, check and compile a template; rubrics that share it share the result.

    Takes the arguments of `ParsedTemplate`.

    Raises:
        RubricError: the first fault.
    """
    template_file, faults = _examined(source, name, path, extends)
    if template_file is None or faults:
        raise faults[0]
    return template_file


def faults_of(source: str, name: str, path: str, extends: bool) -> list[RubricError]:
    """Return all faults of a template (see `template_file_of`)."""
    return _examined(source, name, path, extends)[1]


def _examined(
    source: str, name: str, path: str, extends: bool
) -> tuple[ParsedTemplate | None, list[RubricError]]:
    faults: list[RubricError] = []
    try:
        with translated(file=path):
            return ParsedTemplate(source, name, path, extends, faults), faults
    except RubricError as exc:
        return None, [*faults, exc]


def defined_names(node: nodes.Node) -> Iterator[tuple[str, str]]:
    """Yield the names that a node defines, each with its kind: a variable, import or macro."""
    if isinstance(node, (nodes.Assign, nodes.AssignBlock, nodes.With)):
        targets = node.targets if isinstance(node, nodes.With) else [node.target]
        for inner in (inner for target in targets for inner in walk(target)):
            if isinstance(inner, nodes.Name):
                yield inner.name, "variable"
    elif isinstance(node, nodes.Import):
        yield node.target, "import"
    elif isinstance(node, nodes.FromImport):
        yield from ((name if isinstance(name, str) else name[1], "import") for name in node.names)
    elif isinstance(node, nodes.Macro):
        yield node.name, "macro"


def _exported(tree: nodes.Template) -> Iterator[str]:
    """Yield the names that a template defines at its top level."""
    for node in tree.body:
        if not isinstance(node, nodes.With):
            yield from (name for name, _ in defined_names(node))


def _is_name(node: nodes.Node, name: str) -> bool:
    return isinstance(node, nodes.Name) and node.name == name


def _hint(name: str) -> str:
    """Return a hint such as `case.input` for `input`."""
    full = _FULL_NAMES.get(next(iter(closest(name, _FULL_NAMES)), ""))
    if full is None:
        return f"; known: {', '.join(_WRITTEN.get(known, known) for known in VARIABLES)}"
    return f"; did you mean {full!r}?"
