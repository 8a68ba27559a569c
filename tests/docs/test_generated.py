"""The committed pages are those that the code generates."""

from __future__ import annotations

import inspect
import os
import re
from importlib import import_module

import pytest

import judgekit
from docs.generate.fields import fields_said
from docs.generate.groups import GROUPS, SHOWN
from docs.generate.metrics import NOT_EVERYWHERE, PAGES
from docs.generate.pages import DOCS, MADE
from docs.generate.suite import SECTIONS
from judgekit.metrics.cards import options_of
from judgekit.metrics.catalogue import BUILTIN, FAMILIES
from judgekit.metrics.registry import find
from tests.docs.page import prose
from tests.each import each

GROUPED = {name: group.module for group in GROUPS for name in group.names}
"""Public name -> its module."""
EXAMPLES = "\n".join(group.example for group in GROUPS)


@pytest.mark.parametrize("name", MADE)
def test_a_page_is_as_the_code_has_it(name):
    page = MADE[name]()
    path = DOCS / name
    if os.environ.get("JUDGEKIT_UPDATE_GOLDEN"):
        path.write_text(page, "utf-8")

    assert path.read_text("utf-8") == page, "JUDGEKIT_UPDATE_GOLDEN=1 writes it"


def test_every_public_name_is_in_one_group():
    assert sorted(name for name, module in GROUPED.items() if module == "judgekit") == sorted(
        judgekit.__all__
    )
    assert len(GROUPED) == sum(len(group.names) for group in GROUPS)


@each("name", GROUPED)
def test_every_public_name_says_what_it_is_and_is_used_in_an_example(name):
    made = getattr(import_module(GROUPED[name]), name)
    use = rf"\bjudgekit\.{name}\b" if GROUPED[name] == "judgekit" else rf"\b{name}\b"

    assert inspect.getdoc(made), f"{name} has no docstring"
    assert re.search(use, EXAMPLES), f"no example uses {name}"
    for member in SHOWN.get(name, ()):
        assert inspect.getattr_static(made, member), member


def test_every_metric_is_on_the_reference_with_every_option():
    page = (DOCS / "metrics" / "reference.md").read_text("utf-8")
    for name in BUILTIN:
        (part,) = re.findall(rf"^### `{name}`\n(.*?)(?=^##|\Z)", page, re.M | re.S)

        for option in options_of(find(name).factory):
            assert f"| `{option.name}` | " in part, (name, option.name)
        assert name in NOT_EVERYWHERE or "\n$ judgekit score" in part or "```json" in part


def test_every_key_of_a_suite_says_what_it_is_for():
    page = (DOCS / "suite.md").read_text("utf-8")
    for _, _, model in SECTIONS:
        said = dict(fields_said(model))
        for name, field in model.model_fields.items():
            assert said.get(name), f"{model.__name__}.{name} has no text below it"
            assert f"| `{field.alias or name}` |" in page


def test_every_family_with_a_page_links_it():
    assert set(PAGES) <= set(FAMILIES)


def runs_of_words(name, count=12):
    words = re.findall(r"[\w'-]+", prose((DOCS / name).read_text("utf-8")).lower())
    return {tuple(words[n : n + count]) for n in range(len(words) - count + 1)}


def test_the_python_page_links_what_the_reference_explains():
    """A formula and an option have one place; the rest is of docstrings of options that differ."""
    shared = runs_of_words("metrics/reference.md") & runs_of_words("python-api.md")

    assert len(shared) <= 40
