"""docs/rubrics.md: its suite, its entry point, and every key named."""

from __future__ import annotations

import importlib
import json
import re
import tomllib
from pathlib import Path

import pytest

from judgekit.rubric.file import CriterionFile, RubricFile
from judgekit.suite.suite import load_suite

TEXT = (Path(__file__).parents[2] / "docs" / "rubrics.md").read_text("utf-8")
BLOCKS = re.findall(r"(?:^`([\w./]+)`:\n\n)?^```(\w+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
FILES = {name: text for name, _, text in BLOCKS if name}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with every file the page shows."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    (tmp_path / "cases.jsonl").write_text(
        json.dumps({"id": "a", "input": "What is snow?", "output": "Frozen rain."}) + "\n", "utf-8"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_suite_of_the_page_loads(project):
    suite = load_suite("suite.yaml")

    assert [metric.name for metric in suite.metrics] == ["tone", "tone_for_children"]
    assert suite.metrics[1].rubric.parameters["words"] == 60
    suite.close()


def test_the_entry_point_of_the_page_is_the_one_that_is_read():
    (text,) = [text for _, kind, text in BLOCKS if kind == "toml"]
    ((group, points),) = tomllib.loads(text)["project"]["entry-points"].items()

    assert group == importlib.import_module("judgekit.rubric.library").GROUP
    assert points == {"acme": "acme_rubrics.rubrics"}


@pytest.mark.parametrize("model", [RubricFile, CriterionFile])
def test_every_key_is_on_the_page(model):
    missing = [n for n in model.model_fields if f"`{n}`" not in TEXT and f"`{n}:" not in TEXT]

    assert [name for name in missing if not name.startswith("schema")] == []
