"""A sampling plan: the cases of a run to label, with the probability of each case."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.analysis.labels.questions import (
    LabelQuestions,
    chosen_metric,
    own_questions,
    questions_from,
    questions_of,
    usual,
)
from judgekit.core.canonical import digest
from judgekit.core.case import output_digest
from judgekit.core.case_field import EVIDENCE
from judgekit.core.errors import ConfigError, place
from judgekit.core.renderers import renderer
from judgekit.core.request import Question
from judgekit.core.score import Failure, Result, Score, own_value
from judgekit.datasets.labels import Label, labels_of
from judgekit.datasets.load import read_file
from judgekit.datasets.row_builder import RowBuilder, RowFault
from judgekit.report.folder import Scored
from judgekit.report.manifest import rubrics_of
from judgekit.report.own_criteria import has_own_criteria
from judgekit.report.report import Report
from judgekit.stats.power import LEAST, allocate_power, rank_groups

DOUBTFUL = 2.0
"""Factor by which cases with a high spread are drawn more often."""
_DESIGNS = ((4, True), (3, True), (2, True), (3, False), (2, False), (1, False))
"""Score groups, and whether to split by spread; the first with two cases per stratum is used."""
_NOT_JUDGED = ("invalid_case", "not_run", "pending")
_Key = tuple[int, bool]
"""Group by score, and whether the spread is above the median."""
_NO_SCORE = (4, False)
ABOUT_CASE = frozenset({"stratum", "labellers", "criteria", *EVIDENCE})
"""Keys of a planned case that do not belong to a label."""


class PlanStratum(NamedTuple):
    """Cases with the same probability."""

    name: str
    size: int
    drawn: int

    @property
    def probability(self) -> float:
        """The inclusion probability of each case."""
        return self.drawn / self.size


class PlanCandidate(NamedTuple):
    """A case that a plan may choose."""

    case: str
    value: float | None
    spread: float
    """Standard deviation of the values of opinions, or of criteria if there is one opinion."""


class LabelPlan(NamedTuple):
    """The cases that people label."""

    report: Report
    metric: str
    seed: int
    strata: tuple[PlanStratum, ...]
    chosen: dict[str, PlanStratum]
    left_out: Counter[str]
    labellers: tuple[str, ...] = ()

    @property
    def cases(self) -> Iterator[Scored]:
        """The chosen cases in the order of the run."""
        return (scored for scored in self.report.results if scored.case.id in self.chosen)

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield the data for labelling each case, with the probability of the case."""
        manifest = self.report.figures.manifest
        of_rubric = questions_of(manifest, self.metric)
        own = has_own_criteria(manifest, self.metric)
        rubrics = sorted(name for name, _ in rubrics_of(manifest, self.metric))
        for case, _ in self.cases:
            questions = own_questions(case) if own else of_rubric
            criteria = {
                id: question.model_dump(mode="json", exclude_defaults=True, exclude={"id"})
                for id, question in usual(questions)
            }
            stratum = self.chosen[case.id]
            texts = case.model_dump(mode="json", exclude_defaults=True)
            yield {
                "case": case.id,
                "metric": self.metric,
                **({"rubric": rubrics[0]} if len(rubrics) == 1 else {}),
                "output_digest": output_digest(case.output),
                "probability": stratum.probability,
                # A number, because the name would reveal the score to the labeller.
                "stratum": 1 + self.strata.index(stratum),
                **({"labellers": list(self.labellers)} if self.labellers else {}),
                **({"criteria": criteria} if criteria else {}),
                **{name: texts[name] for name in EVIDENCE if name in texts},
            }

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON values; `cases` has the lines of the file."""
        strata = [{**one._asdict(), "probability": one.probability} for one in self.strata]
        head = {"metric": self.metric, "seed": self.seed, "strata": strata}
        return {**head, "left_out": dict(self.left_out), "cases": list(self.lines())}

    def write_page(self, path: Path) -> Path:
        """Write a page of the run with the chosen cases only, to label them in a browser.

        Raises:
            ConfigError: the file cannot be written.
        """
        report = self.report
        figures = report.figures.model_copy(update={"cases": len(self.chosen)})
        part = Report(figures, run=report.run, results=self.cases, folder=report.folder,
                      places=report.places)  # fmt: skip
        written: Path = renderer("run page")(part, path, label=self.metric)
        return written

    def text(self) -> str:
        """Return a description of the sample, as lines."""
        size = sum(stratum.size for stratum in self.strata)
        lines = [f"{self.metric}: {len(self.chosen):,} of {size:,} cases, seed {self.seed}"]
        for n, one in enumerate(self.strata, start=1):
            rate = f"{one.drawn:,} of {one.size:,}, probability {one.probability:.3g}"
            lines.append(f"  {f'{n}. {one.name}':<34} {rate}")
        lines += [f"left out: {count:,} {why}" for why, count in self.left_out.items()]
        return "\n".join(lines) + "\n"


def plan_labels(
    run: str | Path | Report,
    count: int,
    *,
    metric: str | None = None,
    seed: int = 42,
    labellers: Sequence[str] = (),
) -> LabelPlan:
    """Choose cases of a run for people to label.

    Strata are groups of similar scores, each split at the median spread of the samples or jury, or
    of the criteria if there is one opinion. From each stratum a simple random sample without
    replacement is drawn; its size follows `allocate_power`, with twice the weight for a high
    spread. With few cases to draw, there are fewer strata. Cases without a score of the metric
    itself also form a stratum, so every case has a probability above 0.

    Args:
        run: a run folder, or a report.
        count: number of cases to choose.
        metric: the metric to label; the only judged one by default.
        seed: another seed chooses other cases.
        labellers: the people who label each case.

    Raises:
        ConfigError: the run cannot be read, the count is not from 1 to the number of cases, or
            the metric is unknown or not the only one.
    """
    if count < 1:
        raise ConfigError(f"-n {count}: must be at least 1")
    report = run if isinstance(run, Report) else Report.read(run)
    metric = chosen_metric(report, metric)
    left_out: Counter[str] = Counter()
    candidates = list(_candidates(report, metric, left_out))
    if count > len(candidates):
        raise ConfigError(f"-n {count}: the run has {len(candidates):,} cases of {metric} to "
                          f"label; choose at most that many")  # fmt: skip
    strata, chosen = draw_strata(candidates, count, metric=metric, seed=seed)
    return LabelPlan(report, metric, seed, strata, chosen, left_out, tuple(labellers))


def draw_strata(
    candidates: Sequence[PlanCandidate], count: int, *, metric: str, seed: int
) -> tuple[tuple[PlanStratum, ...], dict[str, PlanStratum]]:
    """Return the strata of the candidates, and the drawn cases with their strata."""
    keys = _stratify(candidates, count)
    members: dict[_Key, list[PlanCandidate]] = {key: [] for key in sorted(set(keys))}
    for candidate, key in zip(candidates, keys, strict=True):
        members[key].append(candidate)
    factors = [DOUBTFUL if high else 1.0 for _, high in members]
    split = any(high for _, high in members)
    strata: list[PlanStratum] = []
    chosen: dict[str, PlanStratum] = {}
    drawn = allocate_power(list(map(len, members.values())), factors, count)
    for (key, cases), size in zip(members.items(), drawn, strict=True):
        strata.append(PlanStratum(_name(cases, key, split=split), len(cases), size))
        # Independent of the order of the run.
        ordered = sorted(cases, key=lambda c: digest(f"labels\n{seed}\n{metric}\n{c.case}"))
        chosen |= {one.case: strata[-1] for one in ordered[:size]}
    return tuple(strata), chosen


def _candidates(report: Report, metric: str, left_out: Counter[str]) -> Iterator[PlanCandidate]:
    for case, rows in report.results:
        result = next((row.result for row in rows if row.metric == metric), None)
        if result is None or (isinstance(result, Failure) and result.kind in _NOT_JUDGED):
            left_out["cases that the metric was not asked about"] += 1
        else:
            yield PlanCandidate(case.id, own_value(result), _spread(result))


def _spread(result: Result) -> float:
    if not isinstance(result, Score):
        return 0.0
    values = [one.value for one in result.opinions if one.value is not None]
    if len(values) < 2:
        values = [part.value for part in result.parts if part.value is not None]
    middle = math.fsum(values) / max(1, len(values))
    squares = math.fsum((value - middle) ** 2 for value in values)
    # Rounded: the same spread of other values may differ in its last bits.
    return round(math.sqrt(squares / max(1, len(values))), 9)


def _stratify(candidates: Sequence[PlanCandidate], count: int) -> list[_Key]:
    """Return the stratum of each case: as many strata as the cases to draw allow."""
    scored = [one.value for one in candidates if one.value is not None]
    spreads = [one.spread for one in candidates if one.value is not None]
    middle = statistics.median(spreads or [0.0])
    for groups, split in _DESIGNS:
        group = dict(zip(scored, rank_groups(scored, groups), strict=True))
        keys = [
            _NO_SCORE if one.value is None else (group[one.value], split and one.spread > middle)
            for one in candidates
        ]
        if sum(min(LEAST, size) for size in Counter(keys).values()) <= count:
            return keys
    return [(0, False)] * len(candidates)


def _name(cases: Sequence[PlanCandidate], key: _Key, *, split: bool) -> str:
    values = [one.value for one in cases if one.value is not None]
    if key == _NO_SCORE or not values:
        return "no score"
    low, high = min(values), max(values)
    name = f"score {low:.6g}" + (f" to {high:.6g}" if high > low else "")
    return f"{name}, {'high' if key[1] else 'low'} spread" if split else name


class PlannedCase(NamedTuple):
    """One line of a plan."""

    line: int
    output: str | None
    """Digest of the output to label."""
    probability: float
    labellers: tuple[str, ...]


class ReadPlan(NamedTuple):
    """A plan read from its file."""

    path: Path
    cases: Mapping[tuple[str, str], PlannedCase]
    """Case and metric -> its line."""
    metrics: Mapping[str, str]
    """Metric, or its rubric -> metric."""
    questions: LabelQuestions

    def topic(self, label: Label) -> tuple[str, str]:
        """Return case and metric of a label, which may name the rubric."""
        return label.case, self.metrics.get(label.metric, label.metric)


class _PlanRows(RowBuilder):
    def read(self, row: Any) -> Any:
        planned = isinstance(row, dict) and row.get("probability") is not None
        is_label = planned and row.keys() & {"answers", "values", "value"}
        if not planned or is_label or not isinstance(row.get("labellers", []), list):
            raise RowFault("not a line of a plan; `judgekit labels plan` writes plans")
        return row


def read_plan(path: Path) -> ReadPlan:
    """Read the output of `judgekit labels plan`.

    Raises:
        DatasetError: with `file:line`, the file or a line of it is none of a plan.
        ConfigError: with `file:line`, a line has a wrong value, or repeats a case.
    """
    rows: Any = read_file(path, str(path), container="jsonl", wrap=lambda _: _PlanRows())
    cases: dict[tuple[str, str], PlannedCase] = {}
    questions: dict[str, Mapping[str, Question]] = {}
    by_case: dict[tuple[str, str], Mapping[str, Question]] = {}
    metrics: dict[str, str] = {}
    for line, row in rows():
        head = {key: value for key, value in row.items() if key not in ABOUT_CASE}
        label = next(labels_of({**head, "value": None}, place(path, line)))
        metrics[str(row.get("rubric") or label.metric)] = metrics[label.metric] = label.metric
        names = tuple(map(str, row.get("labellers", [])))
        planned = PlannedCase(line, label.output, label.probability or 1.0, names)
        first = cases.setdefault((label.case, label.metric), planned)
        if first is not planned:
            raise ConfigError(f"case {label.case!r} is planned twice, first in line {first.line}",
                              where=place(path, line))  # fmt: skip
        if isinstance(row.get("criteria"), dict):
            of_case = questions_from(row["criteria"])
            first_of = questions.setdefault(label.metric, of_case)
            if of_case != first_of:  # the cases have their own criteria
                by_case[label.metric, label.case] = of_case
    if not cases:
        raise ConfigError("the plan has no cases", where=str(path))
    return ReadPlan(path, cases, metrics, LabelQuestions(questions, by_case))
