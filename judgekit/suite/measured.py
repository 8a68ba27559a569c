"""MeasuredSpeed: how fast and how long a judge replies, measured once and kept in the store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field, ValidationError

from judgekit.cassette.store import Store, store_folder
from judgekit.core.canonical import digest_json
from judgekit.core.value import Value

if TYPE_CHECKING:
    from judgekit.core.protocols import TextStore

_LONGEST = 86_400.0
"""Largest number of seconds that is believed: a day."""


class MeasuredSpeed(Value):
    """What `doctor --ask` measured of a judge; it is read as untrusted data."""

    seconds: float = Field(gt=0, le=_LONGEST, allow_inf_nan=False)
    """Median duration of a call, in seconds."""
    tokens_out: float | None = Field(default=None, ge=1, le=1e9, allow_inf_nan=False)
    """Mean number of tokens of a reply for one question; `None` if the server reports none."""

    def keep(self, store: TextStore, *, model: str, api_base: str | None) -> None:
        """Keep it in the private store of a suite; nothing is written to a tape."""
        store.put(_name(model, api_base), self.model_dump_json())


def measured_speed(near: Path, *, model: str, api_base: str | None) -> MeasuredSpeed | None:
    """Return what the store of a suite knows of a judge, without creating a store.

    Raises:
        CassetteError: the store cannot be read.
    """
    folder = store_folder(near)
    if not folder.is_dir():
        return None
    store = Store(folder)
    try:
        text = store.get(_name(model, api_base))
    finally:
        store.close()
    try:
        return MeasuredSpeed.model_validate_json(text) if text else None
    except ValidationError:
        return None  # a foreign row or an older format


def _name(model: str, api_base: str | None) -> str:
    return "speed:" + digest_json({"endpoint": api_base, "model": model})
