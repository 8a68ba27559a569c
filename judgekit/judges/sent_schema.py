"""The JSON schema that a server gets: without the keywords that it refuses, and `strict` or not.

The table in `data/schema_keywords.json` is the only place that knows what a provider takes: another
provider is a row. A row belongs to a server, not to the first part of a model's name, because many
servers speak OpenAI's protocol.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from judgekit.core.reply_schema import reply_schema
from judgekit.core.request import Form
from judgekit.core.sourced import read_tables
from judgekit.judges.transport import SchemaRules, Server

_DATA = Path(__file__).with_name("data") / "schema_keywords.json"

_WORDS: Mapping[str, str] = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "multipleOf": "a multiple of {}",
    "minItems": "at least {} entries",
    "maxItems": "at most {} entries",
    "uniqueItems": "no entry twice",
}
"""Keyword -> the words for it in a description."""
_NAMED = ("properties", "$defs", "definitions")
"""Keywords whose value maps names to schemas."""


class SentSchema(NamedTuple):
    """A JSON schema to send."""

    json_schema: dict[str, Any]
    strict: bool
    """Whether to ask for output that is constrained to it."""
    strict_tools: bool = False
    """Whether to ask for tool calls that are constrained to it."""
    of: str = ""
    """The rules that it was made by; empty for the whole schema."""

    def response_format(self, name: str) -> dict[str, Any]:
        """Return the value of `response_format` in OpenAI's protocol."""
        strict = {"strict": True} if self.strict else {}
        return {
            "type": "json_schema",
            "json_schema": {"name": name, **strict, "schema": self.json_schema},
        }


@cache
def _table() -> tuple[SchemaRules, ...]:
    rows = read_tables(_DATA)["servers"]
    return tuple(
        SchemaRules(
            name=row["name"],
            hosts=frozenset(row["hosts"]),
            models=frozenset(row["models"]),
            strict=row["strict"],
            left_out=tuple(row["left_out"]),
            takes=frozenset(row["takes"]) if "takes" in row else None,
            limits=row.get("limits", {}),
            strict_models=frozenset(row["strict_models"]) if "strict_models" in row else None,
            strict_tools=row.get("strict_tools", False),
        )
        for row in rows
    )


def rules_of(server: Server, *, redirected: bool = False) -> SchemaRules | None:
    """Return the rules of a server; `None` if no row is about it.

    Args:
        server: the server.
        redirected: whether the environment changes where requests without an address go.
    """
    prefix, _, name = server.model.partition("/")
    if server.api_base is not None:
        host = urlsplit(server.api_base).hostname or ""
        found = next((rules for rules in _table() if _is_one_of(host, rules.hosts)), None)
    elif redirected:
        return None
    else:
        found = next((rules for rules in _table() if prefix in rules.models), None)
    if found is not None and found.strict_models is not None and name not in found.strict_models:
        return found._replace(strict=False)
    return found


def _is_one_of(host: str, hosts: frozenset[str]) -> bool:
    # An account has its own host name at some providers: "*.openai.azure.com".
    parents = (f"*{host[at:]}" for at, char in enumerate(host) if char == "." and at)
    return host in hosts or any(parent in hosts for parent in parents)


def sent_schema(form: Form, rules: SchemaRules | None) -> SentSchema:
    """Return the schema of a form for a server, made once for each."""
    whole = reply_schema(form).json_schema
    if rules is None:
        return SentSchema(whole, strict=False)
    name = f"_sent_{rules.name}_{rules.strict}"
    sent: SentSchema | None = form.__dict__.get(name)
    if sent is None:
        sent = form.__dict__[name] = _sent_schema(whole, rules)._replace(of=name)
    return sent


def _sent_schema(whole: dict[str, Any], rules: SchemaRules) -> SentSchema:
    said = _with_words(whole, rules.left_out)
    if rules.takes is None:
        return SentSchema(said, strict=rules.strict)
    if rules.strict and _fits(said, rules):
        return SentSchema(said, strict=True, strict_tools=rules.strict_tools)
    return SentSchema(whole, strict=False)


def _with_words(schema: Any, left_out: tuple[str, ...]) -> Any:
    """Return a schema without some keywords, which its descriptions say instead."""
    if not isinstance(schema, dict):
        return schema
    gone = [name for name in schema if name in left_out]
    kept = {
        name: _below(name, value, left_out) for name, value in schema.items() if name not in gone
    }
    said = [_WORDS[name].format(schema[name]) for name in gone if schema[name] is not False]
    if said:
        words = ", ".join(said)
        before = f"{schema['description']} " if schema.get("description") else ""
        kept["description"] = f"{before}{words[0].upper()}{words[1:]}."
    return kept


def _below(keyword: str, value: Any, left_out: tuple[str, ...]) -> Any:
    if keyword in _NAMED and isinstance(value, dict):
        return {name: _with_words(part, left_out) for name, part in value.items()}
    if keyword in ("enum", "const", "required", "default", "examples"):
        return value
    if isinstance(value, list):
        return [_with_words(part, left_out) for part in value]
    return _with_words(value, left_out)


def _fits(schema: dict[str, Any], rules: SchemaRules) -> bool:
    """Return whether a server takes a schema with `strict`."""
    assert rules.takes is not None  # noqa: S101 - the caller checks it
    if schema.get("type") != "object":
        return False
    limits = rules.limits
    if len(json.dumps(schema)) > limits.get("characters", math.inf):
        return False
    properties = deepest = 0
    for part, depth in _parts(schema, 1):
        if not isinstance(part, dict) or not part.keys() <= rules.takes:
            return False
        if not part.keys() & {"type", "enum", "const", "anyOf", "$ref"}:
            return False
        if "$ref" in part and len(part) > 1:
            return False
        if len(part.get("enum", ())) > limits["words"]:
            return False
        types = part.get("type")
        if isinstance(types, list) and len(types) > limits.get("types", math.inf):
            return False
        if part.get("type") == "array" and "items" not in part:
            return False
        if part.get("type") == "object":
            names = part.get("properties", {})
            closed = part.get("additionalProperties") is False
            if not closed or set(part.get("required", ())) != set(names):
                return False
            properties += len(names)
        deepest = max(deepest, depth)
    return properties <= limits["properties"] and deepest <= limits["depth"]


def _parts(schema: Any, depth: int) -> Iterator[tuple[Any, int]]:
    """Yield a schema and all schemas in it, with their depths."""
    yield schema, depth
    if not isinstance(schema, dict) or depth > 100:
        return
    for keyword in _NAMED:
        named = schema.get(keyword)
        below = depth + 1 if keyword == "properties" else depth
        for part in named.values() if isinstance(named, dict) else ():
            yield from _parts(part, below)
    if "items" in schema:
        yield from _parts(schema["items"], depth + 1)
    options = schema.get("anyOf")
    for part in options if isinstance(options, list) else ():
        yield from _parts(part, depth)
