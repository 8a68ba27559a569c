"""Canonical JSON and digests: equal values have the same text and SHA-256 on every machine."""

import hashlib
import json
import re
from json.encoder import encode_basestring
from typing import Any

CONTROL_CHARACTERS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|[\u2028\u2029]")
"""Characters that must not appear in a prompt, a terminal or a report."""

_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode

_encode_in_order = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":")
).encode


def canonical_json(value: Any) -> str:
    """Return the canonical JSON of a value: sorted keys, no spaces, unescaped UTF-8.

    Raises:
        ValueError: the value contains NaN or an infinity, which JSON cannot represent.
        TypeError: the value is not JSON.
    """
    return encode_basestring(value) if type(value) is str else _encode(value)


def json_in_order(value: Any) -> str:
    """Return JSON like `canonical_json`, with the keys in their own order.

    Raises:
        ValueError: the value contains NaN or an infinity, which JSON cannot represent.
        TypeError: the value is not JSON.
    """
    return _encode_in_order(value)


def json_value(text: str | bytes) -> Any:
    """Return the value of a JSON text; `None` if it is malformed or nested too deeply."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def digest(value: str | bytes) -> str:
    """Return the sha256 of a text (as UTF-8) or of bytes, as 64 hexadecimal characters."""
    data = value.encode("utf-8") if isinstance(value, str) else value
    return hashlib.sha256(data).hexdigest()


def digest_json(value: Any) -> str:
    """Return the digest of a value's canonical JSON."""
    return digest(canonical_json(value))


_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Characters that change the text direction: allowed in a prompt, not in a table."""


_PLAIN_ASCII = bytes(range(0x20, 0x7F)) + b"\t\n\r"


def printable(text: str) -> str:
    """Return the text for a terminal: `visible`, without characters that change its direction."""
    return _BIDI.sub("�", visible(text))


def visible(text: str) -> str:
    """Return the text with control characters replaced by U+FFFD; line ends and tabs are kept."""
    # Most texts have no control characters; the pattern takes several times longer to find that.
    if text.isascii():
        plain = not text.encode().translate(None, _PLAIN_ASCII)
    else:
        plain = text.replace("\n", "").isprintable()
    return text if plain else CONTROL_CHARACTERS.sub("�", text)
