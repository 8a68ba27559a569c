"""The fields of a case that the rubrics of metrics show a judge, for run folders and pages."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from judgekit.core.protocols import Metric, with_children
from judgekit.metrics.rubric import RubricMetric
from judgekit.rubric.asked import shown_and_not, shown_fields
from judgekit.rubric.rubric import Rubric

_MOST = 500
"""Maximum number of nested metrics that are searched."""


def shown_by_rubric(metrics: Iterable[Metric]) -> dict[str, dict[str, list[str]]]:
    """Return NAME@VERSION of each rubric -> the fields that it `shows` the judge, and `never` does.

    A metric of several steps gives its rubrics only parts of a case; see the card of the metric.
    """
    shown = {}
    for metric in metrics:
        for part in islice(with_children(metric), _MOST):
            mode = part.mode if isinstance(part, RubricMetric) else None
            for rubric in part.rubrics:
                if not isinstance(rubric, Rubric):
                    continue
                # A metric may use a second rubric, such as the one that lists requirements.
                fields = shown_and_not(rubric, mode=mode if mode in rubric.modes else None)
                if fields is not None:
                    name = f"{rubric.name}@{rubric.version}"
                    shown[name] = {"shows": fields[0], "never": fields[1]}
    return shown


def hidden_answers(metrics: Iterable[Metric]) -> list[str]:
    """Return a line for each rubric that requires the answer and never shows it to the judge."""
    lines = []
    for metric in metrics:
        for part in islice(with_children(metric), _MOST):
            if isinstance(part, RubricMetric) and "output" in part.rubric.requires:
                shown = shown_fields(part.rubric, mode=part.mode)
                if shown is not None and "output" not in shown:
                    name = f"{part.rubric.name}@{part.rubric.version}"
                    lines.append(
                        f"{metric.name}: the rubric {name} never shows the answer to the judge;"
                        ' print it: {{ case.output | fence("answer") }}'
                    )
    return lines
