"""Counts of the verdicts of a run by rubric and criterion, from one reading of its results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from itertools import combinations
from pathlib import Path

from judgekit.analysis.rubric_stats.statistics import CriterionStatistics
from judgekit.analysis.rubric_stats.values import CriterionValues
from judgekit.authoring.lint.words import contradiction
from judgekit.core.score import Failure, Part, Score
from judgekit.report.folder import check_finished, read_results
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.rubric import Rubric

COMPARED = 40
"""Criteria of a rubric that are compared in pairs; the number of pairs is quadratic."""
_MOST_VALUES = 1_000
"""Distinct values of a criterion that are counted."""
_SHOWN = 3
_HIGH, _LOW = 0.9, 0.1
"""Values on 0..1 that mean yes, and no."""


class AnswerCounts:
    """Counts of the answers to one criterion."""

    def __init__(self) -> None:
        self.number: Counter[str] = Counter()
        """Of `answers`, of `quotes`, of those `unfound`, of `contradictions`, and by status."""
        self.values: Counter[float] = Counter()
        self.contradicting: list[str] = []
        """The first cases, with their contradiction."""
        self.unfound_in: list[str] = []

    @property
    def scored(self) -> int:
        """Number of answers with a value."""
        return sum(self.values.values())

    def add(self, part: Part, criterion: Criterion, case: str) -> None:
        """Count one answer."""
        unfound = sum(quote.field is None for quote in part.quotes)
        self.number["answers"] += 1
        self.number[part.status] += 1
        self.number["quotes"] += len(part.quotes)
        self.number["unfound"] += unfound
        if part.value is not None:
            value = round(part.value, 6)
            if value in self.values or len(self.values) < _MOST_VALUES:
                self.values[value] += 1
        if unfound and len(self.unfound_in) < _SHOWN:
            self.unfound_in.append(case)
        items = tuple(item for item in part.items if isinstance(item, dict))
        text = contradiction(criterion.question, value=part.answer, reason=part.reason, items=items)
        if text is not None:
            self.number["contradictions"] += 1
            if len(self.contradicting) < _SHOWN:
                self.contradicting.append(f"{case} ({text})")


class CriterionPair:
    """Counts of two criteria over the cases where both have a value."""

    def __init__(self) -> None:
        self.both = 0
        self.equal = 0
        self.against = 0
        """Cases where one means yes and the other no."""

    def add(self, first: float, second: float) -> None:
        """Count one case."""
        self.both += 1
        self.equal += abs(first - second) < 1e-6
        self.against += max(first, second) >= _HIGH and min(first, second) <= _LOW


class RubricVerdicts:
    """Counts of the verdicts of one rubric."""

    def __init__(self, rubric: Rubric) -> None:
        self.criteria = {criterion.id: criterion for criterion in rubric.criteria}
        self.digest = rubric.digest[:16]
        self.rows = 0
        self.others = 0
        """Rows of another version of the file."""
        self.unreadable = 0
        """Rows that failed because the reply did not match the schema."""
        self.tallies: dict[str, AnswerCounts] = {id: AnswerCounts() for id in self.criteria}
        self._values = CriterionValues()
        self._compared = list(self.criteria)[:COMPARED]
        self.pairs = {pair: CriterionPair() for pair in combinations(self._compared, 2)}

    def add(self, score: Score, case: str) -> None:
        """Count one score."""
        self.rows += 1
        self.others += score.meta.get("digest") != self.digest
        self._values.add([part for part in score.parts if part.id in self._compared])
        parts = [part for part in score.parts if part.id in self.criteria]
        for part in parts:
            self.tallies[part.id].add(part, self.criteria[part.id], case)
        values = {part.id: part.value for part in parts if part.value is not None}
        for (first, second), pair in self.pairs.items():
            if first in values and second in values:
                pair.add(values[first], values[second])

    @cached_property
    def statistics(self) -> list[CriterionStatistics]:
        """The statistics of each criterion."""
        table = self._values.finish()
        return [table.statistics(place) for place in range(len(table.ids))]


def observe(folder: Path, rubrics: Mapping[str, Rubric]) -> dict[str, RubricVerdicts]:
    """Read a run and count the verdicts of rubrics.

    Args:
        folder: a run folder.
        rubrics: the rubrics of interest, by name.

    Raises:
        ConfigError: not a run folder.
    """
    verdicts = {name: RubricVerdicts(rubric) for name, rubric in rubrics.items()}
    rubric_of: dict[str, str] = {name: name for name in rubrics}
    failed: Counter[str] = Counter()
    check_finished(folder)
    for scored in read_results(folder):
        for row in scored.rows:
            result = row.result
            if isinstance(result, Failure):
                failed[row.metric] += result.kind in ("invalid_reply", "truncated", "empty")
                continue
            name = _rubric_of(result)
            if name in verdicts and result.fallback is None:
                rubric_of[row.metric] = name
                verdicts[name].add(result, scored.case.id)
    for metric, count in failed.items():
        if metric in rubric_of:
            verdicts[rubric_of[metric]].unreadable += count
    return verdicts


def rubrics_in(folder: Path) -> list[str]:
    """Return the names of the rubrics with verdicts in a run, in the order of its rows.

    Raises:
        ConfigError: not a run folder.
    """
    check_finished(folder)
    results = (row.result for scored in read_results(folder) for row in scored.rows)
    names = dict.fromkeys(_rubric_of(result) for result in results if isinstance(result, Score))
    return list(filter(None, names))


def _rubric_of(score: Score) -> str:
    name = score.meta.get("rubric")
    return name if isinstance(name, str) and score.source == "judge" else ""
