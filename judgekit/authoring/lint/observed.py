"""What a run's verdicts say of the rubrics that asked for them, counted in one reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from judgekit.authoring.lint.contradiction import contradiction
from judgekit.core.score import Failure, Part, Score
from judgekit.report.folder import check_finished, read_results
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.rubric import Rubric

COMPARED = 40
"""Criteria of one rubric that are compared with each other; pairs grow with the square."""
_KEPT = 1_000
"""Different values of one criterion that are told apart."""
_SHOWN = 3
_HIGH, _LOW = 0.9, 0.1
"""Values on 0..1 that say yes, or no, as plainly as a number can."""


class Tally:
    """One criterion's answers, counted."""

    def __init__(self) -> None:
        self.answers = 0
        self.abstained = 0
        self.inapplicable = 0
        self.values: Counter[float] = Counter()
        self.quotes = 0
        self.unfound = 0
        self.contradictions = 0
        self.contradicting: list[str] = []
        """The first cases, with what contradicts."""
        self.unfound_in: list[str] = []

    @property
    def scored(self) -> int:
        """How many answers have a value."""
        return sum(self.values.values())

    def add(self, part: Part, criterion: Criterion, case: str) -> None:
        """Count one answer."""
        self.answers += 1
        self.abstained += part.status == "abstained"
        self.inapplicable += part.status == "not_applicable"
        if part.value is not None:
            value = round(part.value, 6)
            if value in self.values or len(self.values) < _KEPT:
                self.values[value] += 1
        unfound = sum(quote.field is None for quote in part.quotes)
        self.quotes += len(part.quotes)
        self.unfound += unfound
        if unfound and len(self.unfound_in) < _SHOWN:
            self.unfound_in.append(case)
        items = tuple(item for item in part.items if isinstance(item, dict))
        found = contradiction(
            criterion.question, value=part.answer, reason=part.reason, items=items
        )
        if found is not None:
            self.contradictions += 1
            if len(self.contradicting) < _SHOWN:
                self.contradicting.append(f"{case} ({found})")


class Pair:
    """Two criteria on the cases where both have a value."""

    def __init__(self) -> None:
        self.both = 0
        self.equal = 0
        self.against = 0
        """One says yes and the other no."""

    def add(self, first: float, second: float) -> None:
        """Count one case."""
        self.both += 1
        self.equal += abs(first - second) < 1e-6
        self.against += max(first, second) >= _HIGH and min(first, second) <= _LOW


class Seen:
    """What was seen of one rubric."""

    def __init__(self, rubric: Rubric) -> None:
        self.criteria = {criterion.id: criterion for criterion in rubric.criteria}
        self.digest = rubric.digest[:16]
        self.rows = 0
        self.others = 0
        """Rows of another version of the file."""
        self.unreadable = 0
        """Rows that failed because the reply was not of the form."""
        self.tallies: dict[str, Tally] = {id: Tally() for id in self.criteria}
        compared = list(self.criteria)[:COMPARED]
        self.pairs = {pair: Pair() for pair in combinations(compared, 2)}

    def add(self, score: Score, case: str) -> None:
        """Count one score."""
        self.rows += 1
        self.others += score.meta.get("digest") != self.digest
        values: dict[str, float] = {}
        for part in score.parts:
            criterion = self.criteria.get(part.id)
            if criterion is None:
                continue
            self.tallies[part.id].add(part, criterion, case)
            if part.value is not None:
                values[part.id] = part.value
        for (first, second), pair in self.pairs.items():
            if first in values and second in values:
                pair.add(values[first], values[second])


def observe(folder: Path, rubrics: Mapping[str, Rubric]) -> dict[str, Seen]:
    """Read a run once and count what it says of rubrics.

    Args:
        folder: a run folder.
        rubrics: the rubrics of interest, by name.

    Raises:
        ConfigError: not a run folder.
    """
    seen = {name: Seen(rubric) for name, rubric in rubrics.items()}
    asked_by: dict[str, str] = {name: name for name in rubrics}
    failed: Counter[str] = Counter()
    check_finished(folder)
    for scored in read_results(folder):
        for row in scored.rows:
            result = row.result
            if isinstance(result, Failure):
                failed[row.metric] += result.kind in ("invalid_reply", "truncated", "empty")
                continue
            name = _rubric_of(result)
            if name in seen and result.fallback is None:
                asked_by[row.metric] = name
                seen[name].add(result, scored.case.id)
    for metric, count in failed.items():
        if metric in asked_by:
            seen[asked_by[metric]].unreadable += count
    return seen


def rubrics_in(folder: Path) -> list[str]:
    """Return the names of the rubrics whose verdicts a run holds, in the order met.

    Raises:
        ConfigError: not a run folder.
    """
    names: dict[str, Any] = {}
    check_finished(folder)
    for scored in read_results(folder):
        for row in scored.rows:
            if isinstance(row.result, Score) and (name := _rubric_of(row.result)):
                names[name] = None
    return list(names)


def _rubric_of(score: Score) -> str:
    name = score.meta.get("rubric")
    return name if isinstance(name, str) and score.source == "judge" else ""
