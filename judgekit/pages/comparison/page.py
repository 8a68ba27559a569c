"""The page of a comparison: one HTML file that needs no network and no other file.

It is made of the same pieces as the page of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from judgekit.analysis.comparison.comparison import Comparison
from judgekit.pages.comparison.cases import ComparedCases
from judgekit.pages.comparison.facts import LONGEST, WORDS, ComparisonFacts, unfolded
from judgekit.pages.comparison.names import names_of
from judgekit.pages.comparison.payload import make_payload
from judgekit.pages.html import fill, write_html
from judgekit.report.report import Report

SCRIPTS = (
    "dom", "scrolls", "data", "comparison/entries", "state", "rows", "facets", "table", "drawer",
    "comparison/edits", "comparison/sides", "comparison/runs", "main",
)  # fmt: skip
"""Pieces of the script, in the order they are joined."""


def write_comparison(
    base: Report, new: Sequence[Report], comparisons: Sequence[Comparison], path: Path
) -> Path:
    """Write the page of runs compared with a base, and return its path.

    Args:
        base: the base.
        new: the runs that were compared with it.
        comparisons: the comparison of each of them.
        path: the file to write.

    Raises:
        ConfigError: the file cannot be written, or a run folder holds no results.
    """
    return write_html(render_comparison(base, new, comparisons), path)


def render_comparison(
    base: Report,
    new: Sequence[Report],
    comparisons: Sequence[Comparison],
    *,
    pages: Sequence[str] = (),
) -> str:
    """Return the page of runs compared with a base.

    Args:
        base: the base.
        new: the runs that were compared with it.
        comparisons: the comparison of each of them.
        pages: where the pages of all runs are served, the base first; empty for a page in a file.
    """
    lines = ComparedCases(base, new, comparisons)
    names = names_of(lines.runs, lines.models)
    payload = make_payload(lines, names=names, pages=pages)
    facts = ComparisonFacts(comparisons, lines, payload, names)
    return fill(
        "comparison",
        styles=("comparison",),
        scripts=SCRIPTS,
        facts=facts,
        words=WORDS,
        longest=LONGEST,
        unfolded=unfolded,
        home="/" if pages else "",
        payload=payload,
    )
