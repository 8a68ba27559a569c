"""The body of a rubric: found, checked before it is used, and rendered into messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from copy import copy
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from jinja2 import (
    BaseLoader,
    Environment,
    TemplateNotFound,
    TemplateSyntaxError,
    nodes,
)
from jinja2 import Template as JinjaTemplate

from judgekit.case import Case, Message
from judgekit.errors import RubricError, place
from judgekit.filemodel import near
from judgekit.request import ChatMessage
from judgekit.rubric.budget import MAX_CHARACTERS, Rendering, current
from judgekit.rubric.hole import Unplanned
from judgekit.rubric.mention import Mention, mentions
from judgekit.rubric.plan import MAX_PLANS, Outline, Plan, Shape, shape_of
from judgekit.rubric.sandbox import RubricEnvironment, View, walk

Complain = Callable[[RubricError], None]
"""What is done with a fault: loading stops at the first, linting collects them all."""


def refuse(error: RubricError) -> None:
    """Stop at a fault."""
    raise error


MAX_FILE = 1_000_000
"""Bytes a rubric file may have."""
MAX_BODIES = 200_000
"""Characters of template all files of a rubric may have together: compiling them takes seconds."""
VARIABLES = (
    "case", "criteria", "details", "examples", "groups", "mode", "parameters", "rubric",
)  # fmt: skip
"""Everything a template may name."""
CASE_FIELDS = (
    "baseline", "choices", "context", "expected", "history", "input", "metadata",
    "output", "reference", "system",
)  # fmt: skip
"""The fields of a case a template may read; labels are not among them, they are for people."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
_FRONT = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*(\r?\n|\Z)", re.DOTALL | re.MULTILINE)


def read_file(path: Path) -> str:
    """Return a rubric file's text.

    Raises:
        RubricError: unreadable, too large, or not UTF-8.
    """
    try:
        if path.stat().st_size > MAX_FILE:
            message = f"larger than {MAX_FILE:,} bytes"
            raise RubricError(message, where=str(path), rule="unreadable")
        return path.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    except OSError as exc:
        message = f"cannot be read: {exc.strerror}"
        raise RubricError(message, where=str(path), rule="unreadable") from exc
    except UnicodeDecodeError as exc:
        message = f"not UTF-8 (byte {exc.start})"
        raise RubricError(message, where=str(path), rule="unreadable") from exc


def split_front_matter(text: str) -> tuple[str, str]:
    """Return front matter and body; the body keeps its line numbers by leading empty lines."""
    match = _FRONT.match(text)
    if match is None:
        return "", text
    body = text[match.end() :]
    return match.group(1), "\n" * text.count("\n", 0, match.end()) + body


