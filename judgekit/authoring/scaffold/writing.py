"""Writing a beginning's files: all of them or none, and never over a file that is there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from judgekit.core.errors import ConfigError


def write_all(folder: Path, files: Mapping[str, str], *, force: bool = False) -> list[Path]:
    """Write files into a folder, which is made when missing; return their paths.

    Every text stands beside its place before the first one takes it, so that a full disk or a
    Ctrl-C leaves nothing half-written.

    Args:
        folder: where the names of the files start.
        files: name (with `/`) -> text.
        force: replace files that are there.

    Raises:
        ConfigError: a file is in the way, or one cannot be written.
    """
    paths = [folder / name for name in files]
    for path in paths:
        _check(path, inside=folder, force=force)
    made: list[Path] = []
    written: list[Path] = []
    try:
        for path, text in zip(paths, files.values(), strict=True):
            _make_folder(path.parent, made)
            beside = path.with_name(f".{path.name}.{os.getpid()}.new")
            # "x": never through a link that someone put there.
            with beside.open("x", encoding="utf-8", newline="\n") as file:
                written.append(beside)
                file.write(text)
        for path, beside in zip(paths, list(written), strict=True):
            beside.replace(path)
            written.remove(beside)
    except BaseException as exc:
        for path in written:
            path.unlink(missing_ok=True)
        for empty in reversed(made):
            _remove_empty(empty)
        if isinstance(exc, OSError):
            where = str(exc.filename or folder)
            raise ConfigError(f"cannot be written: {exc.strerror}", where=where) from exc
        raise
    return paths


def _check(path: Path, *, inside: Path, force: bool) -> None:
    for above in (*reversed(path.relative_to(inside).parents), Path()):
        place = inside / above
        if os.path.lexists(place) and not place.is_dir():
            raise ConfigError("is in the way: a folder must be here", where=str(place))
    if path.is_dir():
        raise ConfigError("is in the way: a file must be here", where=str(path))
    if os.path.lexists(path) and not force:
        raise ConfigError(
            "is in the way; move it, name another folder, or say --force to replace it",
            where=str(path),
        )


def _make_folder(folder: Path, made: list[Path]) -> None:
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        place.mkdir(exist_ok=True)
        made.append(place)


def _remove_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return  # somebody else put something there meanwhile
