"""The page of a comparison, a self-contained HTML file.

It has the same components as the page of a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from judgekit.analysis.comparison.comparison import (
    Comparison,
    MeanDifference,
    MetricComparison,
    Verdict,
)
from judgekit.analysis.comparison.differences import EPSILON
from judgekit.analysis.comparison.display import (
    error_text,
    family_line,
    little_known,
    notes,
    verdict_line,
)
from judgekit.core.case import Case
from judgekit.core.score import Failure, Part, Result, Score, own_value
from judgekit.metrics.criteria.texts import parts_by_text
from judgekit.pages.comparison.cases import ComparedCases
from judgekit.pages.comparison.payload import ComparisonPayload, make_payload, reason_of
from judgekit.pages.comparison.textdiff import DiffPiece, text_diff
from judgekit.pages.figures import CentredAxis, number
from judgekit.pages.html import fill, write_html
from judgekit.report.answerers import folder_names
from judgekit.report.folder import Scored
from judgekit.report.manifest import dicts_in, judges_of, mapping, suite_of
from judgekit.report.report import Report

LONGEST = 3_000
"""Maximum length of an answer that is shown without the script, in characters."""

WORDS: dict[Verdict, str] = {
    "worse": "worse",
    "better": "better",
    "judged lower": "judged lower",
    "judged higher": "judged higher",
    "unclear": "within chance",
    "same": "no difference",
    "unknown": "not tested",
}


class Span(CentredAxis):
    """The axis of a chart of differences, and the texts of its numbers."""

    def __init__(self, differences: Sequence[MeanDifference], *, scale: float = 1.0) -> None:
        super().__init__(end for one in differences for end in (one.mean, one.low, one.high))
        self.scale = scale

    def say(self, value: float | None) -> str:
        """Return the text of a mean."""
        return number(value, self.scale, 3)

    def step(self, value: float | None) -> str:
        """Return the text of a difference, with its sign.

        >>> Span([]).step(-0.0834), Span([]).step(0.2), Span([]).step(None)
        ('−0.083', '+0.200', '–')
        """
        if value is None:
            return "–"
        text = number(abs(value), self.scale, 3)
        if not text.strip("0.,"):
            return text
        return ("−" if value < 0 else "+") + text

    def interval(self, difference: MeanDifference) -> str:
        """Return the text of a difference's interval, or a note that there is none."""
        if difference.low is None or difference.high is None:
            return "too few for an interval"
        return f"[{self.step(difference.low)}, {self.step(difference.high)}]"


class MetricView:
    """One metric of two runs."""

    def __init__(self, metric: MetricComparison, lines: ComparedCases, number: int) -> None:
        refused = metric.refused is not None
        self.found = metric
        self.grids = () if refused else lines.grids(number, metric.metric)
        self.scale = lines.summaries[metric.metric].scale
        self.span = Span([metric.difference], scale=self.scale)
        self.parts = Span(metric.criteria)
        self.word = "not compared" if refused else WORDS[metric.verdict]
        """The verdict in a word or two."""
        self.error = error_text(metric.difference)
        """Standard error, t and degrees of freedom of a t test; `None` for other tests."""
        over = metric.over_slices
        self.slices = () if over is None else (*metric.slices, over)
        """The differences of slices, and the mean over them last."""
        self.notes = list(notes(metric))
        self.moved = any(d.worse or d.better for d in (metric.difference, *metric.criteria))
        """Whether it or one of its criteria differs in any pair."""


class ReasonChange(NamedTuple):
    """The results of two runs for one case and one metric or criterion."""

    name: str
    part: bool
    base: str
    new: str
    base_reason: str
    new_reason: str


class Regression:
    """A case that got worse."""

    def __init__(self, base: Case, new: Case, changes: list[ReasonChange]) -> None:
        before, after = base.output or "", new.output or ""
        pieces = text_diff(before[:LONGEST], after[:LONGEST])
        self.case = base.id
        self.question = base.input or ""
        self.same = before == after
        self.before = [piece for piece in pieces if piece.sign != "+"]
        self.after = [piece for piece in pieces if piece.sign != "-"]
        self.cut = max(len(before), len(after)) > LONGEST
        self.changes = changes


