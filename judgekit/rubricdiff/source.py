"""Where a version of a rubric comes from: a name, a file, or a commit."""

from __future__ import annotations

import subprocess  # git is asked, with a list of arguments and no shell
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from judgekit.errors import ConfigError, RubricError
from judgekit.rubric.load import load_rubric
from judgekit.rubric.rubric import Rubric
from judgekit.rubric.shelf import SUFFIX

GIT = "git:"
MAX_FILES = 1_000
"""Rubrics a folder of a commit may hold."""


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
        for found in _listed(revision, path.parent, source):
            text = _git(["show", f"{revision}:./{found}"], source)
            (Path(folder) / found.name).write_bytes(text)
        file = Path(folder) / path.name
        if not file.is_file():
            raise ConfigError(f"{source}: there is no {name} in {revision}")
        try:
            rubric = load_rubric(file)
        except RubricError as exc:
            raise RubricError(str(exc).replace(f"{folder}/", f"{GIT}{revision}:")) from exc
        yield rubric, source


def _listed(revision: str, folder: PurePosixPath, source: str) -> list[PurePosixPath]:
    place = "./" if str(folder) == "." else f"./{folder}/"
    out = _git(["ls-tree", "-z", "--name-only", revision, "--", place], source)
    names = [PurePosixPath(name) for name in out.decode("utf-8", "replace").split("\0") if name]
    rubrics = [name for name in names if name.suffix == SUFFIX]
    if len(rubrics) > MAX_FILES:
        raise ConfigError(f"{source}: more than {MAX_FILES:,} rubrics in its folder")
    return rubrics


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
