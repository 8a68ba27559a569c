"""The suites of docs/metrics/grounding.md and safety-quality.md score every case."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judgekit.cli.app import app
from judgekit.metrics.catalogue import FAMILIES
from judgekit.suite.suite import load_suite

FOLDER = Path(__file__).parents[2] / "docs" / "metrics"
BLOCK = re.compile(r"(?:`([\w.]+)`:\n\n)?^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PAGES = {
    name: (FOLDER / f"{name}.md").read_text("utf-8") for name in ("grounding", "safety-quality")
}
BLOCKS = {page: BLOCK.findall(text) for page, text in PAGES.items()}


@pytest.fixture(params=PAGES)
def page(request, tmp_path, monkeypatch):
    """A folder with the files of a page, which ask a judge of tests."""
    for name, _, text in BLOCKS[request.param]:
        if name:
            (tmp_path / name).write_text(text.replace("openai/gpt-6-luna", "fake/judge"), "utf-8")
    monkeypatch.chdir(tmp_path)
    return request.param


def test_the_suite_of_a_page_scores_every_case(page):
    done = CliRunner().invoke(app, ["run", "suite.yaml", "--judge", "fake/judge", "--out", "out"])

    assert "failed" not in done.output, done.output
    suite = load_suite("suite.yaml")
    assert {metric.name for metric in suite.metrics} <= set(re.findall(r"\w+", done.output))
    suite.close()


@pytest.mark.parametrize(
    ("page_name", "family"), [("grounding", "grounding"), ("safety-quality", "safety and quality")]
)
def test_a_page_names_every_metric_of_its_family(page_name, family):
    for entry in FAMILIES[family]:
        assert f"`{entry.name}`" in PAGES[page_name], entry.name
