"""The page of a ranking: one HTML file that needs no network and no other file."""

from __future__ import annotations

from pathlib import Path

from judgekit.analysis.ranking import ranking as results
from judgekit.analysis.ranking.ranking import ModelRanking
from judgekit.pages.figures import CentredAxis
from judgekit.pages.html import fill, write_html

SCRIPTS = ("scrolls", "ranking/main")
"""Pieces of the script, in the order they are joined."""
MOST_COLUMNS = 40
"""Models of the table of pairs; a larger one is not readable."""


def write_ranking(ranking: ModelRanking, path: Path) -> Path:
    """Write the page of a ranking and return its path.

    Raises:
        ConfigError: the file cannot be written, is a link, or exists and is not a judgekit page.
    """
    return write_html(render_ranking(ranking), path)


def render_ranking(ranking: ModelRanking) -> str:
    """Return the page of a ranking."""
    duels = None
    if len(ranking.models) <= MOST_COLUMNS:
        duels = {(pair.a, pair.b): (pair.rate, pair.n) for pair in ranking.pairs}
        duels |= {(pair.b, pair.a): (1 - pair.rate, pair.n) for pair in ranking.pairs}
    axis = CentredAxis(v for one in ranking.models for v in (one.strength, one.low, one.high))
    return fill("ranking", styles=("ranking",), scripts=SCRIPTS,
                ranking=ranking, words=results, axis=axis, duels=duels)  # fmt: skip
