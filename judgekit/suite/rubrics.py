"""The rubric of a metric as a suite and its flags want it: with its parameters set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.core.errors import ConfigError
from judgekit.core.file_model import validate_file
from judgekit.core.suggest import suggest
from judgekit.core.wrong_file import nearby
from judgekit.core.yaml_file import Lines
from judgekit.rubric.library import RubricFolder, own_folders
from judgekit.rubric.rubric import Rubric
from judgekit.suite.file import SuiteFile
from judgekit.suite.source import read_suite, suite_hints


class Settings(NamedTuple):
    """What a suite, and the flags that override it, set of one metric's parameters."""

    metric: str
    said: Mapping[str, Any]
    """What the suite says."""
    flags: Mapping[str, str]
    """What `--set` says, as text; it goes before the suite."""
    lines: Lines

    def of(self, rubric: Rubric) -> Rubric:
        """Return the rubric with its parameters set.

        Raises:
            ConfigError: a parameter is unknown, wrong or missing; with `file:line` where a file
                says it.
        """
        values: dict[str, Any] = {}
        for name, value in self.said.items():
            try:
                values[name] = rubric.parameter(name).check(value)
            except ConfigError as exc:
                where = self.lines.where("metrics", self.metric, "parameters", name)
                raise ConfigError(str(exc), where=where) from exc
        before = f"--set {self.metric}."
        # The flags first: what they say must be right even where it says what the file says.
        flagged = read_flags(rubric, self.flags, before=before)
        return rubric.with_parameters({**values, **flagged})

    def refuse(self) -> None:
        """Refuse parameters of a metric that has none.

        Raises:
            ConfigError: some are given.
        """
        message = f"metric {self.metric!r} is no rubric; only rubrics have parameters"
        if self.said:
            raise ConfigError(message, where=self.lines.where("metrics", self.metric, "parameters"))
        if self.flags:
            raise ConfigError(message, where=f"--set {self.metric}.{next(iter(self.flags))}")


def read_flags(rubric: Rubric, flags: Mapping[str, str], *, before: str) -> dict[str, Any]:
    """Return settings given as text, each as its parameter takes it.

    Raises:
        ConfigError: a parameter is unknown or wrong; the message begins with the flag.
    """
    values: dict[str, Any] = {}
    for name, text in flags.items():
        try:
            values[name] = rubric.parameter(name).read(text)
        except ConfigError as exc:
            raise ConfigError(str(exc), where=f"{before}{name}={text}") from exc
    return values


def with_flags(rubric: Rubric, flags: Mapping[str, str], *, before: str) -> Rubric:
    """Return a rubric with settings given as text.

    Raises:
        ConfigError: a parameter is unknown or wrong; the message begins with the flag.
    """
    return rubric.with_parameters(read_flags(rubric, flags, before=before))


def rubric_folders(file: SuiteFile, *, base: Path, lines: Lines) -> tuple[Path, ...]:
    """Return the folders a suite has rubrics in.

    Raises:
        ConfigError: one is not there.
    """
    folders = tuple(base / folder for folder in file.rubrics)
    for number, folder in enumerate(folders):
        if not folder.is_dir():
            hint = nearby(folder) or "; check the path"
            raise ConfigError(
                f"no such folder: {folder}{hint}", where=lines.where("rubrics", number)
            )
    return folders


def suite_folders(path: str | Path) -> list[RubricFolder]:
    """Return where the rubrics of a suite are looked up, in order; nothing else is made of it.

    Raises:
        ConfigError: with `file:line`, for anything wrong in it.
    """
    file = Path(path)
    data, lines = read_suite(file)
    suite = validate_file(SuiteFile, data, lines=lines, hints=suite_hints)
    return own_folders(file.parent, rubric_folders(suite, base=file.parent, lines=lines))


def check_metrics(settings: Mapping[str, Any], metrics: Sequence[str]) -> None:
    """Refuse `--set` of a metric the suite does not have.

    Raises:
        ConfigError: naming the nearest one.
    """
    for metric, flags in settings.items():
        if metric not in metrics:
            hint = suggest(metric, list(metrics))
            where = f"--set {metric}.{next(iter(flags))}"
            raise ConfigError(f"the suite has no metric {metric!r}{hint}", where=where)
