"""The other versions of a loaded rubric, for a request without a recording."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from judgekit.core.errors import ConfigError
from judgekit.core.generation import generations, newest, of_generation, version_in
from judgekit.rubric.library import builtin_folder, package_folders
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.versions import (
    SUFFIX,
    VersionedName,
    frozen_name,
    home_of,
    never_moves,
    versions_in,
)


class OtherVersion(NamedTuple):
    """A rubric as it was or will be in another version."""

    rubric: Rubric
    name: str
    """The name to write for it, such as `quality@1`."""
    parent: str = ""
    """The name of its parent, if the version of the parent is what differs."""
    builtin: bool = False
    """Whether it is a built-in rubric."""


def other_versions(rubric: Rubric) -> Iterator[OtherVersion]:
    """Yield the other versions of a rubric, the newest first, with its parameters.

    A rubric that extends a built-in one by its bare name differs from generation to generation,
    and so do criteria without a file. Versions that do not take the parameters are left out.
    """
    seen = {rubric.digest}
    home, name = home_of(rubric.path), _name_of(rubric)
    builtin = home.resolve() == builtin_folder().resolve()
    files: dict[int, Path] = {}
    if rubric.path.suffix == SUFFIX:
        files = versions_in(home, name)
    files.setdefault(rubric.version, rubric.path)
    set_here = {
        parameter: value
        for parameter, value in rubric.parameters.items()
        if value != rubric.declared[parameter].default
    }
    for version, path in sorted(files.items(), reverse=True):
        for generation in sorted(generations(), reverse=True):
            try:
                with of_generation(generation):
                    other = rubric.remade(path)
                    other = other.with_parameters(set_here)
            except ConfigError:
                continue
            if other.digest not in seen:
                seen.add(other.digest)
                same = version == rubric.version
                yield OtherVersion(
                    other,
                    f"{_package(home)}{VersionedName(name, version)}",
                    parent=_builtin_parent(other) if same and not builtin else "",
                    builtin=builtin,
                )


def _name_of(rubric: Rubric) -> str:
    frozen = frozen_name(rubric.path)
    return rubric.path.stem if frozen is None else frozen.name


def _package(home: Path) -> str:
    """Return `PACKAGE:` for a folder of a package."""
    origins = {folder.path: folder.origin for folder in package_folders()}
    origin = origins.get(home, "")
    return f"{origin.removeprefix('package ')}:" if origin else ""


def _builtin_parent(rubric: Rubric) -> str:
    """Return the version of the first built-in file that a rubric is built from."""
    builtin = builtin_folder().resolve()
    for path in rubric.files:
        if home_of(path.resolve()) == builtin:
            # `base` is version 1 for ever, and other files here are the newest.
            version = 1 if never_moves(path.stem) else version_in(path.stem, newest())
            return str(frozen_name(path) or VersionedName(path.stem, version))
    return ""
