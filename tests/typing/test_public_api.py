"""`make types` checks uses of every public name; here, that the lists of names agree."""

from __future__ import annotations

import ast
import re
import tomllib
from importlib import import_module
from pathlib import Path

import judgekit
from docs.generate.api import named_types
from docs.generate.groups import GROUPS
from tests.each import each

ROOT = Path(__file__).parents[2]
USES = (Path(__file__).parent / "public_api.py").read_text("utf-8").partition("MODEL = ")[2]
PUBLIC = {name: group.module for group in GROUPS for name in group.names}
LAZY = (
    "judgekit",
    "judgekit.datasets",
    "judgekit.metrics",
    "judgekit.metrics.brand_voice",
    "judgekit.metrics.prompt_alignment",
    "judgekit.types",
)


@each("name", [*PUBLIC, *judgekit._RENAMED])
def test_every_public_and_former_name_is_used(name):
    assert re.search(rf"\b{name}\b", USES)


@each("module", LAZY)
def test_type_checkers_see_the_names_that_exist(module):
    names = import_module(module)._names
    names = names() if callable(names) else names
    seen = dict(_for_type_checkers(Path(import_module(module).__file__)))
    for name in names.renamed.keys() & seen.keys():
        home, _, attribute = seen[name].rpartition(".")
        if attribute == name:  # an alias beside the function itself
            now, _, present = names.renamed[name].rpartition(".")
            alias = getattr(import_module(home), attribute)
            assert alias is getattr(import_module(now), present)
            seen[name] = names.renamed[name]

    assert seen == {
        **{name: f"{home}.{name}" for name, home in names.homes.items()},
        **{name: f"{module}.{name}" for name in names.modules},
        **names.renamed,
    }


def _for_type_checkers(file):
    """Yield each name that a module has for type checkers, with what it stands for."""
    tree = ast.parse(file.read_text("utf-8"))
    blocks = [n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test)[0] == "T"]
    for node in (node for block in blocks for node in block.body):
        if isinstance(node, ast.ImportFrom):
            if node.module == "judgekit.core.lazy_names":
                continue
            for alias in node.names:
                assert alias.asname == alias.name, "`import X as X` exports a name"
                yield alias.asname, f"{node.module}.{alias.name}"
        else:
            yield node.targets[0].id, f"judgekit.{node.value.id}"


def test_the_types_that_public_signatures_name_are_public():
    """Those of functions, constructors, fields and methods on the pages of the reference."""
    named = named_types()
    types = import_module("judgekit.types")

    for name, value in named:
        home = import_module(PUBLIC[name]) if name in PUBLIC else types
        assert getattr(home, name, None) is value, f"export {name} ({value}) in judgekit.types"
    assert {"Case", "Metric", "JudgeLike", "GateResult"} <= {name for name, _ in named}


def test_every_type_is_named_by_a_signature():
    # Attributes: the figures of a report, and the settings of a judge.
    attributes = {"Figures", "JudgeSettings"}
    assert set(judgekit.types.__all__) <= {name for name, _ in named_types()} | attributes


def test_mypy_checks_the_file_strictly():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]

    assert settings["strict"] is True
    assert "tests.typing.public_api" in settings["modules"]
