"""Compare a judge with people, criterion by criterion."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import get_args

from judgekit.analysis.agreement.labels import Label, read_labels
from judgekit.analysis.agreement.subject import OTHER_OUTPUT, Answer, Failures, Subject
from judgekit.cassette.record import decode
from judgekit.cassette.tape import Tape
from judgekit.core.canonical import canonical_json, digest
from judgekit.core.errors import ConfigError, JudgekitError
from judgekit.core.input_file import sha256_of
from judgekit.core.request import Question
from judgekit.core.score import Failure
from judgekit.core.suggest import suggest
from judgekit.report.calibration import Calibration
from judgekit.report.folder import AGREEMENT, TAPE, Scored, write_json
from judgekit.report.manifest import cluster_field, rubrics_of
from judgekit.report.report import Report

_KEY = re.compile("[0-9a-f]{64}")

Topic = tuple[str, str | None]
"""A metric and a criterion; `None` for the metric's own value."""


def agree(
    run: str | Path | Report,
    labels: str | Path,
    *,
    failures: Failures = "wrong",
    cluster: str | None = None,
    write: bool = True,
) -> Calibration:
    """Compare the judge of a run with people. No model is called.

    Args:
        run: a run folder, or a report.
        labels: JSON Lines of labels (see `judgekit.analysis.agreement.labels`).
        failures: `wrong` counts a reply without a verdict (invalid, refused, truncated or empty)
            as a disagreement; `drop` leaves it out.
        cluster: metadata field that clusters cases, such as a user; intervals are then clustered by
            cluster. By default that of the suite.
        write: whether to write the outcome to `agree.json` in the run folder, where reports and
            pages find it.

    Raises:
        ConfigError: not a run, a line that is no label, no label for an output of the run, or no
            case has the field to cluster by.
    """
    if failures not in get_args(Failures):
        known = list(get_args(Failures))
        raise ConfigError(
            f"failures must be wrong or drop, not {failures!r}{suggest(failures, known)}"
        )
    report = run if isinstance(run, Report) else Report.read(run)
    path = Path(labels)
    people = _by_topic(read_labels(path))
    if not people:
        raise ConfigError("holds no label", where=str(path))
    cluster = cluster or cluster_field(report.figures.manifest)
    subjects = _subjects(report, people, failures=failures, cluster=cluster)
    if not any(subject.pairs for subject in subjects.values()):
        raise ConfigError(_nothing_fits(report, people, subjects), where=str(path))
    questions = _questions(report, {s.metric: s.key for s in subjects.values()})
    calibration = Calibration(
        dataset=report.figures.dataset,
        manifest=digest(canonical_json(report.figures.manifest)),
        labels=sha256_of(path),
        cluster=cluster,
        criteria=tuple(
            agreement
            for subject in subjects.values()
            for agreement in subject.finish(questions.get((subject.metric, subject.criterion)))
        ),
    )
    if write and report.folder is not None:
        write_json(report.folder / AGREEMENT, calibration.model_dump(mode="json"))
    return calibration


_People = dict[Topic, dict[str, dict[str, dict[str | None, Answer | None]]]]
"""Topic -> case -> labeller -> digest of the output -> the label."""


def _by_topic(labels: Iterable[Label]) -> _People:
    topics: _People = {}
    for label in labels:
        cases = topics.setdefault((label.metric, label.criterion), {})
        outputs = cases.setdefault(label.case, {}).setdefault(label.labeller, {})
        outputs[label.output] = label.value
    return topics


def _subjects(
    report: Report, people: _People, *, failures: Failures, cluster: str | None
) -> dict[Topic, Subject]:
    """Return the labelled subjects with the judge's results."""
    summaries = report.metrics
    rubrics = {
        name: {name, *(rubric for rubric, _ in rubrics_of(report.figures.manifest, name))}
        for name in summaries
    }
    subjects: dict[Topic, Subject] = {}
    clustered = False
    for scored in report.results:
        group = _cluster(scored, cluster)
        clustered = clustered or group != scored.case.id
        for row in scored.rows:
            if row.metric not in summaries:
                continue
            names = rubrics[row.metric]
            if not isinstance(row.result, Failure) and row.result.meta.get("rubric"):
                names = {*names, str(row.result.meta["rubric"])}
            for (name, criterion), labels in people.items():
                if name not in names:
                    continue
                topic = (row.metric, criterion)
                if topic not in subjects:
                    subjects[topic] = Subject(
                        row.metric, criterion, labels, summaries[row.metric],
                        failures=failures, clustered=cluster is not None,
                    )  # fmt: skip
                subjects[topic].add(scored.case, row.result, group)
    if cluster is not None and not clustered:
        raise ConfigError(f"no case has {cluster!r} in its metadata to cluster by")
    return subjects


def _cluster(scored: Scored, field: str | None) -> object:
    """Return the cluster of a case: a case without the field is its own cluster."""
    value = scored.case.metadata.get(field) if field is not None else None
    return scored.case.id if value is None else (canonical_json(value),)


def _nothing_fits(report: Report, people: _People, subjects: Mapping[Topic, Subject]) -> str:
    names = sorted({metric for metric, _ in people})
    known = list(report.metrics)
    if not subjects and not set(names) & set(known):
        return f"labels {', '.join(map(repr, names))}; the run has {', '.join(known)}"
    other = sum(subject.left_out[OTHER_OUTPUT] for subject in subjects.values())
    if other:
        return (
            f"{other} label{'s are' if other != 1 else ' is'} for another output of these cases, "
            "and none is for an output of this run; label this run on its page"
        )
    return "no label is of a case the run has a score for; are the case ids the same?"


def _questions(report: Report, keys: Mapping[str, str | None]) -> dict[Topic, Question]:
    """Return what the judge was asked, by metric and criterion, as far as the tape has it."""
    questions: dict[Topic, Question] = {}
    path = report.folder / TAPE if report.folder is not None else None
    if path is None or not path.is_file():
        return questions
    try:
        tape = Tape(path)
        try:
            for metric, key in keys.items():
                if key is None or not _KEY.fullmatch(key) or (at := tape.find(key)) < 0:
                    continue
                record = decode(tape.line(at), parts=tape.parts(), where=tape.spot(at, key))
                for question in record.request.form.questions:
                    questions[metric, question.id] = question
        finally:
            tape.close()
    except JudgekitError as exc:
        raise ConfigError(f"its tape cannot be read: {exc}", where=str(report.folder)) from exc
    return questions


__all__ = ["agree"]
