"""Resolve or open suites in a process that reports every write, lock and connection.

    python -m tests.suite.watchdog resolve|open OVERRIDES SUITE...

An audit hook cannot be removed, so it runs in its own process. The report is JSON: suite -> texts.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
EVENTS = (
    "socket.", "sqlite3.", "fcntl.", "tempfile.", "shutil.", "subprocess.", "os.mkdir", "os.rename",
    "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.utime",
    "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.putenv",
)  # fmt: skip
"""The beginnings of the names of audit events that `resolve` must not cause."""

seen: list[str] = []
watching = False


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if not watching:
        return
    if event == "open":
        flags = arguments[2]
        if isinstance(flags, int) and flags & WRITES:
            seen.append(f"open {arguments[0]}")
    elif event.startswith(EVENTS):
        seen.append(f"{event} {arguments}")


def events_of(how: str, suite: Path, flags: str) -> list[str]:
    """Resolve or open a suite, and return what was noted."""
    global watching
    from judgekit.suite.overrides import Overrides
    from judgekit.suite.resolved import resolve
    from judgekit.suite.suite import open_suite

    overrides = Overrides.model_validate_json(flags)
    watching = False
    resolve(suite, overrides)  # imports; some packages open files for it
    seen.clear()
    watching = True
    resolved = resolve(suite, overrides)
    if how == "open":
        opened = open_suite(resolved)
        assert opened.cassette is None or opened.cassette.store is not None
    watching = False
    return list(seen)


def main(how: str, flags: str, *suites: str) -> None:
    """Print suite -> what was noted."""
    sys.addaudithook(_note)
    print(json.dumps({suite: events_of(how, Path(suite), flags) for suite in suites}))


if __name__ == "__main__":
    main(*sys.argv[1:])
