"""The clusters of a run: cases that share the value of a metadata field."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from judgekit.core.canonical import canonical_json
from judgekit.core.suggest import suggest
from judgekit.stats.clusters import FEWEST as FEWEST_CLUSTERS

_NAMES = 100
"""Maximum number of field names that are kept for a suggestion."""


def cluster_of(case: str, metadata: Mapping[str, Any], field: str | None) -> Hashable:
    """Return the cluster of a case; a case without the field is its own cluster.

    Args:
        case: its id.
        metadata: of the case.
        field: the metadata field with the cluster.

    >>> cluster_of("c1", {"user": "ann"}, "user"), cluster_of("c1", {"user": 7}, "user")
    ('ann', ('7',))
    >>> cluster_of("c1", {}, "user")
    ('', 'c1')
    """
    value = metadata.get(field) if field is not None else None
    if value is None:
        return ("", case)
    return value if isinstance(value, str) else (canonical_json(value),)


class CaseClusters:
    """The clusters of the cases of a run, by a metadata field."""

    def __init__(self, field: str) -> None:
        self._field = field
        self._cases = self._having = 0
        self._names: dict[str, None] = {}

    def of(self, case: str, metadata: Mapping[str, Any]) -> Hashable:
        """Return the cluster of the next case."""
        self._cases += 1
        self._having += metadata.get(self._field) is not None
        if not self._having and len(self._names) < _NAMES:
            self._names |= dict.fromkeys(metadata)
        return cluster_of(case, metadata, self._field)

    def shortfalls(self) -> Iterator[str]:
        """Yield a problem if no case has the field.

        With fewer than 10 cases there is no problem: a shard may be that small, and there is no
        interval that could be too narrow.
        """
        if not self._having and self._cases >= FEWEST_CLUSTERS:
            hint = suggest(self._field, self._names, otherwise="; name a field of the cases")
            yield f"cluster: no case has {self._field!r} in its metadata{hint}"
