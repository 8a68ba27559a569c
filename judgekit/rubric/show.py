"""The list of rubrics that can be found by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

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


class ListedRubric(NamedTuple):
    """A rubric that can be found by name."""

    name: str
    group: str
    """What a built-in rubric is for; empty for others."""
    origin: str
    """Its owner: `built-in`, `package NAME`, or the path of a folder."""
    hidden_by: str | None = None
    """The owner of another rubric with this name, which comes first."""
    description: str = ""
    criteria: int = 0
    tests: int = 0
    problem: str | None = None
    """Why it does not load."""

    def line(self) -> str:
        """Return the rubric as a line."""
        if self.problem is not None:
            return f"{self.name:<27}does not load: {self.problem}"
        owner = f"{self.origin}, hidden by that of {self.hidden_by}"
        owner = owner if self.hidden_by else self.origin
        criteria = "criterion" if self.criteria == 1 else "criteria"
        counts = f"{self.criteria:>2} {criteria:<9} {self.tests:>2} "
        counts += f"{'test' if self.tests == 1 else 'tests':<5}"
        return f"{self.name:<27}{counts}  {owner}  {self.description}"


def list_text(rubrics: Sequence[ListedRubric]) -> str:
    """Return a line for each rubric; the built-in ones are grouped by what they are for."""
    lines: dict[str, list[str]] = {}
    for one in rubrics:
        lines.setdefault(one.group, [one.group] if one.group else []).append(one.line())
    return "\n".join("".join(f"{line}\n" for line in b) for b in lines.values()) or "no rubrics\n"


def listed_rubrics(
    own: Sequence[RubricFolder] | None = None, *, folder: Path | None = None
) -> list[ListedRubric]:
    """Return the rubrics: own ones in the order of look-up, then built-in ones by group.

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
    groups: dict[str, list[ListedRubric]] = {"": [], **{p.group: [] for p in places.values()}}
    for name, listed, hidden_by in rubrics_in(folders):
        place = places.get(name.partition("@")[0]) if listed.origin == BUILTIN_ORIGIN else None
        group = place.group if place else ""
        groups[group] += _listed(ListedRubric(name, group, listed.origin, hidden_by), listed)
    return [one for rubrics in groups.values() for one in rubrics]


def _listed(entry: ListedRubric, folder: RubricFolder) -> Iterator[ListedRubric]:
    """Yield an entry with what the file says; nothing for an abstract rubric."""
    try:
        rubric = load_rubric(folder.file(entry.name))
    except AbstractRubric:
        return
    except RubricError as exc:
        yield entry._replace(problem=str(exc))
        return
    yield entry._replace(
        description=rubric.description,
        criteria=len(rubric.criteria),
        tests=len(rubric.tests) + len(rubric.orderings),
    )
