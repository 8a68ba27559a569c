"""The judge of a suite: which one flags and file name, and how it is made."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from judgekit.errors import ConfigError
from judgekit.protocols import Judge
from judgekit.suitefile import JudgeFile, Overrides, SuiteFile
from judgekit.yamlfile import Lines

_OF_ANY_MODEL = {"params", "timeout", "retries", "max_wait", "reasks"}
"""Settings that stay when a flag names another model."""


def choose_judge(file: SuiteFile, overrides: Overrides) -> JudgeFile | None:
    """Return the judge that file and flags name; `None` where nobody is to judge."""
    judge = file.judge
    if overrides.judge == "none":
        return None
    if overrides.judge is not None and (judge is None or judge.model != overrides.judge):
        # Another model: where to find it and what it costs are not those of the file's judge.
        kept = {} if judge is None else judge.model_dump(include=_OF_ANY_MODEL)
        judge = JudgeFile.model_validate({**kept, "model": overrides.judge})
    if judge is None:
        return None
    changes: dict[str, Any] = {}
    if overrides.params:
        changes["params"] = {**judge.params, **overrides.params}
    if overrides.api_base:
        changes["api_base"] = overrides.api_base
    return judge.model_copy(update=changes)


def make_judge(file: JudgeFile, *, base: Path, lines: Lines, asking: bool) -> Judge:
    """Make a judge.

    Args:
        file: what the suite says of it.
        base: folder that paths are relative to.
        lines: where the suite's settings stand.
        asking: whether the run may ask it; a replay needs no key.

    Raises:
        ConfigError: a setting is wrong, or the key it names is not there.
    """
    if file.model.startswith("manual/"):
        from judgekit.judges.manual import ManualJudge

        if asking and not file.answers:
            where = lines.where("judge")
            raise ConfigError("a person's answers come from a file: answers: FILE", where=where)
        path = base / file.answers if file.answers else None
        if not asking and path is not None and path.is_file():
            path = None  # a replay asks nobody, so the answers are not read
        return ManualJudge(file.model, path)
    if file.answers:
        where = lines.where("judge", "answers")
        raise ConfigError("answers belong to a judge named manual/NAME", where=where)
    if file.model.startswith("fake/"):
        from judgekit.judges.fake import FakeJudge

        return FakeJudge(model=file.model)
    from judgekit.judges.litellm import LiteLLMJudge

    key = os.environ.get(file.api_key_env) if file.api_key_env else None
    if file.api_key_env and key is None and asking:
        where = lines.where("judge", "api_key_env")
        raise ConfigError(f"{file.api_key_env} is not set in the environment", where=where)
    return LiteLLMJudge(
        file.model,
        api_base=file.api_base,
        api_key=key,
        params=dict(file.params),
        identity=file.identity,
        mode=file.mode,
        timeout=file.timeout,
        retries=file.retries,
        max_wait=file.max_wait,
        reasks=file.reasks,
        price=(file.price.input, file.price.output) if file.price else None,
    )


def check_price(file: JudgeFile, *, lines: Lines) -> None:
    """Refuse a cost limit on a judge whose price is not known.

    Raises:
        ConfigError: neither the suite nor the list of prices has one.
    """
    from judgekit.providers import listed_price

    free = file.model.startswith(("manual/", "fake/"))
    if not free and file.price is None and (file.api_base or listed_price(file.model) is None):
        raise ConfigError(
            f"max_cost needs the price of {file.model}: "
            "give judge.price: {input: ..., output: ...}",
            where=lines.where("limits", "max_cost"),
        )
