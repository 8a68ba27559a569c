"""Every example in a docstring gives what it says."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import judgekit

ROOT = Path(judgekit.__file__).parent
MODULES = sorted(
    ".".join(("judgekit", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
    for path in ROOT.rglob("*.py")
    if ">>> " in path.read_text("utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_are_right(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    failed, tried = doctest.testmod(import_module(name))

    assert tried
    assert not failed, "see what was printed"
