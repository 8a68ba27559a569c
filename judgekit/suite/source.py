"""Read a suite file as plain data with line numbers; reject API keys in it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgekit.core.credentials import credential_in
from judgekit.core.errors import ConfigError, place
from judgekit.core.file_model import Hints
from judgekit.core.input_file import nearby, other_content, other_kind, read_text, undecodable
from judgekit.core.yaml_file import Lines, parse_yaml
from judgekit.report.folder import REPORT
from judgekit.suite.judge_file import JUDGE

MAX_FILE = 5_000_000
NAMES = ("suite.yaml", "suite.yml")
"""Suite files that a command uses by default."""
NO_KEYS = "a key does not belong in a file; name its environment variable: api_key_env: MY_KEY"
"""Message about an API key in a file."""


def find_suite(folder: Path = Path(), *, verb: str) -> Path:
    """Return the suite of a folder, or of a run folder; by default that of the working folder.

    Args:
        folder: the folder.
        verb: the command, for the message.

    Raises:
        ConfigError: there is no suite, or there are two.
    """
    suites = [folder / name for name in NAMES if (folder / name).is_file()]
    if not suites and (folder / REPORT).is_file():
        # The folder of a run is runs/NAME, beside NAME.yaml, unless --out names another.
        whole = folder.resolve()
        beside = Path(os.path.relpath(whole.parents[1]))
        suites = [f for end in (".yaml", ".yml") if (f := beside / f"{whole.name}{end}").is_file()]
        if not suites:
            message = "is the folder of a run; name the suite file"
            raise ConfigError(message, where=str(folder))
    if len(suites) == 1:
        return suites[0]
    one, other = NAMES
    if folder != Path():
        here = "has both" if suites else "has no"
        reason = f"{folder} {here} {one} {'and' if suites else 'or'} {other}; name a file"
    elif suites:
        reason = f"{one} and {other} are both here; name one: judgekit {verb} {one}"
    else:
        advice = f"name one: judgekit {verb} FILE, or write one: judgekit init"
        reason = f"this folder has no {one} or {other}; {advice}"
    raise ConfigError(f"which suite? {reason}")


def is_suite(path: str) -> bool:
    """Return whether a file is a suite, and not a YAML file of cases."""
    if not path.endswith((".yaml", ".yml")):
        return False
    try:
        return "metrics" in read_suite(Path(path))[0]
    except ConfigError:
        return False


def read_suite(file: Path) -> tuple[dict[str, Any], Lines]:
    """Return the unvalidated data of a suite file and its line numbers.

    Raises:
        ConfigError: it cannot be read, or is not a mapping.
    """
    try:
        if file.is_dir():
            raise ConfigError("is a folder; name the suite file in it", where=str(file))
        if (other := other_kind(file, wanted="suite")) and file.is_file():
            raise ConfigError(other, where=str(file))
        text = read_text(file, most=MAX_FILE)
    except FileNotFoundError as exc:
        hint = nearby(file) or "; `judgekit init` writes one"
        raise ConfigError(f"no such suite file{hint}", where=str(file)) from exc
    except UnicodeDecodeError as exc:
        message, line = undecodable(exc)
        raise ConfigError(message, where=place(file, line)) from exc
    except OSError as exc:
        raise ConfigError(f"cannot be read: {exc}", where=str(file)) from exc
    data, lines = parse_yaml(text, file=str(file))
    if data is None:
        raise ConfigError("is empty; `judgekit init` writes a suite", where=str(file))
    if not isinstance(data, dict):
        raise ConfigError("a suite is keys and values: cases, judge, metrics", where=str(file))
    if other := other_content(data, file):
        raise ConfigError(other, where=str(file))
    return data, lines


def refuse_keys(data: Mapping[str, Any], lines: Lines) -> None:
    """Reject a credential in the data of a suite, before a message can print it.

    Raises:
        ConfigError: there is a key; with `file:line`.
    """
    places: dict[tuple[str, ...], Any] = {(name,): data.get(name) for name in (JUDGE, "embedder")}
    judges = data.get("judges")
    if isinstance(judges, dict):
        places |= {("judges", str(role)): judge for role, judge in judges.items()}
    for at, judge in places.items():
        if not isinstance(judge, dict):
            continue
        if "api_key" in judge:
            raise ConfigError(NO_KEYS, where=lines.where(*at, "api_key"))
        if (inner := credential_in(judge.get("params"))) is not None:
            name = ".".join((*at, "params", *inner))
            raise ConfigError(f"{name}: {NO_KEYS}", where=lines.where(*at, "params", *inner))


def suite_hints() -> Hints:
    """Return the hints for suite files; loaded only after an error."""
    from judgekit.suite.hints import HINTS

    return HINTS
