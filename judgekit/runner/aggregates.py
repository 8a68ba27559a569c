"""The aggregates of a metric: figures it makes of all rows, besides their mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judgekit.core.protocols import Aggregate, Metric


def figures_of(metric: Metric) -> Mapping[str, bool]:
    """Return the figures a metric makes of all rows, and whether higher is better for each."""
    inner = getattr(metric, "metric", None)
    found: Mapping[str, bool] = getattr(metric, "figures", None) or (
        {} if inner is None else figures_of(inner)
    )
    return found


def aggregates_of(metric: Metric) -> Sequence[Aggregate]:
    """Return the figures a metric, or the one it falls back from, makes of all rows."""
    made = getattr(metric, "aggregates", None)
    if made is None:
        inner = getattr(metric, "metric", None)
        return () if inner is None else aggregates_of(inner)
    found: Sequence[Aggregate] = made()
    return found
