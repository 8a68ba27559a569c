"""Compare the answers of a judge with human labels, criterion by criterion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import get_args

from judgekit.analysis.agreement.subject import OTHER_OUTPUT, Answer, Failures, Subject
from judgekit.cassette.tape import Tape
from judgekit.core.canonical import canonical_json, digest
from judgekit.core.errors import ConfigError, JudgekitError
from judgekit.core.input_file import sha256_of
from judgekit.core.request import Question
from judgekit.core.score import Failure
from judgekit.core.suggest import suggest
from judgekit.datasets.labels import Label, read_labels
from judgekit.report.calibration import Calibration
from judgekit.report.clusters import cluster_of
from judgekit.report.folder import AGREEMENT, TAPE, write_json
from judgekit.report.manifest import cluster_field, rubrics_of
from judgekit.report.report import Report

Topic = tuple[str, str | None]
"""A metric and a criterion; `None` for the metric's own value."""
_Labels = dict[Topic, dict[str, dict[str, dict[str | None, Answer | None]]]]
"""Topic -> case -> labeller -> digest of the output -> label."""


def agree(
    run: str | Path | Report,
    labels: str | Path,
    *,
    failures: Failures = "wrong",
    cluster: str | None = None,
    write: bool = True,
) -> Calibration:
    """Measure how well the judge of a run agrees with human labels. No model is called.

    Args:
        run: a run folder, or a report.
        labels: a JSON Lines file of labels (see `judgekit.datasets.labels`).
        failures: `wrong` counts a reply without a verdict (invalid, refused, truncated or empty)
            as a disagreement; `drop` leaves the reply out.
        cluster: metadata field that clusters cases, such as a user; intervals are then clustered.
            The default is the field of the suite.
        write: whether to write `agree.json` to the run folder, where reports and pages read it.

    Raises:
        ConfigError: the run or a label cannot be read, no label matches an output of the run, or
            no case has the cluster field.
    """
    if failures not in get_args(Failures):
        known = list(get_args(Failures))
        raise ConfigError(
            f"failures must be wrong or drop, not {failures!r}{suggest(failures, known)}"
        )
    report = run if isinstance(run, Report) else Report.read(run)
    path = Path(labels)
    topics = _by_topic(read_labels(path))
    if not topics:
        raise ConfigError("the file has no labels", where=str(path))
    cluster = cluster or cluster_field(report.figures.manifest)
    subjects = _subjects(report, topics, failures=failures, cluster=cluster)
    if not any(subject.pairs for subject in subjects.values()):
        raise ConfigError(_no_match(report, topics, subjects), where=str(path))
    questions = _questions(report, subjects.values())
    calibration = Calibration(
        dataset=report.figures.dataset,
        manifest=digest(canonical_json(report.figures.manifest)),
        labels=sha256_of(path),
        cluster=cluster,
        criteria=tuple(
            agreement
            for topic, subject in subjects.items()
            for agreement in subject.finish(questions.get(topic))
        ),
    )
    if write and report.folder is not None:
        write_json(report.folder / AGREEMENT, calibration.model_dump(mode="json"))
    return calibration


def _by_topic(labels: Iterable[Label]) -> _Labels:
    topics: _Labels = {}
    for label in labels:
        cases = topics.setdefault((label.metric, label.criterion), {})
        outputs = cases.setdefault(label.case, {}).setdefault(label.labeller, {})
        outputs[label.output] = label.value
    return topics


def _subjects(
    report: Report, topics: _Labels, *, failures: Failures, cluster: str | None
) -> dict[Topic, Subject]:
    """Return the labelled subjects with the judge's results."""
    summaries = report.metrics
    rubrics = {
        name: {name, *(rubric for rubric, _ in rubrics_of(report.figures.manifest, name))}
        for name in summaries
    }
    subjects: dict[Topic, Subject] = {}
    clustered = False
    for case, rows in report.results:
        clustered = clustered or (cluster is not None and case.metadata.get(cluster) is not None)
        group = cluster_of(case.id, case.metadata, cluster)
        for row in rows:
            if row.metric not in summaries:
                continue
            names = rubrics[row.metric]
            if not isinstance(row.result, Failure) and row.result.meta.get("rubric"):
                names = {*names, str(row.result.meta["rubric"])}
            for (name, criterion), labels in topics.items():
                if name not in names:
                    continue
                topic = (row.metric, criterion)
                if topic not in subjects:
                    subjects[topic] = Subject(
                        row.metric, criterion, labels, summaries[row.metric],
                        failures=failures, clustered=cluster is not None,
                    )  # fmt: skip
                subjects[topic].add(case, row.result, group)
    if cluster is not None and not clustered:
        raise ConfigError(f"no case has {cluster!r} in its metadata to cluster by")
    return subjects


def _no_match(report: Report, topics: _Labels, subjects: Mapping[Topic, Subject]) -> str:
    """Return why no label matches a result of the run."""
    names = sorted({metric for metric, _ in topics})
    known = list(report.metrics)
    if not subjects and not set(names) & set(known):
        return f"labels {', '.join(map(repr, names))}; the run has {', '.join(known)}"
    other = sum(subject.left_out[OTHER_OUTPUT] for subject in subjects.values())
    if other:
        return (
            f"{other} label{'s are' if other != 1 else ' is'} for another output of these cases, "
            "and none is for an output of this run; label this run on its page"
        )
    return "no label matches a case that the run has a score for; are the case ids the same?"


def _questions(report: Report, subjects: Iterable[Subject]) -> dict[Topic, Question]:
    """Return the questions that the judge answered, as far as the tape of the run has them."""
    if report.folder is None:
        return {}
    keys = {subject.metric: subject.key for subject in subjects if subject.key}
    try:
        with closing(Tape(report.folder / TAPE)) as tape:
            records = {metric: tape.record(key) for metric, key in keys.items()}
    except JudgekitError as exc:
        raise ConfigError(f"cannot read the tape: {exc}", where=str(report.folder)) from exc
    return {
        (metric, question.id): question
        for metric, record in records.items()
        if record is not None
        for question in record.request.form.questions
    }


__all__ = ["agree"]
