"""Settings of judges: those of an object, those in a manifest, and the record mode."""

from __future__ import annotations

from typing import Any

from judgekit.cassette.mode import RecordMode
from judgekit.core.errors import placed
from judgekit.core.judge_wrapper import as_judge
from judgekit.core.protocols import Judge
from judgekit.suite.judge_file import JudgeFile
from judgekit.suite.settings import SuiteSettings


def facts_of(judge: Judge) -> JudgeFile:
    """Return the settings of a judge object that go into request keys."""
    full = as_judge(judge)
    mode: Any = full.mode
    api: Any = full.api
    return JudgeFile.model_construct(
        model=full.model, identity=full.identity, params=dict(full.params), mode=mode, api=api
    )


def described_judge(judge: JudgeFile) -> dict[str, Any]:
    """Return the settings of a judge for a manifest."""
    described = {name: getattr(judge, name) for name in ("model", "identity", "params", "mode")}
    return described if judge.api is None else {**described, "api": judge.api}


def record_mode(settings: SuiteSettings) -> RecordMode:
    """Return the record mode of flags, or else of the suite.

    Raises:
        ConfigError: no such mode.
    """
    overrides = settings.overrides
    if overrides.record is not None:
        return RecordMode.parse(overrides.record)
    if overrides.judges or (overrides.judge is not None and overrides.judge != "none"):
        # Naming a judge on the command line allows calls to it.
        return RecordMode.NEW_EPISODES
    with placed(settings.where("record")):
        return RecordMode.parse(settings.file.record or "none")
