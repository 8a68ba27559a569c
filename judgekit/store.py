"""The private store: every live reply, kept the moment it arrives. The only home of diskcache.

Both of diskcache's own Disks unpickle whatever a row says is a pickle, and read or delete
whatever file a row names (CVE-2025-69872). Ours holds text inside the database and nothing
else, so that neither can happen whatever the file contains.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import diskcache

from judgekit.errors import CassetteCorrupt, CassetteError

FOLDER = ".judgekit"
_RAW = 1  # diskcache's MODE_RAW
_SETTINGS = {
    "eviction_policy": "none",  # the default throws replies away at 1 GiB
    "size_limit": 2**62,
    "cull_limit": 0,
    "statistics": 0,
    "tag_index": 0,
}
_KNOWN_SETTINGS = {*diskcache.DEFAULT_SETTINGS, *diskcache.core.METADATA}


class SafeDisk(diskcache.Disk):  # type: ignore[misc]
    """Keeps text keys and text values inline; refuses every other kind of row."""

    def __init__(self, directory: str, **_: object) -> None:
        super().__init__(directory)

    def put(self, key: Any) -> tuple[str, bool]:
        """Take a text key."""
        if type(key) is not str:
            raise TypeError("a key is text")
        return key, True

    def get(self, key: Any, raw: Any) -> str:
        """Return a text key."""
        if not raw or type(key) is not str:
            raise CassetteCorrupt(f"{self._directory}: holds a row judgekit did not write")
        return key

    def store(self, value: Any, read: bool, key: Any = None) -> tuple[int, int, None, str]:
        """Take a text value, never a file."""
        if read or type(value) is not str:
            raise TypeError("a value is text")
        return 0, _RAW, None, value

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> str:
        """Return a text value, never a file."""
        if mode != _RAW or filename is not None or read or type(value) is not str:
            raise CassetteCorrupt(f"{self._directory}: holds a row judgekit did not write")
        return value

    def remove(self, file_path: str) -> None:
        """Remove nothing: no row of ours has a file."""


class Store:
    """Text by key, on disk, safe for several threads and processes at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notes: list[str] = []
        """Things a person should know, such as a damaged store that was moved aside."""
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)
        except OSError as exc:
            raise CassetteError(f"{folder}: the store cannot be made: {exc.strerror}") from exc
        self._set_aside_foreign()
        self._cache = self._open()

    def _open(self) -> Any:
        try:
            return diskcache.Cache(str(self.folder), disk=SafeDisk, timeout=60, **_SETTINGS)  # noqa: TID251
        except sqlite3.Error as exc:
            raise CassetteError(f"{self.folder}: the store cannot be opened: {exc}") from exc

    def _set_aside_foreign(self) -> None:
        """Move a damaged or foreign database out of the way: the store can always be made anew."""
        database = self.folder / "cache.db"
        if not database.exists():
            return
        reason = _fault(database)
        if reason is None:
            return
        number = 1
        while (aside := self.folder / f"damaged-{number}.db").exists():
            number += 1
        database.rename(aside)
        for tail in ("-wal", "-shm"):
            database.with_name(database.name + tail).unlink(missing_ok=True)
        self.notes.append(f"{database}: {reason}; moved to {aside.name}, the store starts afresh")

    def get(self, key: str) -> str | None:
        """Return the text kept under a key.

        Raises:
            CassetteCorrupt: the row is not one judgekit wrote.
            CassetteError: the database cannot be read.
        """
        try:
            value: str | None = self._cache.get(key)
        except sqlite3.Error as exc:
            raise CassetteError(f"{self.folder}: the store cannot be read: {exc}") from exc
        return value

    def put(self, key: str, text: str) -> None:
        """Keep a text; it survives a kill the moment this returns.

        Raises:
            CassetteError: the database cannot be written, for example because the disk is full.
        """
        try:
            self._cache.set(key, text)
        except (sqlite3.Error, OSError) as exc:
            raise CassetteError(f"{self.folder}: the store cannot be written: {exc}") from exc

    def keys(self) -> Iterator[str]:
        """Yield every key."""
        yield from self._cache.iterkeys()

    def __len__(self) -> int:
        return len(self._cache)

    def close(self) -> None:
        """Close the database."""
        self._cache.close()


def _fault(database: Path) -> str | None:
    """Return what is wrong with a database before diskcache trusts it, or `None`."""
    try:
        connection = sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error as exc:
        return f"cannot be opened ({exc})"
    try:
        names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        if "Settings" not in names:
            return None if not names else "is not a store of judgekit"
        keys = {row[0] for row in connection.execute("SELECT key FROM Settings")}
    except sqlite3.DatabaseError as exc:
        if isinstance(exc, sqlite3.OperationalError) and "lock" in str(exc):
            return None
        return f"is damaged ({exc})"
    finally:
        connection.close()
    strange = keys - _KNOWN_SETTINGS
    return (
        f"holds a setting {sorted(map(str, strange))[0]!r} that judgekit did not write"
        if strange
        else None
    )


def store_folder(near: Path | None = None) -> Path:
    """Return where the store of a suite lives; nothing is made.

    `JUDGEKIT_HOME`, else `.judgekit` beside the nearest `pyproject.toml` or `.git` above the
    suite, else in the working folder.
    """
    home = os.environ.get("JUDGEKIT_HOME")
    if home:
        return Path(home).expanduser()
    start = (near or Path()).resolve()
    for folder in (start, *start.parents):
        if (folder / "pyproject.toml").is_file() or (folder / ".git").exists():
            return folder / FOLDER
    return Path.cwd() / FOLDER
