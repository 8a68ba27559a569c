"""Find the files of a suite and wait until one of them is saved.

The files are polled. Unlike change notifications of the operating system, polling works on network
folders and in containers.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.core.errors import ConfigError, JudgekitError
from judgekit.core.input_file import home_path, sha256_of
from judgekit.core.protocols import with_children
from judgekit.core.yaml_file import parse_yaml
from judgekit.report.folder import REPORT
from judgekit.rubric.folders import read_file, split_front_matter
from judgekit.rubric.versions import SUFFIX
from judgekit.suite.resolved import ResolvedSuite
from judgekit.suite.source import read_suite

EVERY = 0.3
"""Seconds between two checks."""
_QUIET = 0.1
"""Seconds without changes after which a file counts as saved."""
_GONE = 0.5
"""Seconds after which a missing file counts as removed."""
_PATIENCE = 3.0
"""Seconds after which a file that keeps changing counts as saved."""
_LONGEST = 400
"""Maximum length of a text that may be a file name, in characters."""

Stamp = tuple[int, int, int] | None
"""Modification time, size and inode of a file; `None` without a file."""
Stamps = Mapping[Path, Stamp]


def stamp_of(path: Path) -> Stamp:
    """Return the stamp of a file, which changes when it is written or replaced."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def changed(before: Stamps, after: Stamps) -> list[Path]:
    """Return the files with different stamps, or with a stamp in only one of the two."""
    paths = dict.fromkeys([*before, *after])
    return [path for path in paths if before.get(path) != after.get(path)]


class Files(NamedTuple):
    """Watched files, which may not exist yet, and watched rubric folders."""

    paths: tuple[Path, ...]
    folders: tuple[Path, ...] = ()

    def stamps(self) -> dict[Path, Stamp]:
        """Return the stamps of all files."""
        stamps = {path: stamp_of(path) for path in self.paths}
        for folder in self.folders:
            with suppress(OSError):
                stamps.update((p, stamp_of(p)) for p in folder.iterdir() if p.suffix == SUFFIX)
        return stamps


def files_of(path: Path, suite: ResolvedSuite | None, *, cases: str | None = None) -> Files:
    """Return the files of a suite, including files that may be created.

    Args:
        path: the suite file.
        suite: the resolved suite; `None` if it cannot be resolved.
        cases: the file of cases that a flag names.
    """
    paths = dict.fromkeys([path, *([Path(cases)] if cases is not None else [])])
    if suite is not None:
        parts = (part for metric in suite.metrics for part in with_children(metric))
        for source in (source for part in parts for source in part.rubrics):
            paths.update(dict.fromkeys(source.files))
        if suite.tape is not None:
            paths[suite.tape] = None
        if suite.rules.baseline is not None and suite.rules.baseline.folder is not None:
            paths[suite.rules.baseline.folder / REPORT] = None
    base = path.parent
    folders = [base, base / "rubrics"]
    try:
        words = list(dict.fromkeys(_texts(read_suite(path)[0])))
    except ConfigError:
        words = []
    for word in words:
        beside = base / home_path(word)
        if beside.is_dir():
            folders.append(beside)
        elif beside.is_file() or "." in word or "/" in word:
            paths[beside] = None
    folders = [folder for folder in dict.fromkeys(folders) if folder.is_dir()]
    for rubric in [*paths, *(p for folder in folders for p in folder.iterdir())]:
        if rubric.suffix == SUFFIX:
            paths.update(dict.fromkeys(_named_in(rubric)))
    return Files(tuple(paths), tuple(folders))


def _named_in(rubric: Path) -> Iterable[Path]:
    """Yield the example files that the front matter of a rubric may name."""
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
    """Yield every text of a suite that may name a file, including keys."""
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
    """Wait until a file is saved; return the saved files and the new stamps.

    Editors may write in several steps, or remove a file and write a new one. A file therefore
    counts as saved after a short time without changes.

    Args:
        before: the earlier stamps.
        files: the files to watch.
        sleep: waits some seconds.
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
    """Return a path relative to the working folder if it is inside, else unchanged."""
    try:
        return os.fspath(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return os.fspath(path)


def files_named(base: Path, value: Any) -> Iterable[Path]:
    """Yield the existing files that are named in texts of a suite."""
    for word in _texts(value):
        path = base / home_path(word)
        if path.suffix != SUFFIX and path.is_file():
            yield path


def digest_of(path: Path) -> str | None:
    """Return the digest of a file; `None` if it cannot be read."""
    try:
        return sha256_of(path)
    except OSError:
        return None
