"""The manifest: what decides the numbers of a run; whatever a read one holds, it is only data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from judgekit import __version__
from judgekit.core.canonical import canonical_json
from judgekit.core.protocols import AsyncEmbedder, Embedder, Metric

MAX_DEPTH = 12
MOST_METRICS = 500
"""Metrics a metric may be made of, as far as their rubrics are told."""

_PLAIN = (str, int, float, type(None))
"""What is asked first of a value: to see that one keeps to a protocol takes a hundred times as
long."""


@runtime_checkable
class Asks(Protocol):
    """What a rubric is to a manifest."""

    def said(self) -> dict[str, Any]:
        """Return what it asks, as plain data."""


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
        for rubric in _rubrics_of(metric, set()):
            said = rubric.said()
            entry = asked.setdefault(canonical_json(said), {**said, "metrics": []})
            if metric.name not in entry["metrics"]:
                entry["metrics"].append(metric.name)
    return list(asked.values())


def _rubrics_of(value: Any, seen: set[int]) -> Iterator[Asks]:
    """Yield the rubrics of a metric and of those it is made of."""
    if id(value) in seen or len(seen) > MOST_METRICS:
        return
    seen.add(id(value))
    found = getattr(value, "rubrics", None)
    for one in found if isinstance(found, tuple) else (getattr(value, "rubric", None),):
        if one is not None and isinstance(one, Asks):
            yield one
    for inner in _held(value):
        for one in inner if isinstance(inner, (list, tuple)) else (inner,):
            if not isinstance(one, _PLAIN) and isinstance(one, Metric):
                yield from _rubrics_of(one, seen)


def _held(value: Any) -> Iterator[Any]:
    yield from getattr(value, "__dict__", {}).values()
    for name in getattr(value, "__dataclass_fields__", ()):
        yield getattr(value, name, None)


def _described(metric: Metric) -> dict[str, Any]:
    """Return what makes a metric give the numbers it gives, down to the metrics it is made of."""
    described: dict[str, Any] = {"name": metric.name, "type": type(metric).__name__}
    options = getattr(metric, "options", None)
    if isinstance(options, dict):
        described["options"] = options
    else:
        names = getattr(metric, "__dataclass_fields__", ())
        described["options"] = {
            name: _option(getattr(metric, name)) for name in names if name != "name"
        }
    made_with = getattr(metric, "made_with", None)
    if isinstance(made_with, dict):
        described["made_with"] = made_with
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
        (str(made["rubric"]), str(made["digest"]))
        for made in _made_with(_entry(manifest, metric), 0)
        if made.get("rubric") and made.get("digest")
    }


def judges_of(manifest: Mapping[str, Any], metric: str) -> set[str]:
    """Return the models a metric asks."""
    made = _made_with(_entry(manifest, metric), 0)
    return {str(one["model"]) for one in made if one.get("model")}


def _entry(manifest: Mapping[str, Any], metric: str) -> Any:
    entries = manifest.get("metrics")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("name") == metric:
            return entry
    return None


def _made_with(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if depth > MAX_DEPTH:
        return
    if isinstance(value, dict):
        made = value.get("made_with")
        if isinstance(made, dict):
            yield made
        for name, inner in value.items():
            if name != "made_with":
                yield from _made_with(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _made_with(inner, depth + 1)
