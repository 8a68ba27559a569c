"""The pages of a ranking and of an agreement, each a self-contained HTML file."""

from __future__ import annotations

from pathlib import Path

from judgekit.analysis.ranking import ranking as results
from judgekit.analysis.ranking.ranking import ModelRanking
from judgekit.pages.figures import CentredAxis
from judgekit.pages.html import fill, write_html
from judgekit.report import agreement_words as words
from judgekit.report.calibration import Agreement, Calibration

SCRIPTS = ("scrolls", "ranking/main")
"""Pieces of the script, in the order they are joined."""
MOST_COLUMNS = 40
"""Maximum number of models in the table of pairs; a larger table is unreadable."""


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


def write_agreement(calibration: Calibration, path: Path) -> Path:
    """Write the page of an agreement and return its path.

    Raises:
        ConfigError: the file cannot be written, is a link, or exists and is not a judgekit page.
    """
    return write_html(render_agreement(calibration), path)


def render_agreement(calibration: Calibration) -> str:
    """Return the page of an agreement."""
    return fill("agreement", styles=("ranking", "agreement"), scripts=SCRIPTS,
                calibration=calibration, words=words, shade=shade)  # fmt: skip


def shade(agreement: Agreement, row: int, column: int) -> str:
    """Return the CSS class of a confusion matrix cell: its share of the largest, in quarters.

    Args:
        agreement: the agreement.
        row: the place of the judge's answer.
        column: the place of the person's answer.
    """
    largest = max(max(counts) for counts in agreement.table)
    count = agreement.table[row][column]
    step = 0 if not count else 1 + min(3, 4 * count // (largest + 1))
    return f"{'same' if row == column else 'other'}{step}"
