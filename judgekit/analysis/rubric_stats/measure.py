"""Statistics of the criteria of a run, with labels if there are any."""

from __future__ import annotations

import math
from functools import cached_property
from pathlib import Path
from typing import Any

from judgekit.analysis.agreement.agree import agree
from judgekit.analysis.rubric_stats.statistics import (
    CriterionStatistics,
    RubricFigure,
    RubricStatistics,
)
from judgekit.analysis.rubric_stats.values import CriterionValues
from judgekit.core.case import output_digest
from judgekit.core.errors import ConfigError
from judgekit.core.score import Score
from judgekit.datasets.labels import Label, read_labels
from judgekit.report.clusters import cluster_of
from judgekit.report.manifest import cluster_field, rubrics_of
from judgekit.report.report import Report


def rubric_stats(run: str | Path | Report, labels: str | Path | None = None) -> RubricStatistics:
    """Measure what each criterion of a run adds. No model is called.

    Args:
        run: a run folder, or a report.
        labels: a JSON Lines file of labels (see `judgekit.datasets.labels`).

    Raises:
        ConfigError: the run or a label cannot be read, no judge scored criteria, or no label
            matches an output of the run.
    """
    report = run if isinstance(run, Report) else Report.read(run)
    manifest = report.figures.manifest
    cluster = cluster_field(manifest)
    given: dict[str, list[Label]] = {}
    for label in read_labels(Path(labels)) if labels is not None else ():
        given.setdefault(label.case, []).append(label)
    metrics: dict[str, _Metric] = {}
    labelled = []
    for scored in report.results:
        case, rows = scored
        own = given.get(case.id, ())
        labelled += [scored] if own else []
        digest = output_digest(case.output) if own else ""
        for row in rows:
            result = row.result
            if not isinstance(result, Score) or result.source != "judge" or not result.parts:
                continue
            if result.fallback is None:
                if row.metric not in metrics:
                    rubrics = {name for name, _ in rubrics_of(manifest, row.metric)}
                    names = {row.metric, *rubrics} if given else set()
                    metrics[row.metric] = _Metric(names, clustered=bool(cluster))
                mine = [label for label in own if label.output in (None, digest)]
                metrics[row.metric].label(result, mine)
                metrics[row.metric].add(result.parts, cluster_of(case.id, case.metadata, cluster))
    if not metrics:
        raise ConfigError("the run has no criteria that a judge scored; rubrics have criteria")
    agreed: dict[tuple[str, str | None], Any] = {}
    if labels is not None:
        part = Report(report.figures, run=report.run, results=labelled, folder=report.folder)
        calibration = agree(part, labels, write=False)
        agreed = {(one.metric, one.criterion): one for one in calibration.criteria}
    criteria: list[CriterionStatistics] = []
    for name, metric in metrics.items():
        metric.finish()
        for place, id in enumerate(metric.ids):
            one = metric.statistics(place, name)
            more = metric.with_people(agreed.get((name, id)), place) if given else {}
            criteria.append(one.model_copy(update=more))
    known = [label for own in given.values() for label in own]
    return RubricStatistics(
        cluster=cluster,
        unweighted=tuple(name for name, metric in metrics.items() if not metric.weighted),
        random=bool(known) and all(label.probability is None for label in known),
        criteria=tuple(criteria),
    )


class _Metric(CriterionValues):
    """The values of the criteria of one metric, and what people answered.

    Args:
        names: what labels call the metric; empty without labels.
        clustered: whether cases come with clusters.
    """

    def __init__(self, names: set[str], *, clustered: bool) -> None:
        super().__init__(clustered=clustered)
        self._names = names
        self._answers: dict[str, dict[Any, float]] = {}
        """Criterion -> answer of the judge -> its value."""
        self._labelled: dict[int, list[Label]] = {}

    def label(self, score: Score, labels: list[Label]) -> None:
        """Keep the labels of the case that is added next."""
        for part in score.parts if self._names else ():
            if part.value is not None and isinstance(part.answer, (str, bool, int, float)):
                self._answers.setdefault(part.id, {})[_folded(part.answer)] = part.value
        if own := [one for one in labels if one.metric in self._names]:
            self._labelled[len(self._units)] = own

    def with_people(self, agreement: Any, place: int) -> dict[str, Any]:
        """Return what labels add to the statistics of a criterion."""
        figure = agreement and (agreement.kappa or agreement.rank)
        kind = "kappa" if figure and agreement.kappa else "Spearman" if figure else None
        before, after = self.score(self.values), self.score(self.values, without=place)
        scores, weights = self._people
        return {
            "people": RubricFigure.of(figure, agreement.cases) if figure else RubricFigure(n=0),
            "coefficient": kind,
            "agreement": self.relation(before + 0 * after, scores, weights=weights),
            "agreement_without": self.relation(after, scores, weights=weights),
        }

    @cached_property
    def _people(self) -> tuple[Any, Any]:
        """By case, the score that people gave, and its weight: 1 / probability.

        It is the mean of their scores of the metric, or else the weighted mean of their answers to
        all criteria; NaN without either.
        """
        import numpy as np

        answers = np.full(self.values.shape, math.nan)
        weights, own = np.ones(len(self._units)), np.full(len(self._units), math.nan)
        for row, labels in self._labelled.items():
            weights[row] = 1 / (labels[0].probability or 1.0)
            by_topic: dict[str | None, list[float]] = {}
            for label in labels:
                value = self._value(label)
                if value is not None:
                    by_topic.setdefault(label.criterion, []).append(value)
            for criterion, values in by_topic.items():
                mean = math.fsum(values) / len(values)
                if criterion is None:
                    own[row] = mean
                elif criterion in self.ids:
                    answers[self.ids.index(criterion), row] = mean
        return np.where(np.isnan(own), self.score(answers), own), weights

    def _value(self, label: Label) -> float | None:
        if label.value is None:
            return None
        if label.criterion is None:
            return None if isinstance(label.value, str) else float(label.value)
        answers = self._answers.get(label.criterion, {})
        if isinstance(label.value, str) or not answers:
            return answers.get(_folded(label.value))
        # People may give a number that the judge never gave.
        numbers = [answer for answer in answers if not isinstance(answer, str)]
        nearest = min(numbers, key=lambda answer: abs(answer - label.value), default=None)
        return None if nearest is None else answers[nearest]


def _folded(answer: Any) -> Any:
    return " ".join(answer.split()).casefold() if isinstance(answer, str) else answer
