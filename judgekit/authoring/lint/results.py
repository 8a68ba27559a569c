"""Count the verdicts of rubrics in a run, and check them with rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from judgekit.analysis.rubric_stats.statistics import (
    SAME,
    VARIED,
    CriterionStatistics,
    CriterionValues,
)
from judgekit.authoring.lint.rule import Problem, check
from judgekit.authoring.lint.subject import LintSubject
from judgekit.authoring.lint.words import contradiction
from judgekit.core.score import Failure, Part, Score
from judgekit.report.folder import check_finished, read_results
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.rubric import Rubric

COMPARED = 40
"""Maximum number of criteria to compare in pairs; the number of pairs is quadratic."""
_MOST_VALUES = 1_000
"""Maximum number of distinct values of a criterion to count."""
_SHOWN = 3
_HIGH, _LOW = 0.9, 0.1
"""Values on 0..1 that mean yes, and no."""


class AnswerCounts:
    """Counts of the answers to one criterion."""

    def __init__(self) -> None:
        self.number: Counter[str] = Counter()
        """Numbers of `answers`, `quotes`, `unfound` quotes, `contradictions`, and by status."""
        self.values: Counter[float] = Counter()
        self.contradicting: list[str] = []
        """The first cases with contradictions."""
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
        """Number of cases in which one means yes and the other no."""

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
        """Number of rows of another version of the file."""
        self.unreadable = 0
        """Number of rows that failed because the reply did not match the schema."""
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


MINIMUM = 20
"""Minimum number of verdicts of a criterion: 95 % of 20 is 19."""
EDGE = 0.95
"""Share of verdicts at one end above which a criterion does not distinguish cases."""
ABSTAINING = 0.3
INAPPLICABLE = 0.9
CONTRADICTING = 0.05
FEW = 3
"""Number of contradictions that is more than an accident."""
UNFOUND = 0.1
AGAINST = 0.2
UNREADABLE = 0.1


class ObservedRubric(NamedTuple):
    """A rubric and its verdicts in a run."""

    subject: LintSubject
    verdicts: RubricVerdicts
    minimum: int

    def problem(self, message: str, criterion: str | None = None) -> Problem:
        """Return a problem of a criterion, or of the rubric."""
        at = self.subject.at
        where = at("name") if criterion is None else at("criteria", criterion)
        return Problem(where, message, criterion)

    def scored(self) -> Iterator[tuple[str, AnswerCounts]]:
        """Yield the criteria with enough values."""
        yield from ((i, c) for i, c in self.verdicts.tallies.items() if c.scored >= self.minimum)

    def frequent(self, part: str, whole: str, least: float) -> Iterator[tuple[str, str]]:
        """Yield the criteria in which a count is a large share of another one, and the share."""
        for id, counts in self.verdicts.tallies.items():
            some, all_ = counts.number[part], counts.number[whole]
            if all_ >= self.minimum and some / all_ >= least:
                yield id, _share(some, all_)

    def pairs(self) -> Iterator[tuple[str, str, CriterionPair]]:
        """Yield the pairs of criteria with enough cases."""
        for (first, second), pair in self.verdicts.pairs.items():
            if pair.both >= self.minimum:
                yield first, second, pair


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.0%})"


def _at_edge(observed: ObservedRubric, *, edge: float) -> Iterator[Problem]:
    """Check for values at one end."""
    for id, counts in observed.scored():
        count = counts.values[edge]
        if count / counts.scored >= EDGE and len(counts.values) > 1:
            share = _share(count, counts.scored)
            yield observed.problem(f"{id!r} has the value {edge:g} in {share}", id)


check("at-ceiling")(partial(_at_edge, edge=1.0))
check("at-floor")(partial(_at_edge, edge=0.0))


@check("no-variance")
def _constant(observed: ObservedRubric) -> Iterator[Problem]:
    for id, counts in observed.scored():
        if len(counts.values) == 1:
            value, share = next(iter(counts.values)), _share(counts.scored, counts.scored)
            yield observed.problem(f"{id!r} has the value {value:g} in {share}", id)


@check("redundant")
def _redundant(observed: ObservedRubric) -> Iterator[Problem]:
    counts = observed.verdicts.tallies
    for first, second, pair in observed.pairs():
        if pair.equal / pair.both >= SAME and _varied(counts[first]) and _varied(counts[second]):
            share = _share(pair.equal, pair.both)
            yield observed.problem(f"{second!r} equals {first!r} in {share}", second)


def _varied(counts: AnswerCounts) -> bool:
    return 1 - max(counts.values.values()) / counts.scored >= VARIED


def _says(observed: ObservedRubric, *, finding: str) -> Iterator[Problem]:
    """Check for a finding of `judgekit rubric stats`."""
    for one in observed.verdicts.statistics:
        if one.n >= observed.minimum and finding in one.findings:
            message = f"{one.criterion!r} {one.findings[finding]}: {one.discrimination.text}"
            yield observed.problem(message, one.criterion)


check("unrelated")(partial(_says, finding="noise"))
check("against-rest")(partial(_says, finding="against"))


@check("abstaining")
def _abstaining(observed: ObservedRubric) -> Iterator[Problem]:
    for id, share in observed.frequent("abstained", "answers", ABSTAINING):
        yield observed.problem(f"the judge abstained from {id!r} in {share}", id)


@check("inapplicable")
def _inapplicable(observed: ObservedRubric) -> Iterator[Problem]:
    for id, share in observed.frequent("not_applicable", "answers", INAPPLICABLE):
        yield observed.problem(f"{id!r} did not apply in {share}", id)


@check("contradicted")
def _contradicting(observed: ObservedRubric) -> Iterator[Problem]:
    for id, share in observed.frequent("contradictions", "answers", CONTRADICTING):
        counts = observed.verdicts.tallies[id]
        if counts.number["contradictions"] >= FEW:
            message = f"the verdict on {id!r} contradicts its reason in {share}: "
            yield observed.problem(message + "; ".join(counts.contradicting), id)


@check("unfound-quotes")
def _unfound(observed: ObservedRubric) -> Iterator[Problem]:
    for id, share in observed.frequent("unfound", "quotes", UNFOUND):
        cases = ", ".join(observed.verdicts.tallies[id].unfound_in)
        yield observed.problem(f"{share} quotes of {id!r} are not in the text: {cases}", id)


@check("against-checklist")
def _against(observed: ObservedRubric) -> Iterator[Problem]:
    criteria = observed.verdicts.criteria
    for first, second, pair in observed.pairs():
        lists = [criteria[id].question.kind == "checklist" for id in (first, second)]
        alike = criteria[first].group == criteria[second].group
        positive = criteria[first].weight > 0 and criteria[second].weight > 0
        if sum(lists) == 1 and alike and positive and pair.against / pair.both >= AGAINST:
            listed, judged = (first, second) if lists[0] else (second, first)
            share = _share(pair.against, pair.both)
            message = f"{judged!r} contradicts the checklist {listed!r} in {share}"
            yield observed.problem(message, judged)


@check("unreadable-replies")
def _unreadable(observed: ObservedRubric) -> Iterator[Problem]:
    unreadable = observed.verdicts.unreadable
    rows = observed.verdicts.rows + unreadable
    if rows >= observed.minimum and unreadable / rows >= UNREADABLE:
        yield observed.problem(f"replies did not match the schema in {_share(unreadable, rows)}")


@check("few-results")
def _few(observed: ObservedRubric) -> Iterator[Problem]:
    rows = observed.verdicts.rows
    if rows < observed.minimum:
        count = f"{rows} verdict{'s' if rows != 1 else ''}" if rows else "no verdicts"
        least = f"rules on results need {observed.minimum}"
        yield observed.problem(f"{count} of this rubric in the run; {least}")


@check("older-results")
def _older(observed: ObservedRubric) -> Iterator[Problem]:
    if observed.verdicts.others:
        share = _share(observed.verdicts.others, observed.verdicts.rows)
        yield observed.problem(f"{share} verdicts are of another version of the rubric")


ABOUT_ROWS = ("few-results", "older-results", "unreadable-replies")
"""Rules that apply to any number of verdicts."""
