"""The cases of a suite: their source, the selection by flags, and their lines."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError, DatasetError
from judgekit.core.input_file import home_path, nearby
from judgekit.datasets import load_cases
from judgekit.datasets.ids import is_numbered
from judgekit.datasets.load import find_places
from judgekit.datasets.selection import Selection
from judgekit.datasets.shard import Sharding
from judgekit.suite.overrides import SuiteSettings

if TYPE_CHECKING:
    from judgekit.privacy.redact import Redact
    from judgekit.suite.against import OtherRun


@dataclass(eq=False, repr=False)
class SuiteCases:
    """The cases of a suite that flags select."""

    settings: SuiteSettings
    redact: Redact | None
    """Redacts a text."""
    against: OtherRun | None = None
    """The run whose outputs are the baselines."""
    sharding: Sharding | None = field(default=None, init=False)
    """The positions of the shard's cases in the data set; known after reading."""
    repeated: int = field(default=0, init=False)
    """The number of cases so far that repeat a row without an id."""
    answered: Sequence[Case] | None = field(default=None, init=False)
    """The cases with new answers, which replace those of the source."""

    def __post_init__(self) -> None:
        file, self._base, self._lines, flags = self.settings
        self._file, self._overrides = file.cases_file, flags
        self._rows = None if flags.cases else file.rows
        self.shard = self.settings.shard
        """The part of the cases to run, if the run is a shard."""

    def source(self) -> tuple[str, int | None]:
        """Return the file of the cases, and the largest number of cases to read.

        Raises:
            ConfigError: the suite names none, or the file does not exist.
        """
        file = self._file
        overrides = self._overrides
        # With a selection, `--limit` counts selected cases.
        flag = None if overrides.narrow else overrides.limit
        if self._rows is not None:
            return self._lines.file, flag
        source = overrides.cases or (file.path if file else None)
        if source is None:
            message = "the suite names no cases; add cases: cases.jsonl, or --cases FILE"
            raise ConfigError(message, where=self._lines.where("cases"))
        path = source if source == "-" or overrides.cases else str(self._base / home_path(source))
        if not overrides.cases and path != "-" and not Path(path).exists():
            message = f"no such file of cases: {path}{nearby(Path(path)) or '; check the path'}"
            raise ConfigError(message, where=self._lines.where("cases"))
        limits = [n for n in (flag, file.limit if file else None) if n is not None]
        return path, min(limits) if limits else None

    @property
    def narrowed(self) -> bool:
        """Whether flags select cases; their number is known only after reading then."""
        return bool(self._overrides.narrow) or self._overrides.shard is not None

    def cases(self) -> Iterator[Case]:
        """Return the cases, redacted.

        Raises:
            ConfigError: the suite names none.
            DatasetError: they cannot be read.
        """
        if self.answered is not None:
            return self._redacted(iter(self.answered))
        path, limit = self.source()
        try:
            if self._rows is not None:
                cases = iter(self._inline()[:limit])
            else:
                cases = load_cases(path, limit=limit, **self.shape())
        except ConfigError as exc:
            if exc.where or not str(exc).startswith("fields:"):
                raise
            raise ConfigError(str(exc), where=self._lines.where("cases", "fields")) from exc
        if self.narrowed:
            cases = self._narrowed(cases)
        return self._redacted(self._counted(cases))

    def before(self) -> Iterator[Case]:
        """Yield all cases once more, before the run, without the selection by flags.

        There are none if they can be read only once, such as those of standard input. They end at
        the first row that cannot be read: the run reports it.
        """
        if self.answered is not None:
            yield from self.answered
            return
        path, _ = self.source()
        if self._rows is not None:
            yield from self._inline()
        elif Path(path).is_file():
            try:
                yield from load_cases(path, **self.shape())
            except (ConfigError, DatasetError):
                return

    def _counted(self, cases: Iterator[Case]) -> Iterator[Case]:
        """Yield cases, and count those that repeat a row without an id."""
        self.repeated = 0
        for case in cases:
            self.repeated += is_numbered(case)
            yield case

    def _redacted(self, cases: Iterator[Case]) -> Iterator[Case]:
        if self.against is not None:
            cases = self.against.fill(cases)
        redact = self.redact
        if redact is None:
            return cases
        from judgekit.privacy.redact import redact_case

        return (redact_case(case, redact) for case in cases)

    @property
    def count(self) -> int | None:
        """The number of cases in the suite file; `None` if they are in another file."""
        return None if self._rows is None else len(self._rows)

    def _inline(self) -> list[Case]:
        """Return the cases in the suite file.

        Raises:
            DatasetError: one of them is wrong; with `file:line`.
        """
        cases: list[Case] = []
        try:
            for case in load_cases(self._rows or []):
                cases.append(case)
        except DatasetError as exc:
            place = f"row {len(cases) + 1}"
            if exc.where != place:
                raise
            message = str(exc).removeprefix(f"{place}: ")
            where = self._lines.where("cases", len(cases))
            raise DatasetError(message, where=where or place) from exc
        return cases

    @property
    def selected(self) -> dict[str, Any]:
        """The selection of cases by flags, for reports; empty without one."""
        flags = self._overrides
        ids = None if flags.ids is None else len(flags.ids)
        selection: dict[str, Any] = {"where": list(flags.where) or None, "ids": ids}
        selection |= {"limit": flags.limit, "shard": flags.shard}
        selection = {name: value for name, value in selection.items() if value is not None}
        return {"selected": selection} if selection else {}

    def _narrowed(self, cases: Iterator[Case]) -> Iterator[Case]:
        """Return the cases that flags select."""
        flags = self._overrides
        if flags.narrow:
            cases = Selection.parse(where=flags.where, ids=flags.ids, limit=flags.limit).of(cases)
        if self.shard is None:
            return cases
        self.sharding = Sharding(self.shard)
        return self.sharding.of(cases)

    @property
    def inline(self) -> bool:
        """Whether the cases are in the suite file itself."""
        return self._rows is not None

    def shape(self) -> dict[str, Any]:
        """Return the reader's options."""
        names = ("format", "container", "fields", "thoughts", "delimiter", "encoding", "sheet")
        shape = {name: getattr(self._file, name, None) for name in names}
        return {**shape, "format": self._overrides.format or shape["format"]}

    def places(self, ids: Collection[str]) -> dict[str, tuple[str, int | None]]:
        """Return file and line of cases, if they come from a file."""
        if self._rows is None:
            source = self._overrides.cases or (self._file.path if self._file else "-")
            if source == "-" or not ids:
                return {}
            path = Path(source) if self._overrides.cases else self._base / home_path(source)
            return find_places(path, ids, **self.shape())
        places: dict[str, tuple[str, int | None]] = {}
        for number, case in enumerate(self._inline()):
            file, _, line = self._lines.where("cases", number).rpartition(":")
            if case.id in ids and file:
                places[case.id] = (file, int(line))
        return places
