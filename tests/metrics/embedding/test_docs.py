"""What docs/metrics/embedding.md says of its suites and metrics is so."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

import pytest

from judgekit.metrics.catalogue import FAMILIES
from judgekit.suite.run import run_suite
from judgekit.suite.suite import load_suite

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "metrics" / "embedding.md").read_text("utf-8")
BLOCKS = re.findall(r"(?:`([\w.]+)`:\n\n)?^```(\w+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
FILES = {name: text for name, _, text in BLOCKS if name}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "embedders"))
    from tests.embedders import tiny_onnx

    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    tiny_onnx.write_folder(tmp_path / "models" / "minilm")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("tiny_onnx", None)


def test_the_suites_of_the_page_run(project):
    for name in ("suite.yaml", "model.yaml"):
        report = asyncio.run(run_suite(load_suite(name)))

        assert not report.figures.incomplete
        assert all(figures.scored == 2 for figures in report.figures.metrics)


def test_the_page_names_every_metric_of_the_family():
    for entry in FAMILIES["embedding"]:
        assert f"`{entry.name}`" in TEXT
