"""Pack the data of a page: compressed, and inert in its script element."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Container, Iterable, Mapping
from typing import Any, NamedTuple

from judgekit.core.case import Case
from judgekit.core.case_field import CASE_FIELDS, SETTINGS, TEXT_LISTS, TEXTS

PLAIN = 1_000_000
"""Maximum length of uncompressed JSON, in characters; longer data is compressed."""

_LINE = re.compile(r"\S[^\r\n]*")
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


class Packed(NamedTuple):
    """Data as the text of an inert script element."""

    text: str
    compressed: bool


class Texts:
    """Texts that many cases share, stored once and referenced by number."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._numbers: dict[str, int] = {}

    def put(self, text: str) -> int:
        """Return the number of a text."""
        if text not in self._numbers:
            self._numbers[text] = len(self.all)
            self.all.append(text)
        return self._numbers[text]

    def case(self, case: Case, include: set[str] | None = None) -> dict[str, Any]:
        """Return the fields of a case that are set, with numbers in place of shared texts."""
        data = case.model_dump(mode="json", include=include, exclude_defaults=True)
        for name in SETTINGS:
            if name in data and name in TEXTS:
                data[name] = self.put(data[name])
            elif name in data and name in TEXT_LISTS:
                data[name] = [self.put(text) for text in data[name]]
        return data


def case_fields(include: Container[str] | None = None) -> list[dict[str, str]]:
    """Return the fields that a page prints, in order, for its script; all or some of them."""
    return [
        {"name": field.name, "kind": field.kind, "title": field.title}
        for field in CASE_FIELDS
        if field.on_pages and (include is None or field.name in include)
    ]


def first_line(case: Case) -> str:
    """Return the first line of the input, output or history that is not blank."""
    texts = [case.input, case.output, *(message.content for message in case.history)]
    return next(filter(None, map(line_of, texts)), "")


def line_of(text: str | None) -> str:
    """Return the first line of a text that is not blank; empty if there is none."""
    match = _LINE.search(text or "")
    return match[0].rstrip() if match else ""


def page_json(value: Any) -> str:
    """Return a value as JSON without spaces.

    Raises:
        ValueError: the value contains NaN or an infinity.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def with_cases(head: Mapping[str, Any], cases: Iterable[str]) -> str:
    """Return the JSON of a head, with cases that are JSON already as its last entry."""
    return f'{page_json(head)[:-1]},"cases":[{",".join(cases)}]}}'


def pack(text: str) -> Packed:
    """Return JSON that is escaped for a script element, so its content cannot end the element."""
    if len(text) <= PLAIN:
        return Packed(text.translate(_ESCAPES), False)
    squeezed = zlib.compress(text.encode("utf-8", "replace"), 9)
    return Packed(base64.b64encode(squeezed).decode(), True)
