"""Several systems under test in one command: where the answers of each go."""

from __future__ import annotations

import re
from pathlib import Path

from judgekit.core.errors import ConfigError

LONGEST = 100
"""Characters of a file name."""
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def paths_of(models: str, folder: Path | None, *, ending: str) -> dict[str, Path | None]:
    """Return the path of the answers of each model, with the folder made.

    Args:
        models: names of models, separated by commas.
        folder: where the answers go.
        ending: end of the file names; empty for folders.

    Raises:
        ConfigError: no folder is given or can be made, there is no name, or two models would have
            one path.
    """
    if folder is None:
        raise ConfigError("--models writes a file for each model; name their folder: --out FOLDER")
    names = [name.strip() for name in models.split(",")]
    if not all(names):
        raise ConfigError(f"--models {models}: a name is empty; write it as --models A,B")
    paths: dict[str, Path | None] = {}
    owners: dict[str, str] = {}
    for name in names:
        if name in paths:
            raise ConfigError(f"--models: {name} is named twice; name each model once")
        path = folder / f"{file_name(name)}{ending}"
        # Some file systems ignore case.
        other = owners.setdefault(path.name.lower(), name)
        if other != name:
            problem = f"{other} and {name} would both be written to {path}"
            raise ConfigError(f"--models: {problem}; answer one of them with another --out")
        paths[name] = path
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise ConfigError(f"--out {folder}: not a folder ({exc.strerror}); name one") from exc
    return paths


def file_name(model: str) -> str:
    """Return the name of a model as a file name.

    >>> file_name("openai/gpt-6-luna"), file_name("../x y")
    ('openai_gpt-6-luna', 'x_y')

    Raises:
        ConfigError: nothing is left of it, or it is too long.
    """
    name = _UNSAFE.sub("_", model).strip("._-")
    if not name or len(name) > LONGEST:
        advice = "answer it with --model and --out"
        raise ConfigError(f"{model[:LONGEST]}: cannot name a file; {advice}")
    return name
