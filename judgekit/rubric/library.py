"""The rubric library: the folders in which a rubric is looked up by its name."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from judgekit.core.entry_points import Offer, offers
from judgekit.core.errors import RubricError
from judgekit.core.generation import current, version_in
from judgekit.core.input_file import home_path, nearby, other_kind
from judgekit.core.suggest import closest, suggest
from judgekit.rubric.versions import (
    SUFFIX,
    VersionedName,
    builtin_file,
    file_in,
    frozen_name,
    versions_in,
)

GROUP = "judgekit.rubrics"
"""Entry points of packages with rubrics: NAME = package.folder"""
_ALIKE_FOLDER = 0.8
"""How alike a word and the name of a folder must be for the folder to be suggested."""


BUILTIN_ORIGIN = "built-in"


class RubricFolder(NamedTuple):
    """A folder of rubrics and its owner."""

    path: Path
    origin: str
    """`built-in`, `package NAME`, or the path of the folder."""

    def file(self, name: str) -> Path:
        """Return the path that a rubric of this name has in the folder, if the folder has it."""
        return self.find(VersionedName.parse(name)) or self.path / f"{name}{SUFFIX}"

    def find(self, name: VersionedName) -> Path | None:
        """Return the file of a name; `None` without one."""
        if self.path.resolve() == builtin_folder().resolve():
            return builtin_file(self.path, name, generation=current())
        return file_in(self.path, name)

    def owns(self, name: VersionedName) -> bool:
        """Return whether the folder has the rubric of a name, if only in other versions."""
        known = self.find(name) is not None
        return known or (name.version is not None and bool(versions_in(self.path, name.name)))

    def chosen(self, name: VersionedName) -> Path:
        """Return the file of a name that the folder owns.

        Raises:
            RubricError: the folder does not have this version.
        """
        if (path := self.find(name)) is not None:
            return path
        versions = ", ".join(f"{name.name}@{v}" for v in versions_in(self.path, name.name))
        message = f"rubric {name.name!r} has no version {name.version}, only {versions}"
        raise RubricError(f"{message} ({self.origin})")


@lru_cache(maxsize=1)
def builtin_folder() -> Path:
    """Return the folder of built-in rubrics: inside a wheel, or next to the package."""
    spec = find_spec("judgekit")
    package = Path(spec.origin).parent if spec and spec.origin else Path(__file__).parents[1]
    for folder in (package / "_rubrics", package.parent / "rubrics"):
        if (folder / f"base{SUFFIX}").is_file():
            return folder
    raise RubricError("the built-in rubrics are not installed; install judgekit again")


def rubric_names(folder: Path | None = None) -> list[str]:
    """Return the names of the rubrics in a folder (the built-in one by default)."""
    folder = folder or builtin_folder()
    names = (path.stem for path in sorted(folder.glob(f"*{SUFFIX}")))
    return [name for name in names if not name.startswith("_")]


def newest_base() -> str:
    """Return the name under which new rubrics extend the newest `base`: `base`, or `base@V`.

    The bare name means version 1 for ever, because rubrics of users extend it.
    """
    version = version_in("base", current())
    return "base" if version == 1 else f"base@{version}"


def own_folders(base: Path, folders: Sequence[Path] = ()) -> list[RubricFolder]:
    """Return the folders to search before those of packages: `folders`, `base`, `base/rubrics`."""
    return [RubricFolder(folder, str(folder)) for folder in (*folders, base, base / "rubrics")]


def package_folders() -> tuple[RubricFolder, ...]:
    """Return the folders of rubrics in installed packages, by the names of their entry points.

    This imports no package: it locates a folder from the place where the package is installed.

    Raises:
        RubricError: a package offers a folder that does not exist, or two packages offer the same
            name. A broken package must never lead to a rubric from somewhere else.
    """
    return _package_folders(tuple(sys.path))


@lru_cache(maxsize=2)
def _package_folders(path: tuple[str, ...]) -> tuple[RubricFolder, ...]:
    folders: dict[str, RubricFolder] = {}
    for offer in sorted(offers(GROUP)):
        folder = RubricFolder(folder_of(offer), f"package {offer.name}")
        if offer.name in folders and folders[offer.name].path != folder.path:
            both = f"{folders[offer.name].path} and {folder.path}; uninstall one"
            raise RubricError(f"two packages offer rubrics as {offer.name!r}: {both}")
        folders[offer.name] = folder
    return tuple(folders.values())


def folder_of(offer: Offer) -> Path:
    """Return the folder of rubrics that an entry point names.

    Raises:
        RubricError: it does not exist.
    """
    top, *inner = offer.value.split(".")
    places: Sequence[str] = ()
    if all(part.isidentifier() for part in (top, *inner)):
        try:
            # Only the top package: looking up a dotted name would import its parent.
            spec = find_spec(top)
        except (ImportError, ValueError, AttributeError):
            spec = None
        places = (spec.submodule_search_locations or ()) if spec is not None else ()
    for place in places:
        folder = Path(place).joinpath(*inner)
        if folder.is_dir() and rubric_names(folder):
            return folder
    package = f"the installed package {offer.package!r}" if offer.package else "a package"
    missing = "no such folder of rubrics is installed; install it again or uninstall it"
    raise RubricError(f"{package} offers rubrics as {offer.name} = {offer.value}, but {missing}")


def library_folders() -> list[RubricFolder]:
    """Return the folders that every project can use: those of packages, then the built-in one."""
    return [*package_folders(), RubricFolder(builtin_folder(), BUILTIN_ORIGIN)]


def library_names() -> list[str]:
    """Return the names of the rubrics in `library_folders()`."""
    names = {name for folder in library_folders() for name in rubric_names(folder.path)}
    return sorted(names - {"base"})


def find_rubric(
    source: str | Path, *, base: Path | None = None, folders: Sequence[Path] = ()
) -> Path:
    """Return the file of a rubric, given by path or by name.

    A name is looked up in `folders`, in `base` and its `rubrics`, in installed packages, and
    among the built-in rubrics; the first match counts. `PACKAGE:NAME` looks in one package.
    `NAME@V` is a version; the first folder that has NAME must have it. A bare built-in name is the
    newest version, or that of the generation of the suite (see `of_generation`).

    Args:
        source: `my_rubric`, `my_rubric@1`, `rubrics/my_rubric.jinja` or `acme:tone`.
        base: folder that paths and names are relative to; the working folder by default.
        folders: folders to search first.

    Raises:
        RubricError: there is no such rubric, or not this version; the message suggests others.
    """
    base = base or Path()
    text = str(source)
    if text.endswith(SUFFIX) or "/" in text or "\\" in text:
        typed = path = base / home_path(text)
        if path.suffix != SUFFIX and path.name:  # the root has no name
            path = path.with_name(path.name + SUFFIX)
        _refuse_other_kinds(path)
        if not path.is_file():
            name = path.name.removesuffix(SUFFIX)
            if "@" in name and versions_in(path.parent, name.rpartition("@")[0]):
                folder = RubricFolder(path.parent, str(path.parent))
                return folder.chosen(VersionedName.parse(name))
            if typed.is_dir():
                raise RubricError("this is a folder; name a rubric in it", where=str(typed))
            meant = typed.with_suffix(SUFFIX)
            hint = f"; did you mean {str(meant)!r}?" if meant.is_file() else nearby(path)
            hint = hint or "; `judgekit rubric new NAME` writes one"
            raise RubricError(f"no such rubric file{hint}", where=str(path))
        return path
    _refuse_other_kinds(base / text)
    if ":" in text:
        return _of_package(*text.split(":", 1))
    wanted = VersionedName.parse(text)
    own = own_folders(base, folders)
    for folder in own:
        if folder.owns(wanted):
            return folder.chosen(wanted)
    *packages, builtin = library_folders()
    packages = [folder for folder in packages if folder.owns(wanted)]
    if len(packages) > 1:
        names = [f"{folder.origin.removeprefix('package ')}:{text}" for folder in packages]
        raise RubricError(f"several packages offer {text!r}; name one: {', '.join(names)}")
    for folder in (*packages, builtin):
        if folder.owns(wanted):
            return folder.chosen(wanted)
    known = {n for folder in (*own, *library_folders()) for n in rubric_names(folder.path)}
    question = f"; a question goes into a file: judgekit rubric new NAME -c {text!r:.100}"
    hint = question if " " in text.strip() else suggest(wanted.name, sorted(known))
    raise RubricError(f"no rubric named {text!r:.100}{hint}")


def find_where_folders_may_be(source: str | Path) -> Path:
    """Return the file of a rubric, where a command also takes folders.

    Raises:
        RubricError: there is none; suggests a folder of a similar name, or similar rubrics.
    """
    try:
        return find_rubric(source)
    except RubricError as exc:
        folders = [path.name for path in Path().iterdir() if path.is_dir()]
        if not (close := closest(str(source), folders, alike=_ALIKE_FOLDER)):
            raise
        message = f"no rubric and no folder of this name; did you mean {close[0]!r}?"
        raise RubricError(message, where=str(source)) from exc


def _refuse_other_kinds(path: Path) -> None:
    if (other := other_kind(path, wanted="rubric")) and path.is_file():
        raise RubricError(other, where=str(path))


def _of_package(package: str, name: str) -> Path:
    folders = {folder.origin.removeprefix("package "): folder for folder in package_folders()}
    if package not in folders:
        hint = suggest(package, list(folders)) or "; none is installed"
        raise RubricError(f"no package offers rubrics as {package!r}{hint}")
    known, wanted = rubric_names(folders[package].path), VersionedName.parse(name)
    if wanted.name not in known:
        hint = suggest(wanted.name, known)
        raise RubricError(f"package {package!r} offers no rubric {name!r}{hint}")
    return folders[package].chosen(wanted)


def rubrics_in(folders: Sequence[RubricFolder]) -> Iterator[tuple[str, RubricFolder, str | None]]:
    """Yield every rubric of some folders, in the order in which names are looked up.

    Each comes with its folder, and with the owner of an earlier folder that has the same name.
    """
    seen: dict[str, str] = {}
    listed: set[Path] = set()
    builtin = builtin_folder().resolve()
    for folder in folders:
        resolved = folder.path.resolve()
        if resolved in listed or not folder.path.is_dir():
            continue
        listed.add(resolved)
        owned = folder._replace(origin=BUILTIN_ORIGIN) if resolved == builtin else folder
        for name in rubric_names(folder.path):
            yield name, owned, seen.get(name)
            for version, path in versions_in(folder.path, name).items():
                if frozen_name(path) is not None:
                    yield f"{name}@{version}", owned, seen.get(name)
            seen.setdefault(name, owned.origin)
