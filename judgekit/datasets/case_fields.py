"""The values of a case, their sources, and the errors of pydantic about them."""

import ast
from collections.abc import Container, Mapping
from math import isfinite
from typing import Any

from pydantic import ValidationError

from judgekit.core.case import Case, Message, as_text
from judgekit.core.case_field import CASE_WORDS, FIELD_BY_NAME, OBJECTS, TEXT_LISTS
from judgekit.core.thoughts import split_thoughts
from judgekit.core.value_rule import value_rule
from judgekit.datasets.field_names import THOUGHTS
from judgekit.datasets.formatting import kind, quoted
from judgekit.datasets.ids import derive_id
from judgekit.datasets.json_text import json_fault, parse_json
from judgekit.datasets.row_builder import RowFault, RowNote


class CaseFields:
    """Collects the fields of one case; two values for one field are an error.

    `cells` names the fields whose texts hold JSON, as the cells of a table do.
    """

    def __init__(self, *, cells: Container[str] = (), keep_thoughts: bool = False) -> None:
        self._cells = cells
        self._keep_thoughts = keep_thoughts
        self.notes: list[RowNote] = []
        self.messages: list[Message] | None = None
        self._values: dict[str, Any] = {}
        self._sources: dict[str, str] = {}

    def put(self, field: str, value: Any, *, source: str) -> None:
        """Set a field; null counts as missing.

        Raises:
            RowFault: the field was set before.
        """
        if value is None:
            return
        if isinstance(value, str) and field in self._cells:
            value = self._parsed(field, value)
        if field in OBJECTS and isinstance(value, dict):
            for key, item in value.items():
                self.put_inside(field, key, item, source=source)
            self._values.setdefault(field, {})
            return
        self._claim(field, source)
        if field in CASE_WORDS:
            value = self._text_of(field, value)
        self._values[field] = value

    def put_inside(self, field: str, key: str, value: Any, *, source: str) -> None:
        """Set a value inside `expected`, `labels` or `metadata`."""
        self._claim(f"{field}.{key}", source)
        inside = self._values.setdefault(field, {})
        if not isinstance(inside, dict):
            raise self._twice(field, self._sources[field], source)
        inside[key] = value

    def put_unread(self, field: str, problem: str) -> None:
        """Note that a field cannot be shown whole, and why."""
        self._values.setdefault("unread", {}).setdefault(field, problem)

    def note(self, rule: str, field: str | None, message: str) -> None:
        """Note what `cases lint` says of the row."""
        self.notes.append(RowNote(rule, field, message))

    def case(self) -> Case:
        """Return the case, with a derived id if the row has none."""
        values = self._values
        if not self._keep_thoughts:
            self._split_output(values)
        if not values:
            raise RowFault(
                "the row holds no field of a case; remove it, or give it an input and output"
            )
        id = values.get("id")
        if isinstance(id, int) and not isinstance(id, bool):
            values["id"] = str(id)
        elif id is None:
            values["id"] = "-"
        try:
            case = Case.model_validate(values)
        except ValidationError as exc:
            raise invalid_case(exc, self._sources) from exc
        return case.model_copy(update={"id": derive_id(case)}) if id is None else case

    def _text_of(self, field: str, value: Any) -> Any:
        """Return the value of a text field: documents become their texts."""
        numbers = value if isinstance(value, list) else [value]
        if any(isinstance(number, float) and not isfinite(number) for number in numbers):
            raise RowFault("a number too large for JSON; write it as text", field)
        if field in TEXT_LISTS and isinstance(value, list) and value:
            texts = [_document_text(item) for item in value]
            if all(text is not None for text in texts) and any(isinstance(d, dict) for d in value):
                rest = [_document_rest(item) for item in value]
                if any(rest):
                    self.put_inside("metadata", f"{field}_fields", rest, source=field)
                self.note("converted", field, "documents: their texts are the passages")
                return texts
        return as_text(value)

    def _split_output(self, values: dict[str, Any]) -> None:
        output = values.get("output")
        if not isinstance(output, str):
            return
        thoughts, rest = split_thoughts(output)
        metadata = values.get("metadata", {})
        if rest != output and isinstance(metadata, dict):
            values["output"] = rest
            before = metadata.get(THOUGHTS, [])
            if isinstance(before, list):
                values["metadata"] = {**metadata, THOUGHTS: [*before, *thoughts]}

    def _claim(self, name: str, source: str) -> None:
        if name in self._sources:
            raise self._twice(name, self._sources[name], source)
        self._sources[name] = source

    def _twice(self, field: str, first: str, second: str) -> RowFault:
        return RowFault(
            f"given twice, by {quoted(first)} and by {quoted(second)}; remove one, or choose"
            f" with fields: {{{field!r}: ...}}",
            field,
        )

    def _python_list(self, field: str, text: str) -> Any:
        """Return the texts of a list as Python prints it, which is how pandas writes lists."""
        bare = text.strip()
        if bare[:1] + bare[-1:] == "[]" and len(bare) <= _LONGEST_LITERAL:
            try:
                value = ast.literal_eval(bare)
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                return text
            if isinstance(value, list) and all(isinstance(item, str) for item in value):
                self.note("converted", field, "a list as Python prints it: its texts")
                return value
        return text

    def _parsed(self, field: str, text: str) -> Any:
        """Return the value that is encoded in the text of a cell."""
        try:
            value = parse_json(text)
        except ValueError as exc:
            if field in TEXT_LISTS:
                return self._python_list(field, text)
            fault = json_fault(exc, text.encode())
            problem = f"the cell is not JSON ({fault.what}); write an object like {_like(field)}"
            raise RowFault(problem, field) from exc
        if field in TEXT_LISTS:
            texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
            return value if texts else text
        expected = list if FIELD_BY_NAME[field].kind == "messages" else dict
        if not isinstance(value, expected):
            raise RowFault(f"the cell holds {kind(value)}; write JSON like {_like(field)}", field)
        return value


_DOCUMENT_KEYS = ("page_content", "pageContent", "text", "content", "body", "passage", "snippet")
"""The keys of the text of a document: LangChain, LlamaIndex, Haystack and search results."""
_LONGEST_LITERAL = 100_000
"""Maximum length of a Python list in a cell, in characters."""


def _document_text(item: Any) -> str | None:
    if isinstance(item, str):
        return item
    if not isinstance(item, dict):
        return None
    for key in _DOCUMENT_KEYS:
        if isinstance(item.get(key), str):
            return str(item[key])
    inner = item.get("document") or item.get("node") or item.get("doc")
    return _document_text(inner) if isinstance(inner, dict) else None


def _document_rest(item: Any) -> dict[str, Any]:
    if not isinstance(item, dict):
        return {}
    used = next((key for key in _DOCUMENT_KEYS if isinstance(item.get(key), str)), None)
    return {key: value for key, value in item.items() if key != used}


_LIKE = {
    "unread": '{"input": "message 1 has an image"}',
    "messages": '[{"role": "user", "content": "Hi"}]',
    "object": '{"name": "value"}',
    "expected": '{"facts": ["..."]}',
    "labels": '{"quality": 0.8}',
    "metadata": '{"topic": "billing"}',
}
"""Field, or kind of field -> the content of a cell."""


def _like(field: str) -> str:
    return _LIKE.get(field) or _LIKE[FIELD_BY_NAME[field].kind]


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
        # Inside JSON values, the location also contains the branch of the union.
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
        return " ".join(value_rule(error).split())
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
