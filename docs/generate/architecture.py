"""The picture and the list of packages in docs/architecture.md, from the real imports.

Imports are read from the syntax tree, those inside functions too. Imports for type checkers only
are left out: they do not exist when the program runs.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "judgekit"
PAGE = ROOT / "docs" / "architecture.md"
MARK = re.compile(r"(<!-- packages -->\n).*(<!-- end -->)", re.DOTALL)

Graph = dict[str, set[str]]
"""A package to the packages that it imports."""


def architecture_page() -> str:
    """Return the page with its picture and list of packages."""
    graph = imports()
    made = f"{_picture(graph)}\n{_list(graph)}"
    return MARK.sub(lambda mark: f"{mark[1]}{made}{mark[2]}", PAGE.read_text("utf-8"))


def imports() -> Graph:
    """Return which package of judgekit imports which."""
    packages = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    return {
        package: {
            name
            for path in sorted((PACKAGE / package).rglob("*.py"))
            for name in _imported(ast.parse(path.read_text("utf-8")))
            if name in packages and name != package
        }
        for package in sorted(packages)
    }


def layers() -> list[list[str]]:
    """Return the layers of pyproject.toml, the highest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contract = next(
        one
        for one in settings["tool"]["importlinter"]["contracts"]
        if one["type"] == "layers" and one["containers"] == ["judgekit"]
    )
    return [[name.strip() for name in layer.split("|")] for layer in contract["layers"]]


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        for branch in node.orelse:
            yield from _imported(branch)
        return
    if isinstance(node, ast.Import):
        yield from (_package(alias.name) for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and not node.level:
        if node.module == "judgekit":
            yield from (alias.name for alias in node.names)
        else:
            yield _package(node.module or "")
    for child in ast.iter_child_nodes(node):
        yield from _imported(child)


def _package(module: str) -> str:
    top, _, rest = module.partition(".")
    return rest.partition(".")[0] if top == "judgekit" else ""


def _picture(graph: Graph) -> str:
    lines = ["```mermaid", "flowchart TD"]
    for number, layer in enumerate(layers(), 1):
        known = [name for name in layer if name in graph]
        if len(known) > 1:
            lines.append(f'  subgraph layer{number}[" "]')
            lines += [f"    {name}" for name in known]
            lines.append("  end")
        else:
            lines += [f"  {name}" for name in known]
    lines += [f"  {a} --> {b}" for a in graph for b in sorted(_direct(graph, a))]
    return "\n".join([*lines, "```", ""])


def _direct(graph: Graph, package: str) -> set[str]:
    """Return what a package imports, without what follows from its other imports."""
    return {
        name
        for name in graph[package]
        if not any(name in _below(graph, other) for other in graph[package] - {name})
    }


def _below(graph: Graph, package: str) -> set[str]:
    below: set[str] = set()
    waiting = set(graph[package])
    while waiting:
        name = waiting.pop()
        below.add(name)
        waiting |= graph[name] - below
    return below


def _list(graph: Graph) -> str:
    rows = ["| package | what it is | imports |\n| --- | --- | --- |"]
    for layer in layers():
        for name in layer:
            if name in graph:
                imported = ", ".join(f"`{one}`" for one in sorted(graph[name])) or "nothing"
                rows.append(f"| [`{name}`](../judgekit/{name}) | {_summary(name)} | {imported} |")
    return "\n".join(rows) + "\n"


def _summary(package: str) -> str:
    text = ast.get_docstring(ast.parse((PACKAGE / package / "__init__.py").read_text("utf-8")))
    return (text or "").partition("\n\n")[0].replace("\n", " ")
