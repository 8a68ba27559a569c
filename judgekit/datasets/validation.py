"""Errors of pydantic about a case, as one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from judgekit.datasets.field_names import OBJECTS, TEXT_LISTS
from judgekit.datasets.formatting import kind, quoted
from judgekit.datasets.row_builder import RowFault

_UNION_TAGS = frozenset({"list", "dict", "str", "bool", "int", "float", "none", "[key]"})

_EXPECTED = {
    "string_type": "text",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "tuple_type": "a list",
    "list_type": "a list",
}

_PROBLEMS = {
    "extra_forbidden": "unknown key",
    "missing": "missing",
    "string_too_short": "empty",
    "string_too_long": "too long",
    "finite_number": "NaN or an infinity, which JSON lacks",
}


def invalid_case(exc: ValidationError, sources: Mapping[str, str]) -> RowFault:
    """Return the first error of pydantic; `sources` has the key of the row for each field."""
    first, *rest = exc.errors(include_url=False, include_context=True)
    top = str(first["loc"][0]) if first["loc"] else ""
    location = first["loc"]
    if top in OBJECTS:
        # Inside JSON values the location also holds the branch of the union that was tried.
        location = tuple(part for part in location if part not in _UNION_TAGS)
    field = ".".join(map(str, location))
    source = sources.get(top, top)
    origin = f" (from {quoted(source)})" if source != top else ""
    more = f" ({len(rest)} more in this row)" if rest else ""
    return RowFault(f"{_fault(first)}{origin}{more}; {_remedy(top, first)}", field or None)


def _fault(error: Any) -> str:
    sort = error["type"]
    if sort == "literal_error":
        return f"expected {error['ctx']['expected']}, found {quoted(error['input'])}"
    if sort in _PROBLEMS:
        return _PROBLEMS[sort]
    expected = _EXPECTED.get(sort)
    if expected is None:
        return " ".join(str(error["msg"]).split())
    if len(error["loc"]) == 1 and error["loc"][0] in TEXT_LISTS:
        expected = "text or a list of texts"
    return f"expected {expected}, found {kind(error['input'])}"


def _remedy(top: str, error: Any) -> str:
    if top == "id":
        return "give text or a whole number of at most 1,000 characters, or no id at all"
    if error["type"] == "extra_forbidden":
        return "remove it, or use a `messages` row for other shapes of messages"
    if error["type"] == "finite_number":
        return "write null"
    if error["type"] != "missing" and isinstance(error["input"], dict | list):
        return "choose the part that is meant with fields: {...: 'dotted.path'}"
    if isinstance(error["input"], int | float) and top != "expected":
        return "write an object" if top in OBJECTS else "put it in quotes"
    if top == "expected":
        return "a model answer is `reference`; map it with cases: {fields: {reference: expected}}"
    return "correct the row"
