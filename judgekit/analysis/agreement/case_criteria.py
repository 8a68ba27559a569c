"""Labels of the criteria that cases have themselves, for the metric `points`.

Few criteria occur in several cases, so those of all cases are one subject for yes/no and one for
other kinds. The criteria of a case share its output; intervals are clustered by case.
"""

from __future__ import annotations

from collections.abc import Mapping

from judgekit.analysis.agreement.pairs import AgreeSettings, JudgedCase
from judgekit.analysis.agreement.subject import NO_SUCH, Subject
from judgekit.core.case import Case
from judgekit.core.errors import CaseError
from judgekit.core.score import Row
from judgekit.datasets.labels import Label, Topic
from judgekit.metrics.criteria.item import leaves_of, read_items
from judgekit.metrics.criteria.labels import judged_criterion, misnamed, names_by_leaf
from judgekit.report.summary import MetricSummary

_TWICE = "the labeller also names the criterion by its digest, text or id"
_People = Mapping[str, Label | None]


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
    try:
        leaves = leaves_of(read_items(case))
    except CaseError:
        leaves = []
    used: set[str] = set()
    for leaf, names in names_by_leaf(leaves, labels):
        if not names:
            continue
        one = judged_criterion(leaf, row.result)
        subject = _subject(subjects, row.metric, one.topic, summary, settings)
        read: dict[str, Label | None] = {}
        for labeller, label in ((who, own) for name in names for who, own in labels[name].items()):
            if read.get(labeller) is not None:  # by the digest and, say, by the text
                if label is not None:
                    subject.left_out[_TWICE] += 1
                continue
            read[labeller] = label
            if label is not None:
                try:
                    read[labeller] = label._replace(value=one.read(label.value))
                except ValueError as exc:
                    where = f"case {case.id!r}, {leaf.part}"
                    subject.unreadable = subject.unreadable or f"{where}: {exc}"
        used.update(names)
        subject.add(judged._replace(id=f"{case.id}/{leaf.number}"), one.score, read)
    for name, people in labels.items():
        if name not in used:
            subject = _subject(subjects, row.metric, "criteria", summary, settings)
            subject.misnamed = subject.misnamed or misnamed(case, [name])
            subject.left_out[NO_SUCH] += len(people)


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
