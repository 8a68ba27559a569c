"""The text of a rubric file: read, and split into front matter and body."""

from __future__ import annotations

import re
from pathlib import Path

from judgekit.core.errors import RubricError
from judgekit.core.input_file import read_text

MAX_FILE = 1_000_000
"""Bytes a rubric file may have."""

_FRONT = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*(\r?\n|\Z)", re.DOTALL | re.MULTILINE)


def read_file(path: Path) -> str:
    """Return a rubric file's text.

    Raises:
        RubricError: unreadable, too large, or not UTF-8.
    """
    try:
        return read_text(path, most=MAX_FILE)
    except OSError as exc:
        message = f"cannot be read: {exc.strerror}"
        raise RubricError(message, where=str(path), rule="unreadable") from exc
    except UnicodeDecodeError as exc:
        message = f"not UTF-8 (byte {exc.start})"
        raise RubricError(message, where=str(path), rule="unreadable") from exc


def split_front_matter(text: str) -> tuple[str, str]:
    """Return front matter and body; the body keeps its line numbers by leading empty lines."""
    match = _FRONT.match(text)
    if match is None:
        return "", text
    body = text[match.end() :]
    return match.group(1), "\n" * text.count("\n", 0, match.end()) + body
