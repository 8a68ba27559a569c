"""The cases of a suite: which file, which of them, and where each stands."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError, DatasetError
from judgekit.core.wrong_file import nearby
from judgekit.core.yaml_file import Lines
from judgekit.datasets import load_cases
from judgekit.suite.file import Overrides, SuiteFile

if TYPE_CHECKING:
    from judgekit.cassette.redact import Redact
    from judgekit.datasets.selection.shard import Shard, Sharding


class SuiteCases:
    """The cases of a suite, as far as flags want them.

    Attributes:
        shard: the part of the cases to run, where it is one of several.
        sharding: where the cases of the shard stood among all, once they were read.
    """

    def __init__(
        self,
        file: SuiteFile,
        *,
        base: Path,
        lines: Lines,
        overrides: Overrides,
        redact: Redact | None,
    ) -> None:
        self._file = file.cases_file
        self._rows = None if overrides.cases else file.rows
        self._base = base
        self._lines = lines
        self._overrides = overrides
        self._redact = redact
        self.shard = _parse_shard(overrides.shard)
        self.sharding: Sharding | None = None

    def source(self) -> tuple[str, int | None]:
        """Return the file of the cases, and the greatest number of cases to take.

        Raises:
            ConfigError: the suite names none, or there is no such file.
        """
        wanted = self._file
        overrides = self._overrides
        # Of cases that are looked for, `--limit` counts those that were found.
        flag = None if overrides.narrow else overrides.limit
        if self._rows is not None:
            return self._lines.file, flag
        source = overrides.cases or (wanted.path if wanted else None)
        if source is None:
            raise ConfigError(
                "the suite names no cases; add cases: cases.jsonl, or --cases FILE",
                where=self._lines.where("cases"),
            )
        path = source if source == "-" or overrides.cases else str(self._base / source)
        if not overrides.cases and path != "-" and not Path(path).exists():
            message = f"no such file of cases: {path}{nearby(Path(path)) or '; check the path'}"
            raise ConfigError(message, where=self._lines.where("cases"))
        limits = [n for n in (flag, wanted.limit if wanted else None) if n is not None]
        return path, min(limits) if limits else None

    @property
    def narrowed(self) -> bool:
        """Whether only some of the cases are wanted, which only reading them tells apart."""
        return bool(self._overrides.narrow) or self._overrides.shard is not None

    def cases(self) -> Iterator[Case]:
        """Return the cases, redacted.

        Raises:
            ConfigError: the suite names none.
            DatasetError: they cannot be read.
        """
        path, limit = self.source()
        try:
            if self._rows is not None:
                cases = iter(self._written()[:limit])
            else:
                cases = load_cases(path, limit=limit, **self._shape())
        except ConfigError as exc:
            if exc.where or not str(exc).startswith("fields:"):
                raise
            raise ConfigError(str(exc), where=self._lines.where("cases", "fields")) from exc
        if self.narrowed:
            cases = self._narrowed(cases)
        redact = self._redact
        if redact is None:
            return cases
        from judgekit.cassette.redact import redact_case

        return (redact_case(case, redact) for case in cases)

    @property
    def count(self) -> int | None:
        """The number of cases written in the suite; `None` where they are in a file."""
        return None if self._rows is None else len(self._rows)

    def _written(self) -> list[Case]:
        """Return the cases written in the suite.

        Raises:
            DatasetError: one of them is wrong; with `file:line`.
        """
        cases: list[Case] = []
        rows = load_cases(self._rows or [])
        while True:
            try:
                cases.append(next(rows))
            except StopIteration:
                return cases
            except DatasetError as exc:
                place = f"row {len(cases) + 1}"
                if exc.where != place:
                    raise
                message = str(exc).removeprefix(f"{place}: ")
                where = self._lines.where("cases", len(cases))
                raise DatasetError(message, where=where or place) from exc

    @property
    def selected(self) -> dict[str, Any]:
        """What flags choose of the cases, for a person to read; empty where they choose nothing."""
        flags = self._overrides
        said: dict[str, Any] = {}
        if flags.where:
            said["where"] = list(flags.where)
        if flags.ids is not None:
            said["ids"] = len(flags.ids)
        if flags.limit is not None:
            said["limit"] = flags.limit
        if flags.shard is not None:
            said["shard"] = flags.shard
        return {"selected": said} if said else {}

    def _narrowed(self, cases: Iterator[Case]) -> Iterator[Case]:
        """Return the cases that flags choose."""
        from judgekit.datasets.selection.selection import Selection

        flags = self._overrides
        if flags.narrow:
            chosen = Selection.parse(where=flags.where, ids=flags.ids, limit=flags.limit)
            cases = chosen.of(cases)
        if self.shard is None:
            return cases
        from judgekit.datasets.selection.shard import Sharding

        self.sharding = Sharding(self.shard)
        return self.sharding.of(cases)

    def _shape(self) -> dict[str, Any]:
        """Return how rows of the cases are read."""
        wanted = self._file
        return {
            "format": self._overrides.format or (wanted.format if wanted else None),
            "container": wanted.container if wanted else None,
            "fields": wanted.fields if wanted else None,
        }

    def places(self, ids: Collection[str]) -> dict[str, tuple[str, int | None]]:
        """Return file and line of cases, as far as there is a file that can be read again."""
        from judgekit.datasets.locations import find_places

        if self._rows is not None:
            return self._lines_of(ids)
        said = self._overrides.cases or (self._file.path if self._file else "-")
        if said == "-" or not ids:
            return {}
        path = Path(said) if self._overrides.cases else self._base / said
        return find_places(path, ids, **self._shape())

    def _lines_of(self, ids: Collection[str]) -> dict[str, tuple[str, int | None]]:
        """Return file and line of cases written in the suite."""
        places: dict[str, tuple[str, int | None]] = {}
        for number, case in enumerate(self._written()):
            file, _, line = self._lines.where("cases", number).rpartition(":")
            if case.id in ids and file:
                places[case.id] = (file, int(line))
        return places


def _parse_shard(text: str | None) -> Shard | None:
    if text is None:
        return None
    from judgekit.datasets.selection.shard import Shard

    return Shard.parse(text)
