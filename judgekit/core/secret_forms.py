"""Hide secrets in texts: as they are, escaped, or encoded in base64 or hexadecimal."""

from __future__ import annotations

import base64
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from html import unescape

SHORTEST = 8
"""Minimum length of a secret, in characters; a shorter text may occur in any reply."""
HIDDEN = "[key]"
_CUT = 24
"""Length from which half of a form is hidden, too: servers and limits cut texts."""
_LAYERS = 4
"""Maximum number of escapes around each other, such as JSON in JSON."""

_ESCAPE = re.compile(
    r"\\{1,16}(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2})|([/\"'\\]))"
    r"|%(?:25){0,8}([0-9a-fA-F]{2})"
    r"|(&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|amp|quot|apos|lt|gt);)"
)
_ESCAPING = frozenset("\\%&")


class SecretForms:
    """Finds secrets in texts.

    Args:
        secrets: the secrets; those shorter than `SHORTEST` are ignored.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self.secrets = tuple(dict.fromkeys(s for s in secrets if len(s) >= SHORTEST))
        forms = dict.fromkeys(form for secret in self.secrets for form in _forms(secret))
        self._needles = tuple(needle for form in forms for needle in _needles(form))
        self._shortest = min((len(part) for _, _, part in self._needles), default=0)

    def hide(self, text: str) -> str:
        """Return a text with every secret replaced by `[key]`."""
        if not self._needles or len(text) < self._shortest:
            return text
        spans = sorted(self._spans(text, _LAYERS))
        if not spans:
            return text
        pieces: list[str] = []
        end = 0
        for start, stop in spans:
            if start >= end:
                pieces += (text[end:start], HIDDEN)
            end = max(end, stop)
        return "".join((*pieces, text[end:]))

    def are_in(self, text: str) -> bool:
        """Return whether a text contains a secret."""
        return self.hide(text) != text

    def _spans(self, text: str, layers: int) -> Iterator[tuple[int, int]]:
        for form, at, part in self._needles:
            place = text.find(part)
            while place >= 0:
                start, stop = _extended(text, form, place, at, len(part))
                yield start, stop
                place = text.find(part, stop)
        if layers and not _ESCAPING.isdisjoint(text):
            plain = _Unescaped(text)
            if plain.escapes:
                yield from map(plain.span_in_source, self._spans(plain.text, layers - 1))


class _Unescaped:
    """A text without its outermost escapes, with the place of every character in the source."""

    def __init__(self, source: str) -> None:
        pieces: list[str] = []
        self._starts = [0]
        """Start of each piece in the plain text."""
        self._sources = [0]
        """Start of each piece in the source; escapes are pieces of one character."""
        self.escapes = 0
        length = end = 0
        for match in _ESCAPE.finditer(source):
            literal = source[end : match.start()]
            character = _character(match)
            end = match.end()
            pieces += (literal, character)
            length += len(literal)
            self._starts += (length, length + len(character))
            self._sources += (match.start(), end)
            length += len(character)
            self.escapes += 1
        pieces.append(source[end:])
        self.text = "".join(pieces)
        self._end = len(source)

    def span_in_source(self, span: tuple[int, int]) -> tuple[int, int]:
        """Return the part of the source that a part of the plain text comes from."""
        start, stop = span
        first = bisect_right(self._starts, start) - 1
        last = bisect_right(self._starts, stop - 1) - 1
        begin = self._sources[first] + (0 if first % 2 else start - self._starts[first])
        if last % 2:  # an escape
            return begin, self._sources[last + 1]
        return begin, self._sources[last] + stop - self._starts[last]


def _character(match: re.Match[str]) -> str:
    *numbers, literal, percent, entity = match.groups()
    if literal is not None:
        return str(literal)
    if entity is not None:
        return unescape(entity)[:1]
    number = int(percent or next(filter(None, numbers)), 16)
    return chr(number) if number <= 0x10FFFF else "�"


def _forms(secret: str) -> Iterator[str]:
    """Yield a secret, and the texts that its base64 and hexadecimal forms contain."""
    yield secret
    data = secret.encode("utf-8", "surrogatepass")
    yield data.hex()
    yield data.hex().upper()
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + data).decode()
        # The characters at the ends depend on what is around the secret.
        inner = encoded[(0, 2, 3)[before] : len(encoded) - (0, 3, 2)[(before + len(data)) % 3]]
        if len(inner) >= SHORTEST:
            yield inner
            yield inner.replace("+", "-").replace("/", "_")


def _needles(form: str) -> Iterator[tuple[str, int, str]]:
    """Yield a form, and the place and the text of each part to search for."""
    if len(form) < _CUT:
        yield form, 0, form
        return
    half = len(form) // 2
    yield form, 0, form[:half]
    yield form, half, form[half:]


def _extended(text: str, form: str, place: int, at: int, length: int) -> tuple[int, int]:
    """Return the largest part of a text around a place that is the same as in the form."""
    start, stop = place, place + length
    end = at + length
    while end < len(form) and stop < len(text) and text[stop] == form[end]:
        stop, end = stop + 1, end + 1
    while at > 0 and start > 0 and text[start - 1] == form[at - 1]:
        start, at = start - 1, at - 1
    return start, stop
