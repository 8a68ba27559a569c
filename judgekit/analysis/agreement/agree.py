"""Compare the answers of a judge with human labels, criterion by criterion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from judgekit.analysis.agreement.pairs import JudgedCase
from judgekit.analysis.agreement.settings import AgreeSettings, Failures
from judgekit.analysis.agreement.subject import OTHER_OUTPUT, Subject
from judgekit.cassette.tape import Tape
from judgekit.core.canonical import canonical_json, digest
from judgekit.core.case import output_digest
from judgekit.core.errors import ConfigError, JudgekitError
from judgekit.core.input_file import sha256_of
from judgekit.core.request import Question
from judgekit.core.score import Failure
from judgekit.core.suggest import suggest
from judgekit.datasets.labels import Label, read_labels
from judgekit.report.answerers import answerer_of
from judgekit.report.calibration import Calibration, Combine, KappaWeights
from judgekit.report.clusters import cluster_of
from judgekit.report.folder import AGREEMENT, TAPE, write_json
from judgekit.report.manifest import cluster_field, rubrics_of
from judgekit.report.report import Report

Topic = tuple[str, str | None]
"""A metric and a criterion; `None` for the metric's own value."""
_MOST_FIELDS = 100
"""Metadata fields that are kept for a suggestion."""
_Labels = dict[Topic, dict[str, list[Label]]]
"""Topic -> case -> labels."""


def agree(
    run: str | Path | Report,
    labels: str | Path,
    *,
    combine: Combine = "each",
    failures: Failures = "wrong",
    weights: KappaWeights | None = None,
    cluster: str | None = None,
    group: str | None = None,
    system: str | None = None,
    alt_test: float | None = None,
    write: bool = True,
) -> Calibration:
    """Measure how well the judge of a run agrees with human labels. No model is called.

    Args:
        run: a run folder, or a report.
        labels: a JSON Lines file of labels (see `judgekit.datasets.labels`).
        combine: how several labels of a case count: each is paired with the judge's answer, or
            their `majority` is, or their `mean` (of words and yes/no, the majority).
        failures: `wrong` counts a reply without a verdict (invalid, refused, truncated or empty)
            as a disagreement; `drop` leaves the reply out.
        weights: weights of kappa, `none`, `linear` or `quadratic`; by default quadratic where
            answers have an order.
        cluster: metadata field that clusters cases, such as a user; intervals are then clustered.
            The default is the field of the suite.
        group: metadata field, such as a prompt; agreement is also measured within each group and
            averaged over the groups.
        system: metadata field that names what gave the outputs, to compare the mean scores of
            systems; the default is the model that answered.
        alt_test: epsilon of the alternative annotator test: by how much more often a labeller may
            agree with the others; .2 for experts, .15 for skilled people, .1 for a crowd.
        write: whether to write `agree.json` to the run folder, where reports and pages read it.

    Raises:
        ConfigError: the run or a label cannot be read, no label matches an output of the run, an
            option is wrong, only some labels have a probability, or no case has a field.
    """
    settings = AgreeSettings(failures, combine, weights, cluster, group, system, alt_test)
    settings.check()
    report = run if isinstance(run, Report) else Report.read(run)
    path = Path(labels)
    topics = _by_topic(read_labels(path))
    if not topics:
        raise ConfigError("the file has no labels", where=str(path))
    cluster = cluster or cluster_field(report.figures.manifest)
    settings = settings._replace(cluster=cluster)
    subjects = _subjects(report, topics, settings)
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
        cases.setdefault(label.case, []).append(label)
    return topics


def _subjects(report: Report, topics: _Labels, settings: AgreeSettings) -> dict[Topic, Subject]:
    """Return the labelled subjects with the judge's results."""
    summaries = report.metrics
    rubrics = {
        name: {name, *(rubric for rubric, _ in rubrics_of(report.figures.manifest, name))}
        for name in summaries
    }
    subjects: dict[Topic, Subject] = {}
    missing = {"cluster by": settings.cluster, "group by": settings.group,
               "name the system": settings.system}  # fmt: skip
    fields: dict[str, None] = {}
    known: dict[tuple[str, str], list[Subject]] = {}
    """Metric and rubric of a row -> what has labels."""
    labelled = {case for cases in topics.values() for case in cases}
    for case, rows in report.results:
        if len(fields) < _MOST_FIELDS:
            fields |= dict.fromkeys(case.metadata)
        for what, name in list(missing.items()):
            if name is None or case.metadata.get(name) is not None:
                del missing[what]
        if case.id not in labelled:
            continue
        system = answerer_of(case.metadata) if settings.system is None else None
        judged = JudgedCase(
            id=case.id, digest=output_digest(case.output),
            cluster=cluster_of(case.id, case.metadata, settings.cluster),
            group=_named(case.metadata, settings.group),
            system=system or _named(case.metadata, settings.system),
        )  # fmt: skip
        for row in rows:
            if row.metric not in summaries:
                continue
            meta = {} if isinstance(row.result, Failure) else row.result.meta
            kind = (row.metric, str(meta.get("rubric") or ""))
            if kind not in known:
                names = {kind[1], *rubrics[row.metric]}
                known[kind] = [
                    subjects.setdefault((row.metric, criterion), Subject(
                        row.metric, criterion, labels, summaries[row.metric], settings))
                    for (name, criterion), labels in topics.items() if name in names
                ]  # fmt: skip
            for subject in known[kind]:
                subject.add(judged, row.result)
    for what, name in missing.items():
        hint = suggest(name, fields, otherwise="")
        raise ConfigError(f"no case has {name!r} in its metadata to {what}{hint}")
    return subjects


def _named(metadata: Mapping[str, Any], field: str | None) -> str | None:
    """Return the value of a metadata field as text; `None` without one."""
    value = metadata.get(field) if field is not None else None
    return value if value is None or isinstance(value, str) else canonical_json(value)


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
