"""The manifest: what decides the numbers of a run; a manifest read from disk is untrusted data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from judgekit import __version__
from judgekit.core.canonical import canonical_json
from judgekit.core.protocols import AsyncEmbedder, Embedder, Metric, with_children

MAX_DEPTH = 12
MOST_METRICS = 500
"""Nested metrics of a metric that are searched for rubrics."""

_PLAIN = (str, int, float, type(None))
"""Tested first: an `isinstance` with a protocol takes a hundred times as long."""


def full_manifest(metrics: Sequence[Metric], manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what decides the numbers of a run: what is known of its inputs, and every metric."""
    described = [_described(metric) for metric in metrics]
    full = {"judgekit": __version__, "metrics": described, **manifest}
    rubrics = _rubrics(metrics)
    return {**full, "rubrics": rubrics} if rubrics else full


def _rubrics(metrics: Sequence[Metric]) -> list[dict[str, Any]]:
    """Return what every rubric of a run asks, and which metrics go by it."""
    asked: dict[str, dict[str, Any]] = {}
    for metric in metrics:
        for part in islice(with_children(metric), MOST_METRICS):
            for rubric in part.rubrics:
                description = rubric.said()
                entry = asked.setdefault(
                    canonical_json(description), {**description, "metrics": []}
                )
                if metric.name not in entry["metrics"]:
                    entry["metrics"].append(metric.name)
    return list(asked.values())


def _described(metric: Metric) -> dict[str, Any]:
    """Return what makes a metric give the numbers it gives, down to the metrics it is made of."""
    info = metric.info()
    described = {"name": info.name, "type": info.type, "options": _option(info.options)}
    if info.made_with:
        described["made_with"] = dict(info.made_with)
    return described


def _option(value: Any) -> Any:
    """Return an option as JSON: metrics and embedders described, what is not JSON by its type."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Mapping):
        return {str(key): _option(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_option(item) for item in value]
    if isinstance(value, Metric):
        return _described(value)
    if isinstance(value, (Embedder, AsyncEmbedder)):
        return value.identity
    return type(value).__name__


def cluster_field(manifest: Mapping[str, Any]) -> str | None:
    """Return the field of the metadata that a run clusters its cases by; `None` if it does not."""
    field = manifest.get("cluster")
    return field if isinstance(field, str) and field else None


def rubrics_of(manifest: Mapping[str, Any], metric: str) -> set[tuple[str, str]]:
    """Return the rubrics a metric was made with, and their digests."""
    return {
        (str(maker["rubric"]), str(maker["digest"]))
        for maker in _made_with(metric_entry(manifest, metric), 0)
        if maker.get("rubric") and maker.get("digest")
    }


def judges_of(manifest: Mapping[str, Any], metric: str) -> set[str]:
    """Return the models a metric asks."""
    makers = _made_with(metric_entry(manifest, metric), 0)
    return {str(one["model"]) for one in makers if one.get("model")}


def metric_entry(manifest: Mapping[str, Any], metric: str) -> dict[str, Any]:
    """Return what a manifest, which is untrusted data, holds about a metric; empty if nothing."""
    entries = manifest.get("metrics")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("name") == metric:
            return entry
    return {}


def _made_with(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if depth > MAX_DEPTH:
        return
    if isinstance(value, dict):
        maker = value.get("made_with")
        if isinstance(maker, dict):
            yield maker
        for name, inner in value.items():
            if name != "made_with":
                yield from _made_with(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _made_with(inner, depth + 1)
