"""Mistakes in a file of labels: contradictions, stale labels, missing cases, unknown names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from judgekit.analysis.labels.answers import LabelAnswer, answer_problem, bounds
from judgekit.analysis.labels.planned import ReadPlan, read_plan
from judgekit.analysis.labels.questions import counted, questions_of
from judgekit.core.canonical import printable
from judgekit.core.case import output_digest
from judgekit.core.errors import place
from judgekit.core.request import Question
from judgekit.core.score import Failure
from judgekit.core.suggest import suggest
from judgekit.datasets.labels import Label, describe, read_label_lines
from judgekit.report.manifest import rubrics_of
from judgekit.report.report import Report

Rule = Literal[
    "contradiction", "repeated", "stale", "missing", "unknown-case", "unknown-metric",
    "unknown-criterion", "unknown-answer", "distance", "no-digest", "not-labelled",
]  # fmt: skip
INFORMATION = ("distance", "no-digest", "not-labelled")
"""Rules that find no mistakes."""
_SHOWN = 5


class LabelFinding(NamedTuple):
    """One finding of a check."""

    rule: Rule
    where: str
    """`file:line`, or the file alone."""
    message: str
    case: str | None = None
    metric: str | None = None
    criterion: str | None = None
    labeller: str | None = None

    @property
    def is_problem(self) -> bool:
        """Whether it is a mistake, and no information."""
        return self.rule not in INFORMATION


class LabelCheck(NamedTuple):
    """The findings about a file of labels."""

    labels: int
    cases: int
    labellers: tuple[str, ...]
    findings: tuple[LabelFinding, ...]

    @property
    def problems(self) -> int:
        """How many findings are mistakes."""
        return sum(one.is_problem for one in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Return the findings as JSON values."""
        findings = [{**one._asdict(), "problem": one.is_problem} for one in self.findings]
        return {**self._asdict(), "labellers": list(self.labellers), "problems": self.problems,
                "findings": findings}  # fmt: skip

    def text(self) -> str:
        """Return the findings, in a line each, and their number."""
        lines = [
            f"{one.where}: {one.rule}: {' '.join(printable(one.message).split())}"
            for one in sorted(self.findings, key=lambda one: not one.is_problem)
        ]
        problems = counted(self.problems, "problem") if self.problems else "no problems"
        of = f"{counted(self.labels, 'label')} of {counted(self.cases, 'case')}"
        lines.append(f"{problems} in {of} by {counted(len(self.labellers) or 1, 'labeller')}")
        return "\n".join(lines) + "\n"


class _Placed(NamedTuple):
    label: Label
    where: str


class _Known(NamedTuple):
    """What a run knows of its cases and metrics."""

    digests: Mapping[str, str]
    metrics: Mapping[str, str]
    """Name of a metric or rubric -> metric."""
    criteria: Mapping[str, set[str]]
    questions: Mapping[str, Mapping[str, Question]]


def check_labels(
    labels: str | Path, run: str | Path | Report | None = None, *, plan: str | Path | None = None
) -> LabelCheck:
    """Find mistakes in a file of labels.

    Args:
        labels: a JSON Lines file of labels.
        run: the run that was labelled.
        plan: the sampling plan of the labels.

    Raises:
        ConfigError: the run, the plan or a line of the labels cannot be read.
        DatasetError: the plan cannot be read.
    """
    path = Path(labels)
    placed = [_Placed(one, place(path, number)) for number, one in read_label_lines(path)]
    planned = None if plan is None else read_plan(Path(plan))
    known = None
    if run is not None:
        known = _known(run if isinstance(run, Report) else Report.read(run))
    questions = known.questions if known else planned.questions if planned else {}
    findings = [*_repeated(placed)]
    for label, where in placed:
        findings += _against_run(label, where, known) if known else ()
        findings += _against_questions(label, where, questions)
    findings += _distances(placed, questions)
    if planned is not None:
        findings += _missing(placed, planned)
    elif known is not None:
        findings += _not_labelled(placed, known, str(path))
    if count := sum(label.output is None for label, _ in placed):
        message = f"{counted(count, 'label')} without a digest: any output of the case matches"
        findings.append(LabelFinding("no-digest", str(path), message))
    people = {label.labeller for label, _ in placed if label.labeller}
    cases = len({label.case for label, _ in placed})
    return LabelCheck(len(placed), cases, tuple(sorted(people)), tuple(findings))


def _finding(rule: Rule, label: Label, where: str, message: str) -> LabelFinding:
    return LabelFinding(rule, where, message, label.case, label.metric, label.criterion,
                        label.labeller or None)  # fmt: skip


def _known(report: Report) -> _Known:
    manifest = report.figures.manifest
    metrics = {rubric: name for name in report.metrics for rubric, _ in rubrics_of(manifest, name)}
    metrics |= {name: name for name in report.metrics}
    questions = {name: questions_of(manifest, name) for name in report.metrics}
    criteria = {name: set(asked) for name, asked in questions.items()}
    digests = {}
    for case, rows in report.results:
        digests[case.id] = output_digest(case.output)
        for row in rows:
            if not isinstance(row.result, Failure) and row.result.fallback is None:
                criteria.setdefault(row.metric, set()).update(p.id for p in row.result.parts)
    return _Known(digests, metrics, criteria, questions)


