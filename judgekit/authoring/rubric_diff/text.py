"""`judgekit rubric diff`, without the command line."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from judgekit.authoring.rubric_diff.changes import RubricChange, changes
from judgekit.authoring.rubric_diff.effects import Effect, Effects, effects_on
from judgekit.authoring.rubric_diff.source import opened
from judgekit.core.canonical import printable
from judgekit.rubric.rubric import Rubric

MOST = 20
"""Cases that are named one by one; the JSON names all."""


def tell_diff(
    old: str,
    new: str,
    *,
    results: Path | None = None,
    metric: str | None = None,
    threshold: float | None = None,
    as_json: bool = False,
) -> str:
    """Return what changed between two versions of a rubric, and what that does to a run.

    Raises:
        RubricError: one of them does not load.
        ConfigError: the results are none, or not of this rubric.
    """
    with opened(old) as (before, old_name), opened(new) as (after, new_name):
        found = changes(before, after)
        effects: list[Effects] = []
        if results is not None:
            effects = effects_on(results, old=before, new=after, metric=metric, threshold=threshold)
    if as_json:
        data = {
            "old": {"file": old_name, **_identity(before)},
            "new": {"file": new_name, **_identity(after)},
            "changes": [change.model_dump(mode="json") for change in found],
            "results": [
                {**one.model_dump(mode="json"), "flips": len(one.flips)} for one in effects
            ],
        }
        return json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    lines = [
        *_static(f"{old_name} -> {new_name}", found),
        *(line for one in effects for line in _effects(one)),
    ]
    return printable("\n".join(lines)) + "\n"


def _identity(rubric: Rubric) -> dict[str, str | int]:
    return {"name": rubric.name, "version": rubric.version, "digest": rubric.digest}


def _static(title: str, found: Sequence[RubricChange]) -> Iterator[str]:
    yield title
    if not found:
        yield "  nothing that is asked or counted differs"
    for change in found:
        yield from (f"  {line}" for line in _change(change))


def _change(change: RubricChange) -> Iterator[str]:
    name = f"{change.sign} {change.what}"
    old, new = change.old or "", change.new or ""
    if change.what.startswith("template"):
        yield f"{name}{_lines_changed(old, new)}"
    elif change.sign != "~":
        yield f"{name}: {_short(old or new)}"
    elif len(old) + len(new) <= 60 and "\n" not in old + new:
        yield f"{name}: {change.field} {old or 'none'} -> {new or 'none'}"
    else:
        yield f"{name}: {change.field}"
        yield f"    - {_short(old)}"
        yield f"    + {_short(new)}"


def _lines_changed(old: str, new: str) -> str:
    marks = [line[0] for line in difflib.ndiff(old.splitlines(), new.splitlines())]
    return f": lines removed {marks.count('-')}, added {marks.count('+')}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 300 else text[:297] + "..."


def _effects(found: Effects) -> Iterator[str]:
    line = "" if found.threshold is None else f", pass line {found.threshold:g}"
    yield f"{found.metric}: {len(found.effects)} recorded verdicts{line}"
    if found.foreign:
        yield (
            f"  {found.foreign} were not asked by the old version as it stands; "
            "the run was made with another one"
        )
    changed = found.of("changed")
    same = found.of("same")
    yield f"  same request: {len(same) + len(changed)}, {len(changed)} of them with another value"
    if found.mean_old is not None and found.mean_new is not None:
        yield f"    mean {found.mean_old:.3f} -> {found.mean_new:.3f}"
    if found.threshold is not None:
        yield f"    flips: {len(found.flips)}"
    yield from _cases(sorted(changed, key=lambda effect: effect.flip is None))
    for fate, words in (
        ("refused", "not taken by the new version"),
        ("failed", "without a verdict, and the same request would give none"),
    ):
        if effects := found.of(fate):  # type: ignore[arg-type]
            yield f"  {words}: {len(effects)}"
            yield from _cases(effects)
    asked = found.of("ask")
    yield f"  to be asked again: {len(asked)}{_cost(found)}"
    if asked:
        names = ", ".join(effect.case for effect in asked[:MOST])
        yield f"    {names}{_more(asked)}"


def _cost(found: Effects) -> str:
    if not found.calls:
        return ""
    calls = "1 call" if found.calls == 1 else f"{found.calls} calls"
    return f" ({calls}, about {found.characters // 4:,} tokens in)"


def _cases(effects: Sequence[Effect]) -> Iterator[str]:
    for effect in effects[:MOST]:
        old = "none" if effect.old is None else f"{effect.old:.3f}"
        new = (effect.status or "none") if effect.new is None else f"{effect.new:.3f}"
        flip = f"  {effect.flip}" if effect.flip else ""
        told = f"  {effect.note}" if effect.note else f"  {old} -> {new}{flip}"
        yield f"    {effect.case}{told}"
    if len(effects) > MOST:
        yield f"    {_more(effects).lstrip(', ')}"


def _more(effects: Sequence[Effect]) -> str:
    return f", and {len(effects) - MOST} more (--json names all)" if len(effects) > MOST else ""
