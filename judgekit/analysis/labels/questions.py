"""The questions of a run that people answer with labels, and their answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from judgekit.core.errors import ConfigError
from judgekit.core.request import Question
from judgekit.core.suggest import suggest
from judgekit.report.manifest import dicts_in, rubric_entry, rubrics_of
from judgekit.report.report import Report

_NOT_ASKED = ("weight", "levels", "reverse", "group")
"""Keys of a criterion in a manifest that are not part of its question."""


def questions_of(manifest: Mapping[str, Any], metric: str) -> dict[str, Question]:
    """Return criterion -> question of a metric; empty for a metric without one rubric."""
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


def questions_by_name(report: Report) -> dict[str, Mapping[str, Question]]:
    """Return the questions of each metric, by its name and by that of its rubric."""
    manifest = report.figures.manifest
    return {name: questions_of(manifest, metric) for name, metric in metric_names(report).items()}


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
