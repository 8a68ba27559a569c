"""The rows of a run to look at: the worst ones, and their number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgekit.core.score import Score
from judgekit.report.export.verdict import RowVerdict, verdicts
from judgekit.report.largest import Largest

if TYPE_CHECKING:
    from judgekit.report.report import Report
    from judgekit.report.summary import MetricSummary

MOST_FAILED = 50
"""Rows below the threshold that are kept of a metric, the worst first."""
MOST_ERRORS = 20
"""Rows without a score that are kept of a metric, in the order of the cases."""


class Findings:
    """The failed rows of one metric."""

    def __init__(self, summary: MetricSummary) -> None:
        self.summary = summary
        self.failed = 0
        """Rows that miss the threshold."""
        self.errors = 0
        """Rows without a score, because something went wrong."""
        self.first_errors: list[tuple[str, RowVerdict]] = []
        self.worst = Largest[tuple[str, float, RowVerdict]](MOST_FAILED)
        """The rows that miss the threshold, the worst first."""

    def add(self, case: str, verdict: RowVerdict, value: float | None) -> None:
        """Take one row."""
        if verdict.outcome == "error":
            self.errors += 1
            if len(self.first_errors) < MOST_ERRORS:
                self.first_errors.append((case, verdict))
        if verdict.outcome != "failed" or value is None:
            return
        self.failed += 1
        badness = -value if self.summary.higher_is_better else value
        self.worst.add((badness, -self.failed), (case, value, verdict))


def findings_of(report: Report) -> list[Findings]:
    """Return the failed rows of each metric, in constant memory."""
    findings = {name: Findings(summary) for name, summary in report.metrics.items()}
    for row, verdict in verdicts(report):
        value = row.result.value if isinstance(row.result, Score) else None
        findings[row.metric].add(row.case, verdict, value)
    return list(findings.values())
