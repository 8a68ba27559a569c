"""Runs `judgekit` in forks of a process that has imported everything already.

Each fork is a process of its own, to be killed at any moment; what it saves is the seconds that
importing litellm takes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from .asking import arguments
from .server import Server


class Forge:
    """Starts runs, one at a time; use it in a `with` statement.

    Args:
        server: who will be asked; nobody by default, and litellm is not imported.
    """

    def __init__(self, server: Server | None = None) -> None:
        words = [server.base] if server is not None else []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.live.forging", *words],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._read() == "ready"

    def __enter__(self) -> Forge:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _read(self) -> Any:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def start(self, suite: Path, *flags: str) -> int:
        """Start a run and return the id of its process.

        It prints into the files `stdout` and `stderr` beside the suite.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([*arguments(suite), *flags]) + "\n")
        self._process.stdin.flush()
        return int(self._read())

    def ended(self) -> int:
        """Wait for the run and return its exit code, or minus the signal that ended it."""
        return int(self._read())

    def finish(self, suite: Path, *flags: str) -> tuple[int, str, str]:
        """Run a suite to its end; return its exit code, output and error output."""
        self.start(suite, *flags)
        return (self.ended(), *printed(suite))


def printed(suite: Path) -> tuple[str, str]:
    """Return what the last run of a suite printed on its output and its error output."""
    out, err = (suite.with_name(name).read_text(encoding="utf-8") for name in ("stdout", "stderr"))
    return out, err
