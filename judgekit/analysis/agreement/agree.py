"""Compare the answers of a judge with human labels, criterion by criterion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, get_args

from judgekit.analysis.agreement.case_criteria import add_criteria
from judgekit.analysis.agreement.pairs import AgreeSettings, Failures, JudgedCase
from judgekit.analysis.agreement.subject import NO_SUCH, OTHER_OUTPUT, Subject
from judgekit.analysis.correction.correct import label_warnings
from judgekit.analysis.labels.questions import questions_of
from judgekit.cassette.tape import Tape
from judgekit.core.arguments import checked
from judgekit.core.canonical import canonical_json, digest
from judgekit.core.case import Case, answerer_of, output_digest
from judgekit.core.errors import ConfigError, JudgekitError
from judgekit.core.request import Question
from judgekit.core.score import Row, Score
from judgekit.core.suggest import suggest
from judgekit.datasets.labels import Topic, of_output
from judgekit.metrics.pairwise.orders import Rule
from judgekit.report.calibration import Agreement, Calibration, KappaWeights, LabelRule
from judgekit.report.clusters import cluster_of
from judgekit.report.folder import AGREEMENT, TAPE, write_json
from judgekit.report.manifest import cluster_field, mapping, metric_entry, rubrics_of
from judgekit.report.own_criteria import has_own_criteria
from judgekit.report.report import Report
from judgekit.report.run_labels import DescribedRubric, RunLabels

_PAIRWISE = "PairwiseMetric"
"""The type of pairwise metrics in a manifest."""
_MOST_FIELDS = 100
"""Maximum number of metadata fields to keep for a suggestion."""


@checked
def agree(
    run: str | Path | Report,
    labels: str | Path,
    *,
    combine: LabelRule = "each",
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
        combine: how to use several labels of a case: pair `each` with the judge's answer, or their
            `majority`, or their `mean` (for words and yes/no, the majority).
        failures: `wrong` counts a reply without a verdict (invalid, refused, truncated or empty)
            as a disagreement; `drop` leaves the reply out.
        weights: weights of kappa, `none`, `linear` or `quadratic`; by default, quadratic for
            ordered answers.
        cluster: metadata field that clusters cases, such as a user, for clustered intervals. The
            default is the suite's field.
        group: metadata field, such as a prompt. Agreement is also measured within each group and
            averaged over groups.
        system: metadata field with the system that gave the output, to compare the mean scores of
            systems. The default is the model that answered.
        alt_test: epsilon of the alternative annotator test, the tolerated advantage of a labeller:
            .2 for experts, .15 for skilled people, .1 for a crowd.
        write: whether to write `agree.json` to the run folder, for reports and pages.

    Raises:
        ConfigError: the run or a label cannot be read, no label matches an output of the run, an
            option is wrong, only some labels have a probability, or no case has a field.
    """
    settings = AgreeSettings(failures, combine, weights, cluster, group, system, alt_test)
    settings.check()
    report = run if isinstance(run, Report) else Report.read(run)
    given = RunLabels.read(Path(labels)).named_for(report.figures.manifest)
    cluster = cluster or cluster_field(report.figures.manifest)
    subjects = _subjects(report, given, settings._replace(cluster=cluster))
    if not any(subject.pairs for subject in subjects.values()):
        raise ConfigError(_no_match(report, given, subjects), where=str(given.path))
    questions = _questions(report, subjects.values())
    criteria: list[Agreement] = []
    problems: dict[str, str] = {}
    error: ConfigError | None = None
    for topic, subject in subjects.items():
        try:
            criteria += subject.finish(questions.get(topic))
        except ConfigError as exc:  # one criterion must not hide the others
            problems[subject.name] = str(exc).removeprefix(f"{subject.name}: ")
            error = error or exc
    if error is not None and not criteria:
        raise error
    calibration = Calibration(
        dataset=report.figures.dataset,
        manifest=digest(canonical_json(report.figures.manifest)),
        labels=given.digest,
        cluster=cluster,
        criteria=tuple(criteria),
        problems=problems,
        label_warnings=tuple(
            f"{one.name}: {one.warned(about='agreement on the whole run')}"
            for one in label_warnings(report, given, cluster)
        ),
    )
    if write and report.folder is not None:
        write_json(report.folder / AGREEMENT, calibration.model_dump(mode="json"))
    return calibration


