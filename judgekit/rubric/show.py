"""A rubric as text: its criteria, and exactly what a judge would see."""

from __future__ import annotations

from collections.abc import Iterator

from judgekit.canonical import canonical_json
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.parameter import Parameter, Setting
from judgekit.rubric.rubric import Rubric


def rubric_text(rubric: Rubric) -> str:
    """Return a rubric's criteria, weights and modes."""
    return "\n".join(_lines(rubric)) + "\n"


def _lines(rubric: Rubric) -> Iterator[str]:
    yield f"{rubric.name}, version {rubric.version}, digest {rubric.digest[:16]}"
    yield rubric.description
    yield f"file: {rubric.path}"
    yield f"needs: {', '.join(rubric.requires)}"
    yield f"combined by: {rubric.combine.replace('_', ' ')}"
    if len(rubric.modes) > 1:
        for mode, weights in rubric.modes.items():
            default = " (default)" if mode == rubric.default_mode else ""
            shares = ", ".join(f"{group} {weight:g}" for group, weight in weights.items())
            yield f"mode {mode}{default}: {shares}"
    for parameter in rubric.declared.values():
        yield from _parameter(parameter, rubric.parameters.get(parameter.name))
    for criterion in rubric.criteria:
        yield ""
        yield from _criterion(criterion)


def _parameter(parameter: Parameter, setting: Setting | None) -> Iterator[str]:
    said = "must be set" if setting is None else f"= {canonical_json(setting)}"
    bounds = [
        f"{word} {bound:g}"
        for word, bound in (("at least", parameter.minimum), ("at most", parameter.maximum))
        if bound is not None
    ]
    notes = [parameter.kind, *([", ".join(parameter.choices)] if parameter.choices else bounds)]
    text = f": {parameter.description}" if parameter.description else ""
    yield f"parameter {parameter.name} {said} ({'; '.join(notes)}){text}"


def _criterion(criterion: Criterion) -> Iterator[str]:
    question = criterion.question
    notes = [question.kind, f"weight {criterion.weight:g}"]
    flags = {
        "may abstain": question.nullable,
        "quotes": question.quotes,
        "reversed": criterion.reverse,
    }
    notes += [word for word, said in flags.items() if said]
    yield f"{criterion.id} ({', '.join(notes)})"
    yield f"  {question.text}"
    for level in criterion.levels:
        worth = "left out" if level.value is None else f"{level.value:g}"
        yield f"  {level.label} = {worth}{': ' + level.text if level.text else ''}"
    for item in question.items:
        yield f"  - {item}"