class Folders(BaseLoader):
    """Finds `.jinja` files by plain names, in a rubric's own folder, then the built-in one."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self.folders = folders
        self.parents: dict[str, str] = {}
        """Template name -> the name its front matter extends."""
        self._found: dict[str, Path] = {}
        self._sheets: dict[str, Sheet] = {}

    def find(self, name: str) -> Path:
        """Return the file of a template name.

        Raises:
            TemplateNotFound: no such file, or a name that tries to leave the folders.
        """
        found = self._found.get(name) or next(self.all_of(name), None)
        if found is None:
            raise TemplateNotFound(name)
        self._found[name] = found
        return found

    def all_of(self, name: str) -> Iterator[Path]:
        """Yield the files of a name, folder by folder; no name and no link leads out of them."""
        if _NAME.fullmatch(name) and ".." not in name and name.endswith(".jinja"):
            for folder in self.folders:
                path = folder / name
                if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
                    yield path

    def sheet(self, name: str) -> Sheet:
        """Return a template, parsed, checked and compiled.

        The `extends` of its front matter is put before its first line.

        Raises:
            TemplateNotFound: no such file.
            RubricError: something in it is wrong.
        """
        if (known := self._sheets.get(name)) is not None:
            return known
        path = self.find(name)
        _, body = split_front_matter(read_file(path))
        parent = self.parents.get(name)
        lead = f'{{% extends "{parent}" %}}' if parent else ""
        self._sheets[name] = sheet = _sheet(lead + body, name, str(path), parent is not None)
        return sheet

    def tree(self, name: str, *, complain: Complain = refuse) -> nodes.Template:
        """Return the syntax tree of a template; say what is wrong with the names in it.

        Args:
            name: its name, as in `find`.
            complain: what is done with each fault; the first is raised by default.

        Raises:
            TemplateNotFound: no such file.
            RubricError: it cannot be parsed.
        """
        path = self.find(name)
        _, body = split_front_matter(read_file(path))
        with _translated(file=str(path)):
            if len(body.lstrip("\n")) > MAX_BODIES:
                raise RubricError(_TOO_LONG, where=str(path), rule="prompt-size")
            environment = RubricEnvironment(None)
            tree = environment.parse(body, name, str(path))
            inside = environment.written
            environment.compile(tree, name, str(path), raw=True)
            looked_up = environment.looked_up.difference(_exported(tree))
            extends = name in self.parents
            if extends:
                lead = nodes.Extends(nodes.Const(self.parents[name], lineno=1), lineno=1)
                inside.insert(0, lead)
            _check_body(
                tree, inside, looked_up, name, str(path), extends=extends, complain=complain
            )
        return tree

    def load(
        self, environment: Environment, name: str, globals: MutableMapping[str, Any] | None = None
    ) -> JinjaTemplate:
        """Return a template for an environment, from the code that all environments share."""
        sheet = self.sheet(name)
        return environment.template_class.from_code(environment, sheet.code, globals or {}, None)


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
def _sheet(source: str, name: str, path: str, extends: bool) -> Sheet:
    """Parse, check and compile a template once, however many rubrics build on it."""
    environment = RubricEnvironment(None)
    with _translated(file=path):
        length = len(source.lstrip("\n"))
        if length > MAX_BODIES:
            raise RubricError(_TOO_LONG, where=path, rule="prompt-size")
        tree = environment.parse(source, name, path)
        inside = environment.written
        code = environment.compile(tree, name, path)
        offered = frozenset(_exported(tree))
        looked_up = environment.looked_up - offered
        _check_body(tree, inside, looked_up, name, path, extends=extends, complain=refuse)
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


def _check_body(
    tree: nodes.Template,
    inside: list[nodes.Node],
    looked_up: set[str],
    name: str,
    path: str,
    *,
    extends: bool,
    complain: Complain,
) -> None:
    if name.startswith("_") or "/_" in name:
        _check_cases(inside, path, complain)
    else:
        _check_variables(looked_up, inside, path, complain)
        _check_top(tree, inside, path, extends=extends, complain=complain)


_TOO_LONG = (
    f"the rubric's templates have more than {MAX_BODIES:,} characters; "
    "what varies belongs in the cases"
)


class CaseView(View):
    """A case as templates see it; remembers whether anything of it was read."""

    __slots__ = ("_fields", "_history", "_read")

    def __init__(self, case: Case, history: tuple[Message, ...]) -> None:
        self._fields = case
        self._history: list[MessageView] | None = None
        self._read = False
        if history != case.history:
            self._fields = case.model_copy(update={"history": history})

    def __getattr__(self, name: str) -> Any:
        if name not in CASE_FIELDS:
            raise AttributeError(name)
        self._read = True
        value = getattr(self._fields, name)
        if name == "history":
            if self._history is None:
                self._history = [MessageView(message) for message in value]
            return self._history
        if isinstance(value, str) and not value.strip():
            return None
        return value

    def __str__(self) -> str:
        raise TypeError("print a field of the case, such as case.output")

    def _was_read(self) -> bool:
        """Return whether anything of the case was read."""
        return self._read


class MessageView(View):
    """An earlier message as templates see it."""

    __slots__ = ("content", "role", "text", "tool_calls")

    def __init__(self, message: Message) -> None:
        self.role = message.role
        self.content = message.content
        self.tool_calls = message.tool_calls
        calls = [
            f"[calls {call.name}({_arguments(call.arguments)})]" for call in message.tool_calls
        ]
        self.text = "\n".join(filter(None, [message.content, *calls]))


def _arguments(value: Any) -> str:
    from judgekit.canonical import canonical_json

    return "" if value is None else canonical_json(value)


_SEEN = object()
"""In place of a plan: one case of this shape has been rendered."""


class Template:
    """One rubric's template, with everything it is built from."""

    def __init__(self, name: str, *, loader: Folders) -> None:
        self.name = name
        self.loader = loader
        self.environment = RubricEnvironment(loader)
        self.names: frozenset[str]
        """Every name any of its files reads or sets."""
        self.text: str
        """Every literal text of its files."""
        self.mentions: list[tuple[Path, Mention]]
        """Every parameter its files name."""
        self.files = self._check()
        self._compiled = self._compile()
        self._cached: dict[Any, dict[int, str]] = {}
        self._plans: dict[Any, dict[Shape, Plan | object | None]] = {}

    def _compile(self) -> JinjaTemplate:
        with _translated(self.loader, file=str(self.files[self.name])):
            return self.environment.get_template(self.name)

    def again(self) -> Template:
        """Return the same template without what it remembers of renderings, for other settings."""
        other = copy(self)
        other._cached = {}
        other._plans = {}
        return other

    def _check(self) -> dict[str, Path]:
        """Check every file this template is built from; return them by name."""
        files: dict[str, Path] = {}
        waiting: list[tuple[str, str | None]] = [(self.name, None)]
        sheets: dict[str, Sheet] = {}
        length = 0
        while waiting:
            name, where = waiting.pop()
            if name in files:
                continue
            with _translated(self.loader, where=where):
                files[name] = self.loader.find(name)
                sheet = self.loader.sheet(name)
            length += sheet.length
            if length > MAX_BODIES:
                raise RubricError(_TOO_LONG, where=str(files[name]), rule="prompt-size")
            waiting += sheet.built_from
            sheets[name] = sheet
        self._check_blocks(files, sheets)
        for name, sheet in sheets.items():
            _check_imports(sheet, sheets, str(files[name]))
        self.names = frozenset().union(*(sheet.names for sheet in sheets.values()))
        self.text = "".join(sheet.text for sheet in sheets.values())
        self.mentions = [(files[n], said) for n, sheet in sheets.items() for said in sheet.mentions]
        return files

    def _check_blocks(self, files: Mapping[str, Path], sheets: Mapping[str, Sheet]) -> None:
        """Refuse a block that no template above has: Jinja would leave it out without a word."""
        name, above = self.name, self.loader.parents.get(self.name)
        while above is not None:
            known = list(sheets[above].blocks)
            upper = self.loader.parents.get(above)
            while upper is not None:
                known += sheets[upper].blocks
                upper = self.loader.parents.get(upper)
            for block, line in sheets[name].blocks.items():
                if block not in known and block not in sheets[name].inner:
                    hint = near(block, known)
                    raise RubricError(
                        f"block {block!r} is not in what this extends{hint}",
                        where=place(files[name], line),
                        rule="unknown-block",
                    )
            name, above = above, self.loader.parents.get(above)

    def render(
        self,
        *,
        variables: Mapping[str, Any],
        case: Case,
        history: tuple[Message, ...],
        variant: Any,
    ) -> tuple[ChatMessage, ...]:
        """Render into messages.

        Args:
            variables: everything but the case; the same for the same `variant`.
            case: the case.
            history: the earlier messages to show.
            variant: names what else decides the text (mode, groups), so that messages that
                read nothing of the case are rendered once per variant.

        Raises:
            RubricError: the template failed, or went beyond its budget.
        """
        plan = self._plan(variables, case, history, variant)
        filled = None if plan is None else plan.fill(case, history)
        if filled is not None:
            return filled
        view = CaseView(case, history)
        rendering = Rendering(cached=self._cached_of(variant), read=view._was_read)
        self._run(rendering, variables, view)
        return tuple(
            ChatMessage(role=role, content=text) for role, text in rendering.messages if text
        )

    def _cached_of(self, variant: Any) -> dict[int, str]:
        return self._cached.setdefault(variant, {})

    def _plan(
        self,
        variables: Mapping[str, Any],
        case: Case,
        history: tuple[Message, ...],
        variant: Any,
    ) -> Plan | None:
        """Return the plan for cases like this one; made when the second of them comes."""
        shape = shape_of(case, history)
        if shape is None:
            return None
        plans = self._plans.setdefault(variant, {})
        if shape not in plans:
            if len(plans) < MAX_PLANS:
                plans[shape] = _SEEN
            return None
        plan = plans[shape]
        if plan is _SEEN:
            view = Outline(case, history)
            cached = self._cached_of(variant)
            rendering = Rendering(cached=cached, read=view._was_read)
            try:
                self._run(rendering, variables, view)
                # Far from its limits, so that filling the holes cannot go beyond them.
                cheap = rendering.characters < MAX_CHARACTERS // 2
                plan = Plan(rendering.messages, rendering.holes) if cheap else None
            except (RubricError, Unplanned):
                plan = None
            plans[shape] = plan
        return plan if isinstance(plan, Plan) else None

    def _run(self, rendering: Rendering, variables: Mapping[str, Any], case: View) -> None:
        """Run the template once; the rendering collects its messages."""
        token = current.set(rendering)
        try:
            with _translated(self.loader):
                outside = self._compiled.render(case=case, **variables)
        finally:
            current.reset(token)
        if not rendering.messages:
            rendering.messages.append(("user", outside.strip()))
        elif outside.strip():
            words = " ".join(outside.split())[:60]
            where = str(self.files[self.name])
            message = f"text outside {{% role %}}: {words!r}"
            raise RubricError(message, where=where, rule="text-never-shown")


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


