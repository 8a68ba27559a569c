"""Where rubrics with tests are, and where what a judge said to them is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from judgekit.core.errors import AbstractRubric, ConfigError
from judgekit.rubric.load import load_rubric
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.shelf import SUFFIX, builtin_folder, package_shelves, rubric_names

RUBRICS = "rubrics"
"""Folder that rubrics are kept in; their cassettes are kept beside it."""
CASSETTES = Path("cassettes") / RUBRICS


def find_tested(sources: Sequence[str]) -> list[Rubric]:
    """Return the rubrics that names, files and folders stand for; of a folder, those with tests.

    Without any, the folder `rubrics` of the working folder.

    Raises:
        ConfigError: nothing is there, or none of it has tests.
        RubricError: a rubric does not load.
    """
    if not sources and not Path(RUBRICS).is_dir():
        raise ConfigError("name a rubric, a file or a folder; there is no folder rubrics/ here")
    found: dict[Path, Rubric] = {}
    for source in sources or [RUBRICS]:
        folder = Path(source)
        # A plain word may be the name of a rubric and of some folder that happens to be here.
        named = folder.name == source and not (folder.is_dir() and rubric_names(folder))
        rubrics = [load_rubric(source)] if named or not folder.is_dir() else _in_folder(folder)
        for rubric in rubrics:
            found.setdefault(rubric.path.resolve(), rubric)
    return list(found.values())


def _in_folder(folder: Path) -> list[Rubric]:
    names = rubric_names(folder)
    if not names:
        raise ConfigError("holds no rubric (*.jinja)", where=str(folder))
    rubrics = []
    for name in names:
        try:
            rubric = load_rubric(folder / f"{name}{SUFFIX}")
        except AbstractRubric:
            continue
        if rubric.tests:
            rubrics.append(rubric)
    if not rubrics:
        raise ConfigError(
            "none of its rubrics has tests; write some under `tests:`", where=str(folder)
        )
    return rubrics


def is_packaged(path: Path) -> bool:
    """Return whether a rubric came with an installed package, which holds no cassettes."""
    folder, parent = builtin_folder(), path.resolve().parent
    if folder.name != RUBRICS and parent == folder.resolve():
        return True
    return any(parent == shelf.folder.resolve() for shelf in package_shelves())


def tape_of(path: Path, *, folder: Path | None = None) -> Path:
    """Return where replies to a rubric's tests are recorded; nothing is made.

    `cassettes/rubrics/NAME.jsonl` beside the nearest folder `rubrics` that the rubric is in, with
    the folders between kept; else beside the rubric itself. Of a rubric that came with the
    package, in the working folder.

    Args:
        path: the rubric file.
        folder: where to look instead.
    """
    if folder is not None:
        return folder / f"{path.stem}.jsonl"
    if is_packaged(path):
        return CASSETTES / f"{path.stem}.jsonl"
    # Taken as it is written where that says enough: messages should show what people typed.
    for whole in (path, path.absolute()):
        for above in whole.parents:
            if above.name == RUBRICS:
                inner = whole.relative_to(above).with_suffix(".jsonl")
                return above.parent / CASSETTES / inner
    return path.parent / CASSETTES / f"{path.stem}.jsonl"
