"""The settings of a suite: its file, the overriding flags, and the rubric parameters."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import Field, ValidationError

from judgekit.cassette.mode import RecordMode
from judgekit.core.errors import ConfigError, placed
from judgekit.core.file_model import FileModel, none_yet, validate_file
from judgekit.core.input_file import home_path, nearby
from judgekit.core.suggest import suggest
from judgekit.core.value import invalid
from judgekit.core.yaml_file import Lines
from judgekit.datasets.shard import Shard
from judgekit.rubric.library import RubricFolder, own_folders
from judgekit.rubric.rubric import Rubric
from judgekit.suite.file import SuiteFile
from judgekit.suite.judge_file import JUDGE, JudgeFile
from judgekit.suite.source import read_suite, refuse_keys, suite_hints


class Affects(Enum):
    """What a flag changes; this decides how shards and `merge` treat it."""

    NUMBERS = "numbers"
    """The rows. All shards must have the same value, and `merge` uses it."""
    EXIT_CODE = "exit code"
    """What a run must reach. All shards must have the same value, and `merge` uses it; `merge` also
    has the flag itself, because the rows of the shards stay valid."""
    CASES = "cases"
    """Which cases are read. Shards compare the ids of their cases, not these flags."""
    OCCASION = "occasion"
    """How one run gets its replies. Shards may differ, and `merge` asks for nothing."""


@dataclass(frozen=True)
class FlagEffect:
    """The effect of a field of `Overrides`, from which commands, shards and `merge` derive."""

    affects: Affects
    flag: str | None = None
    """The parameter of the commands; by default, it has the name of the field and its value."""
    of_judge: bool = False
    """Whether commands that score without a suite file also have the flag."""
    selects: bool = False
    """Whether the run covers only a part of the suite, and therefore of its recordings."""


_JUDGE = FlagEffect(Affects.NUMBERS, of_judge=True)


class Overrides(FileModel):
    """Settings from flags, which override the file; each field declares its effect."""

    judge: Annotated[str | None, _JUDGE] = None
    judges: Annotated[dict[str, str], replace(_JUDGE, flag="judge")] = Field(default_factory=dict)
    """Role -> model."""
    # The address of a server is not in the keys: another one must give the same replies.
    api_base: Annotated[str | None, FlagEffect(Affects.OCCASION, of_judge=True)] = None
    # Neither is how it is asked: a reply of another tier has the same key.
    cache: Annotated[str | None, FlagEffect(Affects.OCCASION, of_judge=True)] = None
    tier: Annotated[str | None, FlagEffect(Affects.OCCASION, of_judge=True)] = None
    params: Annotated[dict[str, Any], replace(_JUDGE, flag="param")] = Field(default_factory=dict)
    settings: Annotated[dict[str, dict[str, str]], FlagEffect(Affects.NUMBERS, flag="set")] = Field(
        default_factory=dict
    )
    """Metric -> parameter of its rubric -> value as text."""
    record: Annotated[str | None, FlagEffect(Affects.OCCASION, of_judge=True)] = None
    no_judge: Annotated[bool, _JUDGE] = False
    only: Annotated[list[str], FlagEffect(Affects.NUMBERS, selects=True)] = Field(
        default_factory=none_yet
    )
    cases: Annotated[str | None, FlagEffect(Affects.CASES)] = None
    format: Annotated[str | None, FlagEffect(Affects.CASES)] = None
    where: Annotated[list[str], FlagEffect(Affects.CASES, selects=True)] = Field(
        default_factory=none_yet
    )
    """Conditions on the metadata of cases: `topic=refunds`."""
    ids: Annotated[
        frozenset[str] | None, FlagEffect(Affects.CASES, flag="filter_failing", selects=True)
    ] = None
    """Ids of the only cases to run."""
    limit: Annotated[int | None, FlagEffect(Affects.CASES, selects=True)] = None
    shard: Annotated[str | None, FlagEffect(Affects.CASES, selects=True)] = None
    """The part of the cases to run, such as `2/5`."""
    baseline: Annotated[str | None, FlagEffect(Affects.EXIT_CODE)] = None
    """Run folder for `not_worse`."""
    max_failures: Annotated[int | None, Field(ge=0), FlagEffect(Affects.EXIT_CODE)] = None
    """The number of failed rows in a complete run."""
    against: Annotated[str | None, FlagEffect(Affects.NUMBERS)] = None
    """Run folder; its outputs become the baselines of the cases."""
    again: Annotated[frozenset[str], FlagEffect(Affects.OCCASION, flag="retry_failed")] = (
        frozenset()
    )
    """Keys of recorded requests to send again."""

    if not TYPE_CHECKING:

        def __init__(self, /, **fields: Any) -> None:
            try:
                self.__pydantic_validator__.validate_python(fields, self_instance=self)
            except ValidationError as exc:
                raise invalid(type(self), exc) from exc

        # Otherwise pydantic calls it for validated files, too.
        __init__.__pydantic_base_init__ = True

    @property
    def narrow(self) -> bool:
        """Whether flags select cases by metadata or id."""
        return bool(self.where) or self.ids is not None

    @property
    def partial(self) -> bool:
        """Whether a run covers only a part of the suite, and therefore of its recordings."""
        return any(EFFECTS[name].selects for name in self.given())

    def given(self, *affects: Affects) -> dict[str, Any]:
        """Return the fields that differ from their defaults.

        Args:
            affects: only fields with one of these effects; all fields by default.
        """
        chosen = affects or tuple(Affects)
        # `model_dump` would build a serializer, in every run.
        return {
            name: value
            for name, value in self
            if EFFECTS[name].affects in chosen and value != _DEFAULTS[name]
        }

    def words(self) -> list[str]:
        """Return the flags as words of a command line; without those that come from run folders."""
        words: list[str] = []
        for name, value in self.given().items():
            flag = f"--{(EFFECTS[name].flag or name).replace('_', '-')}"
            words += [flag] if value is True else []
            words += [word for text in _texts_of(value) for word in (flag, text)]
        return words


def _texts_of(value: Any) -> list[str]:
    """Return the values with which a flag is given: several if it is repeated."""
    if isinstance(value, bool | frozenset):
        return []
    if isinstance(value, list):
        return [str(item) for item in value]
    if not isinstance(value, dict):
        return [str(value)]
    texts = []
    for name, item in value.items():
        if isinstance(item, dict):
            texts += [f"{name}.{inner}={text}" for inner, text in item.items()]
        else:
            texts.append(f"{name}={item if isinstance(item, str) else json.dumps(item)}")
    return texts


def effects_of(model: type[FileModel]) -> dict[str, FlagEffect]:
    """Return the effects that the fields of a model declare.

    Raises:
        TypeError: a field does not declare one; a default would be wrong for some field, silently.
    """
    effects: dict[str, FlagEffect] = {}
    for name, field in model.model_fields.items():
        declared = [one for one in field.metadata if isinstance(one, FlagEffect)]
        if len(declared) != 1:
            raise TypeError(f"{model.__name__}.{name}: declare one FlagEffect, in Annotated[...]")
        effects[name] = declared[0]
    return effects


EFFECTS = effects_of(Overrides)
"""Field of `Overrides` -> its effect."""
_DEFAULTS = dict(Overrides())
SHARED = (Affects.NUMBERS, Affects.EXIT_CODE)
"""The effects of flags that must be equal for all shards."""


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
            return RecordMode.parse("none" if self.file.record is None else self.file.record)

    @property
    def tries_a_judge(self) -> bool:
        """Whether a flag names another judge than the file, and no flag names a record mode."""
        flags = self.overrides
        if flags.record is not None:
            return False
        named = dict(flags.judges)
        if flags.judge not in (None, "none"):
            named[JUDGE] = flags.judge
        written = self.written_roles
        return any(role in written and written[role].model != named[role] for role in named)

    @property
    def max_failures(self) -> int:
        """The number of failed rows in a complete run, of the flags or else of the suite."""
        flag = self.overrides.max_failures
        return self.file.limits.max_failures if flag is None else flag

    @property
    def shard(self) -> Shard | None:
        """The part of the cases to run; `None` for all.

        Raises:
            ConfigError: the flag is not `n/m`.
        """
        flag = self.overrides.shard
        return None if flag is None else Shard.parse(flag)

    def rubric_folders(self) -> tuple[Path, ...]:
        """Return the rubric folders of a suite.

        Raises:
            ConfigError: one does not exist.
        """
        folders = tuple(self.base / home_path(folder) for folder in self.file.rubrics)
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
                name, value = next(iter(flags.items()))
                option = f"{{{metric}: {{{name}: {value}}}}}"
                message += f"; options are in the suite: metrics: {option}, or --option of score"
                raise ConfigError(message, where=f"--set {metric}.{name}")
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


def read_settings(path: str | Path, overrides: Overrides | None = None) -> SuiteSettings:
    """Read a suite file.

    Raises:
        ConfigError: the file is wrong; with `file:line`.
    """
    file = Path(path)
    data, lines = read_suite(file)
    return settings_of(data, base=file.parent, lines=lines, overrides=overrides)


def settings_of(
    data: Mapping[str, Any], *, base: Path, lines: Lines, overrides: Overrides | None = None
) -> SuiteSettings:
    """Return the settings of a suite from the content of its file.

    Raises:
        ConfigError: the data is wrong; with `file:line`.
    """
    refuse_keys(data, lines)
    if data.get("judge") == "none":
        data = {**data, "judge": None}
    file = validate_file(SuiteFile, data, lines=lines, hints=suite_hints)
    return SuiteSettings(file, base, lines, overrides or Overrides())


def suite_folders(path: str | Path) -> list[RubricFolder]:
    """Return the folders where a suite looks up rubrics, in order.

    Raises:
        ConfigError: the suite is wrong; with `file:line`.
    """
    settings = read_settings(path)
    return own_folders(settings.base, settings.rubric_folders())
