"""The page of a ranking, also in a browser."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import judgekit
from judgekit.core.errors import ConfigError
from judgekit.pages.analysis import render_ranking
from tests import browsing
from tests.layout import check_layout

EVIL = "<script>alert(1)</script>{{ 7 * 7 }}"
NAMES = ["openai/gpt-6-luna", "anthropic/claude-haiku-5", "qwen3-8b", EVIL, "e" * 120]


def rows(models: list[str] = NAMES, prompts: int = 12) -> list[dict[str, Any]]:
    return [
        {"prompt": n, "a": a, "b": b, "winner": ("a", "b", "tie", "a")[(n + len(a) + len(b)) % 4]}
        for n in range(prompts)
        for a, b in combinations(models, 2)
    ]


APART = [*rows(), {"prompt": 1, "a": "top", "b": "qwen3-8b", "winner": "a"}]


def test_names_are_inert_and_all_figures_are_there() -> None:
    ranking = judgekit.rank(rows(), draws=100)
    page = render_ranking(ranking)

    assert "<script>alert" not in page
    assert "49" not in page.partition("&lt;script&gt;")[2][:80]
    assert page.count('<circle class="mean"') == len(NAMES)
    assert page.count("<tr>") == 2 + 2 * len(NAMES)
    assert page == render_ranking(judgekit.rank(rows(), draws=100))


def test_a_page_of_many_models_has_no_table_of_pairs() -> None:
    names = [f"m{n}" for n in range(41)]
    rows = [{"prompt": 1, "a": a, "b": b, "winner": "tie"} for a, b in combinations(names, 2)]

    assert "Model against model" not in render_ranking(judgekit.rank(rows, draws=100))
    assert "Model against model" in render_ranking(judgekit.rank(rows[1:40], draws=100))


def test_only_a_page_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "notes.html").write_text("mine")
    with pytest.raises(ConfigError, match="is there already"):
        judgekit.rank(rows(), draws=100).to_html(tmp_path / "notes.html")


@pytest.mark.loopback
@pytest.mark.skipif(
    browsing.CHROMIUM is None or not browsing.PLAYWRIGHT, reason="the ranking page: no browser"
)
@pytest.mark.parametrize(
    "comparisons",
    [rows(), pytest.param(APART, marks=pytest.mark.thorough)],
    ids=["connected", "groups"],
)
def test_the_page_fits_and_reads_well(
    tab: Any, tmp_path: Path, comparisons: list[dict[str, Any]]
) -> None:
    path = judgekit.rank(comparisons, draws=100).to_html(tmp_path / "ranking.html")
    tab.goto(path.as_uri())

    check_layout(tab, order=(".verdict", ".facts", ".ranks", ".duels"))
    tab.set_viewport_size({"width": 390, "height": 900})
    assert tab.locator(".wide-table").last.get_attribute("data-more") == "right"
