"""The share of rows of a run in which an answer was found."""

from __future__ import annotations

from judgekit.core.score import Row, Score

ANSWERED = "answered"


class AnsweredShare:
    """Counts the rows whose outcome is not `no_answer`."""

    def __init__(self) -> None:
        self._rows = 0
        self._answered = 0

    def add(self, row: Row) -> None:
        """Add one result."""
        result = row.result
        if not isinstance(result, Score) or result.fallback or "outcome" not in result.details:
            return
        self._rows += 1
        self._answered += result.details["outcome"] != "no_answer"

    def finish(self) -> dict[str, float | int | None]:
        """Return the share; `None` without rows."""
        return {ANSWERED: self._answered / self._rows if self._rows else None}
