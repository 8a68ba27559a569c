"""The tables of facts about the world, and the check that each row says where its fact is from.

A fact about a provider or a tool is a row in a data file of the package, so that another provider
is a line and not a branch. Such a file is an object: each list in it is a table of rows, and texts
such as `about` describe the tables. A row names its `source`, a project and a page or file, without
an address. `verified` says what was read in the source when the row was written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgekit.core.errors import ConfigError

FactTables = Mapping[str, list[dict[str, Any]]]
"""Name of a table -> its rows."""


def read_tables(file: Path) -> FactTables:
    """Return the tables of a JSON file of the package.

    Raises:
        ConfigError: a row without a source, see `checked_tables`.
    """
    return checked_tables(json.loads(file.read_text("utf-8")), file=file.name)


def checked_tables(data: Any, *, file: str) -> FactTables:
    """Return the tables of a data file, after a check of the sources.

    Args:
        data: the content of the file.
        file: its name, for messages.

    Raises:
        ConfigError: it is no object, it has values that are neither tables nor texts, a row is no
            object, a row has no source or one with an address, or only some rows of a table say
            what was verified.
    """
    if not isinstance(data, dict):
        raise ConfigError("write an object of tables", where=file)
    for name, rows in data.items():
        if isinstance(rows, str):
            continue
        if not isinstance(rows, list) or not rows:
            raise ConfigError(f"write {name!r} as a list of rows, each with a source", where=file)
        verified = any(isinstance(row, dict) and "verified" in row for row in rows)
        for number, row in enumerate(rows, 1):
            problem = _problem(row, verified=verified)
            if problem:
                raise ConfigError(f"row {number} of {name!r} {problem}", where=file)
    return {name: rows for name, rows in data.items() if not isinstance(rows, str)}


def _problem(row: object, *, verified: bool) -> str:
    """Return what is wrong with the source of a row; empty if nothing is."""
    if not isinstance(row, dict):
        return "is no object; write its values by name, with a source"
    if not is_source(row.get("source")):
        return "has no source; name the project, and the page or file without an address"
    if verified and not is_source(row.get("verified")):
        return "does not say what was verified, as others do; write it, or write nothing"
    return ""


def is_source(value: object) -> bool:
    """Return whether a value names a source: a text without an address.

    >>> is_source("Ragas: src/ragas/dataset_schema.py"), is_source(" ")
    (True, False)
    """
    return isinstance(value, str) and bool(value.strip()) and "://" not in value
