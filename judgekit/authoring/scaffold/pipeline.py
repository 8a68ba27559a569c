"""The pipeline that checks the pull requests of a project, for its code host."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from judgekit.core.errors import ConfigError
from judgekit.core.suggest import suggest

_FILES = Path(__file__).with_name("files")


class _Host(NamedTuple):
    file: str
    """Path of the file, from the root of a repository."""
    step: str
    """One step; its braces take a name and a command."""


HOSTS: Mapping[str, _Host] = {
    "github": _Host(".github/workflows/judgekit.yml", "      - name: {}\n        run: {}\n"),
    "gitlab": _Host(".gitlab-ci.yml", "    # {}\n    - {}\n"),
}
"""Host -> its file. The texts are `files/HOST.yml`."""

_RUBRICS = (
    ("Cassettes are sound", "judgekit cassette verify cassettes/suite.jsonl"),
    ("Rubrics are clean", "judgekit rubric lint rubrics"),
    ("Rubrics pass their tests", "judgekit rubric test rubrics"),
)


def check_host(host: str) -> None:
    """Refuse an unknown host.

    Raises:
        ConfigError: it is none of `HOSTS`.
    """
    if host not in HOSTS:
        raise ConfigError(f"--ci: unknown host {host!r}{suggest(host, list(HOSTS))}")


def pipeline(host: str, *, judged: bool) -> tuple[str, str]:
    """Return the name and the text of the pipeline of a host.

    Args:
        host: one of `HOSTS`.
        judged: whether the project has rubrics and cassettes to check.

    Raises:
        ConfigError: no such host.
    """
    check_host(host)
    file, step = HOSTS[host]
    commands = (
        "".join(step.format(*step_and_command) for step_and_command in _RUBRICS) if judged else ""
    )
    text = (_FILES / f"{host}.yml").read_text(encoding="utf-8")
    return file, text.replace("@RUBRICS@\n", commands)


def misplaced(folder: Path, host: str) -> str | None:
    """Return a warning if the host would not find its file: it reads the root only."""
    folder = folder.resolve()
    root = next((place for place in (folder, *folder.parents) if (place / ".git").exists()), None)
    if root is None or root == folder:
        return None
    return (
        f"{host} reads {HOSTS[host].file} only at the root of a repository, which is {root}: "
        "move the file there and set the folder in it, or make this folder a repository"
    )
