"""The private store, which saves live replies immediately. Only this module uses diskcache.

The Disk classes of diskcache unpickle any row marked as a pickle, and read or delete any file that
a row names (CVE-2025-69872). `SafeDisk` accepts only text inside the database, which prevents both
attacks.
"""

import os
import re
import sqlite3
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from weakref import WeakSet

import diskcache

from judgekit.core.canonical import digest
from judgekit.core.errors import CassetteCorrupt, CassetteError
from judgekit.core.open_files import ADVICE, is_out_of_files
from judgekit.core.output_file import check_room

FOLDER = ".judgekit"
_DATABASE = "cache.db"
_RAW = 1  # diskcache's MODE_RAW
_SETTINGS = {
    "eviction_policy": "none",  # the default deletes replies at 1 GiB
    "size_limit": 2**62,
    "cull_limit": 0,
    "statistics": 0,
    "tag_index": 0,
}
_FOREIGN_ROW = "holds a row judgekit did not write; delete the folder"
_TIMEOUT = 60
"""Seconds to wait for other processes."""
_OWN = r"cache\.db(-\w+)?|damaged-\d+\.db|drafts|batches(\.jsonl)?|\.gitignore"
"""Names of the files in a store's folder."""
_TAILS = ("", "-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite writes for a database."""
_KNOWN_SETTINGS = {*diskcache.DEFAULT_SETTINGS, *diskcache.core.METADATA}
# Digests of the statements that create a store. SQLite would run a foreign view or trigger when
# the store is read or written.
_SCHEMA = {
    "e3b0c44298fc1c14", "7dc3acaeb6bbc0a0", "b1e287d8264b4cfb", "4f0a5302019317d0",
    "4a273a1da0f568b2", "0d6ef5b954e42033", "2eb9bf040815f4bc", "404b74ec6db5c3f1",
    "18eb18f5d803b490", "613ef63fc328c3a9",
}  # fmt: skip


class SafeDisk(diskcache.Disk):  # type: ignore[misc]
    """Stores text keys and text values inline; rejects every other kind of row."""

    def __init__(self, directory: str, **_: object) -> None:
        super().__init__(directory)

    def put(self, key: Any) -> tuple[str, bool]:
        """Check a text key."""
        if type(key) is not str:
            raise TypeError("a key is text")
        return key, True

    def get(self, key: Any, raw: Any) -> str:
        """Return a text key."""
        if not raw or type(key) is not str:
            raise CassetteCorrupt(f"{self._directory}: {_FOREIGN_ROW}")
        return key

    def store(self, value: Any, read: bool, key: Any = None) -> tuple[int, int, None, str]:
        """Check a text value; never a file."""
        if read or type(value) is not str:
            raise TypeError("a value is text")
        return 0, _RAW, None, value

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> str:
        """Return a text value, never a file."""
        if mode != _RAW or filename is not None or read or type(value) is not str:
            raise CassetteCorrupt(f"{self._directory}: {_FOREIGN_ROW}")
        return value

    def remove(self, file_path: str) -> None:
        """Do nothing: rows of this store have no files."""


class _Connection(sqlite3.Connection):
    """A connection that is closed with its thread, without the warning of Python 3.13."""

    def __del__(self) -> None:
        self.close()


class _Cache(diskcache.Cache):  # type: ignore[misc]  # noqa: TID251 - the one place
    """A cache with one connection per thread, like its base; `close` closes all of them."""

    def __init__(self, folder: Path) -> None:
        self._open: WeakSet[_Connection] = WeakSet()
        self._pid = os.getpid()
        super().__init__(str(folder), disk=SafeDisk, timeout=_TIMEOUT, **_SETTINGS)

    @property
    def _con(self) -> sqlite3.Connection:
        own = self._local.__dict__
        if self._pid != os.getpid():  # a fork must not use its parent's connections
            own.pop("con", None)
            self._open.clear()
            self._pid = os.getpid()
        if "con" not in own:
            own["con"] = connection = sqlite3.connect(
                f"{self.directory}{os.sep}{_DATABASE}",
                timeout=_TIMEOUT,
                isolation_level=None,
                check_same_thread=False,  # `close` may run in another thread
                factory=_Connection,
            )
            self._open.add(connection)
            with suppress(sqlite3.OperationalError):  # a new database has no settings
                for key, value in connection.execute("SELECT key, value FROM Settings").fetchall():
                    if key.startswith("sqlite_"):
                        self.reset(key, value, update=False)
        known: sqlite3.Connection = own["con"]
        return known

    def close(self) -> None:
        for connection in list(self._open):
            connection.close()
        self._open.clear()
        self._local = threading.local()


class Store:
    """Texts by key, on disk; safe for concurrent threads and processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notes: list[str] = []
        """Messages for users, such as that a damaged store was moved aside."""
        with self._storage_errors("made"):
            if folder.is_symlink() or os.path.expandvars(folder) != str(folder):
                # diskcache would follow a link and expand variables.
                raise OSError(0, "its name is a link, or holds a $")
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _refuse_foreign(folder)
            folder.chmod(0o700)
            ignore = folder / ".gitignore"
            if not ignore.exists() and not ignore.is_symlink():
                ignore.write_text("*\n", encoding="utf-8")  # a store is never committed
            self._set_aside_foreign()
        with self._storage_errors("opened"):
            self._cache = _Cache(folder)

    @contextmanager
    def _storage_errors(self, action: str) -> Iterator[None]:
        """Translate errors of SQLite and the system to one line with advice."""
        try:
            yield
        except diskcache.Timeout as exc:
            message = "another process has held it for too long; try again when it is done"
            raise CassetteError(f"{self.folder}: the store cannot be {action}: {message}") from exc
        except (sqlite3.Error, sqlite3.Warning, OSError) as exc:
            if is_out_of_files(exc):
                raise CassetteError(
                    f"{self.folder}: the store cannot be {action}: {ADVICE}"
                ) from exc
            reason = exc.strerror if isinstance(exc, OSError) else exc
            raise CassetteError(
                f"{self.folder}: the store cannot be {action}: {reason}; make room, delete the "
                "folder (judgekit creates a new store), or name another in JUDGEKIT_HOME"
            ) from exc

    def _set_aside_foreign(self) -> None:
        """Move a damaged or foreign database aside; a new store is created."""
        database = self.folder / _DATABASE
        files = [database.with_name(database.name + tail) for tail in _TAILS]
        for file in files:
            if file.is_symlink():
                file.unlink()
                self.notes.append(f"{file}: was a link, which a store never has; removed")
        reason = _fault(database) if database.exists() else None
        if reason is None:
            return
        number = 1
        while (aside := self.folder / f"damaged-{number}.db").exists():
            number += 1
        database.rename(aside)
        for file in files[1:]:
            file.unlink(missing_ok=True)
        self.notes.append(f"{database}: {reason}; moved to {aside.name}, the new store is empty")

    def get(self, key: str) -> str | None:
        """Return the text of a key.

        Raises:
            CassetteCorrupt: judgekit did not write the row.
            CassetteError: the database cannot be read.
        """
        with self._storage_errors("read"):
            value: str | None = self._cache.get(key)
            return value

    def put(self, key: str, text: str) -> None:
        """Store a text. After the call returns, it survives a killed process.

        Raises:
            CassetteError: the database cannot be written, for example because the disk is full.
        """
        with self._storage_errors("written"):
            self._cache.set(key, text)

    def put_all(self, texts: Sequence[tuple[str, str]]) -> None:
        """Store the texts of several keys in one transaction; see `put`.

        Raises:
            CassetteError: the database cannot be written; none of the texts is stored.
        """
        if len(texts) == 1:
            self.put(*texts[0])
            return
        with self._storage_errors("written"), self._cache.transact(retry=True):
            for key, text in texts:
                self._cache.set(key, text)

    def remove(self, keys: Collection[str]) -> None:
        """Remove the texts of keys in one transaction; others may be missing.

        Raises:
            CassetteError: the database cannot be written.
        """
        with self._storage_errors("written"), self._cache.transact(retry=True):
            for key in keys:
                self._cache.delete(key)

    def keys(self) -> Iterator[str]:
        """Yield every key."""
        with self._storage_errors("read"):
            yield from self._cache.iterkeys()

    def __len__(self) -> int:
        with self._storage_errors("read"):
            return len(self._cache)

    def copy_to(self, path: Path) -> None:
        """Write a copy of the database to a new file, for `LayeredStore`.

        Raises:
            CassetteError: it cannot be written.
        """
        with self._storage_errors("copied"):
            self._cache._sql("VACUUM INTO ?", (str(path),))

    def add_all(self, other: "Store") -> None:
        """Store every text of another store in one transaction.

        Raises:
            CassetteError: a database cannot be read or written.
        """
        with self._storage_errors("written"), self._cache.transact(retry=True):
            keys = other.keys()
            for key in keys:
                self._cache.set(key, other.get(key))

    def check_room(self) -> None:
        """Open the connection of this thread, and check that the disk is not full.

        Raises:
            CassetteError: the database cannot be opened, or has no room for replies.
        """
        with self._storage_errors("written"):
            self._cache.get("")
            check_room(self.folder)

    def close(self) -> None:
        """Close the database."""
        self._cache.close()


class LayeredStore(Store):
    """A store in front of a read-only copy of another one."""

    def __init__(self, folder: Path, copy: Path) -> None:
        super().__init__(folder)
        self._copy: sqlite3.Connection | None = None
        if copy.is_file() and _fault(copy) is None:
            # No process writes to the copy; without locks, it may be on a network file system.
            address = f"{copy.resolve().as_uri()}?mode=ro&immutable=1"
            self._copy = sqlite3.connect(address, uri=True, check_same_thread=False)

    def get(self, key: str) -> str | None:
        """Return the text of a key; the store takes precedence over the copy."""
        text = super().get(key)
        if text is not None or self._copy is None:
            return text
        with self._storage_errors("read"):
            columns = "mode, filename, value"
            found = self._copy.execute(f"SELECT {columns} FROM Cache WHERE key = ?", (key,))  # noqa: S608
            row = found.fetchone()
            if row is None:
                return None
            checked: str = self._cache.disk.fetch(row[0], row[1], row[2], read=False)
            return checked

    def close(self) -> None:
        """Close both databases."""
        if self._copy is not None:
            self._copy.close()
        super().close()


def _refuse_foreign(folder: Path) -> None:
    """Reject a folder with other files: opening a store makes its folder private and git-ignored.

    Raises:
        CassetteError: the folder has other files and no store.
    """
    if (folder / _DATABASE).exists():
        return
    for entry in sorted(folder.iterdir()):
        if not re.fullmatch(_OWN, entry.name):
            raise CassetteError(
                f"{folder}: holds {entry.name!r} and is not a store; name a new folder, such as "
                f"{folder / FOLDER}"
            )


def _fault(database: Path) -> str | None:
    """Return the problem of a database before diskcache opens it, or `None`."""
    if not database.is_file():
        return "is not a file"
    try:
        connection = sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error as exc:
        return f"cannot be opened ({exc})"
    try:
        statements = [row[0] or "" for row in connection.execute("SELECT sql FROM sqlite_master")]
        if any(digest(" ".join(sql.split()))[:16] not in _SCHEMA for sql in statements):
            return "is not a store of judgekit"
        settings = (
            connection.execute("SELECT key, value FROM Settings").fetchall() if statements else ()
        )
    except sqlite3.DatabaseError as exc:
        if isinstance(exc, sqlite3.OperationalError) and "lock" in str(exc):
            return None
        return f"is damaged ({exc})"
    finally:
        connection.close()
    foreign = [key for key, value in settings if not _is_ours(key, value)]
    return f"holds a setting {foreign[0]!r} that judgekit did not write" if foreign else None


def _is_ours(key: object, value: object) -> bool:
    """Return whether a setting belongs to a store. diskcache runs some as unquoted pragmas."""
    pragma = str(key).startswith("sqlite_")
    return key in _KNOWN_SETTINGS and (not pragma or value == diskcache.DEFAULT_SETTINGS[key])


def holds_store(folder: Path) -> bool:
    """Return whether a folder has the database of a store."""
    return (folder / _DATABASE).is_file()


def store_folder(near: Path | None = None) -> Path:
    """Return the folder of the store for a suite or tape, without creating it.

    The first of: `JUDGEKIT_HOME`; `.judgekit` next to the nearest `pyproject.toml` or `.git` in a
    parent folder; the nearest existing store in a parent folder; `.judgekit` next to the suite or
    tape.

    Args:
        near: folder of the suite or tape; by default, the working folder.
    """
    home = os.environ.get("JUDGEKIT_HOME")
    if home:
        return Path(home).expanduser().resolve()
    start = (near or Path()).resolve()
    above = (start, *start.parents)
    for folder in above:
        if (folder / "pyproject.toml").is_file() or (folder / ".git").exists():
            return folder / FOLDER
    for folder in above:
        if (folder / FOLDER / _DATABASE).is_file():
            return folder / FOLDER
    return start / FOLDER
