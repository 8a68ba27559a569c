"""Silence about judgekit's own calls, and about nothing else in the process.

litellm and what it builds on log and warn about every call that fails. judgekit says itself what
went wrong, so the records of its calls are dropped; those of other users of these libraries stay.
"""

from __future__ import annotations

import logging
import re
import sys
import warnings
from typing import Any

_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "instructor", "httpx", "openai")
_NOISE = re.compile(r"Pydantic serializer warnings|Item '\w+' on TypedDict class")
"""What litellm's own models make pydantic say; an error where warnings are errors."""


def asking() -> bool:
    """Return whether this runs as part of a call that judgekit makes."""
    wire = sys.modules.get("judgekit.wire")
    return wire is not None and wire.current() is not None


class _Dropped(logging.Filter):
    """Drops the records of judgekit's calls."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not asking()


class _Noise:
    """Matches warnings that judgekit's calls cause.

    Stands where a warnings filter has its pattern, of which only `match` is called: a plain
    pattern would hide the warnings of the rest of the program.
    """

    def match(self, text: str) -> bool:
        return asking() and _NOISE.match(text) is not None


_DROPPED = _Dropped()
_IGNORED: Any = ("ignore", _Noise(), UserWarning, None, 0)


def keep_quiet() -> None:
    """Drop what the libraries log and warn about judgekit's calls; may be called again."""
    children = tuple(f"{name}." for name in _LOGGERS)
    known = [name for name in list(logging.root.manager.loggerDict) if name.startswith(children)]
    for name in (*_LOGGERS, *known):
        logging.getLogger(name).addFilter(_DROPPED)
    filters: Any = warnings.filters
    if _IGNORED not in filters[:1]:
        filters.insert(0, _IGNORED)