def _check_imports(sheet: Sheet, sheets: Mapping[str, Sheet], path: str) -> None:
    """Refuse `{% from "file" import name %}` of a name that the file does not define."""
    for file, wanted, line in sheet.taken:
        there = sheets[file].offered
        if wanted not in there:
            raise RubricError(
                f"{file!r} defines no {wanted!r}{near(wanted, sorted(there))}",
                where=place(path, line),
                rule="unknown-variable",
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


def _check_variables(
    looked_up: set[str], inside: list[nodes.Node], path: str, complain: Complain
) -> None:
    for name in sorted(looked_up.difference(VARIABLES)):
        named = (n for n in inside if isinstance(n, nodes.Name) and n.name == name)
        line = next((n.lineno for n in named), None)
        message = f"unknown variable {name!r}{near(name, list(VARIABLES))}"
        complain(RubricError(message, where=place(path, line), rule="unknown-variable"))
    _check_cases(inside, path, complain)


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


def _check_cases(inside: list[nodes.Node], path: str, complain: Complain) -> None:
    for node in inside:
        if not isinstance(node, nodes.Getattr):
            continue
        of_case = isinstance(node.node, nodes.Name) and node.node.name == "case"
        if of_case and node.attr not in CASE_FIELDS:
            complain(
                RubricError(
                    f"a case has no field {node.attr!r} for templates"
                    f"{near(node.attr, list(CASE_FIELDS))}",
                    where=place(path, node.lineno),
                    rule="unknown-field",
                )
            )


class _translated:
    """The one place where Jinja's errors become ours, with file and line."""

    def __init__(
        self,
        loader: Folders | None = None,
        *,
        where: str | None = None,
        file: str | None = None,
    ) -> None:
        self._loader = loader
        self._where = where
        self._file = file

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, RubricError):
            return
        if isinstance(error, TemplateSyntaxError):
            file = self._file or error.filename or error.name or "template"
            message = f"template: {error.message}"
            raise RubricError(
                message, where=place(file, error.lineno), rule="template-syntax"
            ) from error
        if isinstance(error, TemplateNotFound):
            message = self._not_found(str(error.name))
            raise RubricError(message, where=self._where, rule="template-missing") from error
        if isinstance(error, RecursionError):
            message = "the template nests or calls itself too deeply"
            raise RubricError(message, rule="template-fails") from error
        if isinstance(error, SyntaxError):
            message = f"template: {error.msg}"
            raise RubricError(message, where=self._file, rule="template-syntax") from error
        if isinstance(error, Exception):
            # A template can make Python raise anything, and none of it is worth a traceback.
            message = " ".join(str(error).split()) or type(error).__name__
            where = _line_of(trace) or self._file
            message = f"template: {message[:300]}"
            raise RubricError(message, where=where, rule="template-fails") from error

    def _not_found(self, name: str) -> str:
        folders = self._loader.folders if self._loader is not None else ()
        known = sorted({p.name for f in folders if f.is_dir() for p in f.glob("*.jinja")})
        return f"template {name!r} was not found{near(name, known)}"


def _line_of(trace: Any) -> str | None:
    """Return `file:line` of the innermost template frame of a traceback."""
    found: str | None = None
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file.endswith(".jinja"):
            template = trace.tb_frame.f_globals.get("__jinja_template__")
            line = trace.tb_lineno
            if template is not None:
                line = template.get_corresponding_lineno(line)
            found = place(file, line)
        trace = trace.tb_next
    return found
