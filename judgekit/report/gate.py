"""Gates: what a run must show, and a sentence on whether it did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from judgekit.errors import ConfigError
from judgekit.filemodel import near
from judgekit.report.summary import MetricSummary
from judgekit.value import Value

Statistic = Literal["mean", "pass_rate", "min", "max"]
STATISTICS: tuple[Statistic, ...] = ("mean", "pass_rate", "min", "max")


class Gate(Value):
    """A bound on one figure of one metric: at least, or at most where lower is better."""

    metric: str
    statistic: str
    """One of `STATISTICS`, or a figure of the metric's own."""
    bound: float
    at_most: bool | None = None
    """For a figure of the metric's own: whether lower is better."""


class GateResult(Value):
    """What a gate found."""

    gate: Gate
    found: float | None
    passed: bool
    sentence: str


def gates_of(
    metric: str,
    wanted: Mapping[str, float],
    *,
    threshold: float | None,
    figures: Mapping[str, bool] | None = None,
) -> list[Gate]:
    """Return the gates of one metric.

    Args:
        metric: its name.
        wanted: figure -> bound.
        threshold: its pass line, if it has one.
        figures: its own figures, and whether higher is better for each.

    Raises:
        ConfigError: no such figure, or a pass rate without a threshold.
    """
    gates = []
    own = figures or {}
    for statistic, bound in wanted.items():
        if statistic in own:
            at_most = not own[statistic]
            gates.append(Gate(metric=metric, statistic=statistic, bound=bound, at_most=at_most))
            continue
        if statistic not in STATISTICS:
            hint = near(statistic, [*STATISTICS, *own])
            raise ConfigError(f"metric {metric!r}: no gate on {statistic!r}{hint}")
        if statistic == "pass_rate" and threshold is None:
            raise ConfigError(f"metric {metric!r}: a gate on pass_rate needs a threshold")
        gates.append(Gate(metric=metric, statistic=statistic, bound=bound))
    return gates


def check(gate: Gate, summary: MetricSummary) -> GateResult:
    """Return whether a gate holds; a figure that does not exist never passes."""
    found, interval = _figure(gate.statistic, summary)
    words = _WORDS.get(gate.statistic, gate.statistic.replace("_", " "))
    name = f"{gate.metric}: {words}"
    at_most = gate.at_most
    if at_most is None:
        at_most = gate.statistic != "pass_rate" and not summary.higher_is_better
    if found is None:
        sentence = f"{name} is unknown: nothing was scored"
        return GateResult(gate=gate, found=None, passed=False, sentence=sentence)
    passed = found <= gate.bound if at_most else found >= gate.bound
    rule = "at most" if at_most else "at least"
    spread = f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else ""
    verdict = "meets" if passed else "misses"
    sentence = f"{name} {found:.3f}{spread} over {summary.scored} {verdict} {rule} {gate.bound:g}"
    return GateResult(gate=gate, found=found, passed=passed, sentence=sentence)


_WORDS: Mapping[str, str] = {
    "mean": "mean",
    "pass_rate": "pass rate",
    "min": "lowest score",
    "max": "highest score",
}


def _figure(
    statistic: str, summary: MetricSummary
) -> tuple[float | None, tuple[float, float] | None]:
    if statistic == "mean":
        return summary.mean, summary.interval
    if statistic == "pass_rate":
        return summary.pass_rate, _pair(summary.pass_low, summary.pass_high)
    if statistic in summary.figures:
        return summary.figures[statistic], None
    return (summary.minimum if statistic == "min" else summary.maximum), None


def _pair(low: float | None, high: float | None) -> tuple[float, float] | None:
    return None if low is None or high is None else (low, high)
