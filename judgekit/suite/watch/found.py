"""What a run found, kept so that the next one takes over what a saved file leaves as it was."""

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


class Found:
    """The rows of a run, and what made them.

    Attributes:
        report: the report.
        rows: case and result by case id and metric, in order.
        last: the last score that each row had, in this run or an earlier one.
        means: the last figures of each metric that had a mean.
    """

    def __init__(self, report: Report, suite: Suite, *, earlier: Found | None = None) -> None:
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
        self.makers = makers_of(suite)
        self.tape = tape_of(suite)


class TakenOver:
    """Gives the next run the results that still hold, and counts those that do not.

    A result holds while its case, its metric and what the metric is made with are the same: rubric,
    judge, options, and the files the suite names for it. One that rests on replies holds no longer
    when somebody else wrote to the cassette, and a failure never does.

    Args:
        found: what the earlier run found.
        suite: the next one.
    """

    def __init__(self, found: Found, suite: Suite) -> None:
        self._found = found
        self._cassette = suite.cassette
        makers = makers_of(suite)
        self._same = {name for name, made in makers.items() if found.makers.get(name) == made}
        self._recorded = tape_of(suite) == found.tape
        self.fresh = 0
        """Rows that were scored anew."""
        self.rows = 0
        """Rows in all."""

    def __call__(self, case: Case, metric: str) -> Result | None:
        """Return the result of a row if it still holds."""
        self.rows += 1
        then = self._found.rows.get((case.id, metric))
        if then is None or metric not in self._same or then[0] != case or not self._holds(then[1]):
            self.fresh += 1
            return None
        return then[1]

    def _holds(self, result: Result) -> bool:
        if isinstance(result, Failure) or result.fallback is not None:
            return False
        asked = result.judgments or result.source == "judge"
        if not asked:
            return True
        if self._recorded and self._cassette is not None and self._cassette.tape is not None:
            for judgment in result.judgments:
                self._cassette.take_over(judgment.request_key)
        return self._recorded


def makers_of(suite: Suite) -> dict[str, str]:
    """Return the digest of all that decides what each metric says of a case."""
    manifest = suite.manifest()
    described = full_manifest(suite.metrics, manifest)["metrics"]
    shared = [manifest.get(name) for name in ("judge", "judges", "roles", "redact")]
    shared += [suite.file.embedder, {r: (j.api_base, j.answers) for r, j in suite.roles.items()}]
    return {
        entry["name"]: digest_json([entry, shared, _entry(suite, entry["name"])])
        for entry in described
    }


def _entry(suite: Suite, name: str) -> Any:
    """Return what the suite says of a metric and its parts, with the files it names."""
    entry = suite.file.metrics.get(name)
    if entry is None:
        return None
    said = entry.model_dump(mode="json", exclude={"threshold", "gate"})
    answers = [judge.answers for judge in suite.roles.values()]
    files = {str(p): digest_of(p) for p in files_named(suite.base, [said, answers])}
    return [said, files, [_entry(suite, part) for part in entry.of or ()]]


def tape_of(suite: Suite) -> Stamp:
    """Return the stamp of a suite's cassette."""
    path = suite.cassette.path if suite.cassette is not None else None
    return None if path is None else stamp_of(path)
