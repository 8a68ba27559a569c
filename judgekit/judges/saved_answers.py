"""The answers of a case that a person has not finished, saved for the next run."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from judgekit.core.input_file import read_text
from judgekit.core.output_file import whole_file

MAX_DRAFT = 2_000_000
"""Bytes a draft may have."""
_HEADER = {"judgekit": "draft", "version": 1}


class SavedAnswers:
    """The answers to one request, in a private file named by its key.

    The file holds what was typed and nothing else. It may be damaged or forged: what is read
    from it counts only as far as it could have been typed.
    """

    def __init__(self, folder: Path | None, key: str) -> None:
        self.path = folder / f"{key}.json" if folder is not None else None

    def read(self) -> list[Any]:
        """Return the saved answers; none if no readable file exists."""
        if self.path is None or self.path.is_symlink() or not self.path.is_file():
            return []
        try:
            data = json.loads(read_text(self.path, most=MAX_DRAFT))
        except (OSError, ValueError, RecursionError):
            return []
        if not isinstance(data, dict) or {k: data.get(k) for k in _HEADER} != _HEADER:
            return []
        answers = data.get("answers")
        return answers if isinstance(answers, list) else []

    def write(self, answers: list[Any]) -> None:
        """Keep answers: the whole file or nothing.

        Raises:
            OSError: it cannot be written; what stood there before still stands.
        """
        if self.path is None:
            return
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with whole_file(self.path, mode=0o600) as file:
            file.write(json.dumps({**_HEADER, "answers": answers}).encode())

    def remove(self) -> None:
        """Remove it: the reply is recorded, or was thrown away."""
        if self.path is not None:
            with suppress(OSError):
                self.path.unlink(missing_ok=True)
