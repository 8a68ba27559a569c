"""The same schema in fewer bytes: repeated parts become references."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
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
    result: dict[str, Any] = json.loads(json.dumps(_built_on_settings(schema)))
    counts = Counter(_texts(result))
    repeated = [text for text, count in counts.items() if count > 1 and len(text) > _LEAST]
    names = {text: f"r{number}" for number, text in enumerate(repeated)}
    moved: dict[str, Any] = {}
    _shorten(result, names, moved)
    return {**result, "$defs": {**result.get("$defs", {}), **moved}}


def _shorten(schema: Any, names: dict[str, str], moved: dict[str, Any]) -> None:
    """Move the repeated parts of a schema, in place."""
    for inside, key in _places(schema):
        part = inside[key]
        name = names.get(canonical_json(part)) if isinstance(part, dict) else None
        if name is not None:
            inside[key] = {"$ref": f"#/$defs/{name}"}
        if name is None or name not in moved:
            if name is not None:
                moved[name] = part
            _shorten(part, names, moved)


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
    for inside, key in _places(schema):
        part = inside[key]
        if isinstance(part, dict) and "$ref" not in part:
            yield canonical_json(part)
        yield from _texts(part)


def _places(schema: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the mapping or list, and the key, of each schema directly inside."""
    for key, value in list(schema.items()) if isinstance(schema, dict) else ():
        if key in _MAPPINGS:
            yield from ((value, name) for name in value)
        elif key in _LISTS:
            yield from ((value, number) for number in range(len(value)))
        elif key in _SINGLE:
            yield schema, key
