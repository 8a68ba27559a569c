"""The cases of several runs side by side: their results in each run, and the changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from judgekit.analysis.comparison.comparison import Comparison
from judgekit.analysis.comparison.differences import EPSILON
from judgekit.analysis.comparison.pairs import OwnCriteria, entry_of
from judgekit.core.case import answerer_of
from judgekit.core.case_field import MESSAGE_LISTS, SETTINGS, TEXT_LISTS, TEXTS
from judgekit.core.score import Failure
from judgekit.pages.run.tallies import Slices
from judgekit.report.answerers import model_of
from judgekit.report.folder import Scored
from judgekit.report.report import Report
from judgekit.report.summary import Largest, MetricSummary
from judgekit.report.thresholds import passes

Fate = Literal["worse", "lost", "better", "gained", "same", "other", "only_base", "only_new"]
"""How a case changed: its value changed, a score was lost or gained, or it has no pair."""

ORDER: tuple[Fate, ...] = (
    "worse", "lost", "better", "gained", "same", "other", "only_base", "only_new",
)  # fmt: skip
"""Regressions first."""


MOST_APART = 12
"""Maximum number of cases per metric to show because the runs differ."""


_Pairs = Iterable[tuple[float | None, float | None]]
"""Values of cases in the base and the new run."""


class CaseResults(NamedTuple):
    """The results of one case, without its texts."""

    question: bytes
    """Digest of its question; `answer` is that of its answer."""
    criteria: OwnCriteria
    answer: bytes
    cells: Mapping[str, float | str]
    """Metric -> value, or the reason why there is none."""
    parts: Mapping[tuple[str, str], float]
    """Metric and criterion -> value, of metrics with a threshold."""
    size: int
    """Length of its texts and reasons, in characters."""


_NO_PARTS: Mapping[tuple[str, str], float] = {}


class CaseChange(NamedTuple):
    """How one case changed between two runs."""

    fate: Fate
    step: float
    """Its change as a share of the range; the worst of several metrics."""


class VerdictTable(NamedTuple):
    """Counts of pass, fail and no score in the base against those in the new run."""

    name: str
    """The criterion; empty for the metric itself."""
    line: float
    counts: tuple[tuple[int, ...], ...]
    """Base by new: pass, fail, no score."""

    @classmethod
    def of(cls, name: str, values: _Pairs, threshold: float, higher: bool) -> VerdictTable:
        """Count the verdicts on pairs of values."""
        verdicts = (True, False, None)
        counts = Counter(tuple(passes(v, threshold, higher) for v in pair) for pair in values)
        table = tuple(tuple(counts[base, new] for new in verdicts) for base in verdicts)
        return cls(name, threshold, table)


class ComparedCases:
    """The cases of a base and of the runs compared with it, each run read once."""

    def __init__(
        self, base: Report, new: Sequence[Report], comparisons: Sequence[Comparison]
    ) -> None:
        self.runs = [base, *new]
        self.found = list(comparisons)
        self._slices = Slices({})
        self.lines: list[dict[str, CaseResults]] = []
        self._criteria: dict[OwnCriteria, OwnCriteria] = {}
        self.models: list[str | None] = []
        """The model that answered the cases of each run; `None` if unknown or several."""
        self._with_thresholds = {
            name
            for run in self.runs
            for name, one in run.metrics.items()
            if one.threshold is not None
        }
        for run in self.runs:
            self.lines.append(self._read(run))
        self.fields = [field.name for field in self._slices.finish()]
        """Fields of the metadata with few values."""
        self.ids = list(dict.fromkeys(id for lines in self.lines for id in lines))
        self.compared = [
            [m.metric for m in one.metrics if m.refused is None] for one in comparisons
        ]
        self.summaries = {name: one for run in self.runs[::-1] for name, one in run.metrics.items()}
        self.thresholds = [
            {name: _threshold(base.metrics[name], run.metrics[name]) for name in names}
            for run, names in zip(new, self.compared, strict=True)
        ]

    def _read(self, run: Report) -> dict[str, CaseResults]:
        cases = {}
        models = set()
        for scored in run.results:
            entry = entry_of(scored)
            models.add(answerer_of(scored.case.metadata))
            if not any(entry.case in lines for lines in self.lines):
                self._slices.add(scored)
            rows = entry.rows.items()
            cells = {name: row.state if row.value is None else row.value for name, row in rows}
            parts = {
                (name, id): part.value
                for name, row in rows
                if name in self._with_thresholds
                for id, part in row.parts.items()
                if part.value is not None
            }
            # Most cases have the same ones: none.
            criteria = self._criteria.setdefault(entry.criteria, entry.criteria)
            question, answer = bytes.fromhex(entry.question), bytes.fromhex(entry.answer)
            cases[entry.case] = CaseResults(
                question, criteria, answer, cells, parts or _NO_PARTS, _size(scored)
            )
        self.models.append(model_of(run, models))
        return cases

    def apart(self, metric: str) -> list[tuple[str, list[float | None]]]:
        """Return the cases with the largest differences between runs, with their values."""
        largest = Largest[tuple[str, list[float | None]]](MOST_APART)
        for place, id in enumerate(self.ids):
            values = [self._value_in(run, id, metric) for run in range(len(self.lines))]
            known = [value for value in values if value is not None]
            if known and max(known) - min(known) > EPSILON:
                largest.add((max(known) - min(known), -place), (id, values))
        return list(largest)

    def _value_in(self, run: int, id: str, metric: str) -> float | None:
        """Return a value to show beside that of the base; `None` if it is not comparable."""
        line, base = self.lines[run].get(id), self.lines[0].get(id)
        if line is None or (run and base and self._other_criteria(base, line, metric, run)):
            return None
        return _value(line, metric)

    def _other_criteria(
        self, base: CaseResults, new: CaseResults, metric: str, number: int
    ) -> bool:
        """Return whether the comparison leaves out a metric of a case, for its criteria."""
        across = self.found[number - 1].across_rubrics
        return not across and base.criteria.differ(new.criteria, metric)

    def left_out(self, id: str, number: int) -> list[str]:
        """Return the metrics that are compared, but not on this case, for its criteria.

        Args:
            id: of the case.
            number: of the new run, from 1.
        """
        base, new = self.lines[0].get(id), self.lines[number].get(id)
        if base is None or new is None or base.question != new.question:
            return []
        names = self.compared[number - 1]
        return [name for name in names if self._other_criteria(base, new, name, number)]

    def moves(self) -> list[dict[str, CaseChange]]:
        """Return the change of every case, for each new run."""
        return [
            {id: self._move(id, n) for id in self.ids if id in self.lines[0] or id in self.lines[n]}
            for n in range(1, len(self.runs))
        ]

    def _move(self, id: str, number: int) -> CaseChange:
        base, new = self.lines[0].get(id), self.lines[number].get(id)
        if base is None or new is None:
            return CaseChange("only_new" if base is None else "only_base", 0.0)
        if base.question != new.question:
            return CaseChange("other", 0.0)
        left_out = self.left_out(id, number)
        names = [name for name in self.compared[number - 1] if name not in left_out]
        if left_out and not names:
            return CaseChange("other", 0.0)
        steps = [0.0]
        lost = gained = False
        for name in names:
            one, other = _value(base, name), _value(new, name)
            if one is not None and other is not None:
                steps.append(self._step(name, one, other))
            lost |= one is not None and other is None
            gained |= one is None and other is not None
        if min(steps) < 0:
            return CaseChange("worse", min(steps))
        if lost:
            return CaseChange("lost", 0.0)
        if max(steps) > 0:
            return CaseChange("better", max(steps))
        return CaseChange("gained" if gained else "same", 0.0)

    def _step(self, metric: str, base: float, new: float) -> float:
        """Return the change of a value as a share of the largest one; above 0 is better."""
        summary = self.summaries[metric]
        step = new - base
        if abs(step) < EPSILON:
            return 0.0
        low, high = summary.range
        span = high - low if low is not None and high is not None else summary.sd
        return step / (span or 1.0) * (1 if summary.higher_is_better else -1)

    def grids(self, number: int, metric: str) -> list[VerdictTable]:
        """Return the changes of verdicts: of a metric, then of its criteria at the same threshold.

        Args:
            number: of the new run, from 1.
            metric: one that was compared.
        """
        threshold = self.thresholds[number - 1][metric]
        if threshold is None:
            return []
        summary = self.summaries[metric]
        higher = summary.higher_is_better
        pairs = [
            (base, new)
            for id, new in self.lines[number].items()
            if (base := self.lines[0].get(id)) is not None
            and base.question == new.question
            and not self._other_criteria(base, new, metric, number)
        ]
        values = ((_value(base, metric), _value(new, metric)) for base, new in pairs)
        grids = [VerdictTable.of("", values, threshold, higher)]
        low, high = summary.range
        if low is None or high is None or not higher:
            return grids
        share = (threshold - low) / (high - low)
        (compared,) = (m for m in self.found[number - 1].metrics if m.metric == metric)
        for part in compared.criteria:
            at = (metric, part.name)
            criterion = ((base.parts.get(at), new.parts.get(at)) for base, new in pairs)
            grids.append(VerdictTable.of(part.name, criterion, share, True))
        return grids


def _size(scored: Scored) -> int:
    texts: list[str | None] = []
    for name, value in scored.case:
        if name in SETTINGS:
            continue  # many cases share these texts, and the page has each of them once
        if name in TEXTS:
            texts.append(value)
        elif name in TEXT_LISTS:
            texts += value
        elif name in MESSAGE_LISTS:
            texts += [message.content for message in value]
    for row in scored.rows:
        if isinstance(row.result, Failure):
            texts.append(row.result.message)
        else:
            texts += [row.result.reason, *(part.reason for part in row.result.parts)]
    return sum(len(text) for text in texts if text)


def _value(line: CaseResults, metric: str) -> float | None:
    cell = line.cells.get(metric)
    return None if isinstance(cell, str) else cell


def _threshold(base: MetricSummary, new: MetricSummary) -> float | None:
    return new.threshold if new.threshold is not None else base.threshold
