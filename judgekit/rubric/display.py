"""A rubric as text, and as shown in notebooks and prompts: its questions and their weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from judgekit.core.canonical import canonical_json
from judgekit.core.display.parts import MOST_NAME, DisplayLine, DisplayPart, DisplayTable, cut, more

if TYPE_CHECKING:
    from judgekit.rubric.criterion import Criterion
    from judgekit.rubric.parameter import Parameter
    from judgekit.rubric.rubric import Rubric

MOST_CRITERIA = 30
MOST_LEVELS = 8


def rubric_text(rubric: Rubric, *, sees: Iterable[str] = ()) -> str:
    """Return a rubric's criteria, weights and modes as text.

    Args:
        rubric: the rubric.
        sees: lines about the fields that the judge sees (see `judgekit.rubric.asked`).
    """
    lines = [
        f"{rubric.name}, version {rubric.version}, digest {rubric.digest[:16]}",
        rubric.description,
        f"file: {rubric.path}",
        f"needs: {', '.join(rubric.requires)}",
        *sees,
        f"combined by: {rubric.combine.replace('_', ' ')}",
        *_modes(rubric),
        *(
            f"parameter {name} {_setting(rubric, name)} {_bounds(parameter)}"
            for name, parameter in rubric.declared.items()
        ),
    ]
    for criterion in rubric.criteria:
        kind, *notes = _notes(criterion)
        notes = [kind, f"weight {criterion.weight:g}", *notes]
        lines += ["", f"{criterion.id} ({', '.join(notes)})", f"  {criterion.question.text}"]
        texts = [f": {level.text}" if level.text else "" for level in criterion.levels]
        texts += [""] * len(criterion.question.items)
        lines += [f"  {a}{text}" for a, text in zip(_answers(criterion), texts, strict=True)]
    return "\n".join(lines) + "\n"


def rubric_data(rubric: Rubric, *, sees: Iterable[str] = ()) -> dict[str, Any]:
    """Return what `rubric_text` shows as JSON values."""
    criteria = []
    for criterion in rubric.criteria:
        question = criterion.question.model_dump(mode="json", exclude_defaults=True)
        levels = [level.model_dump(mode="json") for level in criterion.levels]
        facts = {"weight": criterion.weight, "reverse": criterion.reverse, "levels": levels}
        criteria.append({**question, **facts})
    return {
        "name": rubric.name,
        "version": rubric.version,
        "digest": rubric.digest,
        "description": rubric.description,
        "file": str(rubric.path),
        "requires": list(rubric.requires),
        "sees": list(sees),
        "combine": rubric.combine,
        "modes": rubric.modes,
        "default_mode": rubric.default_mode,
        "parameters": {
            name: {**parameter.model_dump(mode="json"), "value": rubric.parameters.get(name)}
            for name, parameter in rubric.declared.items()
        },
        "criteria": criteria,
        "tests": len(rubric.tests) + len(rubric.orderings),
    }


def rubric_parts(rubric: Rubric) -> Iterator[DisplayPart]:
    """Yield the parts that a notebook or a prompt shows."""
    yield DisplayLine(f"rubric {cut(rubric.name, MOST_NAME)}, version {rubric.version}", "title")
    if rubric.description:
        yield DisplayLine(cut(rubric.description, 600))
    yield DisplayTable(
        ("criterion", "weight", "kind", "question"),
        [_row(criterion) for criterion in rubric.criteria[:MOST_CRITERIA]],
        numbers=(1,),
        left=more(len(rubric.criteria) - MOST_CRITERIA, "row", ".criteria"),
    )
    for line in _modes(rubric)[:MOST_LEVELS]:
        yield DisplayLine(cut(line), "note")
    for name in list(rubric.declared)[:MOST_LEVELS]:
        line = f"parameter {cut(name, MOST_NAME)} {cut(_setting(rubric, name))}"
        yield DisplayLine(line, "note")
    tests = len(rubric.tests) + len(rubric.orderings)
    needs = f"needs {', '.join(rubric.requires)}; " if rubric.requires else ""
    combined = f"{needs}combined by {rubric.combine.replace('_', ' ')}"
    place = f"digest {rubric.digest[:12]}; {cut(str(rubric.path))}"
    yield DisplayLine(f"{combined}; {tests} test{'s' * (tests != 1)}; {place}", "note")


def _row(criterion: Criterion) -> tuple[str, str, str, str]:
    answers = _answers(criterion)
    lines = [cut(criterion.question.text), *(cut(a, 120) for a in answers[:MOST_LEVELS])]
    lines += [f"{left} more"] if (left := len(answers) - MOST_LEVELS) > 0 else []
    name, weight = cut(criterion.id, MOST_NAME), f"{criterion.weight:g}"
    return name, weight, ", ".join(_notes(criterion)), "\n".join(lines)


def _notes(criterion: Criterion) -> list[str]:
    """Return the kind of a criterion and its flags."""
    question = criterion.question
    flags = {"may abstain": question.nullable, "quotes": question.quotes,
             "reversed": criterion.reverse}  # fmt: skip
    return [question.kind, *(word for word, is_set in flags.items() if is_set)]


def _answers(criterion: Criterion) -> list[str]:
    """Return the possible words with their values, or the items of a checklist."""
    levels = [
        f"{level.label} = {'left out' if level.value is None else format(level.value, 'g')}"
        for level in criterion.levels
    ]
    return [*levels, *(f"- {item}" for item in criterion.question.items)]


def _modes(rubric: Rubric) -> list[str]:
    """Return a line for each mode, if there are several."""
    return [
        f"mode {mode}{' (default)' if mode == rubric.default_mode else ''}: "
        + ", ".join(f"{group} {weight:g}" for group, weight in weights.items())
        for mode, weights in rubric.modes.items()
        if len(rubric.modes) > 1
    ]


def _setting(rubric: Rubric, name: str) -> str:
    setting = rubric.parameters.get(name)
    return "must be set" if setting is None else f"= {canonical_json(setting)}"


def _bounds(parameter: Parameter) -> str:
    """Return the kind of a parameter, its choices or bounds, and its description."""
    bounds = [
        f"{word} {bound:g}"
        for word, bound in (("at least", parameter.minimum), ("at most", parameter.maximum))
        if bound is not None
    ]
    notes = [parameter.kind, *([", ".join(parameter.choices)] if parameter.choices else bounds)]
    text = f": {parameter.description}" if parameter.description else ""
    return f"({'; '.join(notes)}){text}"
