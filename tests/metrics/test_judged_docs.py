"""docs/metrics/grounding.md and safety-quality.md: files loaded, commands and programs run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judgekit.catalogue import FAMILIES
from judgekit.cli.app import app
from judgekit.config import load_suite
from judgekit.rubric.load import load_rubric

FOLDER = Path(__file__).parents[2] / "docs" / "metrics"
BLOCK = re.compile(r"(?:`([\w.]+)`:\n\n)?^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PAGES = {
    name: (FOLDER / f"{name}.md").read_text("utf-8") for name in ("grounding", "safety-quality")
}
BLOCKS = {page: BLOCK.findall(text) for page, text in PAGES.items()}


def of_kind(wanted):
    return [
        (page, text)
        for page, blocks in BLOCKS.items()
        for _, kind, text in blocks
        if kind == wanted
    ]


@pytest.fixture(params=PAGES)
def page(request, tmp_path, monkeypatch):
    """A folder with the files of a page, which ask a judge of tests."""
    for name, _, text in BLOCKS[request.param]:
        if name:
            (tmp_path / name).write_text(text.replace("openai/gpt-4o-mini", "fake/judge"), "utf-8")
    monkeypatch.chdir(tmp_path)
    return request.param


def test_every_block_is_a_file_a_command_or_a_program(page):
    kinds = sorted(kind for name, kind, _ in BLOCKS[page] if not name)

    assert kinds == ["console", "python"]


def test_the_commands_of_a_page_do_what_they_say(page):
    (text,) = [text for _, kind, text in BLOCKS[page] if kind == "console"]
    for line in text.splitlines():
        dollar, program, *words = shlex.split(line)
        assert (dollar, program) == ("$", "judgekit")
        words = ["fake/judge" if word.startswith("openai/") else word for word in words]

        done = CliRunner().invoke(app, words)

        # What a judge of tests says means nothing, so a gate may be missed.
        assert done.exit_code in ((0, 1) if words[0] == "run" else (0,)), done.output
        assert done.output.strip()


def test_the_suite_of_a_page_scores_every_case(page):
    done = CliRunner().invoke(app, ["run", "suite.yaml", "--judge", "fake/judge", "--out", "out"])

    assert "failed" not in done.output, done.output
    suite = load_suite("suite.yaml")
    assert {metric.name for metric in suite.metrics} <= set(re.findall(r"\w+", done.output))
    suite.close()


def test_the_rubrics_of_a_page_load(page):
    for name, kind, _ in BLOCKS[page]:
        if kind == "jinja":
            assert load_rubric(name).criteria


@pytest.mark.parametrize(("page_name", "text"), of_kind("python"))
def test_a_program_of_a_page_runs(page_name, text, capsys):
    exec(compile(text, page_name, "exec"), {})

    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize(
    ("page_name", "family"), [("grounding", "grounding"), ("safety-quality", "safety and quality")]
)
def test_a_page_names_every_metric_of_its_family(page_name, family):
    for entry in FAMILIES[family]:
        assert f"`{entry.name}`" in PAGES[page_name], entry.name
