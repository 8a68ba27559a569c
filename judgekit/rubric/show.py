"""The list of rubrics that can be found by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from judgekit.core.errors import AbstractRubric, ConfigError, RubricError
from judgekit.rubric.guide import guide
from judgekit.rubric.library import (
    BUILTIN_ORIGIN,
    RubricFolder,
    library_folders,
    own_folders,
    rubrics_in,
)
from judgekit.rubric.load import load_rubric


def list_text(own: Sequence[RubricFolder] | None = None, *, folder: Path | None = None) -> str:
    """Return one line for each rubric: own ones in the order of look-up, then built-in ones.

    The built-in rubrics are grouped by what they are for.

    Args:
        own: the folders to list before those of packages; by default, the working folder and its
            `rubrics`.
        folder: list only this folder.

    Raises:
        ConfigError: there is no such folder.
        RubricError: a package offers a folder that does not exist.
    """
    if folder is not None and not folder.is_dir():
        raise ConfigError("no such folder", where=str(folder))
    if folder is not None:
        folders = [RubricFolder(folder, str(folder))]
    else:
        folders = [*(own_folders(Path()) if own is None else own), *library_folders()]
    places = guide()
    lines: dict[str, list[str]] = {"": [], **{place.group: [] for place in places.values()}}
    for name, listed, hidden_by in rubrics_in(folders):
        place = places.get(name.partition("@")[0]) if listed.origin == BUILTIN_ORIGIN else None
        lines[place.group if place else ""] += _list_lines(name, listed, hidden_by)
    blocks = [
        "".join(f"{line}\n" for line in ([group] if group else []) + block)
        for group, block in lines.items()
        if block
    ]
    return "\n".join(blocks) or "no rubrics\n"


def _list_lines(name: str, folder: RubricFolder, hidden_by: str | None) -> Iterator[str]:
    """Yield the line of a rubric; an abstract rubric has none."""
    owner = f"{folder.origin}, hidden by that of {hidden_by}" if hidden_by else folder.origin
    try:
        rubric = load_rubric(folder.file(name))
    except AbstractRubric:
        return
    except RubricError as exc:
        yield f"{name:<27}does not load: {exc}"
        return
    tests = len(rubric.tests) + len(rubric.orderings)
    criteria = "criterion" if len(rubric.criteria) == 1 else "criteria"
    counts = f"{len(rubric.criteria):>2} {criteria:<9} {tests:>2} "
    counts += f"{'test' if tests == 1 else 'tests':<5}"
    yield f"{name:<27}{counts}  {owner}  {rubric.description}"
