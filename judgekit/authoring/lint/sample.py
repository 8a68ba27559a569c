"""Invented cases to render a rubric with: one with every field, one with the required fields."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from judgekit.core.case import Case
from judgekit.core.yaml_file import package_data
from judgekit.rubric.parameter import Parameter
from judgekit.rubric.rubric import Rubric

_FILE = Path(__file__).with_name("invented.yaml")


def invented() -> dict[str, Any]:
    """Return the fields of an invented case."""
    return package_data(_FILE)


def ready(rubric: Rubric) -> Rubric:
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


def invented_case(rubric: Rubric, keys: Mapping[str, Iterable[str]], *, sparse: bool) -> Case:
    """Return an invented case.

    Args:
        rubric: the rubric.
        keys: keys that `metadata` and `expected` must have, by field.
        sparse: whether it has only the fields that the rubric requires in its default mode.
    """
    named = {field: {key: f"({key})" for key in sorted(names)} for field, names in keys.items()}
    fields = {**invented(), **{field: values for field, values in named.items() if values}}
    if sparse:
        needed = {*rubric.requires}
        for name, weight in rubric.modes[rubric.default_mode].items():
            if weight > 0 and name in rubric.groups:
                needed |= set(rubric.groups[name].requires)
        fields = {name: value for name, value in fields.items() if name in needed}
    return Case(id="sample", **fields)
