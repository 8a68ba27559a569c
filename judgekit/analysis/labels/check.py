"""Check a file of labels for contradictions, stale labels, missing cases and unknown names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.analysis.correction.correct import label_warnings
from judgekit.analysis.labels.plan import ReadPlan, read_plan
from judgekit.analysis.labels.questions import (
    NO_QUESTIONS,
    LabelQuestions,
    metric_names,
    questions_of_report,
)
from judgekit.core.canonical import printable
from judgekit.core.case import output_digest
from judgekit.core.display.parts import counted
from judgekit.core.errors import place
from judgekit.core.request import Question
from judgekit.core.suggest import suggest
from judgekit.datasets.labels import (
    Label,
    LabelAnswer,
    bounds,
    describe,
    read_answer,
    read_label_lines,
)
from judgekit.metrics.criteria.labels import shortened
from judgekit.report.manifest import cluster_field
from judgekit.report.report import Report
from judgekit.report.run_labels import RunLabels, label_renames, renamed

INFORMATION = ("distance", "no-digest", "not-labelled", "not-random")
"""Rules whose findings are information, not mistakes."""
_SHOWN = 5
_Placed = tuple[Label, str]
"""A label and its `file:line`."""
_Labels = Sequence[_Placed]


class LabelFinding(NamedTuple):
    """One finding of a check."""

    rule: str
    """contradiction, repeated, probability, stale, missing, unknown-case, unknown-metric,
    unknown-criterion, unknown-answer, or one of `INFORMATION`."""
    where: str
    """`file:line`, or the file alone."""
    message: str
    case: str | None = None
    metric: str | None = None
    criterion: str | None = None
    labeller: str | None = None

    @property
    def is_problem(self) -> bool:
        """Whether it is a mistake, not information."""
        return self.rule not in INFORMATION


class LabelCheck(NamedTuple):
    """The findings about a file of labels."""

    labels: int
    cases: int
    labellers: tuple[str, ...]
    findings: tuple[LabelFinding, ...]

    @property
    def problems(self) -> int:
        """Number of findings that are mistakes."""
        return sum(one.is_problem for one in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Return the findings as JSON values."""
        findings = [{**one._asdict(), "problem": one.is_problem} for one in self.findings]
        return {**self._asdict(), "problems": self.problems, "findings": findings}

    def text(self) -> str:
        """Return the findings, one per line, and their number; mistakes come first."""
        ordered = sorted(self.findings, key=lambda one: not one.is_problem)
        texts = [f"{one.where}: {one.rule}: {one.message}" for one in ordered]
        lines = [" ".join(printable(text).split()) for text in texts]
        problems = counted(self.problems, "problem") if self.problems else "no problems"
        of = f"{counted(self.labels, 'label')} of {counted(self.cases, 'case')}"
        lines.append(f"{problems} in {of} by {counted(len(self.labellers) or 1, 'labeller')}")
        return "\n".join(lines) + "\n"


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
    placed = [(one, place(path, number)) for number, one in read_label_lines(path)]
    planned = None if plan is None else read_plan(Path(plan))
    questions = planned.questions if planned else NO_QUESTIONS
    report = None
    if run is not None:
        report = run if isinstance(run, Report) else Report.read(run)
        renames = label_renames(report.figures.manifest)
        placed = [(renamed(one, renames.get(one.metric, {})), where) for one, where in placed]
    findings = [*_repeated(placed), *_probabilities(placed)]
    if report is not None:
        questions = questions_of_report(report)
        criteria = {
            name: {one.id for one in report.metrics[metric].criteria} | questions.names(name)
            for name, metric in metric_names(report).items()
        }
        digests = {case.id: output_digest(case.output) for case, _ in report.results}
        findings += _against_run(placed, criteria, digests, questions)
        if planned is None:
            findings += _not_labelled(placed, list(digests), str(path))
        findings += _not_random(placed, report, planned, path)
    findings += _against_questions(placed, questions)
    findings += _distances(placed, questions)
    findings += _missing(placed, planned) if planned else ()
    if count := sum(label.output is None for label, _ in placed):
        message = f"{counted(count, 'label')} without a digest: any output of the case matches"
        findings.append(LabelFinding("no-digest", str(path), message))
    people = {label.labeller for label, _ in placed if label.labeller}
    cases = len({label.case for label, _ in placed})
    return LabelCheck(len(placed), cases, tuple(sorted(people)), tuple(findings))


def _finding(rule: str, label: Label, where: str, message: str) -> LabelFinding:
    return LabelFinding(rule, where, message, *label[:3], label.labeller or None)


def _repeated(placed: _Labels) -> Iterator[LabelFinding]:
    first: dict[tuple[str | None, ...], _Placed] = {}
    for label, where in placed:
        earlier, at = first.setdefault(label.identity, (label, where))
        if earlier is not label and earlier.value == label.value:
            yield _finding("repeated", label, where, f"{describe(label)} repeats {at}; delete one")
        elif earlier is not label:
            values = f"{_shown(label.value)} here and {_shown(earlier.value)} at {at}"
            message = f"{describe(label)} is {values}; keep one"
            yield _finding("contradiction", label, where, message)


def _probabilities(placed: _Labels) -> Iterator[LabelFinding]:
    """Yield the first label without a probability among others, and cases with two."""
    first: dict[str, tuple[float | None, str]] = {}
    for label, where in placed:
        chance, at = first.setdefault(label.case, (label.probability, where))
        if chance != label.probability:
            message = f"case {label.case!r} has another probability at {at}; a plan gives it one"
            yield _finding("probability", label, where, message)
    without = [one for one in placed if one[0].probability is None]
    if 0 < len(without) < len(placed):
        message = (
            "has no probability, and others have one: `judgekit labels import --label-plan` adds it"
        )
        label, where = without[0]
        yield _finding("probability", label, where, f"case {label.case!r} {message}")