def _repeated(placed: list[_Placed]) -> Iterator[LabelFinding]:
    first: dict[Label, _Placed] = {}
    for one in placed:
        label, where = one
        earlier = first.setdefault(label.identity, one)
        if earlier is one:
            continue
        answer, other = _shown(label.value), _shown(earlier.label.value)
        if label.value == earlier.label.value:
            message = f"{describe(label)} repeats {earlier.where}; delete one"
            yield _finding("repeated", label, where, message)
        else:
            message = f"{describe(label)} is {answer} here and {other} at {earlier.where}; keep one"
            yield _finding("contradiction", label, where, message)


def _shown(value: LabelAnswer) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else repr(value)


def _against_run(label: Label, where: str, known: _Known) -> Iterator[LabelFinding]:
    metric = known.metrics.get(label.metric)
    if metric is None:
        hint = suggest(label.metric, known.metrics)
        message = f"the run has no metric {label.metric!r}{hint}"
        yield _finding("unknown-metric", label, where, message)
    elif label.criterion is not None and label.criterion not in known.criteria[metric]:
        hint = suggest(label.criterion, known.criteria[metric])
        message = f"{metric} has no criterion {label.criterion!r}{hint}"
        yield _finding("unknown-criterion", label, where, message)
    if label.case not in known.digests:
        message = f"the run has no case {label.case!r}; are the case ids the same?"
        yield _finding("unknown-case", label, where, message)
    elif label.output not in (None, known.digests[label.case]):
        message = f"{describe(label)} is for another output than that of the run; label it again"
        yield _finding("stale", label, where, message)


def _against_questions(
    label: Label, where: str, questions: Mapping[str, Mapping[str, Question]]
) -> Iterator[LabelFinding]:
    question = questions.get(label.metric, {}).get(label.criterion or "")
    problem = answer_problem(label.value, question) if question is not None else None
    if problem is not None:
        yield _finding("unknown-answer", label, where, f"case {label.case!r}: {problem}")


def _distances(
    placed: list[_Placed], questions: Mapping[str, Mapping[str, Question]]
) -> Iterator[LabelFinding]:
    """Yield answers of two labellers to one question that are as far apart as can be."""
    answers: dict[tuple[str, ...], list[_Placed]] = {}
    for one in placed:
        label = one.label
        if label.value is not None:
            key = (label.case, label.metric, label.criterion or "", label.output or "")
            answers.setdefault(key, []).append(one)
    for (_, metric, criterion, _), given in answers.items():
        question = questions.get(metric, {}).get(criterion)
        for low, high in _ends(question):
            lowest = next((one for one in given if one.label.value == low), None)
            highest = next((one for one in given if one.label.value == high), None)
            if lowest and highest and lowest.label.labeller != highest.label.labeller:
                one, other = sorted((lowest, highest), key=given.index)
                message = (f"{describe(other.label)} is {_shown(other.label.value)}; "
                           f"{one.label.labeller or 'another labeller'} answered "
                           f"{_shown(one.label.value)} at {one.where}")  # fmt: skip
                yield _finding("distance", other.label, other.where, message)
                break


def _ends(question: Question | None) -> list[tuple[Any, Any]]:
    if question is None:
        return [(False, True)]
    if question.kind == "choice":
        return []
    if question.labels:
        return [(question.labels[0], question.labels[-1])]
    return [(False, True)] if question.kind == "boolean" else [bounds(question)]


def _missing(placed: list[_Placed], plan: ReadPlan) -> Iterator[LabelFinding]:
    by_case: dict[tuple[str, str], set[str]] = {}
    for label, _ in placed:
        by_case.setdefault((label.case, label.metric), set()).add(label.labeller)
    for (case, metric), planned in plan.cases.items():
        people = by_case.get((case, metric), set())
        where = place(plan.path, int(planned.line))
        if not people:
            message = f"case {case!r} is planned for {metric} and has no label"
            yield LabelFinding("missing", where, message, case, metric)
            continue
        for name in planned.labellers:
            if name not in people:
                message = f"case {case!r} is planned for {metric}, and {name} has not labelled it"
                yield LabelFinding("missing", where, message, case, metric, None, name)


def _not_labelled(placed: list[_Placed], known: _Known, path: str) -> Iterator[LabelFinding]:
    labelled = {label.case for label, _ in placed}
    others = [case for case in known.digests if case not in labelled]
    if others:
        more = f" and {len(others) - _SHOWN:,} more" if len(others) > _SHOWN else ""
        message = (f"{len(others):,} of {len(known.digests):,} cases of the run have no label: "
                   f"{', '.join(map(repr, others[:_SHOWN]))}{more}")  # fmt: skip
        yield LabelFinding("not-labelled", path, message)
