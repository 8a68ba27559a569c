"""Checks the gates of a run, with their slices, clusters and baseline."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from judgekit.core.arguments import checked_class
from judgekit.core.case import Case
from judgekit.core.comparing import at_least, below
from judgekit.core.errors import ConfigError
from judgekit.core.score import Row
from judgekit.core.suggest import suggest
from judgekit.datasets.selection import CasesSeen, Condition, spelled
from judgekit.report.folder import RESULTS, Scored
from judgekit.report.gate import (
    Answer,
    Figure,
    Gate,
    GateResult,
    Undecided,
    check,
    check_cost,
    more_text,
    unknown,
)
from judgekit.report.manifest import rubrics_of
from judgekit.report.report import Report
from judgekit.report.summary import MetricSummary, Tally
from judgekit.stats.intervals import CHANGED

if TYPE_CHECKING:
    from judgekit.analysis.comparison.pairs import Pair, Pairing
    from judgekit.report.corrector import Corrector
    from judgekit.report.run_labels import RunLabels


@checked_class
class Rules(NamedTuple):
    """Settings of all gates of a run, and gates on the whole run."""

    undecided: Undecided | None = None
    """Whether an undecided gate passes; with `None`, the estimate decides."""
    baseline: Report | None = None
    """The run that `not_worse` compares with."""
    max_cost: float | None = None
    """Maximum total cost of all replies in US dollars, including recorded ones."""
    paid: Callable[[], float | None] = lambda: 0.0
    """Returns the cost of the replies in US dollars; `None` if a price is unknown."""


def open_baseline(path: Path) -> Report:
    """Return a baseline: a run folder, or the results in one.

    Raises:
        ConfigError: it is not a run folder.
    """
    return Report.read(path.parent if path.name == RESULTS else path)


def keep_baseline(rules: Rules, out: Path | None) -> None:
    """Check that a run does not overwrite its baseline.

    Raises:
        ConfigError: `out` is the baseline.
    """
    baseline = rules.baseline.folder if rules.baseline is not None else None
    if baseline is not None and out is not None and baseline.resolve() == out.resolve():
        raise ConfigError("is the baseline; write the run to another folder", where=str(out))


class Gatekeeper:
    """Follows a run row by row and checks every gate at its end.

    Args:
        gates: the gates.
        rules: settings of all gates.
        tally: returns an empty tally of a metric for a slice, with or without clusters.
        manifest: the manifest of the run, which must match that of the baseline.
        cluster: metadata field of the clusters of the run, if any.

    Raises:
        ConfigError: a gate needs a baseline, and there is none.
    """

    def __init__(
        self,
        gates: Sequence[Gate],
        *,
        rules: Rules,
        tally: Callable[[str, bool], Tally],
        manifest: Mapping[str, Any],
        cluster: str | None = None,
    ) -> None:
        self._rules = rules
        self._pairing: Pairing | None = None
        self._checks: list[_Watch | _Race] = []
        for gate in gates:
            if not gate.races:
                self._checks.append(_Watch(gate, tally, cluster))
                continue
            if rules.baseline is None:
                raise ConfigError(
                    f"metric {gate.metric!r}: not_worse needs a run to compare "
                    "with: gate: {baseline: FOLDER} in the suite, or --baseline FOLDER"
                )
            self._checks.append(_Race(gate, rules.baseline, manifest))
        self._slices = [c for c in self._checks if isinstance(c, _Watch) and c.tally is not None]
        self._races = [c for c in self._checks if isinstance(c, _Race)]
        if self._races and rules.baseline is not None:
            from judgekit.analysis.comparison.pairs import Pairing

            self._pairing = Pairing(rules.baseline.results)

    @property
    def follows(self) -> bool:
        """Whether a gate needs the rows in addition to the summaries."""
        return bool(self._slices) or self._pairing is not None

    def add(self, case: Case, rows: tuple[Row, ...]) -> None:
        """Add one case and its rows."""
        by_metric = {row.metric: row for row in rows}
        for watch in self._slices:
            watch.add(case, by_metric[watch.gate.metric])
        if self._pairing is not None:
            self._meet(self._pairing.take(Scored(case, rows)))

    def _meet(self, pairs: Iterable[Pair]) -> None:
        for pair in pairs:
            for race in self._races:
                race.add(pair)

    def finish(self, summaries: Mapping[str, MetricSummary]) -> tuple[GateResult, ...]:
        """Return the results of all gates, in their order."""
        if self._pairing is not None:
            self._meet(self._pairing.rest())
        results = [each.finish(summaries[each.gate.metric]) for each in self._checks]
        if self._rules.max_cost is not None:
            results.append(check_cost(self._rules.max_cost, self._rules.paid()))
        return tuple(results)


class _Watch:
    """One gate. If it has a slice or its own clusters, it needs every row."""

    def __init__(
        self, gate: Gate, tally: Callable[[str, bool], Tally], cluster: str | None
    ) -> None:
        self.gate = gate
        own = gate.where or gate.cluster != cluster
        self.tally = tally(gate.metric, gate.cluster is not None) if own else None
        self._seen: CasesSeen | None = CasesSeen(_conditions(gate)) if gate.where else None

    def add(self, case: Case, row: Row) -> None:
        if self.tally is None:
            return
        if not self.gate.concerns(case.metadata):
            if self._seen is not None:
                self._seen.add(case)
        else:
            self._seen = None
            cluster = _cluster(self.gate, case.id, case.metadata)
            self.tally.add(case.id, row.result, cluster, case.output, case)

    def finish(self, summary: MetricSummary) -> GateResult:
        if self.tally is not None:
            summary = self.tally.finish()
            if self._seen is not None and (unmet := self._seen.unmet()) is not None:
                condition, why = unmet
                return check(self.gate, summary, empty=f"{condition.field}: {why}")
        return check(self.gate, summary)


def _conditions(gate: Gate) -> tuple[Condition, ...]:
    """Return one condition for each field of a slice; for a list, with its first value."""
    return tuple(
        Condition(field, spelled(value[0] if isinstance(value, list) and value else value))
        for field, value in gate.where.items()
    )


def _cluster(gate: Gate, case: str, metadata: Mapping[str, Any]) -> Hashable:
    if gate.cluster is None:
        return None
    from judgekit.report.clusters import cluster_of

    return cluster_of(case, metadata, gate.cluster)


class _Race:
    """A gate `not_worse`: the run may be worse than its baseline by at most a margin."""

    def __init__(self, gate: Gate, baseline: Report, manifest: Mapping[str, Any]) -> None:
        self.gate = gate
        self._name = str(baseline.folder) if baseline.folder else "the baseline"
        self._refused = _refusal(gate.metric, baseline, manifest)
        from judgekit.analysis.comparison.differences import Differences

        summary = baseline.metrics.get(gate.metric)
        self._differences = Differences(
            gate.metric,
            range=summary.range if summary else (None, None),
            higher_is_better=summary is None or summary.higher_is_better,
            clustered=gate.cluster is not None,
        )
        self._same = self._other = 0

    def add(self, pair: Pair) -> None:
        base, new = (entry.rows.get(self.gate.metric) for entry in pair)
        if not self.gate.concerns(pair.new.metadata):
            return
        if base is None or new is None or base.value is None or new.value is None:
            return
        if not pair.same_question:
            self._other += 1
            return
        self._same += pair.same_answer
        cluster = _cluster(self.gate, pair.new.case, pair.new.metadata)
        self._differences.add(base.value, new.value, cluster)

    def finish(self, summary: MetricSummary) -> GateResult:
        gate, difference = self.gate, self._differences.finish()
        head = f"{gate.subject}: mean"
        other = f" ({self._other} with another question left out)" if self._other else ""
        if self._refused is not None or difference.mean is None:
            why = self._refused or f"no case has a score in both{other}"
            sentence = f"{head} cannot be compared with {self._name}: {why}"
            return unknown(gate, sentence, n=0)
        low, high = difference.low, difference.high
        if difference.mean == 0 and self._same == difference.pairs:
            # If all answers are equal, the difference is exactly 0.
            low = high = 0.0
        too_few = None
        if low is None or high is None:
            too_few = difference.too_few or f"fewer than {CHANGED} pairs differ"
        answer = self._answer(low, high, higher=summary.higher_is_better)
        passed = answer == "meets" or (answer == "undecided" and gate.undecided == "pass")
        spread = f" [too few: {too_few}]" if too_few else f" [{low:+.3f}, {high:+.3f}]"
        clusters = f" in {difference.clusters} clusters" if difference.clusters is not None else ""
        same = " (all answers the same)" if self._same == difference.pairs else ""
        sentence = (
            f"{head} {difference.new:.3f} after {difference.base:.3f} in {self._name}, "
            f"{difference.mean:+.3f}{spread} over {difference.pairs} pairs{clusters}{same}{other}"
        )
        limit = f"worse by more than {gate.bound:g}"
        if answer == "undecided":
            pairs, mean = self._differences.spread, difference.mean
            figure = Figure(mean, n=pairs.n, clusters=pairs.clusters, error=pairs.standard_error)
            distance = abs((mean if summary.higher_is_better else -mean) + gate.bound)
            supposing = f"the true difference is {mean:+.3f}"
            more = more_text(figure, distance, supposing=supposing)
            verdict = f"cannot tell yet by its interval whether it is {limit}{more}; that " + (
                "passes" if passed else "does not pass"
            )
        else:
            verdict = f"{'not ' if passed else ''}{limit} by its interval"
        return GateResult(
            gate=gate,
            found=difference.mean,
            passed=passed,
            sentence=f"{sentence}: {verdict}",
            answer=answer,
            low=low,
            high=high,
            n=difference.pairs,
            by="interval",
            clusters=difference.clusters,
            too_few=too_few,
        )

    def _answer(self, low: float | None, high: float | None, *, higher: bool) -> Answer:
        if low is None or high is None:
            return "undecided"
        worst, best = (low, high) if higher else (-high, -low)
        if at_least(worst, -self.gate.bound):
            return "meets"
        return "misses" if below(best, -self.gate.bound) else "undecided"


def _refusal(metric: str, baseline: Report, manifest: Mapping[str, Any]) -> str | None:
    if metric not in baseline.metrics:
        return "it has no such metric"
    old, new = rubrics_of(baseline.figures.manifest, metric), rubrics_of(manifest, metric)
    if old and new and old != new:
        return "its rubric differs"
    return None


def check_names(
    names: Sequence[str], thresholds: Mapping[str, float], gates: Mapping[str, Any]
) -> None:
    """Reject duplicate metric names, and thresholds and gates of unknown metrics.

    Raises:
        ConfigError: with the names.
    """
    if not names:
        raise ConfigError("there is no metric to score by")
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"two metrics are named {name!r}; give one of them another name")
    for what, by_metric in (("thresholds", thresholds), ("gates", gates)):
        for name in by_metric:
            if name not in names:
                hint = suggest(name, names)
                raise ConfigError(f"{what}: no metric of this run is named {name!r}{hint}")


def check_corrected(gate: Gate, labels: RunLabels | None, corrector: Corrector | None) -> None:
    """Reject a gate on a corrected mean without labels.

    Args:
        gate: the gate.
        labels: the labels of the run.
        corrector: corrects the means of the metric.

    Raises:
        ConfigError: with the missing setting.
    """
    if gate.corrected and corrector is None:
        why = "needs labels of people; add labels: labels.jsonl at the top of the suite"
        if labels is not None:
            why = f"and no label in {labels.path.name} is about this metric; add some"
        raise ConfigError(f"metric {gate.metric!r}: a gate with corrected {why}")