def _shown(value: LabelAnswer) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else repr(value)


def _against_run(
    placed: _Labels,
    criteria: Mapping[str, set[str]],
    digests: Mapping[str, str],
    questions: LabelQuestions,
) -> Iterator[LabelFinding]:
    own = {name for name in criteria if questions.has_own(name)}
    for label, where in placed:
        known = criteria.get(label.metric)
        if known is None:
            message = f"the run has no metric {label.metric!r}{suggest(label.metric, criteria)}"
            yield _finding("unknown-metric", label, where, message)
        elif label.metric in own and label.criterion is not None:
            of_case = questions.question(label.metric, label.case, label.criterion)
            if label.case in digests and of_case is None:
                names = map(shortened, questions.of(label.metric, label.case))
                hint = suggest(label.criterion, names)
                message = f"case {label.case!r} has no criterion {shortened(label.criterion)!r}"
                yield _finding("unknown-criterion", label, where, message + hint)
        elif label.criterion is not None and label.criterion not in known:
            message = f"{label.metric} has no {label.criterion!r}{suggest(label.criterion, known)}"
            yield _finding("unknown-criterion", label, where, message)
        if label.case not in digests:
            message = f"the run has no case {label.case!r}; are the case ids the same?"
            yield _finding("unknown-case", label, where, message)
        elif label.output not in (None, digests[label.case]):
            message = "is for another output than that of the run; label it again"
            yield _finding("stale", label, where, f"{describe(label)} {message}")


def _against_questions(placed: _Labels, questions: LabelQuestions) -> Iterator[LabelFinding]:
    for label, where in placed:
        question = questions.question(label.metric, label.case, label.criterion)
        if question is None or label.value is None:
            continue
        try:
            read_answer(label.value, question)
        except ValueError as exc:
            yield _finding("unknown-answer", label, where, f"case {label.case!r}: {exc}")


def _distances(placed: _Labels, questions: LabelQuestions) -> Iterator[LabelFinding]:
    """Yield answers of two labellers to one question with the largest possible distance."""
    answers: dict[tuple[str, str, str, str | None], dict[LabelAnswer, _Placed]] = {}
    for label, where in placed:
        topic = (label.case, label.metric, label.criterion or "", label.output)
        answers.setdefault(topic, {}).setdefault(label.value, (label, where))
    for (case, metric, criterion, _), given in answers.items():
        ends = _ends(questions.question(metric, case, criterion))
        ordered = [one for value, one in given.items() if value is not None and value in ends]
        if len(ordered) == 2 and ordered[0][0].labeller != ordered[1][0].labeller:
            (first, at), (last, where) = ordered
            other = f"{first.labeller or 'another labeller'} answered {_shown(first.value)} at {at}"
            message = f"{describe(last)} is {_shown(last.value)}; {other}"
            yield _finding("distance", last, where, message)


def _ends(question: Question | None) -> tuple[LabelAnswer, ...]:
    if question is None or question.kind == "boolean":
        return (False, True)
    if question.kind == "choice":
        return ()
    return (question.labels[0], question.labels[-1]) if question.labels else bounds(question)


def _missing(placed: _Labels, plan: ReadPlan) -> Iterator[LabelFinding]:
    given = {(*plan.topic(one), who) for one, _ in placed for who in ("", one.labeller)}
    for (case, metric), planned in plan.cases.items():
        for name in planned.labellers or ("",):
            if (case, metric, name) not in given:
                by = f" by {name}" if name else ""
                message = f"case {case!r} is planned for {metric} and has no label{by}"
                where = place(plan.path, planned.line)
                yield LabelFinding("missing", where, message, case, metric, None, name or None)


def _not_random(
    placed: _Labels, report: Report, plan: ReadPlan | None, path: Path
) -> Iterator[LabelFinding]:
    """Yield the metrics whose judge says other things of the labelled cases than of the rest."""
    cases: dict[str, list[Label]] = {}
    weighted: dict[str, set[bool]] = {}
    for given, _ in placed:
        known = plan.cases.get(plan.topic(given)) if plan is not None else None
        label = given if known is None else given._replace(probability=known.probability)
        cases.setdefault(label.case, []).append(label)
        weighted.setdefault(label.metric, set()).add(label.probability is not None)
    # Labels with and without a probability are a finding already, and cannot be compared.
    if any(len(kinds) > 1 for kinds in weighted.values()):
        return
    labels = RunLabels(path, cases, "").named_for(report.figures.manifest)
    for one in label_warnings(report, labels, cluster_field(report.figures.manifest)):
        yield LabelFinding("not-random", str(path), f"{one.name}: {one.warning}",
                           None, one.metric, one.criterion)  # fmt: skip


def _not_labelled(placed: _Labels, cases: Sequence[str], path: str) -> Iterator[LabelFinding]:
    labelled = {label.case for label, _ in placed}
    others = [case for case in cases if case not in labelled]
    if others:
        more = f" and {len(others) - _SHOWN:,} more" if len(others) > _SHOWN else ""
        listed = ", ".join(map(repr, others[:_SHOWN])) + more
        message = f"{len(others):,} of {len(cases):,} cases of the run have no label: {listed}"
        yield LabelFinding("not-labelled", path, message)