class RunComparison:
    """One run compared with the base."""

    def __init__(self, facts: ComparisonFacts, place: int) -> None:
        self._facts = facts
        self.number = place + 1
        self.name = facts.names[self.number]
        self.found: Comparison = facts.found[place]
        self.line = verdict_line(self.found)
        self.family = family_line(self.found) if self.found.tests else ""
        self.little = little_known(self.found)

        verdicts = {metric.verdict for metric in self.found.metrics if metric.refused is None}
        self.tone = (
            "missed" if "worse" in verdicts else "pass" if "better" in verdicts else "complete"
        )
        """Its colour, as a CSS class."""
        counts = facts.payload.counts[place]
        self.worse, better = counts["worse"], counts["better"]
        """Cases that got worse."""
        self.moved = "No case changed"
        if self.worse or better:
            pairs = f"{self.worse:,} of {self.found.pairs:,}"
            self.moved = f"{pairs} cases got worse, {better:,} better"

    @property
    def metrics(self) -> Iterator[MetricView]:
        """The metrics, those that got worse first."""
        for metric in self.found.metrics:
            yield MetricView(metric, self._facts.lines, self.number)

    @property
    def regressions(self) -> Iterator[Regression]:
        """The cases that got worse most."""
        payload = self._facts.payload
        for id in payload.worst[self.number - 1]:
            sides = payload.scored[id]
            base, new = sides[0], sides[self.number]
            if base is not None and new is not None:
                yield self._regression(base, new)

    def _regression(self, base: Scored, new: Scored) -> Regression:
        results = {row.metric: row.result for row in new.rows}
        changes: list[ReasonChange] = []
        lines = self._facts.lines
        left_out = lines.left_out(base.case.id, self.number)
        compared = [name for name in lines.compared[self.number - 1] if name not in left_out]
        for row in base.rows:
            if row.metric in results and row.metric in compared:
                changes += self._reason_changes(row.metric, row.result, results[row.metric])
        return Regression(base.case, new.case, changes)

    def _reason_changes(self, name: str, base: Result, new: Result) -> Iterator[ReasonChange]:
        summary = self._facts.lines.summaries[name]
        one, other, scale = own_value(base), own_value(new), summary.scale
        sign = 1 if summary.higher_is_better else -1
        if one is None or other is None or (other - one) * sign > -EPSILON:
            return
        values = number(one, scale), number(other, scale)
        yield ReasonChange(name, False, *values, _reason(base), _reason(new))
        before = _parts(base)
        for id, part in _parts(new).items():
            old = before.get(id)
            if old is None or old.value is None or part.value is None:
                continue
            if part.value < old.value - EPSILON:
                values = number(old.value), number(part.value)
                yield ReasonChange(id, True, *values, reason_of(old), reason_of(part))


def _parts(result: Result) -> Mapping[str, Part]:
    """Return the criteria of a score of the metric itself; those of a case by their texts."""
    if isinstance(result, Score) and result.fallback is None:
        return parts_by_text(result)
    return {}


@dataclass
class ComparisonFacts:
    """Several runs, for the head of their page."""

    found: Sequence[Comparison]
    lines: ComparedCases
    payload: ComparisonPayload
    names: Sequence[str]

    def __post_init__(self) -> None:
        self.runs = self.lines.runs
        """The compared runs, the base first."""
        self.many = len(self.found) > 1
        """Whether more than one run was compared with the base."""
        models = set(self.lines.models) - {None}
        self.kind = "model" if len(models) == len(self.runs) else "run"
        """`model` if each run was answered by a different model, or else `run`."""
        new = f"{len(self.found)} {self.kind}s" if self.many else self.names[1]
        self.title = f"{new} against {self.names[0]}"
        """The names of the compared runs."""
        self.folders = [str(run.folder or "") for run in self.runs]
        """The locations of the runs."""
        self.against = [RunComparison(self, place) for place in range(len(self.found))]
        """Every run that was compared with the base."""

    @property
    def table(self) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
        """Metrics by runs: mean, difference from the base, and verdict."""
        for name in self.runs[0].metrics:
            yield name, [self._cell(place, name) for place in range(len(self.runs))]

    def _cell(self, place: int, name: str) -> tuple[str, str, str]:
        summary = self.runs[place].metrics.get(name)
        mean = "–" if summary is None else number(summary.mean, summary.scale, 3)
        compared = self.found[place - 1].metrics if place else ()
        metric = next((metric for metric in compared if metric.metric == name), None)
        if metric is None or metric.refused is not None:
            return mean, "", "not compared" if metric else ""
        scale = self.lines.summaries[name].scale
        return mean, Span([], scale=scale).step(metric.difference.mean), metric.verdict


