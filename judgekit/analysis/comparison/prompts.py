"""What a judge was asked of one and the same case in two runs, as their tapes hold it."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import NamedTuple

from judgekit.analysis.comparison.comparison import PromptChange
from judgekit.cassette.record import decode
from judgekit.cassette.tape import Tape
from judgekit.core.case import CASE_TEXTS, Case
from judgekit.report.folder import TAPE
from judgekit.report.report import Report

_KEY = re.compile("[0-9a-f]{64}")
_FENCE = re.compile(r"(</?[A-Za-z][\w-]*)-[0-9a-f]{16}>")
MOST = 80
"""Lines of a diff that are kept."""


class PromptExample(NamedTuple):
    """One case and the requests two runs made of it."""

    case: str
    base: str
    new: str


def prompt_change(
    base: Report, new: Report, *, metric: str, example: PromptExample
) -> PromptChange | None:
    """Return how the requests of two runs about one case differ; `None` where that is not known.

    Raises:
        JudgekitError: a tape is damaged.
    """
    if not (base.folder and new.folder):
        return None
    if not (_KEY.fullmatch(example.base) and _KEY.fullmatch(example.new)):
        return None
    diff = prompt_diff(
        (base.folder, example.base, _case(base, example.case)),
        (new.folder, example.new, _case(new, example.case)),
    )
    return PromptChange(metric=metric, case=example.case, diff=diff) if diff else None


def _case(run: Report, id: str) -> Case | None:
    return next((scored.case for scored in run.results if scored.case.id == id), None)


def prompt_diff(
    base: tuple[Path, str, Case | None], new: tuple[Path, str, Case | None]
) -> str | None:
    """Return the diff of two requests, without the texts of the case; `None` if a tape lacks one.

    Args:
        base: run folder, key, and the case the request was about.
        new: the same of the other run.

    Raises:
        CassetteCorrupt: a tape was damaged.
    """
    before, after = _prompt_text(*base), _prompt_text(*new)
    if before is None or after is None:
        return None
    lines = list(difflib.unified_diff(before, after, "base", "new", lineterm="", n=1))
    if len(lines) > MOST:
        lines = [*lines[:MOST], f"… {len(lines) - MOST} more lines"]
    return "\n".join(lines)


def _prompt_text(folder: Path, key: str, case: Case | None) -> list[str] | None:
    """Return the lines of a request: its messages, then its questions."""
    path = folder / TAPE
    if not path.is_file():
        return None
    tape = Tape(path)
    try:
        at = tape.find(key)
        if at < 0:
            return None
        record = decode(tape.line(at), parts=tape.parts(), where=tape.spot(at, key))
    finally:
        tape.close()
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
