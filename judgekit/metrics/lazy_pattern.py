"""A regular expression that costs nothing until it is used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property


class LazyPattern:
    """A regular expression that is compiled when it is first used.

    There are dozens of them, and compiling them all takes longer than scoring a case by most.
    """

    def __init__(self, source: str, flags: re.RegexFlag = re.NOFLAG) -> None:
        self._source = source
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)

    def search(self, text: str, *bounds: int) -> re.Match[str] | None:
        """Return the first match, within `start` and `end` if given."""
        return self._compiled.search(text, *bounds)

    def match(self, text: str, *bounds: int) -> re.Match[str] | None:
        """Return the match at the beginning, within `start` and `end` if given."""
        return self._compiled.match(text, *bounds)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Yield every match."""
        return self._compiled.finditer(text)

    def findall(self, text: str) -> list[str]:
        """Return the text of every match."""
        return self._compiled.findall(text)

    def split(self, text: str) -> list[str]:
        """Return what stands between the matches."""
        return self._compiled.split(text)

    def sub(self, replacement: str, text: str) -> str:
        """Return the text with every match replaced."""
        return self._compiled.sub(replacement, text)
