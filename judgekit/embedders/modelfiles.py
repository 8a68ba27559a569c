"""The files of a model: a folder on this machine, or a pinned revision of a hub's."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judgekit.core.errors import ConfigError, MissingExtra

_HUB_ID = re.compile(r"(?P<repo>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)@(?P<revision>[\w.-]{1,100})")
MAX_SETTINGS = 5_000_000
"""Bytes a JSON file of settings may have."""


def find_folder(
    model: str, *, base: Path, extra: str, download: bool, files: Sequence[str]
) -> Path:
    """Return the folder of a model.

    A folder is one relative to `base`, or with a leading `~` or `/`. Anything else is the id of
    a hub with its revision, `org/name@REVISION`, looked up among what is on this machine; it is
    fetched only where `download` says so.

    Args:
        model: a folder, or an id with a revision.
        base: what a folder is relative to.
        extra: the extra whose packages know the hub.
        download: whether what is not on this machine may be fetched.
        files: names or patterns of the files that are wanted of a hub.

    Raises:
        ConfigError: there is no such folder, or the model is not on this machine.
        MissingExtra: the hub's package is not installed.
    """
    folder = base / Path(model).expanduser()
    if folder.is_dir():
        return folder
    hub = _HUB_ID.fullmatch(model)
    if hub is None:
        raise ConfigError(
            f"embedder: no such folder: {folder}; a hub's model is written org/name@REVISION"
        )
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ImportError as exc:
        raise MissingExtra(feature=f"embedder {model}", extra=extra) from exc
    try:
        found = snapshot_download(
            hub["repo"],
            revision=hub["revision"],
            allow_patterns=list(files),
            local_files_only=not download,
        )
    except LocalEntryNotFoundError as exc:
        way = (
            "the hub cannot be reached"
            if download
            else f"allow it to be fetched: {{{extra.replace('-', '_')}: {model}, download: true}}"
        )
        raise ConfigError(f"embedder: {model} is not on this machine; {way}") from exc
    except (HfHubHTTPError, OSError, ValueError) as exc:
        first = " ".join(str(exc).split())[:300]
        raise ConfigError(f"embedder: {model} cannot be fetched: {first}") from exc
    return Path(found)


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as exc:
        raise ConfigError(f"embedder: {path} cannot be read: {exc.strerror}") from exc


def check_digest(path: Path, found: str, wanted: str | None) -> None:
    """Refuse a file that is not the one a suite was written for.

    Raises:
        ConfigError: its SHA-256 is another.
    """
    if wanted is not None and found != wanted.strip().lower():
        raise ConfigError(f"embedder: {path} has the SHA-256 {found}, not {wanted}")


def read_settings(path: Path) -> dict[str, Any]:
    """Return a model's JSON file of settings; empty where there is none.

    Raises:
        ConfigError: it is not an object in JSON, or larger than 5 MB.
    """
    try:
        if path.stat().st_size > MAX_SETTINGS:
            raise ConfigError(f"embedder: {path} is larger than {MAX_SETTINGS:,} bytes")
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as exc:
        raise ConfigError(f"embedder: {path} cannot be read: {exc}") from exc
    if not isinstance(data, dict):
        raise ConfigError(f"embedder: {path} must hold an object")
    return data


def whole_number(value: object, *, low: int, high: int) -> int | None:
    """Return a whole number of settings if it is one within bounds, else `None`."""
    return value if type(value) is int and low <= value <= high else None
