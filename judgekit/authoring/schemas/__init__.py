"""JSON Schemas of the files that people write, for completion and checks in editors.

They are derived from the models that read the files. Checks that need the whole project (sums of
weights, missing rubrics) are left to the program.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from judgekit.authoring.schemas.cases import cases_schema, results_schema
from judgekit.authoring.schemas.compact import compact
from judgekit.authoring.schemas.model import schema_of_model
from judgekit.authoring.schemas.rubric import rubric_schema
from judgekit.authoring.schemas.suite import suite_schema
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
    "suite": ("A judgekit suite", suite_schema),
    "rubric": ("The front matter of a judgekit rubric", rubric_schema),
    "cases": ("A line of a judgekit file of cases", cases_schema),
    "results": ("A line of the results of judgekit run --out", results_schema),
    "persona": ("A judgekit persona", lambda: schema_of_model(PersonaFile)),
}
"""Kind -> title, and the function that makes the schema."""
