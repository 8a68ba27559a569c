"""The manifest: the inputs that determine a run's numbers. On disk, it is untrusted data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from judgekit import __version__
from judgekit.core.canonical import canonical_json
from judgekit.core.protocols import AsyncEmbedder, Embedder, Metric, with_children

ANSWERED_BY = "answered_by"
"""Key of the manifest: the model that answered all cases of the run."""
MAX_DEPTH = 12
MOST_METRICS = 500
"""Maximum number of nested metrics that are searched for rubrics."""

_PLAIN = (str, int, float, type(None))
"""Types to test first: `isinstance` with a protocol takes a hundred times longer."""


def full_manifest(metrics: Sequence[Metric], manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs that determine the numbers of a run: cases and metrics."""
    described = [_described(metric) for metric in metrics]
    full = {"judgekit": __version__, "metrics": described, **manifest}
    rubrics = _rubrics(metrics)
    return {**full, "rubrics": rubrics} if rubrics else full


def _rubrics(metrics: Sequence[Metric]) -> list[dict[str, Any]]:
    """Return the questions of every rubric of a run, and the metrics that use it."""
    asked: dict[str, dict[str, Any]] = {}
    for metric in metrics:
        for part in islice(with_children(metric), MOST_METRICS):
            for rubric in part.rubrics:
                description = rubric.manifest_entry()
                entry = asked.setdefault(
                    canonical_json(description), {**description, "metrics": []}
                )
                if metric.name not in entry["metrics"]:
                    entry["metrics"].append(metric.name)
    return list(asked.values())


def _described(metric: Metric) -> dict[str, Any]:
    """Return the description of a metric and its children: all inputs that affect its values."""
    info = metric.info()
    described = {"name": info.name, "type": info.type, "options": _option(info.options)}
    if info.made_with:
        described["made_with"] = dict(info.made_with)
    return described


def _option(value: Any) -> Any:
    """Return an option as JSON: a description for metrics and embedders, or else the type."""
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
    """Return the metadata field that clusters the cases of a run; `None` without clusters."""
    field = manifest.get("cluster")
    return field if isinstance(field, str) and field else None


def rubric_entry(manifest: Mapping[str, Any], metric: str) -> dict[str, Any]:
    """Return the description of a metric's rubric; empty for no rubric or several."""
    rubrics = [
        one for one in dicts_in(manifest.get("rubrics")) if metric in entries_in(one.get("metrics"))
    ]
    return rubrics[0] if len(rubrics) == 1 else {}


def rubrics_of(manifest: Mapping[str, Any], metric: str) -> set[tuple[str, str]]:
    """Return the rubrics of a metric with their digests."""
    return {
        (str(maker["rubric"]), str(maker["digest"]))
        for maker in _made_with(metric_entry(manifest, metric), 0)
        if maker.get("rubric") and maker.get("digest")
    }


def judges_of(manifest: Mapping[str, Any], metric: str) -> set[str]:
    """Return the models of the judges of a metric."""
    makers = _made_with(metric_entry(manifest, metric), 0)
    return {str(one["model"]) for one in makers if one.get("model")}


def metric_entry(manifest: Mapping[str, Any], metric: str) -> dict[str, Any]:
    """Return the entry of a metric in a manifest, which is untrusted; empty without one."""
    return next((e for e in dicts_in(manifest.get("metrics")) if e.get("name") == metric), {})


def suite_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the suite entry of a manifest: `name`, `description`; any key may be missing."""
    suite = manifest.get("suite")
    return suite if isinstance(suite, dict) else {"name": suite} if suite else {}


def mapping(value: Any) -> dict[str, Any]:
    """Return a value from a file if it is a mapping, or else an empty mapping."""
    return value if isinstance(value, dict) else {}


def entries_in(value: Any) -> list[Any]:
    """Return a value from a file if it is a list, or else an empty list."""
    return value if isinstance(value, list) else []


def dicts_in(value: Any) -> list[dict[str, Any]]:
    """Return the mappings in a value from a file that should be a list of them."""
    return [one for one in entries_in(value) if isinstance(one, dict)]


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
