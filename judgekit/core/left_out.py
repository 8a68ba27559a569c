"""What judges were not shown of a case: noted while a metric scores it, and kept in its score.

A metric may ask in several steps or be built from other metrics, also of another package. The notes
follow the tasks of a metric, so that none of them has to pass them on.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING

from judgekit.core.case_field import FIELD_BY_NAME

if TYPE_CHECKING:
    from judgekit.core.value import Json

SHOWN = "shown"
"""Key of the details of a score; only there if something was left out."""
NOTES: ContextVar[dict[str, Json] | None] = ContextVar("left_out", default=None)
"""Field -> what is missing, of the metric that is running."""


def note(left: Mapping[str, Json]) -> None:
    """Note what the judge of the running metric was not shown."""
    notes = NOTES.get()
    if notes is not None:
        notes.update(left)


def is_left_out(details: Mapping[str, Json]) -> bool:
    """Return whether the details of a score say that something was left out.

    A rubric may ask for a detail of the same name, and a metric may have one.

    >>> is_left_out({"shown": {"history": "2 of 12 earlier messages"}}), is_left_out({"shown": "x"})
    (True, False)
    """
    left = details.get(SHOWN)
    if not isinstance(left, dict) or not left:
        return False
    return all(name.partition(".")[0] in FIELD_BY_NAME for name in left)
