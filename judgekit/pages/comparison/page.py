"""The page of a comparison, a self-contained HTML file.

It has the same components as the page of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from judgekit.analysis.comparison.comparison import Comparison
from judgekit.pages.comparison.cases import ComparedCases
from judgekit.pages.comparison.facts import LONGEST, WORDS, ComparisonFacts, unfolded
from judgekit.pages.comparison.payload import make_payload
from judgekit.pages.html import fill, write_html
from judgekit.report.answerers import folder_names
from judgekit.report.manifest import dicts_in, judges_of, mapping, suite_of
from judgekit.report.report import Report

SCRIPTS = (
    "dom", "scrolls", "data", "comparison/entries", "state", "rows", "facets", "table", "drawer",
    "comparison/edits", "comparison/sides", "comparison/runs", "main",
)  # fmt: skip
"""Pieces of the script, in the order they are joined."""
_MOST_NAME = 80
"""Maximum length of a name that is built from differences, in characters."""


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
        ConfigError: the file cannot be written, or a run folder has no results.
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


def names_of(runs: Sequence[Report], models: Sequence[str | None] = ()) -> list[str]:
    """Return a name for each run: the model, judge, rubric or suite in which it differs.

    If these do not distinguish all runs, the end of the folder is used, or the position for a run
    without a folder.
    """
    folders = folder_names([run.folder for run in runs])
    names = [""] * len(runs)
    answerers = [frozenset([model] if model else []) for model in models or [None] * len(runs)]
    made = [[values_of(run) for run in runs] for values_of in (_judges, _rubrics, _suite)]
    for values in (answerers, *made):
        common = frozenset.intersection(*values)
        for place, own in enumerate(values):
            if text := ", ".join(sorted(own - common)):
                names[place] = f"{names[place]}, {text}".removeprefix(", ")
    if all(names) and len(set(names)) == len(names) and max(map(len, names)) <= _MOST_NAME:
        return names
    if not all(names) or len(set(names)) == len(names) == 2:
        return folders
    return [f"{name[:_MOST_NAME]} ({folder})" for name, folder in zip(names, folders, strict=True)]


def _judges(run: Report) -> frozenset[str]:
    manifest = run.figures.manifest
    return frozenset(model for metric in run.metrics for model in judges_of(manifest, metric))


def _rubrics(run: Report) -> frozenset[str]:
    entries = dicts_in(run.figures.manifest.get("metrics"))
    return frozenset(
        f"{maker['rubric']}@{maker.get('version', '?')} {(maker.get('digest') or '')!s:.8}".strip()
        for maker in (mapping(entry.get("made_with")) for entry in entries)
        if maker.get("rubric")
    )


def _suite(run: Report) -> frozenset[str]:
    name = suite_of(run.figures.manifest).get("name")
    return frozenset([str(name)] if name else [])
