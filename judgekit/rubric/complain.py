"""What becomes of a fault found in a rubric."""

from __future__ import annotations

from collections.abc import Callable

from judgekit.core.errors import RubricError

Complain = Callable[[RubricError], None]
"""What is done with a fault: loading stops at the first, linting collects them all."""


def refuse(error: RubricError) -> None:
    """Stop at a fault."""
    raise error
