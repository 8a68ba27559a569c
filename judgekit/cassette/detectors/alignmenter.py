"""The four patterns of Alignmenter's sanitizer, with its replacements, for comparison."""

import hashlib
import re
from collections.abc import Callable
from functools import partial

# Narrower than judgekit's detectors: no area code in parentheses, and the + of +1 is kept.
_PATTERNS = {
    "email": re.compile(r"(?<![\w.%+-])[\w.%+-]{1,64}@[A-Za-z0-9.-]{1,253}\.[A-Za-z]{2,24}\b"),
    "phone": re.compile(r"(?<!\w)(?:1[-.])?\d{3}[-.]?\d{3}[-.]?\d{4}(?!\w)"),
    "ssn": re.compile(r"(?<!\w)\d{3}-\d{2}-\d{4}(?!\w)"),
    "card": re.compile(r"(?<!\w)\d{4}[- ]?\d{4}[- ]?\d{4}[- ]?\d{4}(?!\w)"),
}
"""Kind -> pattern, in the order of application."""


def replace_alignmenter(
    text: str, *, hashed: bool = True, count: Callable[[str], None] = lambda kind: None
) -> str:
    """Replace matches by texts such as `email_0a1b2c3d`, or `[EMAIL_REDACTED]` without `hashed`.

    Args:
        text: the text.
        hashed: whether a replacement contains the first 8 hex digits of the match's SHA-256.
        count: called with the kind of each match.

    >>> replace_alignmenter("ssn 123-45-6789"), replace_alignmenter("a@b.co", hashed=False)
    ('ssn ssn_01a54629', '[EMAIL_REDACTED]')
    """
    for kind, pattern in _PATTERNS.items():
        text = pattern.sub(partial(_replacement, kind, hashed, count), text)
    return text


def _replacement(
    kind: str, hashed: bool, count: Callable[[str], None], match: re.Match[str]
) -> str:
    count(kind)
    prefix = "cc" if kind == "card" else kind
    if not hashed:
        return f"[{prefix.upper()}_REDACTED]"
    return f"{prefix}_{hashlib.sha256(match[0].encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
