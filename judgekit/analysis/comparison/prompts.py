"""The difference between the prompts of two runs for the same case, from their tapes."""

from __future__ import annotations

import difflib
import re
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from judgekit.analysis.comparison.comparison import PromptChange
from judgekit.cassette.tape import Tape
from judgekit.core.case import CASE_TEXTS, Case
from judgekit.report.folder import TAPE
from judgekit.report.report import Report

_FENCE = re.compile(r"(</?[A-Za-z][\w-]*)-[0-9a-f]{16}>")
MOST = 80
"""Lines of the longest diff."""


class PromptExample(NamedTuple):
    """One case and the keys of its requests in two runs."""

    case: str
    base: str
    new: str


def prompt_change(
    base: Report, new: Report, *, metric: str, example: PromptExample
) -> PromptChange | None:
    """Return the diff of the requests of two runs for one case; `None` if a tape lacks one.

    Texts of the case are masked, so that only the prompt differs.

    Raises:
        CassetteCorrupt: a tape is damaged.
    """
    if not (base.folder and new.folder):
        return None
    before = _prompt_text(base, base.folder, example.base, example.case)
    after = _prompt_text(new, new.folder, example.new, example.case)
    if before is None or after is None or before == after:
        return None
    lines = list(difflib.unified_diff(before, after, "base", "new", lineterm="", n=1))
    if len(lines) > MOST:
        lines = [*lines[:MOST], f"… {len(lines) - MOST} more lines"]
    return PromptChange(metric=metric, case=example.case, diff="\n".join(lines))


def _prompt_text(run: Report, folder: Path, key: str, id: str) -> list[str] | None:
    """Return the lines of a request about a case: its messages, then its questions."""
    with closing(Tape(folder / TAPE)) as tape:
        record = tape.record(key)
    if record is None:
        return None
    case = next((scored.case for scored in run.results if scored.case.id == id), None)
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
