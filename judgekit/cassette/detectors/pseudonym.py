"""Pseudonyms: they replace private data, the same value always by the same pseudonym."""

from __future__ import annotations

import hashlib
import hmac
import re

PSEUDONYM = re.compile(r"(\[[A-Z][A-Z0-9_]{0,39}-[0-9a-f]{8}\])")
"""The form of a pseudonym; detectors skip pseudonyms."""


def pseudonym(name: str, value: str, key: bytes = b"") -> str:
    """Return the pseudonym of a value, with 8 hexadecimal digits of a keyed SHA-256."""
    text = f"{name.upper()}\0{value}".encode("utf-8", "surrogatepass")
    return f"[{name.upper()}-{hmac.new(key, text, hashlib.sha256).hexdigest()[:8]}]"
