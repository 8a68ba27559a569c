"""The comparison of two versions of a rubric as text and JSON, for `judgekit rubric diff`."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from judgekit.authoring.rubric_diff.changes import RubricChange, changes
from judgekit.authoring.rubric_diff.effects import Effect, Effects, effects_on
from judgekit.authoring.rubric_diff.source import open_version
from judgekit.core.canonical import printable
from judgekit.rubric.rubric import Rubric

MOST = 20
"""Cases that the text names; the JSON names all."""


def diff_text(
    old: str,
    new: str,
    *,
    results: Path | None = None,
    metric: str | None = None,
    threshold: float | None = None,
    as_json: bool = False,
) -> str:
    """Return the changes between two versions of a rubric, and their effects on a run.

    Raises:
        RubricError: one of them does not load.
        ConfigError: no run folder, or a run without this rubric.
    """
    with open_version(old) as (before, old_name), open_version(new) as (after, new_name):
        changed = changes(before, after)
        effects: list[Effects] = []
        if results is not None:
            effects = effects_on(results, old=before, new=after, metric=metric, threshold=threshold)
    if as_json:
        data = {
            "old": {"file": old_name, **_identity(before)},
            "new": {"file": new_name, **_identity(after)},
            "changes": [change.model_dump(mode="json") for change in changed],
            "results": [
                {**one.model_dump(mode="json"), "flips": len(one.flips)} for one in effects
            ],
        }
        return json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    lines = [
        *_static(f"{old_name} -> {new_name}", changed),
        *(line for one in effects for line in _effects(one)),
    ]
    return printable("\n".join(lines)) + "\n"


def _identity(rubric: Rubric) -> dict[str, str | int]:
    return {"name": rubric.name, "version": rubric.version, "digest": rubric.digest}


def _static(title: str, changed: Sequence[RubricChange]) -> Iterator[str]:
    yield title
    if not changed:
        yield "  no change in requests or values"
    for change in changed:
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


def _effects(effects: Effects) -> Iterator[str]:
    line = "" if effects.threshold is None else f", threshold {effects.threshold:g}"
    yield f"{effects.metric}: {len(effects.effects)} recorded verdicts{line}"
    if effects.foreign:
        unused = "the run did not use the old version"
        yield f"  {effects.foreign} verdicts are of another version; {unused}"
    changed, same = effects.of("changed"), effects.of("same")
    yield f"  same request: {len(same) + len(changed)}, {len(changed)} of them with a new value"
    if effects.mean_old is not None and effects.mean_new is not None:
        yield f"    mean {effects.mean_old:.3f} -> {effects.mean_new:.3f}"
    if effects.threshold is not None:
        yield f"    flips: {len(effects.flips)}"
    yield from _cases(sorted(changed, key=lambda effect: effect.flip is None))
    for cases, words in (
        (effects.of("refused"), "refused by the new version"),
        (effects.of("failed"), "no verdict, and the same request would give none"),
    ):
        if cases:
            yield f"  {words}: {len(cases)}"
            yield from _cases(cases)
    to_send = effects.of("ask")
    yield f"  to send again: {len(to_send)}{_cost(effects)}"
    if to_send:
        names = ", ".join(effect.case for effect in to_send[:MOST])
        yield f"    {names}{_more(to_send)}"


def _cost(effects: Effects) -> str:
    if not effects.calls:
        return ""
    calls = "1 call" if effects.calls == 1 else f"{effects.calls} calls"
    return f" ({calls}, about {effects.characters // 4:,} tokens in)"


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
