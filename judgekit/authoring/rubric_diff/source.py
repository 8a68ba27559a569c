"""Where a version of a rubric comes from: a name, a file, or a commit."""

from __future__ import annotations

import subprocess  # git is asked, with a list of arguments and no shell
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from judgekit.core.errors import ConfigError, RubricError
from judgekit.rubric.load import load_rubric
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.shelf import SUFFIX

GIT = "git:"
MAX_FILES = 1_000
"""Rubrics a folder of a commit may hold."""
MAX_SIZE = 10_000_000
"""Bytes above which a file of a commit is left out."""


@contextmanager
def opened(source: str) -> Iterator[tuple[Rubric, str]]:
    """Give a rubric and what to call it: by name, by file, or as `git:REVISION:PATH`.

    Of a commit the whole folder of the rubric is read, for what it extends and imports.

    Raises:
        RubricError: it does not load.
        ConfigError: there is no such revision, or no such file in it.
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
            raise ConfigError(f"{source}: there is no {name} in {revision}")
        try:
            rubric = load_rubric(file)
        except RubricError as exc:
            raise RubricError(str(exc).replace(f"{folder}/", f"{GIT}{revision}:")) from exc
        yield rubric, source


def _files(
    revision: str, folder: PurePosixPath, source: str
) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield the rubrics of a folder of a commit, and the files below it that they name."""
    place = "./" if str(folder) == "." else f"./{folder}/"
    out = _git(["ls-tree", "-r", "-z", "-l", revision, "--", place], source)
    data = []
    count = 0
    named = b""
    for entry in out.decode("utf-8", "surrogateescape").split("\0"):
        facts, tab, name = entry.partition("\t")
        if not tab or (inner := _inner(name, folder)) is None:
            continue
        _, kind, _, size = facts.split()
        if kind != "blob" or int(size) > MAX_SIZE:
            continue
        if inner.suffix != SUFFIX:
            data.append(inner)
        elif len(inner.parts) == 1:
            count += 1
            if count > MAX_FILES:
                raise ConfigError(f"{source}: more than {MAX_FILES:,} rubrics in its folder")
            text = _git(["show", f"{revision}:./{folder / inner}"], source)
            named += text
            yield inner, text
    for inner in data:
        if inner.name.encode("utf-8", "surrogateescape") in named:
            yield inner, _git(["show", f"{revision}:./{folder / inner}"], source)


def _inner(name: str, folder: PurePosixPath) -> PurePosixPath | None:
    """Return the path of a file inside the folder; `None` for one that would leave it."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.is_relative_to(folder):
        return None
    return path.relative_to(folder)


def _git(arguments: list[str], source: str) -> bytes:
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and the revision is no option
            ["git", *arguments],  # noqa: S607 - whichever git the person uses
            capture_output=True,
            check=True,
            timeout=60,
        )
    except FileNotFoundError as exc:
        raise ConfigError(f"{source}: git is not installed") from exc
    except subprocess.TimeoutExpired as exc:
        raise ConfigError(f"{source}: git did not answer") from exc
    except subprocess.CalledProcessError as exc:
        said = exc.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ConfigError(f"{source}: git says {said[0] if said else 'nothing'}") from exc
    return done.stdout
