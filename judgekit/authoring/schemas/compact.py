"""The same schema in fewer bytes: repeated parts become references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from judgekit.core.canonical import canonical_json

_MAPPINGS = ("properties", "patternProperties", "$defs")
_LISTS = ("anyOf", "allOf", "oneOf", "prefixItems")
_SINGLE = ("items", "additionalProperties", "not", "if", "then", "else", "propertyNames")
_LEAST = 40
"""Characters; a reference would not make a smaller part shorter."""


def compact(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that accepts the same values, with repeated parts as references.

    Repeated parts move to `$defs`, and the settings that all metrics share to one definition;
    descriptions stay.
    """
    schema = _built_on_settings(schema)
    counts = Counter(_texts(schema))
    repeated = [text for text, count in counts.items() if count > 1 and len(text) > _LEAST]
    names = {text: f"r{number}" for number, text in enumerate(repeated)}
    moved: dict[str, Any] = {}

    def shorter(part: Any) -> Any:
        name = names.get(canonical_json(part)) if isinstance(part, dict) else None
        if name is None:
            return _mapped(part, shorter)
        if name not in moved:
            moved[name] = {}  # reserves its place, in the order of first use
            moved[name] = _mapped(part, shorter)
        return {"$ref": f"#/$defs/{name}"}

    result = _mapped(schema, shorter)
    return {**result, "$defs": {**result.get("$defs", {}), **moved}}


def _built_on_settings(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a suite with the settings that all metrics share defined once.

    `additionalProperties` ignores the properties of another definition, so `propertyNames` replaces
    it.
    """
    defs: dict[str, Any] = schema.get("$defs", {})
    entries = {name: entry for name, entry in defs.items() if name.startswith("metric.")}
    if not entries:
        return schema
    first = next(iter(entries.values()))["properties"]
    shared = {
        name: part
        for name, part in first.items()
        if all(entry["properties"].get(name) == part for entry in entries.values())
    }
    built = {}
    for name, entry in entries.items():
        own = {key: part for key, part in entry["properties"].items() if key not in shared}
        rest = {key: value for key, value in entry.items() if value}
        built[name] = {
            **rest,
            "properties": own,
            "allOf": [{"$ref": "#/$defs/settings"}],
            "propertyNames": {"anyOf": [{"$ref": "#/$defs/setting"}, {"enum": list(own)}]},
        }
    common = {"settings": {"properties": shared}, "setting": {"enum": list(shared)}}
    return {**schema, "$defs": {**defs, **built, **common}}


def _texts(schema: Any) -> Iterator[str]:
    """Yield the text of every schema within a schema, except references."""
    for part in _parts(schema):
        if "$ref" not in part:
            yield canonical_json(part)
        yield from _texts(part)


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    parts: list[Any] = []
    _mapped(schema, parts.append)
    yield from (part for part in parts if isinstance(part, dict))


def _mapped(schema: Any, change: Callable[[Any], Any]) -> Any:
    """Return a schema with `change` applied to each schema directly inside."""
    if not isinstance(schema, dict):
        return schema
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _MAPPINGS:
            result[key] = {name: change(part) for name, part in value.items()}
        elif key in _LISTS:
            result[key] = [change(part) for part in value]
        elif key in _SINGLE:
            result[key] = change(value)
        else:
            result[key] = value
    return result
