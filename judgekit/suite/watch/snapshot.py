"""The results of a run, so that the next run reuses those that a saved file does not change."""

from __future__ import annotations

from typing import Any

from judgekit.core.canonical import digest_json
from judgekit.core.case import Case
from judgekit.core.score import Failure, Result, Score
from judgekit.report.manifest import full_manifest
from judgekit.report.report import Report
from judgekit.report.summary import MetricSummary
from judgekit.suite.suite import Suite
from judgekit.suite.watch.files import Stamp, digest_of, files_named, stamp_of

Key = tuple[str, str]
"""A case and a metric."""


class RunSnapshot:
    """The rows of a run, with digests of the metrics and judges.

    Attributes:
        report: the report.
        rows: case id and metric -> case and result, in order.
        last: the last score of each row, of this run or an earlier one.
        means: the last summary of each metric with a mean.
    """

    def __init__(self, report: Report, suite: Suite, *, earlier: RunSnapshot | None = None) -> None:
        self.report = report
        self.rows: dict[Key, tuple[Case, Result]] = {
            (row.case, row.metric): (scored.case, row.result)
            for scored in report.results
            for row in scored.rows
        }
        before = {} if earlier is None else earlier.last
        self.last: dict[Key, Score] = {}
        for key, (_, result) in self.rows.items():
            score = before.get(key) if isinstance(result, Failure) else result
            if score is not None:
                self.last[key] = score
        self.means: dict[str, MetricSummary] = {} if earlier is None else dict(earlier.means)
        self.means |= {s.metric: s for s in report.figures.metrics if s.mean is not None}
        self.makers = maker_digests(suite)
        self.tape = tape_stamp(suite)


class ReusableResults:
    """Gives the next run the results that are still valid, and counts the others.

    A result stays valid while its case and its metric stay the same: rubric, judge, options, and
    the files that the suite names for the metric. A result from replies is invalid after another
    program wrote to the cassette. A failure is never reused.

    Args:
        earlier: the earlier run.
        suite: the suite of the next run.
    """

    def __init__(self, earlier: RunSnapshot, suite: Suite) -> None:
        self._rows = earlier.rows
        self._cassette = suite.cassette
        digests = maker_digests(suite)
        self._same = {name for name, d in digests.items() if earlier.makers.get(name) == d}
        self._recorded = tape_stamp(suite) == earlier.tape
        self.fresh = 0
        """Rows that were scored again."""

    def __call__(self, case: Case, metric: str) -> Result | None:
        """Return the result of a row if it is still valid."""
        earlier, result = self._rows.get((case.id, metric), (None, None))
        if result is None or metric not in self._same or earlier != case or not self._valid(result):
            self.fresh += 1
            return None
        return result

    def _valid(self, result: Result) -> bool:
        if isinstance(result, Failure) or result.fallback is not None:
            return False
        if not result.judgments and result.source != "judge":
            return True
        if self._recorded and self._cassette is not None and self._cassette.tape is not None:
            for judgment in result.judgments:
                self._cassette.take_over(judgment.request_key)
        return self._recorded


def maker_digests(suite: Suite) -> dict[str, str]:
    """Return metric -> digest of everything that decides its scores."""
    manifest = suite.manifest()
    described = full_manifest(suite.metrics, manifest)["metrics"]
    shared = [manifest.get(name) for name in ("judge", "judges", "roles", "redact")]
    shared += [suite.file.embedder, {r: (j.api_base, j.answers) for r, j in suite.roles.items()}]
    return {
        entry["name"]: digest_json([entry, shared, _entry(suite, entry["name"])])
        for entry in described
    }


def _entry(suite: Suite, name: str) -> Any:
    """Return the entry of a metric and of its parts, with digests of the files that it names."""
    entry = suite.file.metrics.get(name)
    if entry is None:
        return None
    settings = entry.model_dump(mode="json", exclude={"threshold", "gate"})
    answers = [judge.answers for judge in suite.roles.values()]
    files = {str(p): digest_of(p) for p in files_named(suite.base, [settings, answers])}
    return [settings, files, [_entry(suite, part) for part in entry.of or ()]]


def tape_stamp(suite: Suite) -> Stamp:
    """Return the stamp of a suite's cassette."""
    path = suite.cassette.path if suite.cassette is not None else None
    return None if path is None else stamp_of(path)
