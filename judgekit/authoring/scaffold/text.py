"""Write any text as YAML, so that the file contains exactly this text."""

from __future__ import annotations

import re
from collections.abc import Iterable

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
# Words that YAML does not read as text.
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none"}
# Characters besides JSON's escapes that YAML forbids, or that editors show badly.
_ESCAPED = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]"
)
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_HALF = re.compile("[\ud800-\udfff]")


def scalar(text: str) -> str:
    """Return a text as a YAML scalar in one line, in quotes unless it is a plain word."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    text = _HALF.sub("\ufffd", text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    letter = match.group()
    return _NAMED.get(letter) or f"\\u{ord(letter):04x}"


def listed(texts: Iterable[str]) -> str:
    """Return texts as a YAML list in one line."""
    return f"[{', '.join(scalar(text) for text in texts)}]"
