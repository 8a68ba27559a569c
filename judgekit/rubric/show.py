"""A rubric as text: its criteria, and exactly what a judge would see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from judgekit.core.canonical import canonical_json
from judgekit.core.errors import AbstractRubric, ConfigError, RubricError
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.library import (
    ListedRubric,
    RubricFolder,
    library_folders,
    own_folders,
    rubrics_in,
)
from judgekit.rubric.load import load_rubric
from judgekit.rubric.parameter import Parameter, Setting
from judgekit.rubric.rubric import Rubric


def rubric_text(rubric: Rubric) -> str:
    """Return a rubric's criteria, weights and modes."""
    return "\n".join(_lines(rubric)) + "\n"


def list_text(own: Sequence[RubricFolder] | None = None, *, folder: Path | None = None) -> str:
    """Return one line for each rubric, in the order in which names are looked up.

    Args:
        own: the folders to list before those of packages; by default, the working folder and its
            `rubrics`.
        folder: list only this folder.

    Raises:
        ConfigError: there is no such folder.
        RubricError: a package offers a folder that does not exist.
    """
    if folder is not None and not folder.is_dir():
        raise ConfigError("no such folder", where=str(folder))
    if folder is not None:
        folders = [RubricFolder(folder, str(folder))]
    else:
        folders = [*(own_folders(Path()) if own is None else own), *library_folders()]
    lines = [line for listed in rubrics_in(folders) for line in _list_lines(listed)]
    return "\n".join(lines) + "\n" if lines else "no rubrics\n"


def _list_lines(listed: ListedRubric) -> Iterator[str]:
    """Yield the line of a rubric; an abstract rubric has none."""
    hidden = f", hidden by that of {listed.hidden_by}" if listed.hidden_by else ""
    try:
        rubric = load_rubric(listed.path)
    except AbstractRubric:
        return
    except RubricError as exc:
        yield f"{listed.name:<22}does not load: {exc}"
        return
    tests = len(rubric.tests) + len(rubric.orderings)
    one = len(rubric.criteria) == 1
    yield (
        f"{listed.name:<22}{len(rubric.criteria):>2} {'criterion' if one else 'criteria':<9} "
        f"{tests:>2} {'test' if tests == 1 else 'tests':<5}  "
        f"{listed.origin}{hidden}  {rubric.description}"
    )


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
    value = "must be set" if setting is None else f"= {canonical_json(setting)}"
    bounds = [
        f"{word} {bound:g}"
        for word, bound in (("at least", parameter.minimum), ("at most", parameter.maximum))
        if bound is not None
    ]
    notes = [parameter.kind, *([", ".join(parameter.choices)] if parameter.choices else bounds)]
    text = f": {parameter.description}" if parameter.description else ""
    yield f"parameter {parameter.name} {value} ({'; '.join(notes)}){text}"


def _criterion(criterion: Criterion) -> Iterator[str]:
    question = criterion.question
    notes = [question.kind, f"weight {criterion.weight:g}"]
    flags = {
        "may abstain": question.nullable,
        "quotes": question.quotes,
        "reversed": criterion.reverse,
    }
    notes += [word for word, is_set in flags.items() if is_set]
    yield f"{criterion.id} ({', '.join(notes)})"
    yield f"  {question.text}"
    for level in criterion.levels:
        worth = "left out" if level.value is None else f"{level.value:g}"
        yield f"  {level.label} = {worth}{': ' + level.text if level.text else ''}"
    for item in question.items:
        yield f"  - {item}"
