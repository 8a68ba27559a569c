"""Labels of the criteria that cases have themselves, for the metric `points`.

Few criteria occur in several cases, so those of all cases are one subject for yes/no and one for
other kinds. The criteria of a case share its output; intervals are clustered by case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from judgekit.analysis.agreement.pairs import AgreeSettings, JudgedCase
from judgekit.analysis.agreement.subject import Subject
from judgekit.core.case import Case
from judgekit.core.errors import CaseError
from judgekit.core.score import Row
from judgekit.datasets.labels import Label, Topic
from judgekit.metrics.criteria.labels import judged_criterion, labels_by_leaf
from judgekit.metrics.criteria.texts import METRIC_TYPE
from judgekit.report.manifest import metric_entry
from judgekit.report.summary import MetricSummary

_People = Mapping[str, Label | None]


def has_own_criteria(manifest: Mapping[str, object], metric: str) -> bool:
    """Return whether the cases of a metric have their own criteria."""
    return metric_entry(manifest, metric).get("type") == METRIC_TYPE


def add_criteria(
    subjects: dict[Topic, Subject],
    case: Case,
    judged: JudgedCase,
    row: Row,
    given: Mapping[Topic, _People],
    summary: MetricSummary,
    settings: AgreeSettings,
) -> None:
    """Add the judge's answers to the labelled criteria of a case, and the labels."""
    labels = {criterion: people for (_, criterion), people in given.items() if criterion}
    used: Counter[int] = Counter()
    try:
        pairs = list(labels_by_leaf(case, labels))
    except CaseError:
        pairs = []
    for leaf, people in pairs:
        used[id(people)] += 1
        one = judged_criterion(leaf, row.result)
        subject = _subject(subjects, row.metric, one.topic, summary, settings)
        read: dict[str, Label | None] = {}
        for labeller, label in people.items():
            read[labeller] = label
            if label is not None:
                try:
                    read[labeller] = label._replace(value=one.read(label.value))
                except ValueError as exc:
                    where = f"case {case.id!r}, {leaf.part}"
                    subject.unreadable = subject.unreadable or f"{where}: {exc}"
        subject.add(judged._replace(id=f"{case.id}/{leaf.number}"), one.score, read)
    for people in labels.values():
        if not used[id(people)]:
            subject = _subject(subjects, row.metric, "criteria", summary, settings)
            subject.left_out["the case has no such criterion"] += len(people)


def _subject(
    subjects: dict[Topic, Subject],
    metric: str,
    topic: str,
    summary: MetricSummary,
    settings: AgreeSettings,
) -> Subject:
    # Without a field of the user, the units of `JudgedCase` are the cases.
    clustered = settings._replace(cluster=settings.cluster or "case")
    key = (metric, topic)
    return subjects.setdefault(key, Subject(metric, topic, summary, clustered))
