"""Statistics of the criteria of a run, with labels if there are any."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from judgekit.analysis.agreement.agree import agree
from judgekit.analysis.rubric_stats.recurring import recurring_parts, recurring_texts
from judgekit.analysis.rubric_stats.statistics import (
    CriterionStatistics,
    CriterionValues,
    RubricFigure,
    RubricStatistics,
)
from judgekit.core.arguments import checked
from judgekit.core.case import output_digest
from judgekit.core.errors import ConfigError
from judgekit.core.score import own_parts
from judgekit.datasets.labels import Label, Topic, of_output
from judgekit.report.clusters import cluster_of
from judgekit.report.manifest import cluster_field, rubrics_of
from judgekit.report.own_criteria import RECURS, has_own_criteria
from judgekit.report.report import Report
from judgekit.report.run_labels import DescribedRubric, RunLabels


@checked
def rubric_stats(run: str | Path | Report, labels: str | Path | None = None) -> RubricStatistics:
    """Measure the contribution of each criterion of a run. No model is called.

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
    given = None if labels is None else RunLabels.read(Path(labels)).named_for(manifest)
    metrics: dict[str, _Metric] = {}
    own_criteria = [name for name in report.metrics if has_own_criteria(manifest, name)]
    recurring = recurring_texts(report, own_criteria) if own_criteria else {}
    labelled = []
    for scored in report.results:
        case, rows = scored
        own = given.cases.get(case.id) if given is not None else None
        labelled += [scored] if own else []
        people = of_output(own, output_digest(case.output)) if own else {}
        for row in rows:
            parts = own_parts(row.result)
            if row.metric in own_criteria:
                parts = recurring_parts(row.result, recurring[row.metric])
            if parts and row.result.type == "score" and row.result.source == "judge":
                if row.metric not in metrics:
                    metrics[row.metric] = _Metric(
                        manifest, row.metric, clustered=bool(cluster), labels=labels
                    )
                metrics[row.metric].label(people)
                metrics[row.metric].add(parts, cluster_of(case.id, case.metadata, cluster))
    if not metrics and own_criteria:
        raise ConfigError(
            f"no criterion of a case occurs in {RECURS} cases or more, so none has statistics; "
            "judgekit cases criteria lists them"
        )
    if not metrics:
        raise ConfigError(
            "the run has no criteria that a judge scored; name a run of a rubric, with replies"
        )
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
    return RubricStatistics(
        cluster=cluster,
        unweighted=tuple(name for name, metric in metrics.items() if not metric.weighted),
        random=given is not None and all(label.probability is None for label in given),
        criteria=tuple(criteria),
    )


class _Metric(CriterionValues):
    """The values of the criteria of one metric, and human answers.

    Args:
        manifest: describes the rubric of the metric.
        name: name of the metric.
        clustered: whether cases come with clusters.
        labels: the file of the labels, for errors.
    """

    def __init__(
        self, manifest: Mapping[str, Any], name: str, *,
        clustered: bool, labels: str | Path | None,
    ) -> None:  # fmt: skip
        super().__init__(clustered=clustered)
        self._name, self._source = name, str(labels)
        self._rubric = DescribedRubric(manifest, name)
        self._names = {name, *dict(rubrics_of(manifest, name))}
        self._labelled: dict[int, dict[str | None, list[Label]]] = {}

    def label(self, people: Mapping[Topic, Mapping[str, Label | None]]) -> None:
        """Set the labels, by criterion, of the case that is added next."""
        for (name, criterion), given in people.items():
            if name in self._names and (own := [one for one in given.values() if one is not None]):
                self._labelled.setdefault(len(self._units), {})[criterion] = own

    def with_people(self, agreement: Any, place: int) -> dict[str, Any]:
        """Return the statistics of a criterion that need labels."""
        figure = agreement and (agreement.kappa or agreement.rank)
        kind = "kappa" if figure and agreement.kappa else "Spearman" if figure else None
        before, after = self.score(self.values), self.score(self.values, without=place)
        # Over the same cases as without the criterion, if there are other criteria.
        whole = before + 0 * after if len(self.ids) > 1 else before
        scores, weights = self._people
        return {
            "people": RubricFigure.of(figure, agreement.cases) if figure else RubricFigure(n=0),
            "coefficient": kind,
            "agreement": self.relation(whole, scores, weights=weights),
            "agreement_without": self.relation(after, scores, weights=weights),
        }

    def _value(self, label: Label) -> float | bool | None:
        try:
            return self._rubric.value(label)
        except ValueError as exc:
            why = f"case {label.case!r}, {self._name}: {exc}"
            raise ConfigError(why, where=self._source) from exc

    @cached_property
    def _people(self) -> tuple[Any, Any]:
        """For each case, the human score and its weight, 1 / probability.

        The score is the mean of the scores for the metric, or else the weighted mean of the answers
        to all criteria; NaN without either.
        """
        import numpy as np

        answers = np.full(self.values.shape, math.nan)
        weights, own = np.ones(len(self._units)), np.full(len(self._units), math.nan)
        places = {id: place for place, id in enumerate(self.ids)}
        for row, by_criterion in self._labelled.items():
            for criterion, labels in by_criterion.items():
                weights[row] = 1 / (labels[0].probability or 1.0)
                found = [v for v in map(self._value, labels) if v is not None]
                mean = math.fsum(found) / len(found) if found else math.nan
                if criterion is None:
                    own[row] = mean
                elif criterion in places:
                    answers[places[criterion], row] = mean
        return np.where(np.isnan(own), self.score(answers), own), weights
