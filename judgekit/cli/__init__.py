"""The command line: one function per command, without logic.

It may import all other packages; no package imports it.

Start with `app`, the list of commands.
"""

import atexit
import errno
import gc
import os
import sys
from contextlib import suppress
from typing import Any

YOUNG_OBJECTS = 100_000
"""New objects before a collection. CPython's default of 700 means 120 collections during imports,
which find almost nothing: 102 of 512 ms of processor time for one replayed case."""

_INTERRUPTED = 130
"""The exit code of shells for Ctrl-C."""
_UNWRITABLE = {errno.ENOSPC, errno.EIO, errno.EBADF, errno.EFBIG, errno.EDQUOT}


def main() -> None:
    """Run the command line; a `JudgekitError` becomes one line and exit code 2."""
    _open_streams()
    from judgekit.cli.workflow_output import without_commands

    errors: Any = sys.stderr
    sys.stderr = errors = _Errors(errors)
    try:
        with without_commands():
            _run()
    finally:
        if sys.stderr is errors:
            sys.stderr = errors.inner


class _Errors:
    """Standard error that may be full or closed: what cannot be written changes no exit code."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def write(self, text: str) -> int:
        """Write a text as far as possible; return its length."""
        try:
            self.inner.write(text)
        except OSError:
            _discard(self.inner)
        return len(text)

    def flush(self) -> None:
        """Flush the stream as far as possible."""
        try:
            self.inner.flush()
        except OSError:
            _discard(self.inner)


def _run() -> None:
    gc.set_threshold(YOUNG_OBJECTS, 10, 10)
    # A regular shutdown runs the garbage collector again; it skips frozen objects.
    atexit.register(gc.freeze)
    # pydantic plugins of other packages must not change the results of a run.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
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
        # typer exits with 1 after a broken pipe or Ctrl-C, which would mean a failed gate.
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
            _discard(sys.stdout)
        # An error about a file has a file name; without one, it is about standard output.
        _fail(f"{exc.filename or 'standard output'}: {exc.strerror or exc}")


def _open_streams() -> None:
    """Open closed standard streams on the null device.

    Otherwise the next opened file would get the descriptor of the closed stream, and prints would
    go to that file.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # uses the lowest free descriptor
        if getattr(sys, name) is None:
            mode = "w" if number else "r"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def _fail(message: str) -> None:
    from judgekit.core.canonical import printable

    print(f"judgekit: {' '.join(printable(message).split())}", file=sys.stderr)
    sys.exit(2)


def _leave() -> None:
    """Exit quietly: a pipe that was closed by its reader is not an error."""
    _discard(sys.stdout)
    sys.exit(141)


def _discard(stream: Any) -> None:
    """Redirect the final flush to the null device, where it cannot fail."""
    with suppress(OSError, ValueError):  # a stream without a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
