"""Hints for keys and values in the wrong place of a suite."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path as FilePath

from judgekit.core.file_model import Hints, Path
from judgekit.core.suggest import closest, suggest
from judgekit.core.yaml_file import package_data
from judgekit.suite.file import CasesFile, GateFile, LimitsFile, MetricFile, RunGateFile, SuiteFile
from judgekit.suite.judge_file import JudgeFile

_FORMS = FilePath(__file__).with_name("hints.yaml")


def value_hint(path: Path) -> str:
    """Return a hint on how to write a value at a path; empty if there is none."""
    plain = tuple(step for step in path if isinstance(step, str))
    starred = ("metrics", "*", *plain[2:]) if plain[:1] == ("metrics",) and plain[1:] else plain
    if starred[:-1] == ("metrics", "*", "gate") and starred[-1] not in GateFile.model_fields:
        # An unknown key may be the name of a figure, with a number as its bound.
        return suggest(starred[-1], GateFile.model_fields, otherwise="")
    form = package_data(_FORMS)["values"].get(" ".join(starred))
    return f"; {form}" if form else ""


def key_hint(path: Path, known: Iterable[str]) -> str:
    """Return a hint at the intended key for an unknown one, here or elsewhere in the file.

    Args:
        path: path of the unknown key.
        known: the keys that are valid there.
    """
    key, names = str(path[-1]), list(known)
    if path[:-1] in ((), ("gate",)) and (key in ("gates", "gate") or path[:-1] == ("gate",)):
        if key != "gates" and closest(key, names, alike=0.8):
            return suggest(key, names, otherwise="")
        return f"; {package_data(_FORMS)['values']['gate']}"
    if "/" in key and "model" in names:
        return f"; write model: {key}"
    if close := closest(key, names):
        return suggest(key, close)
    if key in ("levels", "text") and "criteria" not in path:
        return f"; {package_data(_FORMS)['criteria']}"
    if key in package_data(_FORMS)["sampling"]:
        return f"; it belongs to the judge: judge: {{params: {{{key}: ...}}}}"
    form = _places().get(key)
    return f"; it belongs here: {form}" if form else suggest(key, names)


@cache
def _places() -> dict[str, str]:
    """Return each key of a suite, and its full notation from the top level."""
    forms = (
        ("{}: ...", SuiteFile),
        ("metrics: {{NAME: {{{}: ...}}}}", MetricFile),
        ("metrics: {{NAME: {{gate: {{{}: ...}}}}}}", GateFile),
        ("cases: {{{}: ...}}", CasesFile),
        ("judge: {{{}: ...}}", JudgeFile),
        ("limits: {{{}: ...}}", LimitsFile),
        ("gate: {{{}: ...}}", RunGateFile),
    )
    places: dict[str, str] = {}
    for form, model in forms:
        for name in model.model_fields:
            places.setdefault(name.rstrip("_"), form.format(name))
    return places


def percent_hint(bound: float, low: float, high: float) -> str:
    """Return a hint for a bound out of range: how to write a percentage as a share."""
    fits = bound >= 10 and low <= bound / 100 <= high
    return f"; write {bound:g} % as {bound / 100:g}" if fits else "; write a number in that range"


HINTS = Hints(key=key_hint, value=value_hint)
"""The hints of suite files."""
