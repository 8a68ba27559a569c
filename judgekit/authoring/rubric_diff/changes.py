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
    before, after = _described(old), _described(new)
    return [
        change
        for kind in before
        for name in dict.fromkeys([*before[kind], *after[kind]])
        for change in _compared(
            f"{kind} {name}".rstrip(), before[kind].get(name), after[kind].get(name)
        )
    ]


Fields = Mapping[str, str]


def _described(rubric: Rubric) -> dict[str, dict[str, Fields]]:
    """Return kind -> name -> the fields of each part of a rubric, as text."""
    names = ("name", "version", "description", "combine", "default_mode", "requires")
    head = {name: getattr(rubric, name) for name in names}
    head["examples"] = [
        {"case": example.case.model_dump(mode="json"), "answers": example.answers}
        for example in rubric.examples
    ]
    own = rubric.path.resolve()
    return {
        "rubric": {"": _fields(head)},
        "criterion": {c.id: _criterion(c) for c in rubric.criteria},
        "detail": {d.name: _fields({"text": d.text, "kind": d.kind}) for d in rubric.details},
        "mode": {
            mode: _fields({group or "weight": weight for group, weight in weights.items()})
            for mode, weights in rubric.modes.items()
        },
        "group": {
            name: _fields({"requires": group.requires, "text": group.text})
            for name, group in rubric.groups.items()
        },
        "parameter": {
            name: _fields(parameter.model_dump()) for name, parameter in rubric.declared.items()
        },
        # The rubric's own template has no name here, because it may be renamed.
        "template": {
            "" if path.resolve() == own else name: {
                "text": split_front_matter(read_file(path))[1].strip("\n")
            }
            for name, path in sorted(rubric.template.files.items())
        },
    }


def _criterion(criterion: Criterion) -> Fields:
    question = criterion.question
    fields: dict[str, Any] = {
        "text": question.text,
        "kind": question.kind,
        "weight": criterion.weight,
        "range": f"{question.minimum:g} to {question.maximum:g}",
        "nullable": question.nullable,
        "quotes": question.quotes,
        "reverse": criterion.reverse,
    }
    for level in criterion.levels:
        fields[f"level {level.label}"] = "left out" if level.value is None else level.value
        fields[f"text of level {level.label}"] = level.text
    fields["order of levels"] = [level.label for level in criterion.levels]
    fields["items"] = question.items
    fields |= {f"detail {d.name}": f"{d.kind}: {d.text}" for d in question.details}
    return _fields(fields)


def _fields(values: Mapping[str, Any]) -> Fields:
    """Return values as text; empty ones are left out."""
    return {name: _text(value) for name, value in values.items() if value not in ("", (), [])}


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return value if isinstance(value, str) else canonical_json(value)


def _compared(what: str, old: Fields | None, new: Fields | None) -> Iterator[RubricChange]:
    if old is None or new is None:
        first = next(iter((old or new or {}).values()), "")
        yield RubricChange(what=what, **{"new" if old is None else "old": first})
        return
    for field in dict.fromkeys([*old, *new]):
        before, after = old.get(field, "none"), new.get(field, "none")
        if before != after:
            yield RubricChange(what=what, field=field, old=before, new=after)
