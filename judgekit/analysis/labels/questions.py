"""The questions of a run that people answer with labels, and their answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from judgekit.core.case import Case
from judgekit.core.errors import CaseError, ConfigError
from judgekit.core.request import Question
from judgekit.core.suggest import suggest
from judgekit.metrics.criteria.item import leaves_of, read_items
from judgekit.metrics.criteria.labels import label_questions
from judgekit.report.manifest import dicts_in, rubric_entry, rubrics_of
from judgekit.report.own_criteria import has_own_criteria
from judgekit.report.report import Report

_NOT_ASKED = ("weight", "levels", "reverse", "group")
"""Keys of a criterion in a manifest that are not part of its question."""


def questions_of(manifest: Mapping[str, Any], metric: str) -> dict[str, Question]:
    """Return criterion -> question of a metric; empty for a metric without one rubric.

    It is empty, too, for a metric whose cases have their own criteria.
    """
    if has_own_criteria(manifest, metric):
        return {}
    criteria = dicts_in(rubric_entry(manifest, metric).get("criteria"))
    return questions_from({str(one.get("id")): one for one in criteria})


def questions_from(criteria: Mapping[str, Any]) -> dict[str, Question]:
    """Return criterion -> question from JSON; invalid entries are ignored."""
    questions = {}
    for id, entry in criteria.items():
        if isinstance(entry, dict):
            fields = {name: value for name, value in entry.items() if name not in _NOT_ASKED}
            try:
                questions[id] = Question.model_validate({**fields, "id": id})
            except ValidationError:
                continue
    return questions


def metric_names(report: Report) -> dict[str, str]:
    """Return metric or rubric -> metric, because labels may name either."""
    manifest = report.figures.manifest
    names = {rubric: one for one in report.metrics for rubric, _ in rubrics_of(manifest, one)}
    return names | {one: one for one in report.metrics}


@dataclass(frozen=True)
class LabelQuestions:
    """The questions that labels answer."""

    by_metric: Mapping[str, Mapping[str, Question]]
    """Metric, or its rubric -> criterion -> question."""
    by_case: Mapping[tuple[str, str], Mapping[str, Question]]
    """Metric, or its rubric, and case -> name of a criterion of the case -> question.

    The id of the question is the usual name."""

    def of(self, metric: str, case: str) -> Mapping[str, Question]:
        """Return criterion -> question; empty if unknown."""
        own = self.by_case.get((metric, case))
        return own if own is not None else self.by_metric.get(metric, {})

    def question(self, metric: str, case: str, criterion: str | None) -> Question | None:
        """Return the question of a criterion; `None` if unknown."""
        own = self.of(metric, case)
        return own.get(criterion or "") or own.get(" ".join((criterion or "").split()))

    def names(self, metric: str) -> frozenset[str]:
        """Return the criteria of a metric in any case."""
        return frozenset({*self.by_metric.get(metric, {}), *self._names.get(metric, ())})

    def has_own(self, metric: str) -> bool:
        """Return whether the cases of a metric have their own criteria."""
        return metric in self._names

    @cached_property
    def _names(self) -> dict[str, set[str]]:
        names: dict[str, set[str]] = {}
        for (metric, _), own in self.by_case.items():
            names.setdefault(metric, set()).update(own)
        return names

    def after(self, other: LabelQuestions) -> LabelQuestions:
        """Return both; these replace others of the same metric or case."""
        return LabelQuestions(
            {**other.by_metric, **self.by_metric}, {**other.by_case, **self.by_case}
        )


NO_QUESTIONS = LabelQuestions({}, {})


def questions_of_report(report: Report) -> LabelQuestions:
    """Return the questions of a run, by metric and by the rubric of the metric."""
    manifest, names = report.figures.manifest, metric_names(report)
    by_metric = {name: questions_of(manifest, metric) for name, metric in names.items()}
    own = [name for name, metric in names.items() if has_own_criteria(manifest, metric)]
    by_case: dict[tuple[str, str], Mapping[str, Question]] = {}
    for case, _ in report.results if own else ():
        questions = own_questions(case)
        by_case |= {(name, case.id): questions for name in own}
    return LabelQuestions(by_metric, by_case)


def own_questions(case: Case) -> dict[str, Question]:
    """Return every name of a criterion of a case -> its question; empty if they are wrong."""
    try:
        return label_questions(leaves_of(read_items(case)))
    except CaseError:
        return {}


def usual(questions: Mapping[str, Question]) -> Iterator[tuple[str, Question]]:
    """Yield each question once, by its usual name."""
    yield from {question.id: question for question in questions.values()}.items()


def only_judged(report: Report) -> str | None:
    """Return the only metric with scores of a judge; `None` if there are several or none."""
    judged = [name for name, summary in report.metrics.items() if summary.judged]
    return judged[0] if len(judged) == 1 else None


def chosen_metric(report: Report, metric: str | None) -> str:
    """Return the metric to work on: the named one, or the only one that a judge scores.

    Raises:
        ConfigError: the metric does not exist, or there are several to choose from.
    """
    known = list(report.metrics)
    chosen = metric or only_judged(report) or (known[0] if len(known) == 1 else None)
    if chosen is None:
        raise ConfigError(f"the run has several metrics; name one: --metric {known[0]}"
                          f" (of {', '.join(known)})")  # fmt: skip
    if chosen not in known:
        raise ConfigError(f"--metric {metric}: no such metric in the run{suggest(metric, known)}")
    return chosen
