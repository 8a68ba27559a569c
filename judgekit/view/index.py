"""The index of a very large run: where its cases are, which failed, and the order of the worst.

The file beside the results saves reading them all again. It is only a hint: the offsets of the
cases are found in the results each time, and what the index says about a case is compared with its
rows whenever the case is shown.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from array import array
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from judgekit.core.canonical import canonical_json, digest
from judgekit.core.errors import ConfigError
from judgekit.core.input_file import read_text
from judgekit.core.output_file import is_link, whole_file
from judgekit.core.score import FailureKind, Row
from judgekit.pages.run.tallies import Ranking
from judgekit.pages.run.unscored import lacked
from judgekit.report.folder import INDEX, MAX_JSON, REPORT, RESULTS, Scored
from judgekit.report.lookup import CASE, ResultsLookup
from judgekit.report.report import Report

VERSION = 1
STATES = (
    "scored", "passes", "below", "fallback", "abstained", "not_applicable", "lacking", "missing",
    *FailureKind.__args__,  # type: ignore[attr-defined]
)  # fmt: skip
"""What a metric can be on a case; an index has one byte for it."""
FAILED = frozenset({"missing", *FailureKind.__args__})  # type: ignore[attr-defined]
FAILING = FAILED | {"below"}
MOST_HEADER = 1_000_000
"""Maximum length of the first line of an index, in bytes."""
_CHUNK = 1 << 22
_CODES = {state: code for code, state in enumerate(STATES)}
_LONGEST_ID = 1 << 20
"""Bytes of a line in which an id is looked for."""


class CaseQuery(NamedTuple):
    """Which cases to show, and in which order."""

    status: str = "all"
    """`all`, `failing`, `failed`, or one of `STATES`."""
    metric: str | None = None
    """The metric that must have the status; by default, any."""
    text: str = ""
    """A part of the id, in any case."""
    id: str | None = None
    """The whole id."""
    worst_first: bool = True


class Stale(Exception):
    """The index does not describe the results."""


class RunIndex:
    """The cases of a run, found without reading all of them.

    Args:
        report: the run, which has a folder.
        save: whether to write a new index beside the results.
    """

    def __init__(self, report: Report, *, save: bool = True) -> None:
        if report.folder is None:
            raise ConfigError("a run without a folder has no index")
        self.folder = report.folder
        self._saves = save
        self.metrics = tuple(report.metrics)
        self._ranking = Ranking(report.metrics)
        self.report = report
        self._offsets = array("Q")
        self._order = array("I")
        self._states = b""

    @classmethod
    def open(cls, report: Report, *, save: bool = True) -> RunIndex:
        """Return the index of a run: the one on disk if it fits, else a new one.

        Args:
            report: the run, which has a folder.
            save: whether to write a new index beside the results.

        Raises:
            ConfigError: the results are damaged.
        """
        index = cls(report, save=save)
        try:
            index._read()
        except (OSError, ValueError, TypeError, LookupError, RecursionError, Stale):
            index.rebuild()
        return index

    def __len__(self) -> int:
        return len(self._offsets)

    # -- showing ------------------------------------------------------------------

    def find(self, query: CaseQuery) -> array[int]:
        """Return the numbers of the cases that match, in order."""
        order = self._order if query.worst_first else array("I", range(len(self)))
        wanted = _codes(query.status)
        width = len(self.metrics)
        if query.metric is not None:
            if query.metric not in self.metrics:
                return array("I")
            place = self.metrics.index(query.metric)
            order = array("I", (n for n in order if self._states[n * width + place] in wanted))
        elif query.status != "all":
            at = self._states
            order = array(
                "I", (n for n in order if wanted.intersection(at[n * width : (n + 1) * width]))
            )
        if query.id is not None or query.text:
            order = array("I", self._with_id(order, query))
        return order

    def _at(self, numbers: array[int]) -> Iterator[Scored]:
        """Yield cases by their numbers, each compared with the index.

        Raises:
            Stale: the index says something else about a case.
            ConfigError: a case cannot be read.
        """
        with ResultsLookup(self.folder) as results:
            for number in numbers:
                scored = results.at(self._offsets[number])
                width = len(self.metrics)
                if self._states[number * width : (number + 1) * width] != self._codes(scored):
                    raise Stale
                yield scored

    def window(self, numbers: array[int], *, worst_first: bool) -> list[tuple[int, Scored]]:
        """Return cases by their numbers.

        Raises:
            Stale: the index says something else about a case, or about their order.
            ConfigError: a case cannot be read.
        """
        several = list(self._at(numbers))
        if worst_first:
            self._check_order(several)
        return list(zip(numbers, several, strict=True))

    def _check_order(self, several: list[Scored]) -> None:
        """Check that neighbours are in the order of the worst.

        Raises:
            Stale: they are not.
        """
        ranks = map(self._ranking.rank, several)
        if any(later < first for first, later in pairwise(ranks)):
            raise Stale

    def _with_id(self, order: array[int], query: CaseQuery) -> Iterator[int]:
        part = query.text.casefold()
        with (self.folder / RESULTS).open("rb") as file:
            for number in order:
                id = self._id(file, number)
                if id == query.id if query.id is not None else part in id.casefold():
                    yield number
                    if query.id is not None:
                        return

    def _id(self, file: BinaryIO, number: int) -> str:
        """Return the id of a case from its first row, or else from the case."""
        end = self._offsets[number + 1] if number + 1 < len(self) else None
        file.seek(self._offsets[number])
        size = _LONGEST_ID if end is None else min(_LONGEST_ID, end - self._offsets[number])
        found = _ROW.search(file.read(size))
        if found is not None:
            with suppress(ValueError):
                return str(json.loads(found[1]))
        with ResultsLookup(self.folder) as results:
            return results.at(self._offsets[number]).case.id

    # -- making -------------------------------------------------------------------

    def rebuild(self) -> None:
        """Read all results, and save the index beside them if the folder can be written."""
        ranks = []
        states = bytearray()
        self._offsets = array("Q")
        for offset, scored in self.report.stored.placed():
            self._offsets.append(offset)
            states += self._codes(scored)
            ranks.append(self._ranking.rank(scored))
        self._states = bytes(states)
        self._order = array("I", sorted(range(len(ranks)), key=ranks.__getitem__))
        self._save()

    def _codes(self, scored: Scored) -> bytes:
        rows = {row.metric: row for row in scored.rows}
        return bytes(_CODES[self._state(rows.get(metric))] for metric in self.metrics)

    def _state(self, row: Row | None) -> str:
        if row is None:
            return "missing"
        result = row.result
        if result.type == "failure":
            return "lacking" if lacked(result) is not None else result.kind
        if result.status != "scored" or result.value is None:
            return result.status
        if result.fallback is not None:
            return "fallback"
        passes = self.report.metrics[row.metric].passes(result.value)
        return "scored" if passes is None else "passes" if passes else "below"

    # -- on disk ------------------------------------------------------------------

    def _stamp(self) -> list[Any]:
        stat = (self.folder / RESULTS).stat()
        report = digest(read_text(self.folder / REPORT, most=MAX_JSON))
        return [stat.st_size, stat.st_mtime_ns, report, list(STATES)]

    def _body(self) -> bytes:
        order = array("I", self._order)
        if sys.byteorder == "big":
            order.byteswap()
        return order.tobytes() + self._states

    def _save(self) -> None:
        path = self.folder / INDEX
        if not self._saves or (os.path.lexists(path) and (is_link(path) or not path.is_file())):
            return
        body = self._body()
        header = {
            "judgekit": "index",
            "version": VERSION,
            "stamp": self._stamp(),
            "cases": len(self),
            "digest": hashlib.sha256(body).hexdigest(),
        }
        # A folder that cannot be written, or a full disk: the index is in memory.
        with suppress(OSError), whole_file(path) as file:
            file.write(canonical_json(header).encode() + b"\n" + body)

    def _read(self) -> None:
        """Read the index on disk.

        Raises:
            Stale: it is of other results, or is damaged.
        """
        path = self.folder / INDEX
        if is_link(path) or not path.is_file():
            raise Stale
        cases, width = self.report.figures.cases, len(self.metrics)
        with path.open("rb") as file:
            header = json.loads(file.readline(MOST_HEADER))
            body = file.read(cases * (4 + width) + 1)
        if not isinstance(header, dict):
            raise Stale
        known = [header.get(name) for name in ("judgekit", "version", "stamp", "cases", "digest")]
        expected = ["index", VERSION, self._stamp(), cases, hashlib.sha256(body).hexdigest()]
        if known != expected:
            raise Stale
        order = array("I", body[: 4 * cases])
        if sys.byteorder == "big":
            order.byteswap()
        states = body[4 * cases :]
        if len(states) != cases * width or max(states, default=0) >= len(STATES):
            raise Stale
        if len(set(order)) != cases or max(order, default=0) >= cases:
            raise Stale
        self._offsets = array("Q", _offsets(self.folder / RESULTS))
        if len(self._offsets) != cases:
            raise Stale
        self._order, self._states = order, states
        self._check_counts()

    def _check_counts(self) -> None:
        """Compare the numbers of failures with the report.

        Raises:
            Stale: they differ.
        """
        width = len(self.metrics)
        failures = {_CODES[state] for state in FAILED | {"lacking"}} - {_CODES["missing"]}
        for place, summary in enumerate(self.report.metrics.values()):
            states = self._states[place::width]
            if sum(map(states.count, failures)) != summary.failed + summary.not_run:
                raise Stale


_ROW = re.compile(rb'\n\{"case":("(?:[^"\\\n]|\\.)*"),"metric":')


def _codes(status: str) -> frozenset[int]:
    """Return the codes of a status in a query."""
    if status == "all":
        return frozenset(_CODES.values())
    several = {"failing": FAILING, "failed": FAILED}.get(status, frozenset({status}))
    return frozenset(_CODES[state] for state in several if state in _CODES)


def _offsets(path: Path) -> Iterator[int]:
    """Yield the offsets of the lines of cases; texts in JSON have no line ends."""
    mark = b"\n" + CASE
    at, rest = 0, b""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            text = rest + chunk
            begin = text.find(mark)
            while begin >= 0:
                yield at + begin + 1
                begin = text.find(mark, begin + 1)
            rest = text[-len(mark) + 1 :]
            at += len(text) - len(rest)
