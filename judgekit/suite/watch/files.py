"""The files of a suite, and when one of them is saved.

They are looked at a few times a second. That needs nothing of the operating system, so that it
works on network folders and in containers, where notices of changes get lost.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.core.errors import ConfigError, JudgekitError
from judgekit.core.protocols import with_children
from judgekit.core.yaml_file import parse_yaml
from judgekit.report.folder import REPORT
from judgekit.rubric.filetext import read_file, split_front_matter
from judgekit.rubric.library import SUFFIX
from judgekit.suite.source import read_suite
from judgekit.suite.suite import Suite

EVERY = 0.3
"""Seconds between two looks."""
_QUIET = 0.1
"""Seconds without a further change after which a file counts as saved."""
_GONE = 0.5
"""Seconds after which a file that is not there any more counts as removed."""
_PATIENCE = 3.0
"""Seconds after which changes that never end are taken as they are."""
_LONGEST = 400
"""Characters of a text that may still be the name of a file."""

Stamp = tuple[int, int, int] | None
"""What tells whether a file was saved; `None` where there is none."""
Stamps = Mapping[Path, Stamp]


def stamp_of(path: Path) -> Stamp:
    """Return what changes when a file is saved: in place, or by another one in its place."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def changed(before: Stamps, after: Stamps) -> list[Path]:
    """Return the files whose stamps differ, or that are in one of the two only."""
    paths = dict.fromkeys([*before, *after])
    return [path for path in paths if before.get(path) != after.get(path)]


class Files(NamedTuple):
    """What is looked at: files, there or not, and folders in which rubrics may come and go."""

    paths: tuple[Path, ...]
    folders: tuple[Path, ...] = ()

    def stamps(self) -> dict[Path, Stamp]:
        """Return the stamps of all of them."""
        found = {path: stamp_of(path) for path in self.paths}
        for folder in self.folders:
            with suppress(OSError):
                found.update((p, stamp_of(p)) for p in folder.iterdir() if p.suffix == SUFFIX)
        return found


def files_of(path: Path, suite: Suite | None, *, cases: str | None = None) -> Files:
    """Return the files of a suite: those there are, and those there may be.

    Args:
        path: the suite file.
        suite: what it made; `None` where it could not be read, or a rubric in it.
        cases: the cases a flag names.
    """
    found = dict.fromkeys([path, *([Path(cases)] if cases is not None else [])])
    if suite is not None:
        parts = (part for metric in suite.metrics for part in with_children(metric))
        for source in (source for part in parts for source in part.rubrics):
            found.update(dict.fromkeys(source.files))
        if suite.cassette is not None and suite.cassette.path is not None:
            found[suite.cassette.path] = None
        if suite.rules.baseline is not None and suite.rules.baseline.folder is not None:
            found[suite.rules.baseline.folder / REPORT] = None
    base = path.parent
    folders = [base, base / "rubrics"]
    try:
        words = list(dict.fromkeys(_texts(read_suite(path)[0])))
    except ConfigError:
        words = []
    for word in words:
        beside = base / word
        if beside.is_dir():
            folders.append(beside)
        elif beside.is_file() or "." in word or "/" in word:
            found[beside] = None
    folders = [folder for folder in dict.fromkeys(folders) if folder.is_dir()]
    for rubric in [*found, *(p for folder in folders for p in folder.iterdir())]:
        if rubric.suffix == SUFFIX:
            found.update(dict.fromkeys(_named_in(rubric)))
    return Files(tuple(found), tuple(folders))


def _named_in(rubric: Path) -> Iterable[Path]:
    """Yield the files that the front matter of a rubric may name, such as one of examples."""
    try:
        front, _ = split_front_matter(read_file(rubric))
        data, _ = parse_yaml(front, file=str(rubric))
    except JudgekitError:
        return
    examples = data.get("examples") if isinstance(data, dict) else None
    for word in _texts(examples if isinstance(examples, dict) else None):
        if (rubric.parent / word).is_file() or "." in word:
            yield rubric.parent / word


def _texts(value: Any) -> Iterable[str]:
    """Yield every text of a suite that may name a file, keys among them."""
    if isinstance(value, str):
        if 0 < len(value) < _LONGEST and "\n" not in value and "://" not in value:
            yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(key)
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def wait_for_change(
    before: Stamps, files: Files, *, sleep: Callable[[float], None] = time.sleep
) -> tuple[list[Path], Stamps]:
    """Wait until a file is saved and no more is written; return which, and the stamps then.

    An editor may write in several steps, or remove a file and put another one in its place: only
    what has been quiet for a moment counts.

    Args:
        before: the stamps to differ from.
        files: what to look at.
        sleep: waits.
    """
    after = files.stamps()
    while not changed(before, after):
        sleep(EVERY)
        after = files.stamps()
    waited = 0.0
    while waited < _PATIENCE:
        sleep(_QUIET)
        waited += _QUIET
        last, after = after, files.stamps()
        gone = any(after.get(path) is None for path in changed(before, after))
        if after == last and waited >= (_GONE if gone else _QUIET):
            break
    return changed(before, after), after


def shown(path: Path) -> str:
    """Return a path as people write it: from where they stand, if it is below."""
    try:
        return os.fspath(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return os.fspath(path)


def files_named(base: Path, value: Any) -> Iterable[Path]:
    """Yield the files that texts of a suite name, where there are such files."""
    for word in _texts(value):
        path = base / word
        if path.suffix != SUFFIX and path.is_file():
            yield path


def digest_of(path: Path) -> str | None:
    """Return the digest of a file; `None` where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
