"""The lead of a large page: data for the list of cases, read before all texts."""

from __future__ import annotations

from typing import Any

LONGEST = 120
"""Characters of a line that are shown in the list before the texts are there."""

_SHOWN = ("type", "status", "value", "kind", "fallback")


def lead_of(case: dict[str, Any], line: str) -> dict[str, Any]:
    """Return the part of a case that the list shows; `line` is its first line of text."""
    return {
        "id": case["id"],
        "line": line[:LONGEST].rstrip(),
        "metadata": case.get("metadata") or {},
        **({"place": case["place"]} if "place" in case else {}),
        "rows": {metric: _row(row) for metric, row in case["rows"].items()},
    }


def _row(row: dict[str, Any]) -> dict[str, Any]:
    lead = {name: row[name] for name in _SHOWN if name in row}
    for name in ("message", "reason"):
        if name in row and "value" not in row:
            lead[name] = row[name][:LONGEST]
    band = (row.get("details") or {}).get("band")
    if isinstance(band, str):
        lead["details"] = {"band": band[:LONGEST]}
    if flags := sorted(_flags(row)):
        lead["flags"] = flags
    return lead


def _flags(row: dict[str, Any]) -> set[str]:
    """Return the values by which the list filters the parts of a result."""
    flags = set()
    for part in row.get("parts") or ():
        if part.get("status") == "abstained":
            flags.add("abstained")
        if any(not quote.get("field") for quote in part.get("quotes") or ()):
            flags.add("unfound")
    return flags
