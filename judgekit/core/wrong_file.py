"""What to say of a file that is not the one meant: another kind of file, or not there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from judgekit.core.errors import ConfigError
from judgekit.core.input_file import read_text
from judgekit.core.suggest import closest

_CASES = {".jsonl", ".ndjson", ".json", ".csv", ".parquet", ".pq"}
_SUITES = {".yaml", ".yml"}
_PERSONA = {
    "voice",
    "traits",
    "lexicon",
    "exemplars",
    "style_rules",
    "safety_rules",
    "display_name",
}
"""Keys that only a persona file has."""
_ABOVE = 4
"""Folders above in which a file that is not here is looked for."""


def other_kind(path: Path, *, wanted: Literal["suite", "rubric"]) -> str | None:
    """Return what a file is by its ending, and what to do with it, if it is not what is wanted."""
    ending = path.suffix.lower()
    if ending in _SUITES and wanted == "rubric":
        return f"is no rubric but a suite; run it: judgekit run {path}"
    if ending == ".jinja" and wanted == "suite":
        return f"is a rubric, not a suite; score with it: judgekit score --rubric {path}"
    if ending in _CASES:
        return f"is no {wanted} but a file of data; a suite names its cases: cases: {path.name}"
    return None


def other_content(data: Mapping[str, Any], path: Path) -> str | None:
    """Return what a file of keys and values is, and what to do with it, if it is no suite."""
    if "metrics" in data or not _PERSONA & data.keys():
        return None
    return (
        f"is a persona, not a suite; check it: judgekit persona lint {path}; a suite names it "
        f"where a metric takes one: authenticity: {{persona: {path.name}}}"
    )


def _is_alike(path: Path) -> bool:
    """Return whether a path may be meant where a file, or a folder without an ending, is named."""
    return path.is_file() or (not path.suffix and path.is_dir())


def nearby(path: Path) -> str:
    """Return a hint at the file that may be meant where there is none: beside it, or above."""
    try:
        beside = [p for p in path.parent.iterdir() if _is_alike(p)]
    except OSError:
        beside = []
    close = closest(path.stem, [p.stem for p in beside if p.suffix == path.suffix])
    if close:
        return f"; did you mean {str(path.with_name(close[0] + path.suffix))!r}?"
    kinds = next((kinds for kinds in (_CASES, _SUITES) if path.suffix.lower() in kinds), set())
    for other in sorted(beside):
        if other.stem == path.stem and other.suffix.lower() in kinds:
            return f"; did you mean {str(path.with_name(other.name))!r}?"
    if not path.is_absolute():
        for steps in range(1, _ABOVE):
            above = Path(*[".."] * steps) / path
            if above.is_file():
                return f"; there is one at {str(above)!r}"
    return ""


def read_named(path: Path, *, what: str, most: int, otherwise: str = "; check the path") -> str:
    """Return the text of a file that a person named.

    Args:
        path: the file.
        what: what it is, such as "persona file".
        most: bytes it may have.
        otherwise: the end of the message where it is missing and no other file may be meant.

    Raises:
        ConfigError: there is none, or it cannot be read.
    """
    try:
        return read_text(path, most=most)
    except FileNotFoundError as exc:
        raise ConfigError(f"no such {what}{nearby(path) or otherwise}", where=str(path)) from exc
    except IsADirectoryError as exc:
        raise ConfigError(f"is a folder; name the {what} in it", where=str(path)) from exc
    except UnicodeDecodeError as exc:
        raise ConfigError(f"is not UTF-8 (byte {exc.start})", where=str(path)) from exc
    except OSError as exc:
        raise ConfigError(f"cannot be read: {exc.strerror or exc}", where=str(path)) from exc
