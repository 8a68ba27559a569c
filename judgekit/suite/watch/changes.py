"""The results of a watched run: reuse in the next run, and changes."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from judgekit.core.canonical import digest_json
from judgekit.core.case import Case
from judgekit.core.score import Failure, Result, Score
from judgekit.report.gate import GateResult
from judgekit.report.manifest import mapping
from judgekit.report.report import Report
from judgekit.report.summary import MetricSummary
from judgekit.suite.resolved import ResolvedSuite
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
        older_keys: key -> the older key under which the tape has its record.
    """

    def __init__(
        self, report: Report, suite: ResolvedSuite, *, earlier: RunSnapshot | None = None
    ) -> None:
        self.report = report
        self.rows: dict[Key, tuple[Case, Result]] = {
            (row.case, row.metric): (scored.case, row.result)
            for scored in report.results
            for row in scored.rows
        }
        self.older_keys = mapping(report.run.get("older_keys"))
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
    """Provides the results that are still valid to the next run, and counts the others.

    A result is valid while its case and its metric are unchanged: rubric, judge, options, and the
    metric's files in the suite. A result from replies becomes invalid if another program writes to
    the cassette. Failures are never reused.

    Args:
        earlier: the earlier run.
        suite: the suite of the next run.
    """

    def __init__(self, earlier: RunSnapshot, suite: Suite) -> None:
        self._rows, self._older = earlier.rows, earlier.older_keys
        self._cassette = suite.cassette
        digests = maker_digests(suite.resolved)
        self._same = {name for name, d in digests.items() if earlier.makers.get(name) == d}
        self._recorded = tape_stamp(suite.resolved) == earlier.tape
        self.fresh = 0
        """Number of rows that were scored again."""

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
                key = judgment.request_key
                self._cassette.take_over(key, older=str(self._older.get(key, "")))
        return self._recorded


def maker_digests(suite: ResolvedSuite) -> dict[str, str]:
    """Return metric -> digest of all inputs that affect its scores."""
    manifest = suite.manifest()
    described = suite.full_manifest()["metrics"]
    shared = [manifest.get(name) for name in ("judge", "judges", "roles", "redact")]
    shared += [suite.file.embedder, {r: (j.api_base, j.answers) for r, j in suite.roles.items()}]
    return {
        entry["name"]: digest_json([entry, shared, _entry(suite, entry["name"])])
        for entry in described
    }


def _entry(suite: ResolvedSuite, name: str) -> Any:
    """Return the entries of a metric and its parts, with digests of the files in them."""
    entry = suite.file.metrics.get(name)
    if entry is None:
        return None
    settings = entry.model_dump(mode="json", exclude={"threshold", "gate"})
    answers = [judge.answers for judge in suite.roles.values()]
    files = {str(p): digest_of(p) for p in files_named(suite.base, [settings, answers])}
    return [settings, files, [_entry(suite, part) for part in entry.of or ()]]


def tape_stamp(suite: ResolvedSuite) -> Stamp:
    """Return the stamp of a suite's cassette."""
    return None if suite.tape is None else stamp_of(suite.tape)


class RowChange(NamedTuple):
    """A row whose score changed."""

    case: str
    metric: str
    old: Result | None
    """The last score; `None` for a new case."""
    new: Result
    higher_is_better: bool

    @property
    def worse(self) -> float:
        """Decrease in quality; inf if there is no score now, -inf if there was none before."""
        if not isinstance(self.new, Score) or self.new.value is None:
            return float("inf")
        if not isinstance(self.old, Score) or self.old.value is None:
            return float("-inf")
        fall = self.old.value - self.new.value
        return fall if self.higher_is_better else -fall


class RunChanges(NamedTuple):
    """The changes from one run to the next."""

    rows: tuple[RowChange, ...]
    """Rows whose score changed, the worst first."""
    added: int
    gone: int
    """Cases."""
    missed: Counter[str]
    """Metric -> number of rows that are no longer recorded."""
    recorded: int
    """Number of rows that are recorded now and were not before."""
    means: tuple[tuple[MetricSummary, MetricSummary], ...]
    """Changed means, before and after."""
    gates: tuple[tuple[GateResult | None, GateResult], ...]
    """Gates with a changed outcome, and new gates that fail."""


def changes_between(old: RunSnapshot, new: RunSnapshot) -> RunChanges:
    """Return the changes from one run to the next."""
    higher = {s.metric: s.higher_is_better for s in new.report.figures.metrics}
    rows: list[RowChange] = []
    missed: Counter[str] = Counter()
    recorded = 0
    for key, (_, result) in new.rows.items():
        before = old.rows[key][1] if key in old.rows else None
        if _is_miss(result):
            missed[key[1]] += not _is_miss(before)
            continue
        recorded += _is_miss(before)
        last = old.last.get(key, before)
        if last is None or _outcome(last) != _outcome(result):
            if _is_miss(before) and key not in old.last:
                last = None
            rows.append(RowChange(*key, last, result, higher[key[1]]))
    cases, then = ({case for case, _ in run.rows} for run in (new, old))
    rows.sort(key=lambda change: -change.worse)
    return RunChanges(
        rows=tuple(rows),
        added=len(cases - then),
        gone=len(then - cases),
        missed=+missed,
        recorded=recorded,
        means=tuple(_means(old, new)),
        gates=tuple(_flips(old, new)),
    )


def _is_miss(result: Result | None) -> bool:
    return isinstance(result, Failure) and result.kind == "cassette_miss"


def _outcome(result: Result) -> tuple[object, ...]:
    """Return the parts of a result whose difference counts as a change."""
    if isinstance(result, Failure):
        return ("failure", result.kind)
    return (result.status, result.value, result.fallback is not None)


def _means(old: RunSnapshot, new: RunSnapshot) -> list[tuple[MetricSummary, MetricSummary]]:
    """Return the metrics whose mean changed."""
    pairs = [(old.means.get(s.metric), s) for s in new.report.figures.metrics]
    return [
        (then, now)
        for then, now in pairs
        if then is not None and now.mean is not None and then.mean != now.mean
    ]


def _flips(old: RunSnapshot, new: RunSnapshot) -> list[tuple[GateResult | None, GateResult]]:
    """Return the gates with a changed outcome; a new gate counts as passed before."""
    before = {_place(gate): gate for gate in old.report.figures.gates}
    pairs = [(before.get(_place(gate)), gate) for gate in new.report.figures.gates]
    return [(then, now) for then, now in pairs if now.passed != (then is None or then.passed)]


def _place(gate: GateResult) -> tuple[str, str]:
    """Return the identity of a gate, without its bound."""
    return gate.gate.subject, gate.gate.statistic
