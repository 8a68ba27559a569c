"""The overview of a run: a row per metric, and the reasons for which rows have no score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from judgekit.pages.figures import Axis
from judgekit.pages.run.unscored import Reason, Reasons
from judgekit.report.gate import GateResult
from judgekit.report.report import Report
from judgekit.report.summary import MetricSummary


class GateMark(NamedTuple):
    """A gate in a few characters."""

    kind: str
    """`held`, `lost` or `open`."""
    text: str
    sentence: str


class OverviewRow(NamedTuple):
    """One metric of the overview."""

    number: int
    """The place of the metric in the run; its card has it, too."""
    summary: MetricSummary
    axis: Axis
    gates: tuple[GateMark, ...]
    failed: int
    """Rows without a score, except those of cases that lack a field."""
    lacking: int
    """Rows of cases that lack a field."""

    @property
    def cases(self) -> str:
        """The address of the cases, the worst by this metric first."""
        return f"#{urlencode({'sort': f'metric.{self.summary.metric}'} | self._order)}"

    @property
    def below(self) -> str:
        """The address of the cases beyond the threshold of a metric, the worst first."""
        sort = {"status": "below", "sort": f"metric.{self.summary.metric}"}
        return f"#{urlencode(sort | self._order)}"

    @property
    def _order(self) -> dict[str, str]:
        return {} if self.summary.higher_is_better else {"order": "down"}


class Overview:
    """The rows of the overview.

    Args:
        report: the run.
        reasons: the reasons for which its rows have no score; without it, none is counted.
    """

    def __init__(self, report: Report, reasons: Reasons | None = None) -> None:
        self._figures = report.figures
        self._reasons = reasons or Reasons(())
        rows = [self._row(*entry) for entry in enumerate(report.figures.metrics)]
        judged = [row for row in rows if not is_computed(row.summary)]
        computed = [row for row in rows if is_computed(row.summary)]
        both = bool(judged and computed)
        self.groups: list[tuple[str, list[OverviewRow]]] = [
            (name if both else "", of)
            for name, of in (("Judged", judged), ("Computed", computed))
            if of
        ]
        """Heading and rows of judged and of computed metrics; no heading if all are of a kind."""
        self.whole = [_mark(gate) for gate in report.figures.gates if not gate.gate.metric]
        """The gates on the whole run."""

    @property
    def with_gates(self) -> bool:
        """Whether a metric has a gate."""
        return any(row.gates for _, rows in self.groups for row in rows)

    @property
    def with_thresholds(self) -> bool:
        """Whether a metric has a threshold."""
        return any(summary.threshold is not None for summary in self._figures.metrics)

    @property
    def reasons(self) -> Iterator[tuple[Reason, str]]:
        """The reasons for missing scores, and the addresses of their cases."""
        for reason in self._reasons.finish():
            yield reason, f"#{urlencode({'status': f'why:{reason.text}'})}"

    def _row(self, number: int, summary: MetricSummary) -> OverviewRow:
        lacking = self._reasons.lacking(summary.metric)
        return OverviewRow(
            number=number,
            summary=summary,
            axis=Axis(summary),
            gates=_marks(self._figures.gates, summary.metric),
            failed=max(0, summary.failed + summary.not_run - lacking),
            lacking=lacking,
        )


def is_computed(summary: MetricSummary) -> bool:
    """Return whether a metric made its values without a judge."""
    return bool(summary.computed) and not summary.judged


def _marks(gates: Sequence[GateResult], metric: str) -> tuple[GateMark, ...]:
    return tuple(_mark(gate) for gate in gates if gate.gate.metric == metric)


def _mark(gate: GateResult) -> GateMark:
    kind = "open" if gate.answer == "undecided" else "held" if gate.passed else "lost"
    text = f"{gate.gate.statistic.replace('_', ' ')} {gate.gate.bound:g}"
    return GateMark(kind, text, gate.sentence)
