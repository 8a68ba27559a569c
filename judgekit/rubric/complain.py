"""How faults in a rubric are handled."""

from __future__ import annotations

from collections.abc import Callable

from judgekit.core.errors import RubricError

Complain = Callable[[RubricError], None]
"""Called with a fault: loading raises the first one, lint collects all."""


def refuse(error: RubricError) -> None:
    """Raise the fault."""
    raise error
