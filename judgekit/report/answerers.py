"""The models that answered the cases of a run, and names for several runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from judgekit.report.manifest import ANSWERED_BY
from judgekit.report.report import Report


def model_of(run: Report, cases: Iterable[str | None]) -> str | None:
    """Return the model that answered all cases of a run; `None` if unknown or several.

    Args:
        run: the run.
        cases: `answerer_of` for each case.
    """
    model = run.figures.manifest.get(ANSWERED_BY)
    models = {model} if isinstance(model, str) and model else set(cases)
    return models.pop() if len(models) == 1 else None


def names_by_model(runs: Sequence[Report], models: Sequence[str | None]) -> list[str]:
    """Return a name for each run: its model, or its folder if runs share a model."""
    folders = folder_names([run.folder for run in runs])
    return [
        model if model and models.count(model) == 1 else folder
        for model, folder in zip(models, folders, strict=True)
    ]


def folder_names(folders: Sequence[Path | None]) -> list[str]:
    """Return the shortest end of each run folder that distinguishes the runs."""
    parts = [folder.resolve().parts if folder else () for folder in folders]
    names = []
    for place, own in enumerate(parts):
        if not own:
            names.append("base" if place == 0 else f"run {place}")
            continue
        size = 1
        while size < len(own) and sum(other[-size:] == own[-size:] for other in parts) > 1:
            size += 1
        names.append("/".join(own[-size:]))
    return names
