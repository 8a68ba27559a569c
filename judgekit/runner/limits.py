"""The limits of a run: what may be missing from a complete run."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from judgekit.core.arguments import checked_class
from judgekit.report.summary import MetricSummary


@checked_class
class Limits(NamedTuple):
    """The numbers of rows that may fail or use a fallback in a complete run."""

    max_failures: int = 0
    max_fallback: int = 0
    may_be_empty: bool = False

    def shortfalls(
        self, summaries: Sequence[MetricSummary], *, cases: int, interrupted: bool
    ) -> Iterator[str]:
        """Yield the reasons why a run is incomplete; nothing if it is complete."""
        if interrupted:
            yield f"stopped early, with {cases} cases done"
        if cases == 0 and not self.may_be_empty:
            yield "no cases"
        failed = sum(s.failed for s in summaries)
        not_run = sum(s.not_run for s in summaries)
        fallback = sum(s.fallback for s in summaries)
        if failed > self.max_failures:
            yield f"{_rows(failed)} failed ({self.max_failures} allowed)"
        if pending := sum(s.pending for s in summaries):
            yield f"{_rows(pending)} pending in batch jobs"
        if not_run > pending:
            yield f"{_rows(not_run - pending)} not run"
        if fallback > self.max_fallback:
            yield f"{_rows(fallback)} by fallback ({self.max_fallback} allowed)"
        if cases and not any(s.scored or s.fallback or s.failed or s.not_run for s in summaries):
            yield "nothing was applicable"


def _rows(count: int) -> str:
    return f"{count} row{'s' if count != 1 else ''}"
