"""Find differences between two runs: settings in manifests, prompts on tapes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from judgekit.analysis.comparison.comparison import Change, PromptChange
from judgekit.analysis.comparison.pairs import SETTING_FIELDS, CaseEntry, Pair
from judgekit.cassette.tape import Tape
from judgekit.core.case import Case
from judgekit.core.case_field import CASE_TEXTS
from judgekit.core.errors import JudgekitError
from judgekit.report.folder import TAPE
from judgekit.report.report import Report

MAX_DEPTH = 12
_LEFT_OUT = {
    "calibration", "gate", "gates", "gates_not_checked", "notice", "card", "rubrics", "thresholds",
}  # fmt: skip
"""Keys that do not affect numbers, or are shown elsewhere."""
_JUDGING = ("metrics", "judge", "judges", "roles")
"""Parts of a manifest that determine scores."""
_MOST_CHANGES = 40
"""Maximum number of changes to list."""
_FENCE = re.compile(r"(</?[A-Za-z][\w-]*)-[0-9a-f]{16}>")
_MOST_LINES = 80
"""Maximum number of lines of a diff."""


def changes_between(base: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """Return the differences between two manifests, by path."""
    before, after = dict(_flat(base)), dict(_flat(new))
    changes = [
        Change(what=path, base=before.get(path, "none"), new=after.get(path, "none"))
        for path in dict.fromkeys((*before, *after))
        if before.get(path) != after.get(path)
    ]
    if (rest := len(changes) - _MOST_CHANGES) > 0:
        more = Change(what="and more", base="", new=f"{rest} further settings")
        changes = [*changes[:_MOST_CHANGES], more]
    return changes


def same_judging(base: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Return whether two manifests describe the same metrics and the same judges."""
    judging = [{name: of[name] for name in _JUDGING if name in of} for of in (base, new)]
    return not changes_between(*judging)


def _flat(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and depth < MAX_DEPTH:
        for name, inner in value.items():
            if name not in _LEFT_OUT:
                yield from _flat(inner, f"{path}.{name}" if path else str(name), depth + 1)
    elif isinstance(value, list) and depth < MAX_DEPTH and _all_named(value):
        for inner in value:
            yield from _flat(inner, f"{path}.{inner['name']}", depth + 1)
    elif value is not None:
        text = " ".join(str(value).split())
        yield path, text if len(text) <= 200 else text[:199] + "…"


def _all_named(values: list[Any]) -> bool:
    named = (isinstance(v, dict) and isinstance(v.get("name"), str) for v in values)
    return bool(values) and all(named)


def all_changes(
    base: Report, new: Report, pairs: int, differ: int, varied: Mapping[str, int]
) -> Iterator[Change]:
    """Yield the differences between two runs: settings, texts of the cases, and answers.

    Args:
        base: the baseline.
        new: the other run.
        pairs: number of compared cases.
        differ: number of compared cases with different answers.
        varied: field of the cases -> number of pairs in which it differs.
    """
    yield from changes_between(base.figures.manifest, new.figures.manifest)
    for field, count in varied.items():
        text = f"another in {count} of {pairs} cases"
        yield Change(what=SETTING_FIELDS[field], base="", new=text)
    if differ:
        yield Change(what="answers", base="", new=f"{differ} of {pairs} differ from the base's")
    old, late = base.figures.dataset, new.figures.dataset
    if old != late and not differ and not varied:
        yield Change(what="data set", base=old[:12], new=late[:12])


def prompt_changes(
    base: Report, new: Report, examples: Mapping[str, Pair | None], warnings: list[str]
) -> Iterator[PromptChange]:
    """Yield the diff of the prompts for one case of each metric whose rubric differs.

    Args:
        base: the baseline.
        new: the other run.
        examples: metric -> a case that was judged in both runs, if there is one.
        warnings: the list to which warnings about unreadable prompts are added.
    """
    for metric, pair in examples.items():
        try:
            change = None if pair is None else _prompt_change(base, new, metric, pair)
        except JudgekitError as exc:
            warnings.append(f"{metric}: no diff of its prompts: {exc}")
            continue
        if change is not None:
            yield change


def _prompt_change(base: Report, new: Report, metric: str, pair: Pair) -> PromptChange | None:
    """Return the diff of the requests of two runs for one case; `None` if a tape lacks one.

    Texts of the case are masked, so only differences of the prompt are shown.

    Raises:
        CassetteCorrupt: a tape is damaged.
    """
    if not (base.folder and new.folder):
        return None
    before = _prompt_text(base, base.folder, pair.base, metric)
    after = _prompt_text(new, new.folder, pair.new, metric)
    if before is None or after is None or before == after:
        return None
    lines = list(difflib.unified_diff(before, after, "base", "new", lineterm="", n=1))
    if len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], f"… {len(lines) - _MOST_LINES} more lines"]
    return PromptChange(metric=metric, case=pair.base.case, diff="\n".join(lines))


def _prompt_text(run: Report, folder: Path, entry: CaseEntry, metric: str) -> list[str] | None:
    """Return the lines of a request about a case: its messages, then its questions."""
    with closing(Tape(folder / TAPE)) as tape:
        record = tape.record(entry.rows[metric].keys[0])
    if record is None:
        return None
    case = next((scored.case for scored in run.results if scored.case.id == entry.case), None)
    lines: list[str] = []
    for message in record.request.messages:
        lines.append(f"[{message.role}]")
        lines += _FENCE.sub(r"\1>", _masked(message.content, case)).splitlines()
    for question in record.request.form.questions:
        answers = ", ".join(question.labels) or question.kind
        lines.append(f"[criterion {question.id}] {question.text} ({answers})")
    return lines


def _masked(text: str, case: Case | None) -> str:
    for name in CASE_TEXTS if case is not None else ():
        value = getattr(case, name)
        for one in (value,) if isinstance(value, str) else value or ():
            if one.strip():
                text = text.replace(one, f"⟨{name}⟩")
    return text
