"""Write the files of a new project: all or none, never over existing files, any text as YAML."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from judgekit.core.errors import ConfigError
from judgekit.core.output_file import beside


def write_all(folder: Path, files: Mapping[str, str], *, force: bool = False) -> list[Path]:
    """Write files into a folder, which is created if missing; return their paths.

    All texts are written to temporary files before the first is renamed, so that a full disk or
    Ctrl-C leaves no partial project.

    Args:
        folder: parent of the files.
        files: name (with `/`) -> text.
        force: replace existing files.

    Raises:
        ConfigError: a file exists, or one cannot be written.
    """
    paths = [folder / name for name in files]
    for path in paths:
        _check(path, inside=folder, force=force)
    created: list[Path] = []
    written: list[Path] = []
    try:
        for path, text in zip(paths, files.values(), strict=True):
            _make_folder(path.parent, created)
            new = beside(path, writer=os.getpid())
            # "x": never through an existing link.
            with new.open("x", encoding="utf-8", newline="\n") as file:
                written.append(new)
                file.write(text)
        for path, new in zip(paths, list(written), strict=True):
            new.replace(path)
            written.remove(new)
    except BaseException as exc:
        for path in written:
            path.unlink(missing_ok=True)
        for empty in reversed(created):
            with suppress(OSError):  # another program has written a file there
                empty.rmdir()
        if isinstance(exc, OSError):
            where = str(exc.filename or folder)
            raise ConfigError(f"cannot be written: {exc.strerror}", where=where) from exc
        raise
    return paths


def _check(path: Path, *, inside: Path, force: bool) -> None:
    for above in (*reversed(path.relative_to(inside).parents), Path()):
        place = inside / above
        if os.path.lexists(place) and not place.is_dir():
            message = "this is a file, and a folder is needed here; move it"
            raise ConfigError(message, where=str(place))
    if path.is_dir():
        raise ConfigError("this is a folder, and a file is needed here; move it", where=str(path))
    if os.path.lexists(path) and not force:
        message = "this file exists; move it, name another folder, or add --force to replace it"
        raise ConfigError(message, where=str(path))


def _make_folder(folder: Path, created: list[Path]) -> None:
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        place.mkdir(exist_ok=True)
        created.append(place)


_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
# Words that YAML does not read as text.
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none"}
# Characters besides JSON's escapes that YAML forbids, or that editors show badly.
_ESCAPED = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]"
)
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
_HALF = re.compile("[\ud800-\udfff]")


def scalar(text: str) -> str:
    """Return a text as a YAML scalar in one line, in quotes unless it is a plain word."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    text = _HALF.sub("\ufffd", text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    letter = match.group()
    return _NAMED.get(letter) or f"\\u{ord(letter):04x}"


def listed(texts: Iterable[str]) -> str:
    """Return texts as a YAML list in one line."""
    return f"[{', '.join(scalar(text) for text in texts)}]"
