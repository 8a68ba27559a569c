"""A store that is opened when it is first needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgekit.store import Store


def lazy_store(near: Path | None) -> Callable[[], Store]:
    """Return what opens the store of a project when it is first needed."""

    def opened() -> Store:
        from judgekit.store import Store, store_folder

        return Store(store_folder(near))

    return opened
