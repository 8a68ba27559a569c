"""Where cases stand: the line of a file, found by reading it again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from judgekit.core.errors import JudgekitError
from judgekit.datasets.load import read_file


def find_places(
    path: Path,
    ids: Collection[str],
    *,
    format: Any = None,
    container: Any = None,
    fields: Mapping[str, str] | None = None,
) -> dict[str, tuple[str, int | None]]:
    """Return the file and the line of cases; without a line where rows are not lines.

    A case that is not found, or a file that can be read only once, has no place.
    """
    found: dict[str, tuple[str, int | None]] = {}
    if not path.is_file():
        return found
    rows = read_file(
        path, str(path), shape=format or "auto", container=container or "auto", fields=fields
    )
    left = set(ids)
    try:
        for at, case in rows():
            if case.id in left:
                left.remove(case.id)
                found[case.id] = (path.as_posix(), at if isinstance(at, int) else None)
            if not left:
                break
    except JudgekitError:
        # Somebody changed the file since: what was found of it is not to be relied on.
        return {}
    return found
