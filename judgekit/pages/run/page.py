"""The page of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from judgekit.core.canonical import canonical_json, digest
from judgekit.pages.figures import Axis
from judgekit.pages.html import fill, write_html
from judgekit.pages.run.cards import judge_cards, rubric_cards
from judgekit.pages.run.facts import RunFacts
from judgekit.pages.run.payload import KEPT, make_payload
from judgekit.pages.run.tallies import saturation
from judgekit.report.corrected import corrected_lines
from judgekit.report.report import Report
from judgekit.report.spread import telling_figures
from judgekit.report.text import outcome_counts

SCRIPTS = (
    "dom", "scrolls", "data", "run/entries", "run/quotes", "state", "rows", "facets", "table",
    "run/opinions", "run/verdict", "drawer", "run/sides", "run/labels", "run/answers",
    "run/question", "run/labelling", "run/print", "main",
)  # fmt: skip
"""Pieces of the script, in the order they are joined."""


class Served(NamedTuple):
    """How a served page reaches its server."""

    run: str
    """The id of the run on the server."""
    stamp: str
    """Changes when a file of the run changes."""


def write_page(report: Report, path: Path, *, label: str | None = None) -> Path:
    """Write the page of a run, with the same bytes for the same run folder; return its path.

    Args:
        report: the run.
        path: the file.
        label: a metric to label: the page opens where people label it.

    Raises:
        ConfigError: the file cannot be written, or the folder holds no results.
        CassetteCorrupt: the run's tape was damaged.
    """
    return write_html(render_page(report, label=label), path)


def render_page(report: Report, *, served: Served | None = None, label: str | None = None) -> str:
    """Return the page of a run.

    Args:
        report: the run.
        served: set for a page that a server sends: it fetches what the page leaves out. A page in
            a file connects to nothing.
        label: a metric to label: the page opens where people label it.
    """
    figures = report.figures
    payload = make_payload(report)
    return fill(
        "run",
        scripts=SCRIPTS if served is None else (*SCRIPTS[:-1], "view/served", SCRIPTS[-1]),
        connect="'none'" if served is None else "'self'",
        served=served,
        label=label,
        facts=RunFacts(report, makers=payload.makers, ranking=payload.ranking),
        figures=figures,
        metrics=[(summary, Axis(summary)) for summary in figures.metrics],
        rubrics=rubric_cards(figures.manifest, payload.taped),
        judges=judge_cards(figures.manifest, report.run, payload.taped),
        manifest=json.dumps(figures.manifest, ensure_ascii=False, sort_keys=True, indent=1),
        manifest_digest=digest(canonical_json(figures.manifest)),
        payload=payload,
        keep=KEPT,
        saturation=saturation,
        outcome_counts=outcome_counts,
        telling_figures=telling_figures,
        corrected_lines=corrected_lines,
    )
