"""The Python reference, from the public names of `judgekit`: signatures and docstrings."""

from __future__ import annotations

import enum
import importlib
import inspect
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

from pydantic import BaseModel

import judgekit
import judgekit.types
from docs.generate.architecture import ROOT
from docs.generate.fields import fields_said
from docs.generate.groups import GROUPS, SHOWN, Group
from docs.generate.signatures import Signatures, function_of
from docs.generate.tasks import TASKS
from judgekit.core.document import Document
from judgekit.core.errors import __doc__ as ERRORS
from judgekit.core.lazy_names import REMOVED_IN
from judgekit.datasets.dataframes.framed import Framed
from judgekit.metrics.catalogue import BUILTIN
from judgekit.metrics.registry import find

HEAD = """# Python API

The public names of judgekit, grouped by task. `python -m docs.generate` writes this page from signatures and docstrings. A test
compares them and runs every example. Names that are not on this page or in [`judgekit.types`](python-types.md) may change without notice.

- `import judgekit` loads nothing else. Each name loads its modules at first use.
- Arguments after `*` are keyword-only. Values (cases, scores, figures of reports) are frozen.
- Functions that end in `_sync` work in scripts and inside a running event loop, such as in a notebook. The name without `_sync` is the coroutine.
- The package is typed. `mypy --strict` accepts every example on this page, and a test checks that.
"""
TREE = "import judgekit.core.errors\n\nprint(judgekit.core.errors.__doc__.strip())"
TYPES_HEAD = """# Types of the Python API

Signatures of the [Python API](python-api.md) name these types. Import them from `judgekit.types`, for annotations:

```python
from judgekit.types import Part, Source


def weakest(parts: tuple[Part, ...]) -> str:
    return min(parts, key=lambda part: part.value or 0.0).id
```

Functions return most of them; few programs create one. `python -m docs.generate` writes this page.
"""
RENAMED = f"""## Renamed names

The former names below still work, for type checkers too. The first use of each is a `DeprecationWarning` with the new name. judgekit {REMOVED_IN}
removes them.

| former name | now |
| --- | --- |
"""


def api_page() -> str:
    """Return the page."""
    signatures = Signatures()
    parts = [HEAD, TASKS, *_index()]
    for group in GROUPS:
        parts.append(
            f"## {group.title}\n\n{_text(group)}\n\n```python\n{group.example.strip()}\n```\n"
        )
        if group.printed:
            parts.append(f"```text\n{group.printed.strip()}\n```\n")
        module = importlib.import_module(group.module)
        parts.extend(_entry(signatures, name, getattr(module, name)) for name in group.names)
    parts.append(f"All errors:\n\n```python\n{TREE}\n```\n")
    parts.append(f"```text\n{(ERRORS or '').strip()}\n```\n")
    parts.append(RENAMED + "".join(_renamed()))
    return _formatted("\n".join(parts))


def types_page() -> str:
    """Return the page of `judgekit.types`."""
    signatures = Signatures()
    names = judgekit.types.__all__
    entries = (_entry(signatures, n, getattr(judgekit.types, n), "##") for n in names)
    return _formatted("\n".join([TYPES_HEAD, *entries]))


def _formatted(page: str) -> str:
    """Return a page with its blocks as ruff formats them, which `make lint` checks."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", "docs/page.md", "-"]
    done = subprocess.run(  # noqa: S603 - our own page
        command, input=page, capture_output=True, encoding="utf-8", check=True, cwd=ROOT
    )
    return done.stdout


@cache
def named_types() -> list[tuple[str, Any]]:
    """Return name and object of each type of judgekit that the signatures of both pages name."""
    signatures = Signatures()
    for group in GROUPS:
        module = importlib.import_module(group.module)
        for name in group.names:
            _entry(signatures, name, getattr(module, name))
    for name in judgekit.types.__all__:
        _entry(signatures, name, getattr(judgekit.types, name))
    return signatures.named


def _text(group: Group) -> str:
    if group.module == "judgekit":
        return group.text
    return f"{group.text} The names are in `{group.module}`."


def _renamed() -> Iterator[str]:
    for former, path in judgekit._RENAMED.items():
        yield f"| `judgekit.{former}` | `{path}` |\n"


def _index() -> Iterator[str]:
    yield "| task | names |\n| --- | --- |"
    used: Counter[str] = Counter()
    for group in GROUPS:
        names = []
        for name in group.names:
            # Code hosts number headings that differ only in case: `Metric` and `metric`.
            anchor, number = name.lower(), used[name.lower()]
            used[anchor] += 1
            names.append(f"[`{name}`](#{anchor}{f'-{number}' if number else ''})")
        yield f"| {group.title.lower()} | {', '.join(names)} |"
    yield ""


def _entry(signatures: Signatures, name: str, made: Any, level: str = "###") -> str:
    head = f"{level} `{name}`\n"
    if not inspect.isfunction(made) and (not inspect.isclass(made) or made.__name__ != name):
        alias, said = signatures.alias(name, judgekit.types._names.homes[name])
        return f"{head}\n```pyi\n{alias}\n```\n\n{said}\n"
    parts = [head, f"```pyi\n{signatures.of(name, made)}\n```\n"]
    if metrics := _metrics_of().get(made):
        # Formula and options have one place, the reference of metrics.
        links = " and ".join(f"[`{metric}`](metrics/reference.md#{metric})" for metric in metrics)
        first = _paragraphs((inspect.getdoc(made) or "").partition("\n\n")[0])
        return "\n".join([*parts, first, f"Formula, options and an example: {links}.\n"])
    parts.append(_documentation(inspect.getdoc(made) or ""))
    if inspect.isclass(made):
        parts.extend(_members(signatures, name, made))
    return "\n".join(parts)


@cache
def _metrics_of() -> dict[Any, list[str]]:
    """Return the class of a built-in metric -> the names of its metrics."""
    found: dict[Any, list[str]] = {}
    for name in BUILTIN:
        factory = find(name).factory
        if inspect.isclass(factory):
            found.setdefault(factory, []).append(name)
    return found


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


def _members(signatures: Signatures, name: str, made: type) -> Iterator[str]:
    said = {field: text for home in reversed(made.__mro__) for field, text in fields_said(home)}
    fields = made.model_fields if issubclass(made, BaseModel) else getattr(made, "_fields", ())
    if described := [field for field in fields if field in said]:
        yield "".join(f"- `{field}`: {said[field]}\n" for field in described)
    if isinstance(made, enum.EnumType):
        yield _of_enum(made)
    members = SHOWN.get(name)
    rows = [
        signatures.member(name, member, inspect.getattr_static(made, member))
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
        function = function_of(member)
        if not name.startswith("_") and inspect.isfunction(function):
            found.append(name)
    return found
