"""Find rubrics with tests, and the cassettes of their tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from judgekit.core.errors import AbstractRubric, ConfigError
from judgekit.rubric.library import SUFFIX, builtin_folder, package_folders, rubric_names
from judgekit.rubric.load import load_rubric
from judgekit.rubric.rubric import Rubric

RUBRICS = "rubrics"
"""Folder of rubrics; the folder `cassettes` is beside it."""
CASSETTES = Path("cassettes") / RUBRICS


def find_tested(sources: Sequence[str]) -> list[Rubric]:
    """Return the rubrics of names, files and folders; of a folder, only those with tests.

    The default is the folder `rubrics`.

    Raises:
        ConfigError: there is no rubric, or none has tests.
        RubricError: a rubric does not load.
    """
    if not sources and not Path(RUBRICS).is_dir():
        raise ConfigError("no folder `rubrics` here; name a rubric, a file or a folder")
    by_path: dict[Path, Rubric] = {}
    for source in sources or [RUBRICS]:
        folder = Path(source)
        # A plain word may name a rubric and also an unrelated folder.
        named = folder.name == source and not (folder.is_dir() and rubric_names(folder))
        rubrics = [load_rubric(source)] if named or not folder.is_dir() else _in_folder(folder)
        for rubric in rubrics:
            by_path.setdefault(rubric.path.resolve(), rubric)
    return list(by_path.values())


def _in_folder(folder: Path) -> list[Rubric]:
    names = rubric_names(folder)
    if not names:
        raise ConfigError("this folder has no rubric (*.jinja); name another", where=str(folder))
    rubrics = []
    for name in names:
        try:
            rubric = load_rubric(folder / f"{name}{SUFFIX}")
        except AbstractRubric:
            continue
        if rubric.tests:
            rubrics.append(rubric)
    if not rubrics:
        message = "no rubric in this folder has tests; write some under `tests:`"
        raise ConfigError(message, where=str(folder))
    return rubrics


def is_packaged(path: Path) -> bool:
    """Return whether a rubric is from an installed package, which has no cassettes."""
    folder, parent = builtin_folder(), path.resolve().parent
    if folder.name != RUBRICS and parent == folder.resolve():
        return True
    return any(parent == folder.path.resolve() for folder in package_folders())


def tape_of(path: Path, *, folder: Path | None = None) -> Path:
    """Return the cassette of the tests of a rubric; no file is created.

    It is `cassettes/rubrics/NAME.jsonl`, beside the nearest folder `rubrics` above the rubric and
    with the same subfolders; else beside the rubric. For a rubric from an installed package, it is
    in the working folder.

    Args:
        path: the rubric file.
        folder: folder to use instead.
    """
    if folder is not None:
        return folder / f"{path.stem}.jsonl"
    if is_packaged(path):
        return CASSETTES / f"{path.stem}.jsonl"
    # Prefer the path as typed, because messages show it.
    for whole in (path, path.absolute()):
        for above in whole.parents:
            if above.name == RUBRICS:
                inner = whole.relative_to(above).with_suffix(".jsonl")
                return above.parent / CASSETTES / inner
    return path.parent / CASSETTES / f"{path.stem}.jsonl"
