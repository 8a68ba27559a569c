"""The invented case with which a rubric is rendered if there is no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from judgekit.core.case_field import FIELD_BY_NAME, JUDGED
from judgekit.core.yaml_file import package_data

_VALUES = Path(__file__).parent / "data" / "invented.yaml"


def invented_fields() -> dict[str, Any]:
    """Return field -> an invented value, for every field that a judge may see.

    A field without a value in `invented.yaml` gets one from what the table of fields says about it.
    """
    values = package_data(_VALUES)
    return {name: values[name] if name in values else _value(name) for name in JUDGED}


def _value(name: str) -> Any:
    field = FIELD_BY_NAME[name]
    text = f"({field.about})"
    if field.kind == "texts":
        return [text]
    if field.kind == "messages":
        return [{"role": "user", "content": text}]
    return {"about": text} if field.kind == "object" else text
