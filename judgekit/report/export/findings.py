"""The outcome of a row for test tools, and the rows of a run to look at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from judgekit.core.errors import ConfigError
from judgekit.core.score import Failure, Part, Result, Row, Score
from judgekit.report.summary import Largest

if TYPE_CHECKING:
    from judgekit.report.report import Report
    from judgekit.report.summary import MetricSummary

MOST_FAILED = 50
"""Maximum number of rows below the threshold to keep per metric, the worst first."""
MOST_ERRORS = 20
"""Maximum number of rows without a score to keep per metric, in the order of the cases."""

Outcome = Literal["passed", "failed", "error", "skipped"]


class RowVerdict(NamedTuple):
    """The outcome of a row, its reason and details."""

    outcome: Outcome
    kind: str = ""
    """The reason why it is not `passed`, as a word: `below_threshold`, `refused`, ..."""
    line: str = ""
    """The reason, as a sentence."""
    details: tuple[str, ...] = ()
    """Criteria that lowered the value, with reasons and quotes, one line each."""


PASSED = RowVerdict("passed")


def verdict_of(result: Result, summary: MetricSummary) -> RowVerdict:
    """Return the outcome of a row: `failed` if it misses its threshold, `error` without a score.

    Abstained, not applicable and fallback rows are skipped: the metric itself gave no verdict.
    """
    if isinstance(result, Failure):
        return RowVerdict("error", result.kind, result.message)
    if result.status != "scored" or result.value is None:
        status = result.status.replace("_", " ")
        return RowVerdict("skipped", result.status, f"{status}: {result.reason}".rstrip(": "))
    if result.fallback is not None:
        fallback = f"the fallback {result.fallback.substitute} gave {_number(result.value)}"
        return RowVerdict("skipped", "fallback", f"{fallback}: {result.fallback.cause}")
    if summary.passes(result.value) is not False:
        return PASSED
    word = "below" if summary.higher_is_better else "above"
    line = f"{_number(result.value)} is {word} the threshold {_number(summary.threshold)}"
    if result.reason:
        line += f": {result.reason}"
    return RowVerdict("failed", f"{word}_threshold", line, tuple(_details(result, line)))


def _details(result: Score, line: str) -> Iterator[str]:
    """Yield the details that are not in the line, which may contain the worst criterion."""
    for number, part in enumerate(_worst_first(result)):
        lines = _part_lines(part)
        if number == 0 and part.reason and f"{part.id} {part.value:.2f}: {part.reason}" in line:
            next(lines)
        yield from lines


def verdicts(report: Report) -> Iterator[tuple[Row, RowVerdict]]:
    """Yield every row of a run with its outcome, in the order of the cases.

    Raises:
        ConfigError: the results cannot be read, or are not those of the report.
    """
    summaries = report.metrics
    for scored in report.results:
        for row in scored.rows:
            if row.metric not in summaries:
                raise ConfigError(
                    f"has a result of {row.metric!r}, which the report does not know: it was "
                    "changed; run it again",
                    where=str(report.folder or "the run"),
                )
            yield row, verdict_of(row.result, summaries[row.metric])


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


def _worst_first(score: Score) -> list[Part]:
    lost = [part for part in score.parts if part.value is not None and part.value < 1]
    # A criterion with a negative weight lowers the value if it is met; list all of those.
    lost += [part for part in score.parts if part.value == 1 and part.weight < 0]
    return sorted(lost, key=lambda part: -part.cost)


def _part_lines(part: Part) -> Iterator[str]:
    yield f"{part.id} {_number(part.value)}: {part.reason}".rstrip(": ")
    for item in part.items:
        if isinstance(item, dict) and item.get("met") is False:
            text = f"{item.get('item')}: {item.get('reason') or ''}"
            yield f"  {part.verdict_on(item)}: {text}".rstrip(": ")
    for quote in part.quotes:
        where = f"in {quote.field}" if quote.field else "not found in the case"
        yield f'  "{quote.text}" ({where})'


class Findings:
    """The failed rows of one metric."""

    def __init__(self, summary: MetricSummary) -> None:
        self.summary = summary
        self.failed = 0
        """Number of rows below the threshold."""
        self.errors = 0
        """Number of rows without a score because of an error."""
        self.first_errors: list[tuple[str, RowVerdict]] = []
        self.worst = Largest[tuple[str, float, RowVerdict]](MOST_FAILED)
        """The rows below the threshold, the worst first."""

    def add(self, case: str, verdict: RowVerdict, value: float | None) -> None:
        """Add one row."""
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
