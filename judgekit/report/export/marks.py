"""Mark invisible and misleading characters, and characters that a format forbids."""

from __future__ import annotations

import re

# Control characters, surrogates, invisible marks, direction overrides, line separators, tags and
# noncharacters: XML 1.0 forbids some of them, and the others mislead readers.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e01ef]"
)


def named(text: str) -> str:
    r"""Return a text with invisible characters as code points; tabs and line ends are kept.

    >>> named("a\x07b\u202ec")
    'a⟨U+0007⟩b⟨U+202E⟩c'
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return _UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def one_line(text: str, *, most: int = 1000) -> str:
    """Return a text on one line, with invisible characters as code points, cut to a length."""
    line = " ".join(named(text).split())
    return line if len(line) <= most else line[: most - 1] + "…"
