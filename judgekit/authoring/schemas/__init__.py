"""JSON Schemas of the files that people write, for completion and checks in editors.

They are derived from the models that read the files. Checks that need the whole project (sums of
weights, missing rubrics) are not part of the schemas.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from judgekit.authoring.schemas import files
from judgekit.authoring.schemas.files import schema_of_model
from judgekit.core.canonical import canonical_json
from judgekit.core.errors import ConfigError
from judgekit.core.suggest import suggest
from judgekit.metrics.brand_voice.persona import PersonaFile

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a kind of file.

    For `cases` and `results`, which are JSON Lines, it is the schema of one line.

    Raises:
        ConfigError: unknown kind.
    """
    if kind not in KINDS:
        raise ConfigError(f"no schema of {kind!r}{suggest(kind, KINDS)}")
    title, make = KINDS[kind]
    body = make()
    head = {"$schema": _DIALECT, "$id": f"urn:judgekit:schema:{kind}:1", "title": title}
    return {**head, **{key: value for key, value in body.items() if key not in head}}


def schema_text(kind: str) -> str:
    """Return a schema as indented JSON.

    Raises:
        ConfigError: unknown kind.
    """
    return json.dumps(schema(kind), ensure_ascii=False, indent=1) + "\n"


@cache
def small_schema_text(kind: str) -> str:
    """Return a schema with the same rules as one short line, for the files of a project.

    Raises:
        ConfigError: unknown kind.
    """
    return json.dumps(compact(schema(kind)), ensure_ascii=False, separators=(",", ":")) + "\n"


KINDS: dict[str, tuple[str, Callable[[], dict[str, Any]]]] = {
    "suite": ("A judgekit suite", files.suite_schema),
    "rubric": ("The front matter of a judgekit rubric", files.rubric_schema),
    "cases": ("A line of a judgekit file of cases", files.cases_schema),
    "results": ("A line of the results of judgekit run --out", files.results_schema),
    "persona": ("A judgekit persona", lambda: schema_of_model(PersonaFile)),
}
"""Kind -> title, and the function that returns the schema."""


_MAPPINGS = ("properties", "patternProperties", "$defs")
_LISTS = ("anyOf", "allOf", "oneOf", "prefixItems")
_SINGLE = ("items", "additionalProperties", "not", "if", "then", "else", "propertyNames")
_LEAST = 40
"""Minimum length of a part to replace by a reference, in characters."""


def compact(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that accepts the same values, with repeated parts as references.

    Repeated parts are moved to `$defs`, and the settings that all metrics share to one definition.
    Descriptions are kept.
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
            if name in moved:
                continue
            moved[name] = part
        _shorten(part, names, moved)


def _built_on_settings(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a suite with the settings that all metrics share defined once.

    `propertyNames` replaces `additionalProperties`, which ignores the properties of other
    definitions.
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
        names = {"anyOf": [{"$ref": "#/$defs/setting"}, {"enum": list(own)}]}
        settings = [{"$ref": "#/$defs/settings"}, *entry.get("allOf", ())]
        built[name] = {**rest, "properties": own, "allOf": settings, "propertyNames": names}
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
