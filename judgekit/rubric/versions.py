"""Versions of a rubric in a folder: NAME.jinja is the newest, versions/NAME@V.jinja are frozen.

In the built-in folder, the table of generations decides which version a bare name means. A frozen
built-in rubric reaches only other frozen files, so a change of a newest file cannot change it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from judgekit.core.errors import RubricError
from judgekit.core.generation import newest, version_in

SUFFIX = ".jinja"
VERSIONS = "versions"
"""Name of the folder of frozen versions, beside the newest ones."""
_VERSION = re.compile(r"[1-9][0-9]{0,8}")
_FILE_VERSION = re.compile(r"version:[ \t]*([0-9]{1,9})[ \t\r]*(#.*)?")
_MOST = 65_536
"""Characters at the beginning of a file in which its version is looked for."""


class VersionedName(NamedTuple):
    """A rubric name with a version, such as `quality@1`."""

    name: str
    version: int | None
    """`None` for a bare name."""

    @classmethod
    def parse(cls, text: str) -> VersionedName:
        """Read `NAME` or `NAME@V`.

        Raises:
            RubricError: the version is not a whole number from 1.
        """
        name, at, version = text.rpartition("@")
        if not at:
            return cls(text, None)
        if not _VERSION.fullmatch(version):
            advice = f"write {name}@1, or {name} for the newest"
            raise RubricError(f"{text!r}: a version is a whole number from 1; {advice}")
        return cls(name, int(version))

    def __str__(self) -> str:
        return self.name if self.version is None else f"{self.name}@{self.version}"


def frozen_name(path: Path) -> VersionedName | None:
    """Return the name and version of a frozen file; `None` for a newest one."""
    name, at, version = path.stem.rpartition("@")
    if path.parent.name != VERSIONS or not at or not _VERSION.fullmatch(version):
        return None
    return VersionedName(name, int(version))


def home_of(path: Path) -> Path:
    """Return the folder that a rubric belongs to: for a frozen file, the one above `versions`."""
    return path.parent if frozen_name(path) is None else path.parent.parent


def never_moves(name: str) -> bool:
    """Return whether a bare name means version 1 for ever, because rubrics of users build on it."""
    return name == "base" or name.startswith("_")


def version_of(path: Path) -> int:
    """Return the version in the front matter of a file; 1 without one."""
    try:
        with path.open(encoding="utf-8") as file:
            lines = file.read(_MOST).splitlines()
    except (OSError, UnicodeDecodeError):  # loading it reports this
        return 1
    if lines[:1] and lines[0].rstrip() == "---":
        for line in lines[1:]:
            if line.rstrip() == "---":
                break
            if match := _FILE_VERSION.fullmatch(line):
                return int(match.group(1))
    return 1


def versions_in(folder: Path, name: str) -> dict[int, Path]:
    """Return the versions of a rubric that a folder has, in order, and their files."""
    found: dict[int, Path] = {}
    if (path := folder / f"{name}{SUFFIX}").is_file():
        found[version_of(path)] = path
    for path in (folder / VERSIONS).glob(f"*@*{SUFFIX}"):
        frozen = frozen_name(path)
        if frozen is not None and frozen.version is not None and frozen.name == name:
            found[frozen.version] = path
    return dict(sorted(found.items()))


def file_in(folder: Path, name: VersionedName) -> Path | None:
    """Return the file of a name in a folder of users or packages; bare names are the newest."""
    newest_file = folder / f"{name.name}{SUFFIX}"
    if name.version is None:
        return newest_file if newest_file.is_file() else None
    frozen = folder / VERSIONS / f"{name}{SUFFIX}"
    if frozen.is_file():
        return frozen
    same = newest_file.is_file() and version_of(newest_file) == name.version
    return newest_file if same else None


def builtin_file(
    folder: Path, name: VersionedName, *, generation: int, frozen: bool = False
) -> Path | None:
    """Return the file of a name in the built-in folder.

    Args:
        folder: the built-in folder.
        name: the name; its version in the generation, if it has none.
        generation: the generation that bare names mean.
        frozen: whether to return only frozen files.
    """
    version = name.version
    if version is None:
        version = 1 if never_moves(name.name) else version_in(name.name, generation)
    newest_version = 1 if never_moves(name.name) else version_in(name.name, newest())
    path = folder / VERSIONS / f"{name.name}@{version}{SUFFIX}"
    if not frozen and version == newest_version:
        path = folder / f"{name.name}{SUFFIX}"
    return path if path.is_file() else None
