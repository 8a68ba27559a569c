"""A store that is opened when it is first needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgekit.cassette.store import Store


def lazy_store(near: Path | None, *, folder: Path | None = None) -> Callable[[], Store]:
    """Return what opens a store when it is first needed.

    Args:
        near: where the search for the store of a project begins.
        folder: the store itself, where it is named.
    """

    def opened() -> Store:
        from judgekit.cassette.store import Store, store_folder

        return Store(folder if folder is not None else store_folder(near))

    return opened
