"""The connections of hosted judges, closed when the work that needed them ends."""

from __future__ import annotations

import sys
from contextlib import AbstractAsyncContextManager, nullcontext


def closing_connections() -> AbstractAsyncContextManager[None]:
    """Return what closes the connections of hosted judges at the end; nothing if there are none."""
    providers = sys.modules.get("judgekit.judges.providers")  # loaded by the judges that need it
    if providers is None:
        return nullcontext()
    connections: AbstractAsyncContextManager[None] = providers.connections()
    return connections
