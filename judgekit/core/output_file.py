"""Write output files atomically, never through a link and never over a foreign file."""

import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

from judgekit.core.errors import ConfigError

NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
"""Flags for `os.open`: binary mode and, where the system supports it, an error for a link."""
LINK = "is a link; name the file that it leads to"
_HEAD = 4096
"""Number of bytes that are read to recognise a file."""


@contextmanager
def whole_file(path: Path, *, mode: int = 0o666, sync: bool = False) -> Iterator[BinaryIO]:
    """Open a file to write; it replaces `path` if the block ends without an error.

    The bytes go to a new file in the same folder, which is then renamed. An existing file is kept
    until then, and after an error. A device or a named pipe is written in place.

    Args:
        path: the file to write.
        mode: its permissions, before the umask.
        sync: whether to flush the bytes to disk before the file is renamed.

    Raises:
        OSError: the file cannot be written, or `path` is a link.
    """
    if is_link(path):
        raise OSError(errno.ELOOP, LINK, str(path))
    if path.exists() and not (path.is_file() or path.is_dir()):
        # A rename would put a file in the place of the device or pipe, such as /dev/null.
        with path.open("wb") as file:
            yield file
        return
    new = beside(path, writer=os.getpid())
    with suppress(FileNotFoundError):  # left by an earlier process with the same id
        new.unlink()
    # O_EXCL: a file or link that was created in the meantime is an error.
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            if sync:
                os.fsync(handle)
        new.replace(path)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise


_LEAST_ROOM = 1 << 20
"""Bytes that must be free before the first call to a judge: room for the calls in flight."""


def check_room(folder: Path) -> None:
    """Check that the disk of a folder, which may not exist yet, is not full.

    Raises:
        OSError: there is less than a megabyte.
    """
    existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    free = shutil.disk_usage(existing).free
    if free < _LEAST_ROOM:
        raise OSError(errno.ENOSPC, f"only {free:,} bytes are free on its disk")


def beside(path: Path, *, writer: int | str) -> Path:
    """Return the temporary path where a process writes a file before renaming it."""
    return path.with_name(f".{path.name}.{writer}.new")


def open_in_place(path: Path, flags: int, mode: int = 0o666) -> int:
    """Open a regular file like `os.open`; refuse links and files with several names.

    Raises:
        OSError: the file cannot be opened, is no regular file, or is a link.
    """
    if is_link(path):
        raise OSError(errno.ELOOP, LINK, str(path))
    # O_NONBLOCK: a named pipe, which is refused below, is not waited for.
    handle = os.open(path, flags | NO_FOLLOW | getattr(os, "O_NONBLOCK", 0), mode)
    try:
        opened, named = os.fstat(handle), path.lstat()
        # Check again for systems without O_NOFOLLOW: the name may have become a link.
        if not stat.S_ISREG(opened.st_mode) or not os.path.samestat(opened, named):
            raise OSError(errno.EINVAL, "is not a regular file", str(path))
        if opened.st_nlink > 1:
            raise OSError(
                errno.EMLINK,
                "is a hard link; the file of the other name would change too",
                str(path),
            )
    except BaseException:
        os.close(handle)
        raise
    return handle


def is_link(path: Path) -> bool:
    """Return whether a path is a link: a symbolic one, or a junction of Windows."""
    is_junction = getattr(os.path, "isjunction", None)  # from Python 3.12 on
    return path.is_symlink() or (is_junction is not None and bool(is_junction(path)))


def refuse_foreign(path: Path, ours: Callable[[bytes], bool], *, what: str) -> None:
    """Refuse to replace a file that judgekit did not write.

    Args:
        path: the file to write. Missing files, empty files and devices are accepted.
        ours: returns whether a file that begins with these 4096 bytes may be replaced.
        what: the kind of file to write, such as "a page of judgekit".

    Raises:
        ConfigError: the file is foreign, is a link, or cannot be read.
    """
    if is_link(path) and (path.is_file() or not path.exists()):
        raise ConfigError(LINK, where=str(path))
    if not path.is_file():
        return
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as exc:
        raise ConfigError(f"cannot be read: {exc.strerror}", where=str(path)) from exc
    if head and not ours(head):
        message = f"is there already and is not {what}; move it, or name another file"
        raise ConfigError(message, where=str(path))


def nameless_file(folder: Path) -> TextIO:
    """Return a temporary text file, for data larger than memory; closing it deletes it.

    Raises:
        OSError: it cannot be created.
    """
    import tempfile

    folder.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n", dir=folder)


_OTHER_KINDS = frozenset({".csv", ".docx", ".json", ".jsonl", ".md", ".parquet", ".pdf", ".png",
                          ".svg", ".txt", ".xlsx", ".xml"})  # fmt: skip
"""Extensions of files that a browser does not show as a page."""


def check_page(path: Path) -> None:
    """Check that a path may be that of a page, which is HTML.

    Raises:
        ConfigError: its extension is that of another kind of file.
    """
    if path.suffix.lower() in _OTHER_KINDS:
        html = path.with_suffix(".html")
        message = f"a page is HTML; name it {html.name}"
        raise ConfigError(f"{message}; other formats are exports", where=str(path))
