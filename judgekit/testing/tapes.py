"""The cassettes of a test session: each is opened once and written at the end."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from judgekit.authoring.rubric_test.run import judges_on
from judgekit.cassette.cassette import Cassette
from judgekit.cassette.mode import RecordMode
from judgekit.cassette.store_opener import store_opener
from judgekit.cassette.tape import Tape
from judgekit.core.errors import ConfigError
from judgekit.core.protocols import Judge
from judgekit.core.yaml_file import Lines
from judgekit.judges.absent import AbsentJudge
from judgekit.judges.limits import LimitedJudge
from judgekit.suite.file import JudgeFile
from judgekit.suite.judges import make_judge

UNKNOWN = "unknown"
"""The model of a judge nobody named, where nothing is recorded either."""


class TapeSettings(NamedTuple):
    """The settings for all cassettes of a session."""

    record: RecordMode = RecordMode.NONE
    judge: str | None = None
    """Model to replay or to ask; without one, whoever is on the cassette."""
    api_base: str | None = None


class Tapes:
    """The cassettes of a session, by file."""

    def __init__(self, settings: TapeSettings) -> None:
        self.settings = settings
        self._open: dict[Path, Cassette] = {}

    def open(self, path: Path) -> Cassette:
        """Return the cassette of a file; open it on first use.

        Raises:
            ConfigError: it is not clear who judges.
            CassetteCorrupt: the file is damaged.
        """
        if path not in self._open:
            asking = self.settings.record is not RecordMode.NONE
            self._open[path] = Cassette(
                LimitedJudge(self._judge(path, asking=asking)),
                tape=path,
                store=store_opener(path.parent) if asking else None,
                record=self.settings.record,
            )
        return self._open[path]

    def _judge(self, path: Path, *, asking: bool) -> Judge:
        name = self.settings.judge
        recorded = judges_on(path)
        if not asking:
            known = [judge for judge in recorded if name in (None, judge.model)]
            if len(known) > 1:
                names = ", ".join(judge.words() for judge in known)
                raise ConfigError(
                    f"recorded by {names}; say whose: --judgekit-judge MODEL", where=str(path)
                )
            return known[0] if known else AbsentJudge(name or UNKNOWN)
        if name is None and len(recorded) == 1:
            file = JudgeFile.model_validate(recorded[0]._asdict())
        elif name is None:
            raise ConfigError("recording asks a judge: say which, --judgekit-judge MODEL")
        else:
            same = next((judge for judge in recorded if judge.model == name), None)
            known_words = same._asdict() if same is not None else {"model": name}
            file = JudgeFile.model_validate(known_words)
        if self.settings.api_base is not None:
            file = file.model_copy(update={"api_base": self.settings.api_base})
        return make_judge(file, base=path.parent, lines=Lines(file=""), asking=True)

    def opened(self) -> list[Cassette]:
        """Return the cassettes that are open."""
        return list(self._open.values())

    def used(self) -> dict[str, list[str]]:
        """Return the keys that were replayed or recorded, by file."""
        used = {}
        for path, cassette in self._open.items():
            tape = cassette.tape
            count = len(tape) if tape is not None else 0
            played = [
                tape.line(number)[8:72]
                for number in range(count)
                if tape is not None and cassette.used(number)
            ]
            used[str(path)] = sorted({*played, *cassette.not_from_tape})
        return used

    def close(self) -> None:
        """Write the recorded replies and close all cassettes."""
        for cassette in self._open.values():
            cassette.close()
        self._open.clear()


def unused_records(path: Path, used: set[str]) -> list[str]:
    """Return the keys of records on a cassette that no test used."""
    with closing(Tape(path)) as tape:
        return [key for line in tape.lines() if (key := line[8:72]) not in used]
