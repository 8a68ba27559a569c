"""`make types` checks uses of every public name."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import judgekit
from tests.each import each

ROOT = Path(__file__).parents[2]
USES = (Path(__file__).parent / "public_api.py").read_text("utf-8").partition("MODEL = ")[2]


@each("name", judgekit.__all__)
def test_every_public_name_is_used(name):
    assert re.search(rf"\b{name}\b", USES)


def test_mypy_checks_the_file_strictly():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]

    assert settings["strict"] is True
    assert "tests.typing.public_api" in settings["modules"]
