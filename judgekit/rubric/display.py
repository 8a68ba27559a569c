"""A rubric as it is shown by itself: what is asked, and what it weighs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from judgekit.core.canonical import canonical_json
from judgekit.core.display.parts import MOST_NAME, DisplayLine, DisplayPart, DisplayTable, cut, more

if TYPE_CHECKING:
    from judgekit.rubric.criterion import Criterion
    from judgekit.rubric.rubric import Rubric

MOST_CRITERIA = 30
MOST_LEVELS = 8


def rubric_parts(rubric: Rubric) -> Iterator[DisplayPart]:
    """Yield what there is to see of a rubric."""
    yield DisplayLine(f"rubric {cut(rubric.name, MOST_NAME)}, version {rubric.version}", "title")
    if rubric.description:
        yield DisplayLine(cut(rubric.description, 600))
    shown = rubric.criteria[:MOST_CRITERIA]
    yield DisplayTable(
        ("criterion", "weight", "kind", "question"),
        [
            (cut(c.id, MOST_NAME), f"{c.weight:g}", _kind(c), cut(c.question.text) + _words(c))
            for c in shown
        ],
        numbers=(1,),
        left=more(len(rubric.criteria) - len(shown), "row", ".criteria"),
    )
    if len(rubric.modes) > 1:
        for mode, weights in list(rubric.modes.items())[:MOST_LEVELS]:
            default = " (default)" if mode == rubric.default_mode else ""
            shares = ", ".join(f"{group} {weight:g}" for group, weight in weights.items())
            yield DisplayLine(f"mode {cut(mode, MOST_NAME)}{default}: {cut(shares)}", "note")
    for name in list(rubric.declared)[:MOST_LEVELS]:
        setting = rubric.parameters.get(name)
        said = "must be set" if setting is None else f"= {cut(canonical_json(setting))}"
        yield DisplayLine(f"parameter {cut(name, MOST_NAME)} {said}", "note")
    tests = len(rubric.tests) + len(rubric.orderings)
    needs = f"needs {', '.join(rubric.requires)}; " if rubric.requires else ""
    yield DisplayLine(
        f"{needs}combined by {rubric.combine.replace('_', ' ')}; {tests} "
        f"test{'s' if tests != 1 else ''}; digest {rubric.digest[:12]}; {cut(str(rubric.path))}",
        "note",
    )


def _kind(criterion: Criterion) -> str:
    question = criterion.question
    flags = {"may abstain": question.nullable, "quotes": question.quotes,
             "reversed": criterion.reverse}  # fmt: skip
    return ", ".join([question.kind, *(word for word, on in flags.items() if on)])


def _words(criterion: Criterion) -> str:
    lines = [
        f"{cut(level.label, MOST_NAME)} = "
        + ("left out" if level.value is None else f"{level.value:g}")
        for level in criterion.levels[:MOST_LEVELS]
    ]
    lines += [f"- {cut(item, 120)}" for item in criterion.question.items[:MOST_LEVELS]]
    left = len(criterion.levels) + len(criterion.question.items) - len(lines)
    lines += [f"{left} more"] if left > 0 else []
    return "".join(f"\n{line}" for line in lines)
