"""The command line: one file for each command, without logic.

It may import every other package; no package imports it.

Start with `app`, the list of commands.
"""

from __future__ import annotations

import atexit
import errno
import gc
import os
import sys
import threading
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any

_YOUNG = 100_000
"""New objects after which the collector looks for rings among them; CPython's own 700 has it look
120 times while modules are imported, and find next to nothing."""

_INTERRUPTED = 130
"""What shells make of Ctrl-C."""
_UNWRITABLE = {errno.ENOSPC, errno.EIO, errno.EBADF, errno.EFBIG, errno.EDQUOT}


class _NoPlugins(ModuleType):
    """Stands in for the module by which pydantic looks for plugins, where they are switched off.

    Before that module sees that they are, it loads `importlib.metadata`, and with it what Python
    has for mail and archives.
    """

    NAME = "pydantic.plugin._loader"

    @staticmethod
    def get_plugins() -> tuple[()]:
        """Return no plugin."""
        return ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # the import asks whether it is a package
            raise AttributeError(name)
        # A pydantic that wants anything else of the module gets the module.
        del sys.modules[self.NAME]
        return getattr(import_module(self.NAME), name)


def console() -> None:
    """Run the command line as a process of its own, and leave it at once when it is done.

    By then all that was open is closed and written. What is left is to take every object apart,
    which would take longer than to score a dozen cases; the memory goes with the process.
    """
    try:
        main()
    except SystemExit as exc:
        code = 0 if exc.code is None else exc.code
        if isinstance(code, int) and threading.active_count() == 1:
            atexit._run_exitfuncs()
            with suppress(OSError, ValueError):  # a stream that is closed, or that nobody reads
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        raise


def main() -> None:
    """Run the command line; an error judgekit knows is one line and exit code 2."""
    _open_streams()
    gc.set_threshold(_YOUNG, 10, 10)
    # Where the process ends in the usual way, it is not to look through every object once more.
    atexit.register(gc.freeze)
    # Other packages may hook into every validation; looking for them takes as long as a dozen
    # cases, and what is installed beside judgekit is not to decide what a run gives.
    if os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__") == "__all__":
        sys.modules.setdefault(_NoPlugins.NAME, _NoPlugins(_NoPlugins.NAME))
    from judgekit.cli.app import app
    from judgekit.core.errors import JudgekitError

    try:
        try:
            app(prog_name="judgekit")
        finally:
            sys.stdout.flush()
    except JudgekitError as exc:
        _fail(str(exc))
    except SystemExit as exc:
        # typer makes exit code 1 of a broken pipe and of Ctrl-C, which would read as a missed gate.
        if isinstance(exc.__context__, BrokenPipeError):
            _leave()
        if exc.__context__ is not None and isinstance(exc.__context__.__cause__, KeyboardInterrupt):
            sys.exit(_INTERRUPTED)
        raise
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:
        _leave()
    except OSError as exc:
        if exc.filename is None and exc.errno in _UNWRITABLE:
            _discard()
        # Files are written by code that names them: what has no name is the output itself.
        _fail(f"{exc.filename or 'standard output'}: {exc.strerror or exc}")


def _open_streams() -> None:
    """Have standard input, output and error, if only to nowhere.

    Where one is closed, the next file that is opened would stand in its place, and what is printed
    would be written into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115


def _fail(message: str) -> None:
    from judgekit.core.canonical import printable

    print(f"judgekit: {' '.join(printable(message).split())}", file=sys.stderr)
    sys.exit(2)


def _leave() -> None:
    """Leave quietly: whoever read our output has had enough, and that is no error."""
    _discard()
    sys.exit(141)


def _discard() -> None:
    """Let what is still to be written at the end of the program go nowhere: it must not fail."""
    with suppress(OSError, ValueError):  # a stream that is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
