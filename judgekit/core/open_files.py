"""The limit of open files of this process: how many calls fit, and advice when it is reached."""

from __future__ import annotations

import errno
import os
from pathlib import Path

RESERVED = 64
"""Files that are not for calls: the store, the run folder, the resolver, and late imports."""
ADVICE = "too many open files; raise the limit (`ulimit -n 4096`), or lower limits.concurrency"
_ERRORS = frozenset({errno.EMFILE, errno.ENFILE})
_LISTS = (Path("/proc/self/fd"), Path("/dev/fd"))
_MOST_LINKS = 12


def calls_that_fit() -> int | None:
    """Return how many connections this process may open, at least 1; `None` without a limit."""
    limit = _soft_limit()
    if limit is None:
        return None
    return max(1, limit - _open_now(limit) - RESERVED)


def file_limit() -> int | None:
    """Return the limit of open files; `None` without one."""
    return _soft_limit()


def is_out_of_files(error: BaseException | None) -> bool:
    """Return whether an error comes from the limit of open files.

    SQLite and resolvers do not tell the reason, so the limit itself is tried for their errors.
    """
    known = False
    for _ in range(_MOST_LINKS):
        if error is None:
            break
        if getattr(error, "errno", None) in _ERRORS:
            return True
        known = known or "unable to open database file" in str(error) or _is_of_names(error)
        error = error.__cause__ or error.__context__
    return known and _at_limit()


def _is_of_names(error: BaseException) -> bool:
    return type(error).__name__ in ("gaierror", "ClientConnectorDNSError")


def _at_limit() -> bool:
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as exc:
        return exc.errno in _ERRORS
    return False


def _soft_limit() -> int | None:
    try:
        import resource
    except ImportError:  # Windows has no such limit for sockets
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft in (resource.RLIM_INFINITY, -1) else soft


def _open_now(limit: int) -> int:
    for folder in _LISTS:
        try:
            return len(list(folder.iterdir()))
        except OSError as exc:
            if exc.errno in _ERRORS:
                return limit
    return 0
