"""The changes between two versions of a rubric and their effects on a run, as text and JSON."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from judgekit.authoring.rubric_diff.carry import carried
from judgekit.authoring.rubric_diff.effects import Effect, Effects, Fate, effects_on
from judgekit.authoring.rubric_diff.source import open_version
from judgekit.core.canonical import canonical_json, printable
from judgekit.core.errors import ConfigError
from judgekit.core.json_document import json_document
from judgekit.core.value import Value
from judgekit.judges.budget import ANSWER_TOKENS, CHARACTERS_A_TOKEN
from judgekit.judges.prices import listed_price
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.folders import read_file, split_front_matter
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
    changed: list[RubricChange] = []
    for kind, parts in before.items():
        for name in {**parts, **after[kind]}:
            what = f"{kind} {name}".rstrip()
            changed += _compared(what, parts.get(name), after[kind].get(name))
    return changed


Fields = Mapping[str, str]


def _described(rubric: Rubric) -> dict[str, dict[str, Fields]]:
    """Return kind -> name -> the fields of each part of a rubric, as text."""
    names = ("name", "version", "description", "combine", "default_mode", "requires")
    head = {name: getattr(rubric, name) for name in names}
    head["examples"] = [
        {"case": e.case.model_dump(mode="json"), "answers": e.answers} for e in rubric.examples
    ]
    described: dict[str, dict[str, dict[str, Any]]] = {
        "rubric": {"": head},
        "criterion": {c.id: _criterion(c) for c in rubric.criteria},
        "detail": {d.name: {"text": d.text, "kind": d.kind} for d in rubric.details},
        "mode": {n: {group or "weight": w[group] for group in w} for n, w in rubric.modes.items()},
        "group": {n: {"requires": g.requires, "text": g.text} for n, g in rubric.groups.items()},
        "parameter": {n: parameter.model_dump() for n, parameter in rubric.declared.items()},
    }
    templates: dict[str, Fields] = {}
    for name, path in sorted(rubric.template.files.items()):
        # The rubric's own template has no name here, because it may be renamed.
        key = "" if path.resolve() == rubric.path.resolve() else name
        templates[key] = {"text": split_front_matter(read_file(path))[1].strip("\n")}
    parts = {kind: {n: _fields(p[n]) for n in p} for kind, p in described.items()}
    return {**parts, "template": templates}


def _criterion(criterion: Criterion) -> dict[str, Any]:
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
    return fields


def _fields(values: Mapping[str, Any]) -> Fields:
    """Return values as text, without empty ones."""
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


_WITHOUT_VALUE: dict[Fate, str] = {
    "refused": "refused by the new version",
    "failed": "no verdict, and the same request would give none",
}
MOST = 20
"""Maximum number of cases in the text; the JSON has all."""


def diff_text(
    old: str,
    new: str,
    *,
    results: Path | None = None,
    metric: str | None = None,
    threshold: float | None = None,
    tape: Path | None = None,
    as_json: bool = False,
) -> str:
    """Return the changes between two versions of a rubric, and their effects on a run.

    Raises:
        RubricError: a version cannot be loaded.
        ConfigError: it is not a run folder, or the run does not use this rubric.
    """
    if tape is not None and results is None:
        raise ConfigError("--tape needs the run to compare with: --run FOLDER")
    with open_version(old) as (before, old_name), open_version(new) as (after, new_name):
        changed = changes(before, after)
        effects: list[Effects] = []
        if results is not None:
            effects = effects_on(
                results, old=before, new=after, metric=metric, threshold=threshold, tape=tape
            )
        kept = carried(before, after)
    if as_json:
        results_of = [{**asdict(one), "flips": len(one.flips)} for one in effects]
        data = {
            "old": {"file": old_name, **_identity(before)},
            "new": {"file": new_name, **_identity(after)},
            "changes": [change.model_dump(mode="json") for change in changed],
            "carried": kept.model_dump(mode="json"),
            "results": results_of,
        }
        return json_document("rubric_diff", data) + "\n"
    lines = [f"  {line}" for change in changed for line in _change(change)]
    lines = lines or ["  no change in requests or values"]
    versions = before.name == after.name and before.version != after.version
    if versions and (kept.renamed or kept.rescaled or kept.gone):
        lines += ["labels and gates", *(f"  {line}" for line in kept.lines())]
    lines += [line for one in effects for line in _effects(one)]
    return printable("\n".join([f"{old_name} -> {new_name}", *lines])) + "\n"


def _identity(rubric: Rubric) -> dict[str, str | int]:
    return {"name": rubric.name, "version": rubric.version, "digest": rubric.digest}


def _change(change: RubricChange) -> Iterator[str]:
    name = f"{change.sign} {change.what}"
    old, new = change.old or "", change.new or ""
    if change.what.startswith("template"):
        marks = [line[0] for line in difflib.ndiff(old.splitlines(), new.splitlines())]
        yield f"{name}: lines removed {marks.count('-')}, added {marks.count('+')}"
    elif change.sign != "~":
        yield f"{name}: {_short(old or new)}"
    elif len(old) + len(new) <= 60 and "\n" not in old + new:
        yield f"{name}: {change.field} {old or 'none'} -> {new or 'none'}"
    else:
        yield f"{name}: {change.field}"
        yield f"    - {_short(old)}"
        yield f"    + {_short(new)}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 300 else text[:297] + "..."


def _effects(effects: Effects) -> Iterator[str]:
    line = "" if effects.threshold is None else f", threshold {effects.threshold:g}"
    yield f"{effects.metric}: {len(effects.effects)} recorded verdicts{line}"
    if effects.foreign:
        unused = "the run did not use the old version"
        yield f"  {effects.foreign} verdicts are of another version; {unused}"
    changed, same = effects.of("changed"), effects.of("same")
    known = "same request, or on the tape" if effects.on_tape else "same request"
    yield f"  {known}: {len(same) + len(changed)}, {len(changed)} of them with a new value"
    if effects.mean_old is not None and effects.mean_new is not None:
        yield f"    mean {effects.mean_old:.3f} -> {effects.mean_new:.3f}"
    if effects.threshold is not None:
        yield f"    flips: {len(effects.flips)}"
    yield from _cases(sorted(changed, key=lambda effect: effect.flip is None))
    for fate, words in _WITHOUT_VALUE.items():
        if cases := effects.of(fate):
            yield f"  {words}: {len(cases)}"
            yield from _cases(cases)
    to_send = effects.of("ask")
    yield f"  to send again: {len(to_send)}{_cost(effects)}"
    if to_send:
        yield f"    {', '.join(effect.case for effect in to_send[:MOST])}{_more(to_send)}"


def _cost(effects: Effects) -> str:
    if not effects.calls:
        return ""
    calls = "1 call" if effects.calls == 1 else f"{effects.calls} calls"
    read = effects.characters // CHARACTERS_A_TOKEN
    price = listed_price(effects.model)
    cost = ""
    if price is not None:
        dollars = (read * price[0] + effects.questions * ANSWER_TOKENS * price[1]) / 1e6
        cost = ", less than a cent" if dollars < 0.01 else f", about ${dollars:.2f}"
    return f" ({calls}, about {read:,} tokens in{cost})"


def _cases(effects: Sequence[Effect]) -> Iterator[str]:
    for effect in effects[:MOST]:
        old = "none" if effect.old is None else f"{effect.old:.3f}"
        new = (effect.status or "none") if effect.new is None else f"{effect.new:.3f}"
        flip = f"  {effect.flip}" if effect.flip else ""
        outcome = effect.note or f"{old} -> {new}{flip}"
        yield f"    {effect.case}  {outcome}"
    if len(effects) > MOST:
        yield f"    {_more(effects).lstrip(', ')}"


def _more(effects: Sequence[Effect]) -> str:
    return f", and {len(effects) - MOST} more (--json names all)" if len(effects) > MOST else ""
