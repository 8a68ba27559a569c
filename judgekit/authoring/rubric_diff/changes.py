"""The changes between two versions of a rubric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from judgekit.core.canonical import canonical_json
from judgekit.core.value import Value
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.filetext import read_file, split_front_matter
from judgekit.rubric.rubric import Rubric


class RubricChange(Value):
    """One change."""

    what: str
    """Such as `criterion harm`, `mode both`, `template base.jinja`."""
    field: str = ""
    """The field that changed; empty when the whole was added or removed."""
    old: str | None = None
    """`None` when it was added."""
    new: str | None = None
    """`None` when it was removed."""

    @property
    def sign(self) -> str:
        """`+` added, `-` removed, `~` changed."""
        return "+" if self.old is None else "-" if self.new is None else "~"


def changes(old: Rubric, new: Rubric) -> list[RubricChange]:
    """Return the changes, the most important kinds first."""
    return [
        *_sides("rubric", _head(old), _head(new)),
        *_named(
            "criterion",
            {c.id: _criterion(c) for c in old.criteria},
            {c.id: _criterion(c) for c in new.criteria},
        ),
        *_named("detail", _details(old), _details(new)),
        *_named("mode", _modes(old), _modes(new)),
        *_named("group", _groups(old), _groups(new)),
        *_named("parameter", _parameters(old), _parameters(new)),
        *_sides("rubric", {"examples": _examples(old)}, {"examples": _examples(new)}),
        *_named("template", _templates(old), _templates(new)),
    ]


Sides = Mapping[str, str]


def _named(kind: str, old: Mapping[str, Sides], new: Mapping[str, Sides]) -> Iterator[RubricChange]:
    for name in (*old, *(name for name in new if name not in old)):
        what = f"{kind} {name}".rstrip()
        if name not in new:
            yield RubricChange(what=what, old=_first(old[name]))
        elif name not in old:
            yield RubricChange(what=what, new=_first(new[name]))
        else:
            yield from _sides(what, old[name], new[name])


def _first(sides: Sides) -> str:
    return next(iter(sides.values()), "")


def _sides(what: str, old: Sides, new: Sides) -> Iterator[RubricChange]:
    for field in (*old, *(field for field in new if field not in old)):
        if old.get(field) != new.get(field):
            yield RubricChange(
                what=what, field=field, old=old.get(field, "none"), new=new.get(field, "none")
            )


def _head(rubric: Rubric) -> Sides:
    return {
        "name": rubric.name,
        "version": str(rubric.version),
        "description": rubric.description,
        "combine": rubric.combine,
        "default_mode": rubric.default_mode,
        "requires": ", ".join(rubric.requires),
    }


def _criterion(criterion: Criterion) -> Sides:
    question = criterion.question
    sides = {
        "text": question.text,
        "kind": question.kind,
        "weight": f"{criterion.weight:g}",
        "range": f"{question.minimum:g} to {question.maximum:g}",
        "nullable": _yes(question.nullable),
        "quotes": _yes(question.quotes),
        "reverse": _yes(criterion.reverse),
    }
    for level in criterion.levels:
        sides[f"level {level.label}"] = "left out" if level.value is None else f"{level.value:g}"
        sides[f"text of level {level.label}"] = level.text
    if criterion.levels:
        sides["order of levels"] = ", ".join(level.label for level in criterion.levels)
    if question.items:
        sides["items"] = "; ".join(question.items)
    for detail in question.details:
        sides[f"detail {detail.name}"] = f"{detail.kind}: {detail.text}"
    return sides


def _yes(value: bool) -> str:
    return "true" if value else "false"


def _details(rubric: Rubric) -> dict[str, Sides]:
    return {detail.name: {"text": detail.text, "kind": detail.kind} for detail in rubric.details}


def _modes(rubric: Rubric) -> dict[str, Sides]:
    return {
        mode: {group or "weight": f"{weight:g}" for group, weight in weights.items()}
        for mode, weights in rubric.modes.items()
    }


def _groups(rubric: Rubric) -> dict[str, Sides]:
    return {
        name: {"requires": ", ".join(group.requires), "text": group.text}
        for name, group in rubric.groups.items()
    }


def _parameters(rubric: Rubric) -> dict[str, Sides]:
    return {
        name: {side: _plain(value) for side, value in parameter.model_dump(mode="json").items()}
        for name, parameter in rubric.declared.items()
    }


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else canonical_json(value)


def _examples(rubric: Rubric) -> str:
    shown = [
        {"case": e.case.model_dump(mode="json"), "answers": e.answers} for e in rubric.examples
    ]
    return canonical_json(shown) if shown else "none"


def _templates(rubric: Rubric) -> dict[str, Sides]:
    """Return the text of each template file; the rubric's own has no name, as it may be renamed."""
    own = rubric.path.resolve()
    return {
        "" if path.resolve() == own else name: {
            "text": split_front_matter(read_file(path))[1].strip("\n")
        }
        for name, path in sorted(rubric.template.files.items())
    }
