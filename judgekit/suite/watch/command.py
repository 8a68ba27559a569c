"""The command that records what a watched suite misses."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from pathlib import Path

from judgekit.suite.judge_file import JUDGE
from judgekit.suite.overrides import Overrides


def recording_command(suite: Path, overrides: Overrides, metrics: Iterable[str]) -> str:
    """Return the command line that records the missing replies.

    Args:
        suite: the suite file.
        overrides: settings of flags; those that decide the requests are repeated.
        metrics: the metrics with misses; named only if a flag names metrics.
    """
    words = ["judgekit", "run", str(suite)]
    judges = {**({JUDGE: overrides.judge} if overrides.judge else {}), **overrides.judges}
    for role, model in judges.items():
        words += ["--judge", model if role == JUDGE else f"{role}={model}"]
    if overrides.api_base:
        words += ["--api-base", overrides.api_base]
    for name, value in overrides.params.items():
        words += ["--param", f"{name}={value if isinstance(value, str) else json.dumps(value)}"]
    for metric, settings in overrides.settings.items():
        for name, text in settings.items():
            words += ["--set", f"{metric}.{name}={text}"]
    if overrides.only:
        for metric in metrics:
            words += ["--only", metric]
    flags = {"--cases": overrides.cases, "--format": overrides.format, "--limit": overrides.limit}
    for flag, value in flags.items():
        if value is not None:
            words += [flag, str(value)]
    return shlex.join([*words, "--record", "new_episodes"])
