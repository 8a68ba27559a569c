"""Names of compared runs: what differs between them, else the end of their folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judgekit.report.answerers import folder_names
from judgekit.report.manifest import dicts_in, judges_of, mapping, suite_of
from judgekit.report.report import Report

LONGEST = 80
"""Characters of a name made of what differs."""


def names_of(runs: Sequence[Report], models: Sequence[str | None] = ()) -> list[str]:
    """Return a name for each run: the model, judge, rubric or suite in which it differs.

    Where these do not tell all runs apart, the end of the folder does, and the position of a run
    without a folder.
    """
    folders = folder_names(runs)
    names = [""] * len(runs)
    answerers = [frozenset([model] if model else []) for model in models or [None] * len(runs)]
    made = [[values_of(run) for run in runs] for values_of in (_judges, _rubrics, _suite)]
    for values in (answerers, *made):
        common = frozenset.intersection(*values)
        for place, own in enumerate(values):
            if text := ", ".join(sorted(own - common)):
                names[place] = f"{names[place]}, {text}".removeprefix(", ")
    if all(names) and len(set(names)) == len(names) and max(map(len, names)) <= LONGEST:
        return names
    if not all(names) or len(set(names)) == len(names) == 2:
        return folders
    return [f"{name[:LONGEST]} ({folder})" for name, folder in zip(names, folders, strict=True)]


def _judges(run: Report) -> frozenset[str]:
    manifest = run.figures.manifest
    return frozenset(model for metric in run.metrics for model in judges_of(manifest, metric))


def _rubrics(run: Report) -> frozenset[str]:
    return frozenset(
        f"{maker['rubric']}@{maker.get('version', '?')} {(maker.get('digest') or '')!s:.8}".strip()
        for maker in _makers(run.figures.manifest)
        if maker.get("rubric")
    )


def _makers(manifest: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [mapping(entry.get("made_with")) for entry in dicts_in(manifest.get("metrics"))]


def _suite(run: Report) -> frozenset[str]:
    name = suite_of(run.figures.manifest).get("name")
    return frozenset([str(name)] if name else [])
