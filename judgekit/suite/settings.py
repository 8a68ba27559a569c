"""What a suite is built from: its file and the flags."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from judgekit.cassette.mode import RecordMode
from judgekit.core.errors import ConfigError, placed
from judgekit.core.yaml_file import Lines
from judgekit.suite.file import SuiteFile
from judgekit.suite.judge_file import JUDGE, JudgeFile
from judgekit.suite.overrides import Overrides


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
            raise ConfigError(
                "`judge:` and `judges: {judge: ...}` are one role; keep one",
                where=self.where("judges", JUDGE),
            )
        return {JUDGE: self.file.judge, **self.file.judges}

    @property
    def record_mode(self) -> RecordMode:
        """The record mode of flags, or else of the suite.

        Raises:
            ConfigError: no such mode.
        """
        overrides = self.overrides
        if overrides.record is not None:
            return RecordMode.parse(overrides.record)
        if overrides.judges or (overrides.judge is not None and overrides.judge != "none"):
            # Naming a judge on the command line allows calls to it.
            return RecordMode.NEW_EPISODES
        with placed(self.where("record")):
            return RecordMode.parse(self.file.record or "none")
