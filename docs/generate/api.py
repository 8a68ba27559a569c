"""The Python reference, from the public names of `judgekit`: signatures and docstrings."""

from __future__ import annotations

import ast
import enum
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

import judgekit
from docs.generate.fields import fields_said
from docs.generate.groups import GROUPS, SHOWN
from judgekit.core.errors import __doc__ as ERRORS
from judgekit.core.value import Document
from judgekit.datasets.dataframes.framed import Framed

WIDTH = 88

HEAD = """# Python API

Every public name of `judgekit`, grouped by task. `python -m docs.generate` writes this page from signatures and docstrings. A test
compares them and runs every example. Names that are not on this page may change without notice.

- `import judgekit` loads nothing else. Each name loads its modules at first use.
- Arguments after `*` are keyword-only. Values (cases, scores, figures of reports) are frozen.
- Functions that end in `_sync` work in scripts and inside a running event loop, such as in a notebook. The name without `_sync` is the coroutine.
"""
TREE = "import judgekit.core.errors\n\nprint(judgekit.core.errors.__doc__.strip())"


def api_page() -> str:
    """Return the page."""
    parts = [HEAD, *_index()]
    for group in GROUPS:
        parts.append(
            f"## {group.title}\n\n{group.text}\n\n```python\n{group.example.strip()}\n```\n"
        )
        if group.printed:
            parts.append(f"```text\n{group.printed.strip()}\n```\n")
        parts.extend(_entry(name) for name in group.names)
    parts.append(f"All errors:\n\n```python\n{TREE}\n```\n")
    parts.append(f"```text\n{(ERRORS or '').strip()}\n```\n")
    return "\n".join(parts)


def _index() -> Iterator[str]:
    yield "| task | names |\n| --- | --- |"
    for group in GROUPS:
        names = ", ".join(f"[`{name}`](#{name.lower()})" for name in group.names)
        yield f"| {group.title.lower()} | {names} |"
    yield ""


def _entry(name: str) -> str:
    made = getattr(judgekit, name)
    parts = [f"### `{name}`\n", f"```pyi\n{_signature(name, made)}\n```\n"]
    parts.append(_documentation(inspect.getdoc(made) or ""))
    if inspect.isclass(made):
        parts.extend(_members(name, made))
    return "\n".join(parts)


def _signature(name: str, made: Any) -> str:
    if not inspect.isclass(made):
        word = "async def" if inspect.iscoroutinefunction(made) else "def"
        return _def(f"{word} {name}", inspect.signature(made))
    base = made.__base__.__name__ if issubclass(made, (BaseException, enum.Enum)) else ""
    head = f"class {name}({base}):" if base else f"class {name}:"
    if issubclass(made, enum.Enum):
        return "\n".join([head, *(f'    {one.name} = "{one.value}"' for one in made)])
    if issubclass(made, BaseModel):
        return "\n".join([head, *(_field(made, field) for field in made.model_fields)])
    if issubclass(made, BaseException) and "__init__" not in vars(made):
        return f"{head} ..."
    init = inspect.signature(made.__init__)
    if issubclass(made, tuple):
        init = inspect.signature(made)
    return f"{head}\n{_indented(_def('def __init__', init))}"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def _field(made: type[BaseModel], name: str) -> str:
    default = "" if made.model_fields[name].is_required() else " = ..."
    return f"    {name}: {_annotation(made, name)}{default}"


def _annotation(made: type[BaseModel], field: str) -> str:
    """Return a field's type as it is written; pydantic replaces some of them."""
    for home in made.__mro__:
        if field in inspect.get_annotations(home):
            (tree,) = ast.parse(textwrap.dedent(inspect.getsource(home))).body
            for node in ast.walk(tree):
                if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == field:
                    return ast.unparse(node.annotation).replace("'", '"')
    raise LookupError(f"{made.__name__} has no field {field}")


def _def(head: str, signature: inspect.Signature) -> str:
    """Return a signature as in a stub, on one line if it is short."""
    listed = list(_parameters(signature))
    returned = signature.return_annotation
    arrow = "" if returned is signature.empty else f" -> {_type(returned)}"
    line = f"{head}({', '.join(listed)}){arrow}: ..."
    if len(line) <= WIDTH:
        return line
    return f"{head}(\n{''.join(f'    {one},{chr(10)}' for one in listed)}){arrow}: ..."


