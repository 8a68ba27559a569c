"""A pseudonym: what stands in place of a thing found, always the same for the same thing."""

from __future__ import annotations

import hashlib
import hmac
import re

PSEUDONYM = re.compile(r"\[[A-Z][A-Z0-9_]{0,39}-[0-9a-f]{8}\]")
"""What a pseudonym looks like; nothing private is looked for in one."""


def pseudonym(name: str, value: str, key: bytes = b"") -> str:
    """Return what stands in place of a value; 8 hexadecimal digits of a keyed sha256."""
    said = f"{name.upper()}\0{value}".encode("utf-8", "surrogatepass")
    return f"[{name.upper()}-{hmac.new(key, said, hashlib.sha256).hexdigest()[:8]}]"