def _subjects(report: Report, labels: RunLabels, settings: AgreeSettings) -> dict[Topic, Subject]:
    """Return the labelled subjects with the judge's results."""
    summaries, manifest = report.metrics, report.figures.manifest
    names = {name: {name, *dict(rubrics_of(manifest, name))} for name in summaries}
    asked = {name: questions_of(manifest, name) for name in summaries}
    rules = {name: _pairwise_rule(manifest, name) for name in summaries}
    subjects: dict[Topic, Subject] = {}
    unknown = dict(labels.cases)
    own = {name for name in summaries if has_own_criteria(manifest, name)}
    for case, judged, rows in _judged(report, labels, settings):
        given = of_output(unknown.pop(judged.id), output_digest(case.output))
        for row in (row for row in rows if row.metric in summaries):
            if isinstance(row.result, Score) and (rubric := row.result.meta.get("rubric")):
                names[row.metric].add(str(rubric))
            rest = given
            if row.metric in own:
                named = {name: of for name, of in given.items() if name[0] in names[row.metric]}
                add_criteria(subjects, case, judged, row, named, summaries[row.metric], settings)
                rest = {topic: people for topic, people in given.items() if topic[1] is None}
            for (name, criterion), people in rest.items():
                if name in names[row.metric]:
                    topic = (row.metric, criterion)
                    if topic not in subjects:
                        subjects[topic] = Subject(
                            *topic, summaries[row.metric], settings,
                            asked[row.metric].get(criterion or ""), rules[row.metric],
                            _level_values(manifest, row.metric, criterion),
                        )  # fmt: skip
                        if criterion is not None and criterion not in asked[row.metric]:
                            hint = suggest(criterion, asked[row.metric], otherwise="")
                            subjects[topic].misnamed = repr(criterion) + hint
                    subjects[topic].add(judged, row.result, people)
    others = Counter((one.metric, one.criterion) for own in unknown.values() for one in own)
    for (metric, criterion), subject in subjects.items():
        if count := sum(others[name, criterion] for name in names[metric]):
            subject.left_out["no such case in the run"] += count
    return subjects


def _pairwise_rule(manifest: Mapping[str, Any], metric: str) -> Rule | None:
    """Return how a pairwise metric combines two orders; `None` for other metrics."""
    entry = metric_entry(manifest, metric)
    rule = mapping(entry.get("options")).get("rule") if entry.get("type") == _PAIRWISE else None
    return next((known for known in get_args(Rule) if known == rule), None)


def _level_values(
    manifest: Mapping[str, Any], metric: str, criterion: str | None
) -> dict[str, float]:
    """Return word -> value of a criterion."""
    described = DescribedRubric(manifest, metric).criteria.get(criterion or "")
    levels = described.levels if described is not None else ()
    return {level.label: level.value for level in levels if level.value is not None}


def _judged(
    report: Report, labels: RunLabels, settings: AgreeSettings
) -> Iterator[tuple[Case, JudgedCase, Sequence[Row]]]:
    """Yield the labelled cases of a run, with their rows.

    Raises:
        ConfigError: after the last case, if no case has a field of the settings.
    """
    asked = {"cluster by": settings.cluster, "group by": settings.group,
             "name the system": settings.system}  # fmt: skip
    missing = {what: name for what, name in asked.items() if name is not None}
    fields: dict[str, None] = {}
    units: dict[Hashable, int] = {}
    for case, rows in report.results:
        if missing and len(fields) < _MOST_FIELDS:
            fields |= dict.fromkeys(case.metadata)
        missing = {what: name for what, name in missing.items() if case.metadata.get(name) is None}
        if case.id in labels.cases:
            cluster = cluster_of(case.id, case.metadata, settings.cluster)
            unit = units.setdefault(cluster, len(units))
            group, system = _named(case.metadata, settings.group), answerer_of(case.metadata)
            if settings.system is not None:
                system = _named(case.metadata, settings.system)
            yield case, JudgedCase(case.id, unit, group, system), rows
    for what, name in missing.items():
        hint = suggest(name, fields, otherwise="")
        raise ConfigError(f"no case has {name!r} in its metadata to {what}{hint}")


def _named(metadata: Mapping[str, Any], field: str | None) -> str | None:
    """Return the value of a metadata field as text; `None` without one."""
    value = metadata.get(field) if field is not None else None
    return value if value is None or isinstance(value, str) else canonical_json(value)


def _no_match(report: Report, labels: RunLabels, subjects: Mapping[Topic, Subject]) -> str:
    """Return the reason why no label matches a result of the run."""
    names = sorted({label.metric for label in labels})
    known = list(report.metrics)
    if not subjects and not set(names) & set(known):
        hint = suggest(names[0], known, otherwise="")
        return f"labels {', '.join(map(repr, names))}; the run has {', '.join(known)}{hint}"
    other = sum(subject.left_out[OTHER_OUTPUT] for subject in subjects.values())
    if other:
        return (
            f"{other} label{'s are' if other != 1 else ' is'} for another output of these cases, "
            "and none is for an output of this run; label this run on its page"
        )
    if misnamed := [one.misnamed for one in subjects.values() if one.left_out[NO_SUCH]]:
        return f"no label is about a criterion of the run: {misnamed[0]}"
    return "no label matches a case that the run has a score for; are the case ids the same?"


def _questions(report: Report, subjects: Iterable[Subject]) -> dict[Topic, Question]:
    """Return the questions that the judge answered, if the run's tape has them."""
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
