"""The pages of a ranking and of an agreement, each a self-contained HTML file."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from judgekit.analysis.ranking import ranking as results
from judgekit.analysis.ranking.ranking import ModelRanking
from judgekit.pages.figures import CentredAxis
from judgekit.pages.html import fill, write_html
from judgekit.report import agreement_words as words
from judgekit.report.calibration import Agreement, Calibration
from judgekit.report.folder import PAGE
from judgekit.report.report import Report

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


def write_agreement(calibration: Calibration, path: Path, run: str | Path | None = None) -> Path:
    """Write the page of an agreement and return its path.

    Args:
        calibration: the agreement.
        path: the file.
        run: the folder of the run that was compared, for the texts of cases and links to its page.

    Raises:
        ConfigError: the file cannot be written, is a link, or exists and is not a judgekit page; or
            the run cannot be read.
    """
    report, link = None, ""
    if run is not None:
        report, page = Report.read(run), Path(run) / PAGE
        if page.is_file():
            place = os.path.relpath(page.resolve(), path.resolve().parent)
            link = quote(place.replace(os.sep, "/"))
    return write_html(render_agreement(calibration, run=report, link=link), path)


def render_agreement(calibration: Calibration, *, run: Report | None = None, link: str = "") -> str:
    """Return the page of an agreement.

    Args:
        calibration: the agreement.
        run: the run that was compared, for the texts of cases.
        link: the address of its page.
    """
    wanted = {one.case for criterion in calibration.criteria for one in criterion.disagreements}
    cases = {}
    if run is not None and wanted and run.figures.dataset == calibration.dataset:
        cases = {one.case.id: one.case for one in run.results if one.case.id in wanted}
    return fill("agreement", styles=("ranking", "agreement"), scripts=SCRIPTS,
                calibration=calibration, words=words, shade=shade, cases=cases,
                link=link)  # fmt: skip


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
