"""The page of a comparison: one HTML file that needs no network and no other file.

It is made of the same pieces as the page of a run (report/html.py), and as careful with what
cases, judges and rubrics say.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from judgekit.analysis.comparison.comparison import Comparison
from judgekit.analysis.comparison.page.cases import Lines
from judgekit.analysis.comparison.page.facts import LONGEST, WORDS, Facts, names_of
from judgekit.analysis.comparison.page.payload import make_payload
from judgekit.report.html import fill, own, write_html
from judgekit.report.report import Report

_PAGE = Path(__file__).parent / "page"


def write_comparison(
    base: Report, new: Sequence[Report], found: Sequence[Comparison], path: Path
) -> Path:
    """Write the page of runs held against a base. Returns where it is.

    Args:
        base: the base.
        new: the runs that were held against it.
        found: what came of it, for each of them.
        path: the file to write.

    Raises:
        ConfigError: the file cannot be written, or a run folder holds no results.
    """
    return write_html(render_comparison(base, new, found), path)


def render_comparison(
    base: Report,
    new: Sequence[Report],
    found: Sequence[Comparison],
    *,
    pages: Sequence[str] = (),
) -> str:
    """Return the page of runs held against a base.

    Args:
        base: the base.
        new: the runs that were held against it.
        found: what came of it, for each of them.
        pages: where the pages of all runs are served, the base first; a file leads nowhere.
    """
    lines = Lines(base, new, found)
    names = names_of(lines.runs)
    payload = make_payload(lines, names=names, pages=pages)
    facts = Facts(base, new, found, lines=lines, payload=payload, names=names)
    return fill(
        "compare.html.jinja",
        folder=_PAGE,
        styles=[own("style.css"), _PAGE / "compare.css"],
        scripts=[
            own("script/dom.js"),
            own("script/data.js"),
            _PAGE / "script/entries.js",
            own("script/state.js"),
            own("script/rows.js"),
            own("script/facets.js"),
            own("script/table.js"),
            own("script/drawer.js"),
            _PAGE / "script/edits.js",
            _PAGE / "script/sides.js",
            _PAGE / "script/runs.js",
            own("script/main.js"),
        ],
        facts=facts,
        words=WORDS,
        longest=LONGEST,
        home="/" if pages else "",
        payload=payload,
    )
