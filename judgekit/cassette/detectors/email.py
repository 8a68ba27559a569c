"""E-mail addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from judgekit.cassette.detectors.span import PrivateSpan

_LOCAL = 64
"""The most characters before the @ (RFC 5321, 4.5.3.1.1)."""
_AT = re.compile(r"(?<=[\w.+%-])@(?=[^\W_])")
# Searched in a slice of that length before the @.
_BEFORE = re.compile(r"[\w](?:[\w.+%-]*+)\Z")
# A label has at most 63 characters (RFC 1035, 2.3.4), which bounds backtracking.
_AFTER = re.compile(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,10}[^\W\d_]{2,24}")


def find(text: str) -> Iterator[PrivateSpan]:
    """Yield the e-mail addresses of a text.

    >>> [span.value for span in find("Write to Ann.Lee+x@Example.com.")]
    ['ann.lee+x@example.com']
    """
    end = 0
    for match in _AT.finditer(text):
        at = match.start()
        after = _AFTER.match(text, at + 1)
        before = _BEFORE.search(text[max(end, at - _LOCAL) : at]) if after else None
        if before and after:
            start = at - len(before[0])
            end = after.end()
            yield PrivateSpan(start, end, text[start:end].lower())
