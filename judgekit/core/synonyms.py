"""Words of other tools: what they are here."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Literal

from judgekit.core.sourced import checked_tables
from judgekit.core.yaml_file import package_data

Place = Literal[
    "command", "subcommand", "flag", "suite", "rubric", "judge", "metric", "gate", "criterion",
    "kind", "combine", "argument", "cases", "metric_name", "export",
    "attribute",
]  # fmt: skip
"""What a word is, and where."""
TABLE = Path(__file__).with_name("data") / "synonyms.yaml"
_CONTAINERS: dict[str, Place] = {
    "judge": "judge",
    "judges": "judge",
    "gate": "gate",
    "criteria": "criterion",
    "metrics": "metric",
    "cases": "cases",
}


def synonym(place: str, word: object, known: Iterable[str] | None = None) -> str:
    """Return the end of a message about a word that has another name here; empty if it has none.

    Args:
        place: what the word is, and where.
        word: the word; case is ignored, and `_` and `-` are equivalent.
        known: the names that are valid there; a name that is not among them is not suggested.

    Example:
        >>> synonym("gate", "average", ["mean", "min"])
        "; did you mean 'mean'?"
    """
    row = _rows().get((place, _plain(word)))
    if row is None:
        return ""
    names = None if known is None else set(known)
    uses = [name for name in row.get("use", ()) if names is None or name in names]
    if "say" in row:
        needed = row.get("use", [row["needs"]] if "needs" in row else [])
        possible = names is None or not needed or names.intersection(needed)
        return f"; {row['say']}" if possible else ""
    return f"; did you mean {uses[0]!r}?" if uses else ""


def key_synonym(path: tuple[str | int, ...], known: Iterable[str]) -> str:
    """Return the end of a message about an unknown key of a file; empty if it has no synonym."""
    names = list(known)
    place: str = "suite" if "metrics" in names else "rubric" if "orderings" in names else ""
    for step in path[:-1]:
        place = _CONTAINERS.get(str(step), place)
    return synonym(place, path[-1], names)


@cache
def _rows() -> dict[tuple[str, str], dict[str, Any]]:
    rows = checked_tables(package_data(TABLE), file=TABLE.name)["words"]
    return {(row["place"], _plain(word)): row for row in rows for word in row["words"]}


def _plain(word: object) -> str:
    return str(word).casefold().lstrip("-").replace("-", "_").replace(" ", "_")
