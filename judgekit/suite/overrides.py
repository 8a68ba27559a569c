"""The settings of a suite: its file, the overriding flags, and the rubric parameters."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field

from judgekit.cassette.mode import RecordMode
from judgekit.core.errors import ConfigError, placed
from judgekit.core.file_model import FileModel, none_yet, validate_file
from judgekit.core.input_file import nearby
from judgekit.core.suggest import suggest
from judgekit.core.yaml_file import Lines
from judgekit.rubric.library import RubricFolder, own_folders
from judgekit.rubric.rubric import Rubric
from judgekit.suite.file import SuiteFile
from judgekit.suite.judge_file import JUDGE, JudgeFile
from judgekit.suite.source import read_suite, suite_hints

DECIDING = ("judge", "judges", "params", "settings", "no_judge", "only", "baseline", "against")
"""Flags that affect the numbers, so they must be equal for all shards."""


class Overrides(FileModel):
    """Settings from flags, which override the file."""

    judge: str | None = None
    judges: dict[str, str] = Field(default_factory=dict)
    """Role -> model."""
    api_base: str | None = None
    params: dict[str, Any] = Field(default_factory=dict)
    settings: dict[str, dict[str, str]] = Field(default_factory=dict)
    """Metric -> parameter of its rubric -> value as text."""
    record: str | None = None
    no_judge: bool = False
    only: list[str] = Field(default_factory=none_yet)
    limit: int | None = None
    where: list[str] = Field(default_factory=none_yet)
    """Conditions on the metadata of cases: `topic=refunds`."""
    ids: frozenset[str] | None = None
    """Ids of the only cases to run."""
    shard: str | None = None
    """The part of the cases to run, such as `2/5`."""
    cases: str | None = None
    format: str | None = None
    baseline: str | None = None
    """Run folder for `not_worse`."""
    against: str | None = None
    """Run folder; its outputs become the baselines of the cases."""
    again: frozenset[str] = frozenset()

    @property
    def narrow(self) -> bool:
        """Whether flags select cases by metadata or id."""
        return bool(self.where) or self.ids is not None

    @property
    def partial(self) -> bool:
        """Whether a run covers only a part of the suite, and therefore of its recordings."""
        some = self.limit is not None or self.shard is not None or bool(self.only)
        return some or self.narrow


class SuiteSettings(NamedTuple):
    """A suite file, and the flags that override it."""

    file: SuiteFile
    base: Path
    """The folder that paths in the file are relative to."""
    lines: Lines
    """The lines of the file."""
    overrides: Overrides

    def where(self, *path: str | int) -> str:
        """Return `file:line` of a setting."""
        return self.lines.where(*path)

    @property
    def written_roles(self) -> dict[str, JudgeFile]:
        """The judges of the file, by role.

        Raises:
            ConfigError: two judges have the role `judge`.
        """
        if self.file.judge is None:
            return dict(self.file.judges)
        if JUDGE in self.file.judges:
            message = "`judge:` and `judges: {judge: ...}` are one role; keep one"
            raise ConfigError(message, where=self.where("judges", JUDGE))
        return {JUDGE: self.file.judge, **self.file.judges}

    @property
    def record_mode(self) -> RecordMode:
        """The record mode of the flags, or else of the suite.

        Raises:
            ConfigError: the mode is unknown.
        """
        overrides = self.overrides
        if overrides.record is not None:
            return RecordMode.parse(overrides.record)
        if overrides.judges or (overrides.judge is not None and overrides.judge != "none"):
            # Naming a judge on the command line allows calls to it.
            return RecordMode.NEW_EPISODES
        with placed(self.where("record")):
            return RecordMode.parse(self.file.record or "none")

    def rubric_folders(self) -> tuple[Path, ...]:
        """Return the rubric folders of a suite.

        Raises:
            ConfigError: one does not exist.
        """
        folders = tuple(self.base / folder for folder in self.file.rubrics)
        for number, folder in enumerate(folders):
            if not folder.is_dir():
                message = f"no such folder: {folder}{nearby(folder) or '; check the path'}"
                raise ConfigError(message, where=self.where("rubrics", number))
        return folders

    def check_metrics(self) -> None:
        """Reject `--set` for a metric that the suite does not have.

        Raises:
            ConfigError: there is no such metric; suggests the closest one.
        """
        metrics = list(self.file.metrics)
        for metric, flags in self.overrides.settings.items():
            if metric not in metrics:
                hint = suggest(metric, metrics)
                where = f"--set {metric}.{next(iter(flags))}"
                raise ConfigError(f"the suite has no metric {metric!r}{hint}", where=where)

    def with_parameters(self, rubric: Rubric | None, metric: str) -> Rubric | None:
        """Return the rubric of a metric with the parameters of the suite; flags override the file.

        Raises:
            ConfigError: a parameter is unknown, wrong or missing, or the metric has no rubric.
        """
        written = self.file.metrics[metric].parameters or {}
        flags = self.overrides.settings.get(metric, {})
        at = ("metrics", metric, "parameters")
        if rubric is None:
            message = f"metric {metric!r} is no rubric; only rubrics have parameters"
            if written:
                raise ConfigError(message, where=self.where(*at))
            if flags:
                raise ConfigError(message, where=f"--set {metric}.{next(iter(flags))}")
            return None
        values: dict[str, Any] = {}
        for name, value in written.items():
            with placed(self.where(*at, name)):
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


def suite_folders(path: str | Path) -> list[RubricFolder]:
    """Return the folders where a suite looks up rubrics, in order.

    Raises:
        ConfigError: the suite is wrong; with `file:line`.
    """
    file = Path(path)
    data, lines = read_suite(file)
    suite = validate_file(SuiteFile, data, lines=lines, hints=suite_hints)
    settings = SuiteSettings(suite, file.parent, lines, Overrides())
    return own_folders(file.parent, settings.rubric_folders())
