"""docs/architecture.md leads to files that exist, and each change to one package."""

from __future__ import annotations

import ast
import re
from collections import Counter

import pytest

from docs.generate.architecture import imports, layers
from tests.docs.page import DOCS, PAGES, ROOT, links

TEXT = PAGES["docs/architecture.md"].read_text("utf-8")


def section(title):
    return TEXT.partition(f"## {title}\n")[2].partition("\n## ")[0]


ROWS = re.compile(r"^\| ([^|]+) \| (\[[^|]+) \|$", re.MULTILINE)
CHANGES = dict(ROWS.findall(section("To change X, go to Y")))
STEPS = re.findall(r"^\d+\. .*$", section("The path of one case"), re.MULTILINE)
NAMED = (
    "how a prompt is rendered", "how a key is made", "how a reply is validated",
    "retries and time-outs", "metrics: add one", "where a page is drawn", "statistics",
)  # fmt: skip


def test_it_lists_common_changes_and_ten_steps():
    assert len(CHANGES) >= 12
    assert set(NAMED) < set(CHANGES)
    assert len(STEPS) == 10
    assert all(links(step) for step in STEPS)


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_touches_at_most_four_files_of_one_package(change):
    files = [(DOCS / link).resolve() for link in links(CHANGES[change])]

    assert 1 <= len(files) <= 4
    assert all(file.is_file() for file in files), files
    assert len({file.relative_to(ROOT / "judgekit").parts[0] for file in files}) == 1


def test_the_imports_in_the_picture_go_down():
    place = {name: number for number, layer in enumerate(layers()) for name in layer}
    graph = imports()

    assert len(graph) > 12
    assert [(a, b) for a in graph for b in graph[a] if place[b] <= place[a]] == []


def test_every_file_in_backquotes_exists():
    named = set(re.findall(r"`((?:\w+/)+[\w.]+\.(?:py|yaml|json))`", TEXT))

    assert len(named) > 5
    for one in named:
        assert any((top / one).exists() for top in (ROOT, ROOT / "judgekit")), one


def test_no_two_classes_have_one_name():
    names = Counter(
        node.name
        for path in (ROOT / "judgekit").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
    )

    assert [name for name, count in names.items() if count > 1] == []
