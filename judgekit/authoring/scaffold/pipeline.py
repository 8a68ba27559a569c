"""What a project's pull requests are checked by: a workflow, where its code is hosted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from judgekit.core.errors import ConfigError
from judgekit.core.suggest import suggest

_FILES = Path(__file__).with_name("files")


class _Host(NamedTuple):
    file: str
    """Where the host looks for it, from the root of a repository."""
    step: str
    """How a command stands in it; its braces are replaced by a name and by the command."""


HOSTS: Mapping[str, _Host] = {
    "github": _Host(".github/workflows/judgekit.yml", "      - name: {}\n        run: {}\n"),
    "gitlab": _Host(".gitlab-ci.yml", "    # {}\n    - {}\n"),
}
"""Host -> what is written for it. The texts are `files/HOST.yml`."""

_RUBRICS = (
    ("Cassettes are sound", "judgekit cassette verify cassettes/suite.jsonl"),
    ("Rubrics are clean", "judgekit rubric lint rubrics"),
    ("Rubrics pass their tests", "judgekit rubric test rubrics"),
)


def check_host(host: str) -> None:
    """Refuse a host that nothing is written for.

    Raises:
        ConfigError: it is none of `HOSTS`.
    """
    if host not in HOSTS:
        raise ConfigError(f"--ci: nothing is written for {host!r}{suggest(host, list(HOSTS))}")


def pipeline(host: str, *, judged: bool) -> tuple[str, str]:
    """Return the name and the text of the file that a host reads.

    Args:
        host: one of `HOSTS`.
        judged: whether the project has rubrics and cassettes to look after.

    Raises:
        ConfigError: no such host.
    """
    check_host(host)
    file, step = HOSTS[host]
    commands = "".join(step.format(*found) for found in _RUBRICS) if judged else ""
    text = (_FILES / f"{host}.yml").read_text(encoding="utf-8")
    return file, text.replace("@RUBRICS@\n", commands)


def misplaced(folder: Path, host: str) -> str | None:
    """Return what to say where a host would not find its file: it looks at the root only."""
    folder = folder.resolve()
    root = next((place for place in (folder, *folder.parents) if (place / ".git").exists()), None)
    if root is None or root == folder:
        return None
    return (
        f"{HOSTS[host].file} is read at the root of a repository only, and {root} is the root "
        "here: move it there and set the folder in it, or make this folder a repository"
    )
