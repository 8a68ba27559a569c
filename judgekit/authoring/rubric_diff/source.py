"""Load a version of a rubric: by name, from a file, or from a commit."""

from __future__ import annotations

import subprocess  # runs git, with a list of arguments and no shell
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from judgekit.core.errors import ConfigError, RubricError
from judgekit.rubric.load import load_rubric
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.versions import SUFFIX

GIT = "git:"
MAX_FILES = 1_000
"""Maximum number of rubrics in a folder of a commit."""
MAX_SIZE = 10_000_000
"""Maximum size of a file of a commit, in bytes; larger files are skipped."""


@contextmanager
def open_version(source: str) -> Iterator[tuple[Rubric, str]]:
    """Load a rubric by name, by file, or as `git:REVISION:PATH`; yield it and its title.

    From a commit, the whole folder is read, for the files that the rubric extends and imports.

    Raises:
        RubricError: the rubric cannot be loaded.
        ConfigError: the revision or the file does not exist.
    """
    if not source.startswith(GIT):
        rubric = load_rubric(source)
        yield rubric, str(rubric.path)
        return
    revision, colon, name = source.removeprefix(GIT).partition(":")
    path = PurePosixPath(name)
    if not colon or not revision or revision.startswith("-") or path.suffix != SUFFIX:
        raise ConfigError(f"{source}: write it as git:REVISION:rubrics/NAME{SUFFIX}")
    with TemporaryDirectory(prefix="judgekit-") as folder:
        for inner, text in _files(revision, path.parent, source):
            target = Path(folder) / inner
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text)
        file = Path(folder) / path.name
        if not file.is_file():
            advice = f"`git ls-tree -r {revision}` lists them"
            raise ConfigError(f"{source}: {revision} has no file {name}; {advice}")
        try:
            rubric = load_rubric(file)
        except RubricError as exc:
            raise RubricError(str(exc).replace(f"{folder}/", f"{GIT}{revision}:")) from exc
        yield rubric, source


def _files(
    revision: str, folder: PurePosixPath, source: str
) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield the rubrics in a folder of a commit, and the files in it that they refer to."""
    place = "./" if str(folder) == "." else f"./{folder}/"
    out = _git(["ls-tree", "-r", "-z", "-l", revision, "--", place], source)
    files = []
    for entry in out.decode("utf-8", "surrogateescape").split("\0"):
        facts, tab, name = entry.partition("\t")
        if not tab or (inner := _inner(name, folder)) is None:
            continue
        _, kind, _, size = facts.split()
        if kind == "blob" and int(size) <= MAX_SIZE:
            files.append(inner)
    rubrics = [inner for inner in files if inner.suffix == SUFFIX and len(inner.parts) == 1]
    if len(rubrics) > MAX_FILES:
        many = f"its folder has more than {MAX_FILES:,} rubrics"
        raise ConfigError(f"{source}: {many}; move it to another")
    named = b""
    for inner in rubrics:
        text = _git(["show", f"{revision}:./{folder / inner}"], source)
        named += text
        yield inner, text
    for inner in files:
        if inner.suffix != SUFFIX and inner.name.encode("utf-8", "surrogateescape") in named:
            yield inner, _git(["show", f"{revision}:./{folder / inner}"], source)


def _inner(name: str, folder: PurePosixPath) -> PurePosixPath | None:
    """Return the path of a file inside the folder; `None` if it is outside."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.is_relative_to(folder):
        return None
    return path.relative_to(folder)


def _git(arguments: list[str], source: str) -> bytes:
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and the revision is no option
            ["git", *arguments],  # noqa: S607 - the user's git
            capture_output=True,
            check=True,
            timeout=60,
        )
    except FileNotFoundError as exc:
        raise ConfigError(f"{source}: git is not installed; install it, or name a file") from exc
    except subprocess.TimeoutExpired as exc:
        message = f"{source}: git did not answer within 60 s; try again, or name a file"
        raise ConfigError(message) from exc
    except subprocess.CalledProcessError as exc:
        lines = exc.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ConfigError(f"{source}: git: {lines[0] if lines else exc}") from exc
    return done.stdout
