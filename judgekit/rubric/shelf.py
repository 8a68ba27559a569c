"""The folders rubrics are looked up in by name: one's own, those of packages, the built-in one."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from judgekit.core.entry_points import Offer, offers
from judgekit.core.errors import RubricError
from judgekit.core.suggest import suggest
from judgekit.core.wrong_file import nearby, other_kind

GROUP = "judgekit.rubrics"
"""Entry points of packages that offer rubrics: NAME = package.folder"""
SUFFIX = ".jinja"


class Shelf(NamedTuple):
    """A folder of rubrics, and whose it is."""

    folder: Path
    origin: str
    """`built-in`, `package NAME`, or the folder."""


@lru_cache(maxsize=1)
def builtin_folder() -> Path:
    """Return the folder of built-in rubrics: inside a wheel, or beside the package."""
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


def own_shelves(base: Path, folders: Sequence[Path] = ()) -> list[Shelf]:
    """Return the shelves that go before those of packages: a suite's folders, and beside it."""
    return [Shelf(folder, str(folder)) for folder in (*folders, base, base / "rubrics")]


def package_shelves() -> tuple[Shelf, ...]:
    """Return the shelves installed packages offer, by the names of their entry points.

    No package is imported: the folder is found from where it is installed.

    Raises:
        RubricError: a package offers a folder that is not there, or two offer one name. A rubric
            must never come from somewhere else because the right place is broken.
    """
    return _package_shelves(tuple(sys.path))


@lru_cache(maxsize=2)
def _package_shelves(path: tuple[str, ...]) -> tuple[Shelf, ...]:
    shelves: dict[str, Shelf] = {}
    for offer in sorted(offers(GROUP)):
        shelf = Shelf(_folder_of(offer), f"package {offer.name}")
        if offer.name in shelves and shelves[offer.name].folder != shelf.folder:
            raise RubricError(
                f"two packages offer rubrics as {offer.name!r}: {shelves[offer.name].folder} and "
                f"{shelf.folder}; uninstall one"
            )
        shelves[offer.name] = shelf
    return tuple(shelves.values())


def _folder_of(offer: Offer) -> Path:
    top, *inner = offer.value.split(".")
    places: Sequence[str] = ()
    if all(part.isidentifier() for part in (top, *inner)):
        try:
            # A name with dots would import the package above it; what is above is a folder too.
            spec = find_spec(top)
        except (ImportError, ValueError, AttributeError):
            spec = None
        places = (spec.submodule_search_locations or ()) if spec is not None else ()
    for place in places:
        folder = Path(place).joinpath(*inner)
        if folder.is_dir() and rubric_names(folder):
            return folder
    offered = f"the installed package {offer.package!r}" if offer.package else "a package"
    raise RubricError(
        f"{offered} offers rubrics as {offer.name} = {offer.value}, but no such folder of "
        "rubrics is installed; install it again or uninstall it"
    )


def library() -> list[Shelf]:
    """Return the shelves every program of this installation has: packages, then the built-in."""
    return [*package_shelves(), Shelf(builtin_folder(), "built-in")]


def library_names() -> list[str]:
    """Return the names of the rubrics that need no file of one's own."""
    names = {name for shelf in library() for name in rubric_names(shelf.folder)}
    return sorted(names - {"base"})


def find_rubric(
    source: str | Path, *, base: Path | None = None, folders: Sequence[Path] = ()
) -> Path:
    """Return the file of a rubric: a path, or a name that is looked up.

    A name is looked up in `folders`, in `base` and its `rubrics`, in installed packages, and
    among the built-in ones; the first that has it counts. `PACKAGE:NAME` is one package's.

    Args:
        source: `my_rubric`, `rubrics/my_rubric.jinja` or `acme:tone`.
        base: folder that paths and names are relative to; the working folder by default.
        folders: where to look first.

    Raises:
        RubricError: there is no such rubric; near names are suggested.
    """
    base = base or Path()
    text = str(source)
    if text.endswith(SUFFIX) or "/" in text or "\\" in text:
        path = base / Path(text)
        path = path if path.suffix == SUFFIX else path.with_name(path.name + SUFFIX)
        _refuse_other_kinds(path)
        if not path.is_file():
            raise RubricError(f"no such rubric file{nearby(path)}", where=str(path))
        return path
    _refuse_other_kinds(base / text)
    if ":" in text:
        return _of_package(*text.split(":", 1))
    for shelf in own_shelves(base, folders):
        if (path := shelf.folder / f"{text}{SUFFIX}").is_file():
            return path
    offers = [s for s in package_shelves() if (s.folder / f"{text}{SUFFIX}").is_file()]
    if len(offers) > 1:
        names = [f"{shelf.origin.removeprefix('package ')}:{text}" for shelf in offers]
        raise RubricError(f"several packages offer {text!r}; name one: {', '.join(names)}")
    for shelf in (*offers, Shelf(builtin_folder(), "built-in")):
        if (path := shelf.folder / f"{text}{SUFFIX}").is_file():
            return path
    known = {n for s in (*own_shelves(base, folders), *library()) for n in rubric_names(s.folder)}
    raise RubricError(f"no rubric named {text!r}{suggest(text, sorted(known))}")


def _refuse_other_kinds(path: Path) -> None:
    other = other_kind(path, wanted="rubric")
    if other is not None and path.is_file():
        raise RubricError(other, where=str(path))


def _of_package(package: str, name: str) -> Path:
    shelves = {shelf.origin.removeprefix("package "): shelf for shelf in package_shelves()}
    if package not in shelves:
        hint = suggest(package, list(shelves)) or "; none is installed"
        raise RubricError(f"no package offers rubrics as {package!r}{hint}")
    folder = shelves[package].folder
    path = folder / f"{name}{SUFFIX}"
    if name not in rubric_names(folder):
        raise RubricError(
            f"package {package!r} offers no rubric {name!r}{suggest(name, rubric_names(folder))}"
        )
    return path


class Found(NamedTuple):
    """A rubric on a shelf, and the shelf that hides it, if one does."""

    name: str
    path: Path
    origin: str
    hidden_by: str | None


def found_on(shelves: Sequence[Shelf]) -> Iterator[Found]:
    """Yield every rubric of some shelves, in the order in which names are looked up."""
    seen: dict[str, str] = {}
    folders: set[Path] = set()
    builtin = builtin_folder().resolve()
    for folder, origin in shelves:
        resolved = folder.resolve()
        if resolved in folders or not folder.is_dir():
            continue
        folders.add(resolved)
        whose = "built-in" if resolved == builtin else origin
        for name in rubric_names(folder):
            yield Found(name, folder / f"{name}{SUFFIX}", whose, seen.get(name))
            seen.setdefault(name, whose)
