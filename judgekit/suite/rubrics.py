"""Rubric parameters from a suite and its flags, and the folders of its rubrics."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgekit.core.errors import ConfigError, placed
from judgekit.core.file_model import validate_file
from judgekit.core.suggest import suggest
from judgekit.core.wrong_file import nearby
from judgekit.rubric.library import RubricFolder, own_folders
from judgekit.rubric.rubric import Rubric
from judgekit.suite.file import SuiteFile
from judgekit.suite.overrides import Overrides, SuiteSettings
from judgekit.suite.source import read_suite, suite_hints


def with_settings(rubric: Rubric | None, metric: str, settings: SuiteSettings) -> Rubric | None:
    """Return the rubric of a metric with the parameters of the suite; flags override the file.

    Raises:
        ConfigError: a parameter is unknown, wrong or missing, or there is no rubric to take it.
    """
    written = settings.file.metrics[metric].parameters or {}
    flags = settings.overrides.settings.get(metric, {})
    at = ("metrics", metric, "parameters")
    if rubric is None:
        message = f"metric {metric!r} is no rubric; only rubrics have parameters"
        if written:
            raise ConfigError(message, where=settings.where(*at))
        if flags:
            raise ConfigError(message, where=f"--set {metric}.{next(iter(flags))}")
        return None
    values: dict[str, Any] = {}
    for name, value in written.items():
        with placed(settings.where(*at, name)):
            values[name] = rubric.parameter(name).check(value)
    values |= read_flags(rubric, flags, before=f"--set {metric}.")
    return rubric.with_parameters(values)


def read_flags(rubric: Rubric, flags: Mapping[str, str], *, before: str) -> dict[str, Any]:
    """Return the values of parameters given as text.

    Raises:
        ConfigError: a parameter is unknown or wrong; the message begins with the flag.
    """
    values: dict[str, Any] = {}
    for name, text in flags.items():
        with placed(f"{before}{name}={text}"):
            values[name] = rubric.parameter(name).read(text)
    return values


def rubric_folders(settings: SuiteSettings) -> tuple[Path, ...]:
    """Return the rubric folders of a suite.

    Raises:
        ConfigError: one does not exist.
    """
    folders = tuple(settings.base / folder for folder in settings.file.rubrics)
    for number, folder in enumerate(folders):
        if not folder.is_dir():
            message = f"no such folder: {folder}{nearby(folder) or '; check the path'}"
            raise ConfigError(message, where=settings.where("rubrics", number))
    return folders


def suite_folders(path: str | Path) -> list[RubricFolder]:
    """Return the places where a suite looks up rubrics, in order.

    Raises:
        ConfigError: the suite is wrong; with `file:line`.
    """
    file = Path(path)
    data, lines = read_suite(file)
    suite = validate_file(SuiteFile, data, lines=lines, hints=suite_hints)
    settings = SuiteSettings(suite, file.parent, lines, Overrides())
    return own_folders(file.parent, rubric_folders(settings))


def check_metrics(settings: SuiteSettings) -> None:
    """Refuse `--set` for a metric that the suite does not have.

    Raises:
        ConfigError: there is no such metric; suggests the closest one.
    """
    metrics = list(settings.file.metrics)
    for metric, flags in settings.overrides.settings.items():
        if metric not in metrics:
            hint = suggest(metric, metrics)
            where = f"--set {metric}.{next(iter(flags))}"
            raise ConfigError(f"the suite has no metric {metric!r}{hint}", where=where)
