"""The changes between two runs of a watched suite."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from judgekit.core.score import Failure, Result, Score
from judgekit.report.gate import GateResult
from judgekit.report.summary import MetricSummary
from judgekit.suite.watch.snapshot import RunSnapshot


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
        """How much worse the value is; infinite without a score now, -inf without one before."""
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
    """Metric -> rows that are no longer recorded."""
    recorded: int
    """Rows that are recorded now."""
    means: tuple[tuple[MetricSummary, MetricSummary], ...]
    """Changed means, before and after."""
    gates: tuple[tuple[GateResult | None, GateResult], ...]
    """Gates with another outcome, and new gates that the run misses."""


def changes_between(old: RunSnapshot, new: RunSnapshot) -> RunChanges:
    """Return what moved from one run to the next."""
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
    """Return the parts of a result that count as a change."""
    if isinstance(result, Failure):
        return ("failure", result.kind)
    return (result.status, result.value, result.fallback is not None)


def _means(old: RunSnapshot, new: RunSnapshot) -> list[tuple[MetricSummary, MetricSummary]]:
    """Return the metrics with another mean than their last one."""
    pairs = [(old.means.get(s.metric), s) for s in new.report.figures.metrics]
    return [
        (then, now)
        for then, now in pairs
        if then is not None and now.mean is not None and then.mean != now.mean
    ]


def _flips(old: RunSnapshot, new: RunSnapshot) -> list[tuple[GateResult | None, GateResult]]:
    before = {_place(gate): gate for gate in old.report.figures.gates}
    flips: list[tuple[GateResult | None, GateResult]] = []
    for gate in new.report.figures.gates:
        then = before.get(_place(gate))
        if then is None and not gate.passed:
            flips.append((None, gate))
        elif then is not None and then.passed != gate.passed:
            flips.append((then, gate))
    return flips


def _place(gate: GateResult) -> tuple[str, str]:
    """Return the identity of a gate, without its bound."""
    return gate.gate.subject, gate.gate.statistic
