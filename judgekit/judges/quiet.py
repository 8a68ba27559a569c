"""Silence about judgekit's own calls, and about nothing else in the process.

litellm and what it builds on log and warn about every call that fails. judgekit says itself what
went wrong, so the records of its calls are dropped; those of other users of these libraries stay.
"""

from __future__ import annotations

import logging
import re
import sys
import traceback
import warnings
from collections.abc import Iterable
from typing import Any

_OWN_HANDLERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
"""Loggers of litellm, which print by themselves."""
_TREES = ("instructor", "httpx", "openai")
"""Loggers with others below them, some of which are made during a call."""
_SHORTEST = 8
"""Characters of a key; a shorter text may stand in any message."""
_SECRETS: set[str] = set()
"""Keys of judges: a server may echo one, and litellm logs what a server says."""
_NOISE = re.compile(r"Pydantic serializer warnings|Item '\w+' on TypedDict class")
"""What litellm's own models make pydantic say; an error where warnings are errors."""


def asking() -> bool:
    """Return whether this runs as part of a call that judgekit makes."""
    wire = sys.modules.get("judgekit.judges.wire")
    return wire is not None and wire.current() is not None


def hide(secrets: Iterable[str]) -> None:
    """Keep secrets out of what litellm logs after a call, in threads and tasks of its making."""
    _SECRETS.update(secret for secret in secrets if len(secret) >= _SHORTEST)


class _Dropped(logging.Filter):
    """Drops the records of judgekit's calls, and those of other code that hold a judge's key."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (asking() or _holds_secret(record))


def _holds_secret(record: logging.LogRecord) -> bool:
    if not _SECRETS:
        return False
    text = record.getMessage()
    if record.exc_info and record.exc_info[1] is not None:
        text += "".join(traceback.format_exception(record.exc_info[1]))
    return any(secret in text for secret in _SECRETS)


class _Gate(logging.Handler):
    """Stops the records of judgekit's calls on their way from a logger to those above it."""

    def __init__(self, logger: logging.Logger) -> None:
        super().__init__()
        self._logger = logger

    def handle(self, record: logging.LogRecord) -> bool:
        above, last = self._logger.parent, logging.lastResort
        if asking():
            record.levelno = logging.NOTSET - 1  # below the level of any handler
            return True
        # This handler counts as one, so logging would not print the record by itself.
        unheard = not (above and above.hasHandlers())
        if unheard and last is not None and record.levelno >= last.level:
            last.handle(record)
        return True


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
    for name in _OWN_HANDLERS:
        logging.getLogger(name).addFilter(_DROPPED)
    for name in _TREES:
        logger = logging.getLogger(name)
        if not any(isinstance(handler, _Gate) for handler in logger.handlers):
            # A filter of this logger would not see the records of those below it.
            logger.handlers.insert(0, _Gate(logger))
    filters: Any = warnings.filters
    if _IGNORED not in filters[:1]:
        filters.insert(0, _IGNORED)