def unfolded(diff: str) -> list[DiffPiece]:
    """Return a unified diff as pieces; in changed lines, only differing words are marked."""
    pieces: list[DiffPiece] = []
    lines = diff.splitlines()[2:]
    for changed, group in groupby(lines, key=lambda line: line.startswith(("-", "+"))):
        if changed:
            both = list(group)
            old, new = (
                "".join(f"{line[1:]}\n" for line in both if line.startswith(sign)) for sign in "-+"
            )
            pieces += text_diff(old, new)
            continue
        for line in group:
            if not line.startswith("@@"):
                pieces.append(DiffPiece("=", f"{line.removeprefix(' ')}\n"))
            elif pieces:
                pieces.append(DiffPiece("=", "⋯\n"))
    return pieces


def _reason(result: Result) -> str:
    return result.message if isinstance(result, Failure) else result.reason


SCRIPTS = (
    "dom", "scrolls", "data", "comparison/entries", "state", "rows", "facets",
    "columns", "table", "drawer", "comparison/edits", "comparison/sides", "comparison/runs", "main",
)  # fmt: skip
"""Pieces of the script, in the order they are joined."""
_MOST_NAME = 80
"""Maximum length of a name that is built from differences, in characters."""


def write_comparison(
    base: Report, new: Sequence[Report], comparisons: Sequence[Comparison], path: Path
) -> Path:
    """Write the page of runs compared with a base, and return its path.

    Args:
        base: the base.
        new: the runs that were compared with it.
        comparisons: the comparison of each of them.
        path: the file to write.

    Raises:
        ConfigError: the file cannot be written, or a run folder has no results.
    """
    return write_html(render_comparison(base, new, comparisons), path)


def render_comparison(
    base: Report,
    new: Sequence[Report],
    comparisons: Sequence[Comparison],
    *,
    pages: Sequence[str] = (),
) -> str:
    """Return the page of runs compared with a base.

    Args:
        base: the base.
        new: the runs that were compared with it.
        comparisons: the comparison of each of them.
        pages: where the pages of all runs are served, the base first; empty for a page in a file.
    """
    lines = ComparedCases(base, new, comparisons)
    names = names_of(lines.runs, lines.models)
    payload = make_payload(lines, names=names, pages=pages)
    return fill(
        "comparison",
        styles=("comparison",),
        scripts=SCRIPTS,
        facts=ComparisonFacts(comparisons, lines, payload, names),
        words=WORDS,
        longest=LONGEST,
        unfolded=unfolded,
        home="/" if pages else "",
        payload=payload,
    )


def names_of(runs: Sequence[Report], models: Sequence[str | None] = ()) -> list[str]:
    """Return a name for each run: the model, judge, rubric or suite in which it differs.

    If these do not distinguish all runs, the end of the folder is used, or the position for a run
    without a folder.
    """
    folders = folder_names([run.folder for run in runs])
    names = [""] * len(runs)
    answerers = [frozenset([model] if model else []) for model in models or [None] * len(runs)]
    made = [[values_of(run) for run in runs] for values_of in (_judges, _rubrics, _suite)]
    for values in (answerers, *made):
        common = frozenset.intersection(*values)
        for place, own in enumerate(values):
            if text := ", ".join(sorted(own - common)):
                names[place] = f"{names[place]}, {text}".removeprefix(", ")
    if all(names) and len(set(names)) == len(names) and max(map(len, names)) <= _MOST_NAME:
        return names
    if not all(names) or len(set(names)) == len(names) == 2:
        return folders
    return [f"{name[:_MOST_NAME]} ({folder})" for name, folder in zip(names, folders, strict=True)]


def _judges(run: Report) -> frozenset[str]:
    manifest = run.figures.manifest
    return frozenset(model for metric in run.metrics for model in judges_of(manifest, metric))


def _rubrics(run: Report) -> frozenset[str]:
    entries = dicts_in(run.figures.manifest.get("metrics"))
    return frozenset(
        f"{maker['rubric']}@{maker.get('version', '?')} {(maker.get('digest') or '')!s:.8}".strip()
        for maker in (mapping(entry.get("made_with")) for entry in entries)
        if maker.get("rubric")
    )


def _suite(run: Report) -> frozenset[str]:
    name = suite_of(run.figures.manifest).get("name")
    return frozenset([str(name)] if name else [])
