"""The files of a model: a local folder, or a pinned revision on a hub."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judgekit.core.errors import ConfigError, MissingExtra
from judgekit.core.input_file import sha256_of

_HUB_ID = re.compile(r"(?P<repo>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)@(?P<revision>[\w.-]{1,100})")
MAX_SETTINGS = 5_000_000
"""Maximum size in bytes of a JSON settings file."""


def find_folder(
    model: str, *, base: Path, extra: str, download: bool, files: Sequence[str]
) -> Path:
    """Return the folder of a model.

    A folder is relative to `base`, or starts with `~` or `/`. Everything else is a hub id with a
    revision, `org/name@REVISION`. It is looked up in the local cache and fetched only with
    `download`.

    Args:
        model: a folder, or an id with a revision.
        base: the folder that `model` is relative to.
        extra: the extra that installs the hub client.
        download: whether to fetch a model that is not in the cache.
        files: names or patterns of the files to fetch.

    Raises:
        ConfigError: the folder does not exist, or the model is not in the cache.
        MissingExtra: the hub client is not installed.
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
        snapshot = snapshot_download(
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
        raise ConfigError(f"embedder: {model} cannot be fetched: {first_line(exc)}") from exc
    return Path(snapshot)


def first_line(error: Exception) -> str:
    """Return the beginning of an error's message on one line."""
    return " ".join(str(error).split())[:300]


def file_digest(path: Path, *, expected: str | None = None) -> str:
    """Return the SHA-256 of a file.

    Raises:
        ConfigError: it cannot be read, or it is not the expected one.
    """
    try:
        digest = sha256_of(path)
    except OSError as exc:
        raise ConfigError(f"embedder: {path} cannot be read: {exc.strerror}") from exc
    if expected is not None and digest != expected.strip().lower():
        raise ConfigError(f"embedder: {path} has the SHA-256 {digest}, not {expected}")
    return digest


def read_settings(path: Path) -> dict[str, Any]:
    """Return the JSON settings file of a model; an empty dict if there is none.

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


def whole_number(value: object, *, low: int, high: int = 1 << 20) -> int | None:
    """Return a setting if it is a whole number within bounds, else `None`."""
    return value if type(value) is int and low <= value <= high else None


def check_whole(option: str, value: object, *, low: int = 1, high: int = 1 << 20) -> None:
    """Check an option that is `None` or a whole number within bounds.

    Raises:
        ConfigError: it is something else.
    """
    if value is not None and whole_number(value, low=low, high=high) is None:
        raise ConfigError(
            f"embedder: {option} must be a whole number of at least {low}, not {value!r}"
        )


def check_download(value: object) -> None:
    """Check the option `download`.

    Raises:
        ConfigError: it is not a flag.
    """
    if not isinstance(value, bool):
        raise ConfigError(f"embedder: download must be true or false, not {value!r}")
