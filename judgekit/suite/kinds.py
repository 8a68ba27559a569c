"""What an entry under `metrics:` is: computed, judged, or measured by a model; a rubric or not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from judgekit.core.errors import ConfigError, RubricError
from judgekit.metrics.catalogue import BUILTIN
from judgekit.metrics.registry import find, is_plugin
from judgekit.rubric.shelf import find_rubric
from judgekit.suite.file import MetricFile


def is_judged(kind: str, entry: MetricFile, *, base: Path, folders: Sequence[Path]) -> bool:
    """Return whether a metric asks somebody."""
    if kind in BUILTIN and entry.rubric is None:
        return BUILTIN[kind].judged
    if is_rubric(kind, entry, base=base, folders=folders):
        return True
    return is_plugin(kind) and find(kind).judged


def is_rubric(kind: str, entry: MetricFile, *, base: Path, folders: Sequence[Path]) -> bool:
    """Return whether a metric is a rubric: one of the suite, or a built-in one."""
    if entry.rubric is not None:
        return True
    if kind in BUILTIN:
        return False
    try:
        find_rubric(kind, base=base, folders=folders)
    except RubricError:
        return False
    return True


def _wants(kind: str) -> str:
    """Return what a judged metric asks its role for; a rubric asks for verdicts."""
    return find(kind).wants if kind in BUILTIN or is_plugin(kind) else "verdict"


def check_role(name: str, kind: str, entry: MetricFile) -> None:
    """Refuse the role of a judged metric under the wrong key.

    Raises:
        ConfigError: it asks a judge and names a likelihood, or the other way round.
    """
    if entry.role is None:
        return
    wants = _wants(kind)
    if wants == "logprobs" and entry.judge is not None:
        raise ConfigError(f"metric {name!r} asks for no verdict; write likelihood: {entry.judge}")
    if wants != "logprobs" and entry.likelihood is not None:
        raise ConfigError(f"metric {name!r} asks a judge; write judge: {entry.likelihood}")
