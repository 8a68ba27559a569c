"""What to do about an error of a job, by the table in `data/job_errors.json`."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path

from judgekit.core.sourced import FactTables, read_tables

_DATA = Path(__file__).with_name("data") / "job_errors.json"
_tables = cache(read_tables)


def advised(problem: str, *, codes: Collection[str] = (), status: int = 0) -> str:
    """Return the problem of a job with what to do about it.

    Args:
        problem: what the provider says, in one line.
        codes: the codes of its errors.
        status: the HTTP status of a refusal; 0 if there is none.
    """
    tables: FactTables = _tables(_DATA)
    rows = tables["errors"]
    row = next((row for row in rows if not set(codes).isdisjoint(row["codes"])), None)
    row = row or next((row for row in rows if status in row["statuses"]), None)
    return problem if row is None or not problem else f"{problem}; {row['tell']}"
