"""The files of a model: a local folder, or a pinned revision on a hub."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from judgekit.core.errors import ConfigError, needs_extra
from judgekit.core.input_file import sha256_of
from judgekit.core.protocols import BaseEmbedder

_HUB_ID = re.compile(r"(?P<repo>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)@(?P<revision>[\w.-]{1,100})")
MAX_SETTINGS = 5_000_000
"""Maximum size in bytes of a JSON settings file."""


class ModelEmbedder(BaseEmbedder):
    """Base of embedders with a model; it locates the files.

    A folder is relative to `base`, or starts with `~` or `/`. Any other name is a hub id with a
    revision, `org/name@REVISION`. It is looked up in the local cache and downloaded only with
    `download`.
    """

    extra: ClassVar[str]
    """The extra that installs the hub client."""
    hub_files: ClassVar[Sequence[str]]
    """Names or patterns of the files to download."""

    def __init__(self, model: str, *, base: Path, threads: int | None, download: bool) -> None:
        self._model = model
        self._base = base
        self._threads = threads
        self._download = download

    @cached_property
    def _folder(self) -> Path:
        """The folder of the model.

        Raises:
            ConfigError: the folder does not exist, or the model is not in the cache.
            MissingExtra: the hub client is not installed.
        """
        folder = self._base / Path(self._model).expanduser()
        if folder.is_dir():
            return folder
        hub = _HUB_ID.fullmatch(self._model)
        if hub is None:
            hint = "a hub's model is written org/name@REVISION"
            raise ConfigError(f"embedder: no such folder: {folder}; {hint}")
        with needs_extra(f"embedder {self._model}", self.extra):
            from huggingface_hub import snapshot_download
            from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
        try:
            snapshot = snapshot_download(
                hub["repo"],
                revision=hub["revision"],
                allow_patterns=list(self.hub_files),
                local_files_only=not self._download,
            )
        except LocalEntryNotFoundError as exc:
            kind = self.extra.replace("-", "_")
            way = f"allow it to be fetched: {{{kind}: {self._model}, download: true}}"
            if self._download:
                way = "the hub cannot be reached"
            raise ConfigError(f"embedder: {self._model} is not on this machine; {way}") from exc
        except (HfHubHTTPError, OSError, ValueError) as exc:
            line = first_line(exc)
            raise ConfigError(f"embedder: {self._model} cannot be fetched: {line}") from exc
        return Path(snapshot)


def first_line(error: Exception) -> str:
    """Return the beginning of an error's message on one line."""
    return " ".join(str(error).split())[:300]


def file_digest(path: Path, *, expected: str | None = None) -> str:
    """Return the SHA-256 of a file.

    Raises:
        ConfigError: the file cannot be read, or its digest is not the expected one.
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
        ConfigError: the file is not a JSON object, or is larger than 5 MB.
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
        raise ConfigError(f"embedder: {path} must contain a JSON object")
    return data


def whole_number(value: object, *, low: int, high: int = 1 << 20) -> int | None:
    """Return a setting if it is a whole number within bounds, else `None`."""
    return value if type(value) is int and low <= value <= high else None


def check_option(option: str, value: object, expected: str, *, fits: bool) -> None:
    """Refuse an invalid value of an option.

    Raises:
        ConfigError: the value is invalid; the message names the expected one.
    """
    if not fits:
        raise ConfigError(f"embedder: {option} must be {expected}, not {value!r}")


def check_whole(option: str, value: object, *, low: int = 1, high: int = 1 << 20) -> None:
    """Refuse an option that is neither `None` nor a whole number within bounds.

    Raises:
        ConfigError: the value is invalid.
    """
    fits = value is None or whole_number(value, low=low, high=high) is not None
    check_option(option, value, f"a whole number of at least {low}", fits=fits)
