"""The parameters that the files of a rubric declare and use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from judgekit.core.errors import ConfigError, RubricError, place
from judgekit.core.request import Detail
from judgekit.core.suggest import suggest
from judgekit.rubric.chain import Layer, description_of
from judgekit.rubric.complain import Complain, refuse
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.parameter import Parameter, named_in, parameter, texts_of
from judgekit.rubric.sheet import Mention


def declared_in(layers: Sequence[Layer], *, complain: Complain = refuse) -> tuple[Parameter, ...]:
    """Return the declared parameters; a file only writes what differs from the file it extends.

    Args:
        layers: the rubric, then the files that it extends.
        complain: called with each fault; raises the first one by default.
    """
    merged: dict[str, dict[str, Any]] = {}
    for layer in reversed(layers):
        for name, file in layer.file.parameters.items():
            if file is not None:
                settings = {field: getattr(file, field) for field in file.model_fields_set}
                merged[name] = {**merged.get(name, {}), **settings}
            elif merged.pop(name, None) is None:
                where = layer.lines.where("parameters", name)
                message = f"removes {name!r}, which it does not inherit"
                complain(RubricError(message, where=where, rule="bad-value"))
    parameters = []
    for name, settings in merged.items():
        try:
            parameters.append(parameter(name, settings))
        except ConfigError as exc:
            where = where_set(layers, "parameters", name)
            message = f"parameters.{name}: {exc}"
            complain(RubricError(message, where=where, rule="bad-value"))
    return tuple(parameters)


def check_used(
    layers: Sequence[Layer],
    *,
    criteria: Sequence[Criterion],
    details: Sequence[Detail],
    mentions: Sequence[tuple[Path, Mention]],
    declared: Sequence[Parameter],
    complain: Complain = refuse,
) -> None:
    """Refuse parameters that are used and not declared, or declared and not used."""
    known = [parameter.name for parameter in declared]
    named = [(mention.name, place(file, mention.line)) for file, mention in mentions]
    for path, text in _texts(layers, criteria, details):
        where = where_set(layers, *path)
        try:
            named += [(name, where) for name in named_in(text)]
        except ConfigError as exc:
            complain(RubricError(str(exc), where=where, rule="bad-value"))
    for criterion in criteria:
        if any("{{" in item and "parameters." in item for item in criterion.question.items):
            where = where_set(layers, "criteria", criterion.id, "items")
            message = "an item is answered word for word; it takes no parameter"
            complain(RubricError(message, where=where, rule="bad-value"))
    for name, where in named:
        if name not in known:
            hint = suggest(name, known) or "; declare it in the front matter: parameters:"
            message = f"unknown parameter {name!r}{hint}"
            complain(RubricError(message, where=where, rule="unknown-variable"))
    used = {name for name, _ in named}
    for name in known:
        if name not in used:
            message = (
                f"parameter {name!r} is never used; write {{{{ parameters.{name} }}}} where it "
                "counts, or remove it"
            )
            where = where_set(layers, "parameters", name)
            complain(RubricError(message, where=where, rule="unused-parameter"))


def where_set(layers: Sequence[Layer], *path: str) -> str:
    """Return `file:line` of a setting in the first file that has it."""
    for layer in layers:
        inside: Any = layer.data
        for step in path[:2]:
            inside = inside.get(step) if isinstance(inside, Mapping) else None
        if inside is not None:
            return layer.lines.where(*path)
    return layers[0].lines.where(*path)


def _texts(
    layers: Sequence[Layer], criteria: Sequence[Criterion], details: Sequence[Detail]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield every text that may name a parameter, with the path of its setting."""
    yield ("description",), description_of(layers)
    for detail in details:
        yield ("details", detail.name), detail.text
    for criterion in criteria:
        for text in texts_of(criterion):
            yield ("criteria", criterion.id), text
