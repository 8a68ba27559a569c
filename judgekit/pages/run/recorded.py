"""Requests and replies of a run, looked up on its tape."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from judgekit.cassette.record import Record
from judgekit.cassette.tape import Tape
from judgekit.core.score import Failure, Row
from judgekit.report.folder import TAPE


def open_tape(folder: Path | None) -> Tape | None:
    """Return the tape of a run, if it has one.

    Raises:
        CassetteCorrupt: the tape was damaged.
    """
    path = folder / TAPE if folder is not None else None
    return Tape(path) if path is not None and path.exists() else None


def records_of_rows(
    rows: Iterable[Row], tape: Tape, put: Callable[[str], int | str]
) -> dict[str, dict[str, Any]]:
    """Return the records of every request a case led to, as a page shows them, by key.

    Args:
        rows: the results of the case.
        tape: the tape of the run.
        put: stores a text that many records share and returns its number, or returns the text.

    Raises:
        CassetteCorrupt: a record was damaged.
    """
    keys: dict[str, None] = {}
    for row in rows:
        keys |= dict.fromkeys(judgment.request_key for judgment in row.result.judgments)
        if isinstance(row.result, Failure) and row.result.key is not None:
            keys[row.result.key] = None
    records = {key: tape.record(key) for key in keys}
    return {key: _shown(record, put) for key, record in records.items() if record is not None}


def _shown(record: Record, put: Callable[[str], int | str]) -> dict[str, Any]:
    request, reply = record.request, record.reply
    data: dict[str, Any] = {
        "messages": [
            [m.role, put(m.content) if m.role == "system" else m.content] for m in request.messages
        ],
        "form": put(request.form.canonical),
        "model": request.model,
        "tries": [
            # Log-probabilities are many times the size of the text; they stay on the tape.
            t.model_dump(mode="json", exclude_defaults=True, exclude={"logprobs"})
            for t in reply.tries
        ],
        "cost": reply.cost,
    }
    if params := reply.effective_params or request.params:
        data["params"] = params
    if reply.usage is not None:
        data["usage"] = [reply.usage.input_tokens, reply.usage.output_tokens]
    if request.sample:
        data["sample"] = request.sample
    return data
