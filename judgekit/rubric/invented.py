"""The invented case and the invented parameters with which a rubric is rendered without others."""

from __future__ import annotations

import math
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.core.case import Case
from judgekit.core.case_field import FIELD_BY_NAME, JUDGED
from judgekit.core.yaml_file import package_data
from judgekit.rubric.case_text import case_text, uses_case
from judgekit.rubric.template_analysis import keys_read

if TYPE_CHECKING:
    from judgekit.rubric.parameter import Parameter
    from judgekit.rubric.rubric import Rubric

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


def invented_case(rubric: Rubric, *, only: Collection[str] = JUDGED) -> Case:
    """Return an invented case with the keys that a rubric reads in its objects.

    Args:
        rubric: the rubric.
        only: the fields of the case.
    """
    keys = object_keys(rubric)
    named = {f: {key: f"({key})" for key in sorted(names)} for f, names in keys.items() if names}
    fields = {**invented_fields(), **named}
    return Case(id="sample", **{name: value for name, value in fields.items() if name in only})


def object_keys(rubric: Rubric) -> dict[str, set[str]]:
    """Return the keys that a rubric reads in the objects of a case, by field."""
    loader = rubric.template.loader
    trees = {name: loader.template_file(name).tree for name in rubric.template.files}
    texts = [c.question.text for c in rubric.criteria if uses_case(c.question.text)]
    return keys_read({**trees, **{text: case_text(text).tree for text in texts}})


def needed_fields(rubric: Rubric, *, mode: str) -> frozenset[str]:
    """Return the fields that all criteria of a mode need in a case."""
    groups = [name for name, weight in rubric.modes[mode].items() if weight > 0]
    needed = (rubric.groups[name].requires for name in groups if name in rubric.groups)
    return frozenset(rubric.requires).union(*needed)


def with_invented_parameters(rubric: Rubric) -> Rubric:
    """Return a rubric with all parameters set, to an invented value where they have no default."""
    unset = [each for name, each in rubric.declared.items() if name not in rubric.parameters]
    return rubric.with_parameters({each.name: _setting(each) for each in unset})


def _setting(parameter: Parameter) -> Any:
    if parameter.kind in ("number", "integer"):
        low, high = parameter.minimum, parameter.maximum
        number = low if low is not None else min(1.0, high) if high is not None else 1.0
        return math.ceil(number) if parameter.kind == "integer" else number
    if parameter.kind == "boolean":
        return True
    word = parameter.choices[0] if parameter.choices else f"({parameter.name})"
    return [word] if parameter.kind == "list" else word
