"""Run each block of the README and of every page under docs/, and check each link."""

from __future__ import annotations

import pytest

from judgekit.core.errors import ConfigError
from tests.docs.given import FILES, toy_server
from tests.docs.page import PAGES, anchors, blocks, indented, links
from tests.docs.runner import PageFails, Reader, agree
from tests.each import each

NOT_RUN = {
    "examples/local_judge/README.md": 2,
    "CONTRIBUTING.md": 2,
    "README.md": 2,
    "docs/batch.md": 3,
    "docs/ci.md": 3,
    "docs/cookbook/local-model.md": 1,
    "docs/get-started.md": 2,
    "docs/judges.md": 1,
    "docs/metrics/personalization.md": 1,
    "docs/metrics/reference.md": 1,
    "docs/redaction.md": 1,
    "docs/scale.md": 2,
    "docs/steering.md": 2,
    "docs/terminal.md": 1,
    "docs/view.md": 1,
}
"""The number of blocks of a page that are not run; each gives the reason in its first line."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working folder, with the private store in its default place."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("JUDGEKIT_HOME")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("SUPPORT_SALT", "x")
    return folder


@pytest.mark.loopback
@pytest.mark.parametrize("name", PAGES)
def test_a_page_does_what_it_says(name, folder):
    text = PAGES[name].read_text("utf-8")
    FILES.get(name, lambda folder: None)(folder)

    with toy_server(text) as replaced:
        Reader(name, folder, replaced).follow(text)


def test_blocks_that_are_not_run_are_counted():
    left = {
        name: sum(block.not_run is not None for block in blocks(path.read_text("utf-8")))
        for name, path in PAGES.items()
    }

    assert {name: count for name, count in left.items() if count} == NOT_RUN


@each("name", PAGES)
def test_no_block_of_a_page_escapes_by_its_form(name):
    text = PAGES[name].read_text("utf-8")

    assert indented(text) == [], "indented blocks are not run: use a fence"
    assert text.count("\n```") == 2 * len(blocks(text)), "a fence is not closed, or has no kind"


@each("name", PAGES)
def test_every_link_has_a_target(name):
    path = PAGES[name]
    for link in links(path.read_text("utf-8")):
        assert "://" not in link or link.startswith("https://"), link
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text("utf-8")), link


def test_a_wrong_page_fails(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for wrong in (
        "```console\n$ judgekit --version\njudgekit 0.0.0\n```\n",
        "```console\n$ judgekit runn\n```\n",
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
        "```text\nnobody says this\n```\n",
        "```yaml\nmetrics: {lenght: {}}\n```\n",
        "```ruby\nputs 1\n```\n",
        '```console\n$ judgekit --version; echo "exit code $?"\n...\nexit code 1\n```\n',
    ):
        with pytest.raises((PageFails, ConfigError)):
            Reader("wrong.md", tmp_path, {}).follow(wrong)


def test_shown_output_may_leave_lines_out():
    agree("a\n...\nd", "a\nb\nc\nd\n")
    agree("a ... c", "a b c\n")
    with pytest.raises(PageFails):
        agree("a\n...\ne", "a\nb\n")


def test_the_index_has_every_page_once():
    index = links(PAGES["docs/README.md"].read_text("utf-8"))

    assert sorted(f"docs/{link}" for link in index if link.endswith(".md")) == sorted(
        name for name in PAGES if name.startswith("docs/") and name != "docs/README.md"
    )
