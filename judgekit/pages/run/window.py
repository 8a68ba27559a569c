"""Some cases of a run as data for its page, as `judgekit view` sends them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

from judgekit.cassette.tape import Tape
from judgekit.core.score import Row
from judgekit.datasets.ids import is_derived
from judgekit.pages.packing import Texts, first_line, line_of, page_json
from judgekit.pages.run.payload import case_data, case_form
from judgekit.pages.run.recorded import Origins, open_tape
from judgekit.pages.run.unscored import Reasons
from judgekit.report.folder import Scored
from judgekit.report.own_criteria import has_own_criteria
from judgekit.report.report import Report

MOST_TEXT = 200_000
"""Maximum length of a text, in characters."""
MOST_LINE = 200
"""Maximum length of a line of the list, in characters."""
MOST_SIZE = 4_000_000
"""Maximum length of all cases of a window after the first, in characters."""


def window_data(report: Report, cases: Iterable[tuple[int, Scored]]) -> dict[str, Any]:
    """Return as many cases as have room, as data of the page's script.

    Shared texts and forms are in lists of the window; prompts are not there.

    Args:
        report: the run.
        cases: the cases, with their positions in the run.

    Raises:
        CassetteCorrupt: the run's tape was damaged.
    """
    texts = Texts()
    reasons = Reasons(report.metrics)
    shown: list[dict[str, Any]] = []
    left = MOST_SIZE
    origins = Origins(report.run)
    with ExitStack() as stack:
        tape = open_tape(report.folder)
        if tape is not None:
            stack.callback(tape.close)
        for number, scored in cases:
            before = len(texts.all)
            data, _ = case_data(scored, texts, None, origins, most=MOST_TEXT)
            if is_derived(scored.case):
                data["place"] = report.places.get(scored.case.id, f"case {number + 1}")
            data["line"] = first_line(scored.case)[:MOST_LINE]
            data["out"] = line_of(scored.case.output)[:MOST_LINE]
            reasons.add(scored)
            if why := reasons.numbers(scored):
                data["why"] = why
            forms = {row.metric: _form(report, scored, row, tape) for row in scored.rows}
            data["forms"] = {
                metric: texts.put(form) for metric, form in forms.items() if form is not None
            }
            left -= len(page_json(data)) + sum(map(len, texts.all[before:]))
            if left < 0 and shown:
                break
            shown.append(data)
    listed = [{"text": one.text, "lacks": one.lacks} for one in reasons.finish()]
    return {"cases": shown, "texts": texts.all, "reasons": listed}


def _form(report: Report, scored: Scored, row: Row, tape: Tape | None) -> str | None:
    """Return the form of a case and metric, if there is exactly one."""
    if has_own_criteria(report.figures.manifest, row.metric):
        return case_form(scored.case)
    keys = [judgment.request_key for judgment in row.result.judgments]
    records = [tape.record(key) for key in keys] if tape is not None else []
    forms = {record.request.form.canonical for record in records if record is not None}
    return forms.pop() if len(forms) == 1 else None
