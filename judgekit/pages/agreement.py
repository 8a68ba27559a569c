"""The page of an agreement: one HTML file that needs no network and no other file."""

from __future__ import annotations

from pathlib import Path

from judgekit.pages.html import fill, write_html
from judgekit.report import agreement_words as words
from judgekit.report.calibration import Agreement, Calibration

SCRIPTS = ("scrolls", "ranking/main")
"""Pieces of the script, in the order they are joined."""


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
    """Return the class of a cell of the confusion matrix: its share of the largest, in quarters.

    Args:
        agreement: the agreement.
        row: the place of the judge's answer.
        column: the place of the person's answer.
    """
    largest = max(max(counts) for counts in agreement.table)
    count = agreement.table[row][column]
    step = 0 if not count else 1 + min(3, 4 * count // (largest + 1))
    return f"{'same' if row == column else 'other'}{step}"
