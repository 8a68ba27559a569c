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

    def forget(self, number: int) -> None:
        """Remove the texts from a number on."""
        for text in self.all[number:]:
            del self._numbers[text]
        del self.all[number:]

    def case(self, case: Case, include: set[str] | None = None) -> dict[str, Any]:
        """Return the fields of a case that are set, with numbers in place of shared texts."""
        return self.numbered(case.model_dump(mode="json", include=include, exclude_defaults=True))

    def numbered(self, data: dict[str, Any]) -> dict[str, Any]:
        """Replace the shared texts in the fields of a case by their numbers; return the fields."""
        for name in SETTINGS:
            if name in data and name in TEXTS:
                data[name] = self.put(data[name])
            elif name in data and name in TEXT_LISTS:
                data[name] = [self.put(text) for text in data[name]]
        return data


_NAMES = frozenset({"id", "digest", "metric", "parent"})
"""Keys of the data of a case whose values are never cut."""


def shortened(value: Any, most: int) -> tuple[Any, bool]:
    """Return a value with long texts inside cut to a length, and whether a text was cut.

    >>> shortened({"output": "abcdef", "id": "abcdef"}, 4)
    ({'output': 'abcd… (2 more characters)', 'id': 'abcdef'}, True)
    """
    if isinstance(value, str):
        if len(value) <= most:
            return value, False
        return f"{value[:most]}… ({len(value) - most:,} more characters)", True
    if isinstance(value, dict):
        pairs = {k: (v, False) if k in _NAMES else shortened(v, most) for k, v in value.items()}
        return {k: v for k, (v, _) in pairs.items()}, any(cut for _, cut in pairs.values())
    if isinstance(value, list | tuple):
        several = [shortened(one, most) for one in value]
        return [one for one, _ in several], any(cut for _, cut in several)
    return value, False


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
