"""Open systems under test, and choose the files of their answers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from judgekit.cassette.cassette import Cassette
from judgekit.cassette.mode import RecordMode
from judgekit.core.errors import ConfigError
from judgekit.core.file_model import FileModel, validate_file
from judgekit.core.protocols import Judge
from judgekit.core.yaml_file import Lines
from judgekit.judges.budget import Budget
from judgekit.judges.kinds import kind_of
from judgekit.judges.limits import Auto
from judgekit.judges.local import PREFIX
from judgekit.judges.local_text import PARAMS, LocalTextJudge, TextModel
from judgekit.privacy.rules import Rule, make_redactor
from judgekit.suite.file import LimitsFile
from judgekit.suite.judge_file import JudgeFile
from judgekit.suite.judges import JudgePool, price_of

LONGEST = 100
"""Maximum length of a file name, in characters."""
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class _RedactFile(FileModel):
    """A list of redaction rules, for use without a suite."""

    redact: list[Rule]


def open_system(
    model: str,
    *,
    api_base: str | None = None,
    api_key_env: str | None = None,
    identity: str | None = None,
    params: Mapping[str, Any] | None = None,
    cassette: Path | None = None,
    record: str = "new_episodes",
    redact: Iterable[str] = (),
    concurrency: int = 8,
    budget: Budget | None = None,
    rpm: float | Auto | None = None,
    tpm: float | Auto | None = None,
) -> Cassette:
    """Return a system under test with limits, a tape and the store.

    Args:
        model: the model name of litellm, such as `openai/NAME`; or `transformers/FOLDER` for a
            local model.
        api_base: address of your own server.
        api_key_env: environment variable with the key.
        identity: the version of the model behind this name; part of every request key.
        params: parameters of the calls, added to `PARAMS`; `None` removes one.
        cassette: tape to replay and record; without it, only the store.
        record: `none`, `new_episodes` or `all`.
        redact: built-in rules or patterns to remove from requests and recordings.
        concurrency: concurrent calls.
        budget: the budget, which several systems may share; it requires known prices.
        rpm: requests per minute; `auto` learns the limit from the server.
        tpm: tokens per minute; `auto` learns the limit from the server.

    Raises:
        ConfigError: an option is wrong, the tape to replay does not exist, or a budget lacks a
            price.
        CassetteCorrupt: the tape is damaged.
    """
    lines = Lines(file="")
    data = {"model": model, "api_base": api_base, "api_key_env": api_key_env, "identity": identity}
    all_params = {**PARAMS, **(params or {})}
    sent = {name: value for name, value in all_params.items() if value is not None}
    file = validate_file(JudgeFile, {**data, "params": sent}, lines=lines)
    if kind_of(model).person:
        raise ConfigError(f"{model} is a person; name a model")
    if concurrency < 1:
        raise ConfigError("concurrency must be at least 1")
    mode = RecordMode.parse(record)
    asking = mode is not RecordMode.NONE
    if budget is not None and asking and price_of(file) is None:
        raise ConfigError(f"--max-cost: the price of {model} is not known; leave out --max-cost")
    if not asking and cassette is not None and not cassette.exists():
        raise ConfigError("no such cassette to replay; check the path", where=str(cassette))
    local: Judge | None = None
    if model.startswith(PREFIX):  # one call at a time, because each uses the whole machine
        local = LocalTextJudge(TextModel(model), identity=identity, params=file.params)
        concurrency = 1
    rules = validate_file(_RedactFile, {"redact": list(redact)}, lines=lines)
    for name, rate in (("rpm", rpm), ("tpm", tpm)):
        if rate is not None and rate != "auto" and not 0 < rate < math.inf:
            raise ConfigError(f"{name} is {rate!r}; give a positive number or 'auto'")
    pool = JudgePool(
        # A rate may be a fraction here; in a file it is a whole number.
        LimitsFile.model_construct(concurrency=concurrency, rpm=rpm, tpm=tpm),  # type: ignore[arg-type]
        record=mode,
        base=Path(),
        store_base=cassette.parent if cassette is not None else None,
        lines=lines,
        written=[file],
        tape=cassette,
        redact=make_redactor(rules.redact, lines=lines),
        budget=budget,
    )
    opened = pool.add(file, at=("model",), ready=local)
    assert isinstance(opened, Cassette)  # noqa: S101 - the first judge of a pool opens it
    return opened


def paths_of(models: str, folder: Path | None, *, ending: str) -> dict[str, Path | None]:
    """Return the path of the answers of each model; create the folder.

    Args:
        models: comma-separated names of models.
        folder: folder of the answers.
        ending: extension of the file names; empty for folders.

    Raises:
        ConfigError: no folder is given or it cannot be created, there is no name, or two models
            would have the same path.
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
        # Some file systems are case-insensitive.
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
        ConfigError: the file name is empty or too long.
    """
    name = _UNSAFE.sub("_", model).strip("._-")
    if not name or len(name) > LONGEST:
        advice = "answer it with --model and --out"
        raise ConfigError(f"{model[:LONGEST]}: cannot name a file; {advice}")
    return name
