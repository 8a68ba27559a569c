"""Pages, rendered on request and cached until their files change."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import urlencode

from judgekit.analysis.comparison.compare import compare_all
from judgekit.analysis.comparison.differences import ComparisonSettings
from judgekit.core.canonical import canonical_json
from judgekit.core.errors import ConfigError
from judgekit.core.score import Row
from judgekit.pages.comparison.page import render_comparison
from judgekit.pages.html import fill
from judgekit.pages.run.kept import BOUNDS, PageBounds
from judgekit.pages.run.page import Served, render_page
from judgekit.pages.run.recorded import open_tape, records_of_rows
from judgekit.pages.run.window import window_data
from judgekit.report.folder import RESULTS
from judgekit.report.report import Report
from judgekit.view.index import CaseQuery, RunIndex, Stale
from judgekit.view.runs import RunEntry

MAX_CACHED = 200_000_000
"""Maximum size of the cached pages, in bytes."""

MOST_INDEXES = 4
"""Maximum number of indexes in memory; one has 20 bytes for each case."""
WINDOW = 100
"""Maximum number of cases that are sent at once."""


class Pages:
    """Renders pages, one at a time.

    Args:
        bounds: what the page of a run may hold.
    """

    def __init__(self, *, bounds: PageBounds = BOUNDS) -> None:
        self._bounds = bounds
        self._lock = Lock()
        self._pages: OrderedDict[tuple[str, ...], bytes] = OrderedDict()
        self._indexes: OrderedDict[tuple[str, str], RunIndex] = OrderedDict()

    def run(self, line: RunEntry, folder: Path) -> bytes:
        """Return the page of a run.

        Raises:
            JudgekitError: the run's files are damaged.
        """
        served = Served(run=line.id, stamp=line.stamp)
        key = ("run", *served)
        bounds = self._bounds
        return self._cached(
            key, lambda: render_page(Report.read(folder), served=served, bounds=bounds)
        )

    def window(self, line: RunEntry, folder: Path, query: CaseQuery, *, at: int) -> dict[str, Any]:
        """Return the data of some cases of a run.

        Args:
            line: the run.
            folder: its folder.
            query: which cases, and in which order.
            at: the place of the first one among those that match.

        Raises:
            JudgekitError: the run's files are damaged.
        """
        with self._lock:
            index = self._index(line, folder)
            try:
                return _window(index, query, at=at)
            except Stale:
                index.rebuild()
            try:
                return _window(index, query, at=at)
            except Stale as exc:
                message = "the results have changed; load the page again"
                raise ConfigError(message, where=line.id) from exc

    def _index(self, line: RunEntry, folder: Path) -> RunIndex:
        key = (line.id, line.stamp)
        if key not in self._indexes:
            report = Report.read(folder)
            large = report.figures.cases > self._bounds.cases
            self._indexes[key] = RunIndex.open(report, save=large)
            while len(self._indexes) > MOST_INDEXES:
                self._indexes.popitem(last=False)
        self._indexes.move_to_end(key)
        return self._indexes[key]

    def comparison(self, runs: Sequence[tuple[RunEntry, Path]], *, across_rubrics: bool) -> bytes:
        """Return the page of a comparison; the first run is the base.

        Raises:
            JudgekitError: the runs cannot be compared, or files are damaged.
        """
        stamps = [text for line, _ in runs for text in (line.id, line.stamp)]

        def render() -> str:
            base, *new = (Report.read(folder) for _, folder in runs)
            comparisons = compare_all(base, new, ComparisonSettings(across_rubrics=across_rubrics))
            pages = [f"/run?{urlencode({'run': line.id})}" for line, _ in runs]
            return render_comparison(base, new, comparisons, pages=pages)

        return self._cached(("compare", str(across_rubrics), *stamps), render)

    def _cached(self, key: tuple[str, ...], make: Callable[[], str]) -> bytes:
        with self._lock:
            if key not in self._pages:
                self._pages[key] = make().encode("utf-8", "replace")
                while len(self._pages) > 1 and sum(map(len, self._pages.values())) > MAX_CACHED:
                    self._pages.popitem(last=False)
            self._pages.move_to_end(key)
            return self._pages[key]


def _window(index: RunIndex, query: CaseQuery, *, at: int) -> dict[str, Any]:
    found = index.find(query)
    at = max(0, min(at, len(found) - 1))
    several = index.window(found[at : at + WINDOW], worst_first=query.worst_first)
    data = window_data(index.report, several)
    return {**data, "at": at, "total": len(found), "of": len(index)}


def small_page(template: str, *scripts: str, **values: Any) -> bytes:
    """Return the page that lists runs, follows a run, or shows a problem.

    Args:
        template: `list`, `live` or `problem`.
        scripts: pieces of the script, which fetches the data of the page.
        values: variables of the template.
    """
    page = fill(template, styles=("view",), scripts=scripts, connect="'self'", **values)
    return page.encode("utf-8", "replace")


def records_of(folder: Path, case: str) -> dict[str, Any] | None:
    """Return the records of a case by key, in the form of the run page.

    Returns `None` if the run has no such case.

    Raises:
        CassetteCorrupt: the run's tape is damaged.
        ConfigError: a row is not a result.
    """
    # Rows begin with the id in canonical JSON, so other rows need not be parsed.
    begin = f'{{"case":{canonical_json(case)},"metric":'.encode()
    rows = []
    with (folder / RESULTS).open("rb") as lines:
        for line in lines:
            if line.startswith(begin) and line.endswith(b"\n"):
                rows.append(Row.model_validate(json.loads(line)))
            elif rows:
                break
    if not rows:
        return None
    tape = open_tape(folder)
    if tape is None:
        return {}
    with closing(tape):
        return records_of_rows(rows, tape, str)  # a single case has no shared texts
