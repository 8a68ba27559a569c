"""Requests and replies of a run, looked up on its tape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from judgekit.cassette.record import Record, decode
from judgekit.cassette.tape import Tape
from judgekit.core.score import Failure, Row
from judgekit.pages.run.taped import TapeIndex
from judgekit.report.folder import TAPE

_KEY = re.compile(r"[0-9a-f]{64}")


class TextPool(Protocol):
    """A store of texts that many records share."""

    def put(self, text: str) -> int | str:
        """Return the number of a text, or the text itself."""


class RunTape:
    """The tape of a run, if it has one.

    Raises:
        CassetteCorrupt: the tape was damaged.
    """

    def __init__(self, folder: Path | None) -> None:
        path = folder / TAPE if folder is not None else None
        self._tape = Tape(path) if path is not None and path.exists() else None
        self._parts = self._tape.parts() if self._tape is not None else {}

    @cached_property
    def taped(self) -> TapeIndex:
        """The judges on the tape; reads all of it."""
        return TapeIndex(self._tape, self._parts)

    @property
    def there(self) -> bool:
        """Whether the run has a tape."""
        return self._tape is not None

    def record(self, key: str) -> Record | None:
        """Return the record of a key; `None` if there is none."""
        tape = self._tape
        if tape is None or not _KEY.fullmatch(key) or (number := tape.find(key)) < 0:
            return None
        return decode(tape.line(number), parts=self._parts, where=f"{tape.path}: {key[:12]}")

    def close(self) -> None:
        """Close the tape."""
        if self._tape is not None:
            self._tape.close()


def keys_of(rows: tuple[Row, ...]) -> Iterator[str]:
    """Yield the keys of every request a case led to, each once."""
    keys: dict[str, None] = {}
    for row in rows:
        keys |= dict.fromkeys(judgment.request_key for judgment in row.result.judgments)
        if isinstance(row.result, Failure) and row.result.key is not None:
            keys[row.result.key] = None
    yield from keys


def shown_record(record: Record, texts: TextPool) -> dict[str, Any]:
    """Return the part of a record that a page shows."""
    request, reply = record.request, record.reply
    data: dict[str, Any] = {
        "messages": [
            [m.role, texts.put(m.content) if m.role == "system" else m.content]
            for m in request.messages
        ],
        "form": texts.put(request.form.canonical),
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
