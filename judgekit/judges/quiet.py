"""Silence the log records and warnings of litellm about judgekit's own calls.

litellm and its libraries log and warn about every failed call. judgekit reports these errors
itself, so the records of its calls are dropped; those of other callers are kept.
"""

from __future__ import annotations

import logging
import re
import traceback
import warnings
from collections.abc import Iterable
from typing import Any

from judgekit.core.secret_forms import SecretForms
from judgekit.judges.wire import current

_OWN_HANDLERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
"""Loggers of litellm with their own handlers."""
_TREES = ("instructor", "httpx", "openai")
"""Loggers with child loggers, some of which are created during a call."""
_FORMS: dict[str, SecretForms] = {}
"""Keys of judges: a server may echo a key, and litellm logs responses."""
_NOISE = re.compile(r"Pydantic serializer warnings|Items? '[\w', ]+ on TypedDict class")
"""Warnings of pydantic about litellm's models; errors if warnings are errors."""


def asking() -> bool:
    """Return whether the current code runs in a call of judgekit."""
    return current() is not None


def hide(secrets: Iterable[str]) -> None:
    """Drop log records with these secrets, also after a call, in litellm's threads and tasks."""
    for secret in secrets:
        if secret not in _FORMS:
            _FORMS[secret] = SecretForms((secret,))


def _kept(record: logging.LogRecord) -> bool:
    """Drop the records of judgekit's calls, and other records with the key of a judge."""
    if asking():
        return False
    if not _FORMS:
        return True
    text = record.getMessage()
    if record.exc_info and record.exc_info[1] is not None:
        text += "".join(traceback.format_exception(record.exc_info[1]))
    return not any(forms.are_in(text) for forms in _FORMS.values())


class _Gate(logging.Handler):
    """Stops the propagation of records of judgekit's calls to parent loggers."""

    def __init__(self, logger: logging.Logger) -> None:
        super().__init__()
        self._logger = logger

    def handle(self, record: logging.LogRecord) -> bool:
        above, last = self._logger.parent, logging.lastResort
        if asking():
            record.levelno = logging.NOTSET - 1  # below the level of any handler
            return True
        # Because this is a handler, logging does not use its last-resort handler.
        unhandled = not (above and above.hasHandlers())
        if unhandled and last is not None and record.levelno >= last.level:
            last.handle(record)
        return True


class _Noise:
    """Matches warnings of judgekit's calls.

    Used as the pattern of a warnings filter, which only calls `match`. A plain pattern would also
    hide the warnings of the rest of the program.
    """

    def match(self, text: str) -> bool:
        return asking() and _NOISE.match(text) is not None


_IGNORED: Any = ("ignore", _Noise(), UserWarning, None, 0)


def keep_quiet() -> None:
    """Install the filters; repeated calls have no effect."""
    for name in _OWN_HANDLERS:
        logging.getLogger(name).addFilter(_kept)
    for name in _TREES:
        logger = logging.getLogger(name)
        if not any(isinstance(handler, _Gate) for handler in logger.handlers):
            # A filter of this logger would not see the records of its child loggers.
            logger.handlers.insert(0, _Gate(logger))
    filters: Any = warnings.filters
    if _IGNORED not in filters[:1]:
        filters.insert(0, _IGNORED)
