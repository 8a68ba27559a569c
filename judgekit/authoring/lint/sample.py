"""Invented cases to render a rubric with: one with every field, one with the required fields."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from judgekit.core.case import Case, Message
from judgekit.rubric.parameter import Parameter
from judgekit.rubric.rubric import Rubric

INVENTED: dict[str, Any] = {
    "system": "(the system prompt)",
    "history": (
        Message(role="user", content="(an earlier message)"),
        Message(role="assistant", content="(an earlier answer)"),
    ),
    "input": "(the user's message)",
    "output": "(the answer to judge)",
    "reference": ("(an accepted answer)",),
    "context": ("(a passage)",),
    "baseline": "(the baseline answer)",
    "choices": ("(a choice)", "(another choice)"),
    "expected": {"facts": ["(a fact)"]},
    "metadata": {"topic": "(a topic)"},
}


def ready(rubric: Rubric) -> Rubric:
    """Return a rubric with all parameters set, to an invented value where they have no default."""
    return rubric.with_parameters(
        {
            name: _setting(parameter)
            for name, parameter in rubric.declared.items()
            if name not in rubric.parameters
        }
    )


def _setting(parameter: Parameter) -> Any:
    if parameter.kind in ("number", "integer"):
        low, high = parameter.minimum, parameter.maximum
        number = low if low is not None else min(1.0, high) if high is not None else 1.0
        return math.ceil(number) if parameter.kind == "integer" else number
    if parameter.kind == "boolean":
        return True
    word = parameter.choices[0] if parameter.choices else f"({parameter.name})"
    return [word] if parameter.kind == "list" else word


def full_case(keys: Mapping[str, Iterable[str]] | None = None) -> Case:
    """Return a case that has every field.

    Args:
        keys: keys that `metadata` and `expected` must have, by field.
    """
    return Case(id="sample", **{**INVENTED, **_keyed(keys)})


def _keyed(keys: Mapping[str, Iterable[str]] | None) -> dict[str, dict[str, str]]:
    named = {field: {key: f"({key})" for key in sorted(names)} for field, names in
             (keys or {}).items()}  # fmt: skip
    return {field: values for field, values in named.items() if values}


def sparse_case(rubric: Rubric, keys: Mapping[str, Iterable[str]] | None = None) -> Case:
    """Return a case with only the fields that a rubric requires in its default mode."""
    needed = {*rubric.requires}
    for name, weight in rubric.modes[rubric.default_mode].items():
        if weight > 0 and name in rubric.groups:
            needed |= set(rubric.groups[name].requires)
    known = {**INVENTED, **_keyed(keys)}
    return Case(id="sample", **{name: value for name, value in known.items() if name in needed})
