"""Opens the store on first use, so that a replay does not import it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgekit.cassette.store import Store


def store_opener(near: Path | None, *, folder: Path | None = None) -> Callable[[], Store]:
    """Return a function that opens a store.

    Args:
        near: the folder where the search for the store of the project starts.
        folder: the folder of the store, if it is known.
    """

    def open_store() -> Store:
        from judgekit.cassette.store import Store, store_folder

        return Store(folder if folder is not None else store_folder(near))

    return open_store
