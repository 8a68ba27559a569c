"""The lines of cases, from reading their file again."""

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
    """Return the file and the line of cases; without a line if rows are not lines.

    A case that is not in the file, or a file that can be read only once, has no place.
    """
    places: dict[str, tuple[str, int | None]] = {}
    if not path.is_file():
        return places
    rows = read_file(
        path, str(path), shape=format or "auto", container=container or "auto", fields=fields
    )
    missing = set(ids)
    try:
        for at, case in rows():
            if case.id in missing:
                missing.remove(case.id)
                places[case.id] = (path.as_posix(), at if isinstance(at, int) else None)
            if not missing:
                break
    except JudgekitError:
        # The file was changed since, so its lines may be wrong.
        return {}
    return places