def _parameters(signature: inspect.Signature) -> Iterator[str]:
    before = None
    for parameter in signature.parameters.values():
        if before is parameter.POSITIONAL_ONLY and parameter.kind is not before:
            yield "/"
        if parameter.kind is parameter.KEYWORD_ONLY and before is not parameter.kind:
            yield "*"
        before = parameter.kind
        text = "**" * (before is parameter.VAR_KEYWORD) + parameter.name
        if parameter.annotation is not parameter.empty:
            text += f": {_type(parameter.annotation)}"
        if parameter.default is not parameter.empty:
            text += f" = {_literal(parameter.default)}"
        yield text
    if before is inspect.Parameter.POSITIONAL_ONLY:
        yield "/"


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    shown = repr(value)
    return shown if re.fullmatch(r"None|True|False|-?[\d.]+|\(\)", shown) else "..."


def _type(kind: Any) -> str:
    text = kind if isinstance(kind, str) else getattr(kind, "__forward_arg__", None)
    if text is None:
        text = kind.__name__ if isinstance(kind, type) else str(kind)
    text = text.replace("'", '"')  # as ruff formats it
    return re.sub(r"\b(?:judgekit|typing|collections\.abc|pathlib)(?:\.\w+)*\.(?=[A-Z])", "", text)


def _documentation(text: str) -> str:
    """Return a docstring as Markdown: its sections as lists, its doctest as a block."""
    sections = re.split(r"^(Args|Attributes|Raises|Example):\n", text, flags=re.MULTILINE)
    out = [_paragraphs(sections[0])]
    for title, body in zip(sections[1::2], sections[2::2], strict=True):
        if title == "Example":
            out.append(_doctest(inspect.cleandoc(body)))
            continue
        out.append("Raises:\n" if title == "Raises" else "")
        items = re.findall(r"^ {4}([\w.]+): (.*(?:\n {6,}.*)*)", body, re.MULTILINE)
        out.append("".join(f"- `{item}`: {' '.join(said.split())}\n" for item, said in items))
    return "\n".join(part for part in out if part)


def _paragraphs(text: str) -> str:
    out = []
    for paragraph in text.strip().split("\n\n"):
        plain = paragraph.startswith(">>>")
        out.append(_doctest(paragraph) if plain else f"{' '.join(paragraph.split())}\n")
    return "\n".join(out)


def _doctest(text: str) -> str:
    return f"```pycon\n{text.strip()}\n```\n"


def _members(name: str, made: type) -> Iterator[str]:
    said = {field: text for home in reversed(made.__mro__) for field, text in fields_said(home)}
    if issubclass(made, BaseModel):
        yield "".join(f"- `{f}`: {said[f]}\n" for f in made.model_fields if f in said)
    if isinstance(made, enum.EnumType):
        yield _of_enum(made)
    members = SHOWN.get(name)
    rows = [
        _member(name, member, inspect.getattr_static(made, member))
        for member in (members if members is not None else _public(made))
    ]
    if rows:
        yield "".join(rows)


def _of_enum(made: type[enum.Enum]) -> str:
    texts = re.findall(
        r'^    \w+ = "(\w+)"\n    """(.*?)"""', inspect.getsource(made), re.MULTILINE | re.DOTALL
    )
    return "".join(f"- `{value}`: {' '.join(text.split())}\n" for value, text in texts)


def _public(made: type) -> list[str]:
    found = []
    homes = [made, *(home for home in (Document, Framed) if issubclass(made, home))]
    for name, member in (item for home in homes for item in vars(home).items()):
        function = _function(member)
        if not name.startswith("_") and inspect.isfunction(function):
            found.append(name)
    return found


def _function(member: Any) -> Any:
    if isinstance(member, property):
        return member.fget
    return member.__func__ if isinstance(member, (classmethod, staticmethod)) else member


def _member(home: str, name: str, member: Any) -> str:
    function = _function(member)
    first = (inspect.getdoc(function) or "").split("\n\n", maxsplit=1)[0]
    if isinstance(member, property):
        return f"- `.{name}`: {' '.join(first.split())}\n"
    signature = inspect.signature(function)
    own = [one for one in signature.parameters.values() if one.name not in ("self", "cls")]
    shown = ", ".join(_parameters(signature.replace(parameters=own)))
    before = home if isinstance(member, classmethod) else ""
    wait = "await " if inspect.iscoroutinefunction(function) else ""
    returned = signature.return_annotation
    arrow = "" if returned in (signature.empty, "None") else f" -> {_type(returned)}"
    return f"- `{wait}{before}.{name}({shown}){arrow}`: {' '.join(first.split())}\n"
