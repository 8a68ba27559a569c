"""The list of rubrics that can be found by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from judgekit.core.errors import AbstractRubric, ConfigError, RubricError
from judgekit.rubric.library import (
    ListedRubric,
    RubricFolder,
    library_folders,
    own_folders,
    rubrics_in,
)
from judgekit.rubric.load import load_rubric


def list_text(own: Sequence[RubricFolder] | None = None, *, folder: Path | None = None) -> str:
    """Return one line for each rubric, in the order in which names are looked up.

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
    lines = [line for listed in rubrics_in(folders) for line in _list_lines(listed)]
    return "\n".join(lines) + "\n" if lines else "no rubrics\n"


def _list_lines(listed: ListedRubric) -> Iterator[str]:
    """Yield the line of a rubric; an abstract rubric has none."""
    hidden = f", hidden by that of {listed.hidden_by}" if listed.hidden_by else ""
    try:
        rubric = load_rubric(listed.path)
    except AbstractRubric:
        return
    except RubricError as exc:
        yield f"{listed.name:<22}does not load: {exc}"
        return
    tests = len(rubric.tests) + len(rubric.orderings)
    one = len(rubric.criteria) == 1
    yield (
        f"{listed.name:<22}{len(rubric.criteria):>2} {'criterion' if one else 'criteria':<9} "
        f"{tests:>2} {'test' if tests == 1 else 'tests':<5}  "
        f"{listed.origin}{hidden}  {rubric.description}"
    )
