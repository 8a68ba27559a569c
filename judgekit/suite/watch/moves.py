"""What moved between two runs of a suite that is being worked on."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from judgekit.core.score import Failure, Result, Score
from judgekit.report.gate import GateResult
from judgekit.report.summary import MetricSummary
from judgekit.suite.watch.found import Found


class Move(NamedTuple):
    """A row whose score changed."""

    case: str
    metric: str
    old: Result | None
    """The last score it had; `None` for a new case."""
    new: Result

    @property
    def worse(self) -> float:
        """By how much the value fell; rows that lost their score come first of all."""
        if not isinstance(self.new, Score) or self.new.value is None:
            return float("inf")
        if not isinstance(self.old, Score) or self.old.value is None:
            return float("-inf")
        return self.old.value - self.new.value


class Moves(NamedTuple):
    """What moved."""

    rows: tuple[Move, ...]
    """Rows whose score changed, the worst first."""
    added: int
    gone: int
    """Cases."""
    missed: Counter[str]
    """By metric, the rows that are not recorded any more."""
    recorded: int
    """Rows that were not recorded and now are."""
    means: tuple[tuple[MetricSummary, MetricSummary], ...]
    """Metrics whose mean changed, before and after."""
    gates: tuple[tuple[GateResult | None, GateResult], ...]
    """Gates that flipped, or that are new and missed."""


def moves_between(old: Found, new: Found) -> Moves:
    """Return what moved from one run to the next."""
    rows: list[Move] = []
    missed: Counter[str] = Counter()
    recorded = 0
    for key, (_, result) in new.rows.items():
        before = old.rows[key][1] if key in old.rows else None
        if _is_miss(result):
            missed[key[1]] += not _is_miss(before)
            continue
        recorded += _is_miss(before)
        last = old.last.get(key, before)
        if last is None or _said(last) != _said(result):
            if _is_miss(before) and key not in old.last:
                last = None
            rows.append(Move(*key, last, result))
    cases, then = ({case for case, _ in found.rows} for found in (new, old))
    higher = {s.metric: s.higher_is_better for s in new.report.figures.metrics}
    rows.sort(key=lambda move: -move.worse if higher[move.metric] else _other_way(move))
    return Moves(
        rows=tuple(rows),
        added=len(cases - then),
        gone=len(then - cases),
        missed=+missed,
        recorded=recorded,
        means=tuple(_means(old, new)),
        gates=tuple(_flips(old, new)),
    )


def _other_way(move: Move) -> float:
    return move.worse if abs(move.worse) != float("inf") else -move.worse


def _is_miss(result: Result | None) -> bool:
    return isinstance(result, Failure) and result.kind == "cassette_miss"


def _said(result: Result) -> tuple[object, ...]:
    """Return what a person would call the score."""
    if isinstance(result, Failure):
        return ("failure", result.kind)
    return (result.status, result.value, result.fallback is not None)


def _means(old: Found, new: Found) -> list[tuple[MetricSummary, MetricSummary]]:
    """Return the metrics whose mean is another one than the last they had."""
    pairs = [(old.means.get(s.metric), s) for s in new.report.figures.metrics]
    return [
        (then, now)
        for then, now in pairs
        if then is not None and now.mean is not None and then.mean != now.mean
    ]


def _flips(old: Found, new: Found) -> list[tuple[GateResult | None, GateResult]]:
    before = {_place(gate): gate for gate in old.report.figures.gates}
    found: list[tuple[GateResult | None, GateResult]] = []
    for gate in new.report.figures.gates:
        then = before.get(_place(gate))
        if then is None and not gate.passed:
            found.append((None, gate))
        elif then is not None and then.passed != gate.passed:
            found.append((then, gate))
    return found


def _place(gate: GateResult) -> tuple[str, str]:
    """Return which gate it is, whatever its bound."""
    return gate.gate.subject, gate.gate.statistic
