"""Joins the results of one metric with labels of people, and corrects its means."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import ValidationError

from judgekit.core.case import output_digest
from judgekit.core.errors import ConfigError
from judgekit.core.input_file import sha256_of
from judgekit.core.protocols import Metric
from judgekit.core.score import Failure, Result, Score
from judgekit.core.suggest import suggest
from judgekit.datasets.labels import Label, read_labels
from judgekit.metrics.opinions.vote import combined_value
from judgekit.report.corrected import By, CorrectedMean, LabelFigure
from judgekit.report.manifest import dicts_in, mapping, metric_entry, rubrics_of
from judgekit.report.summary import MetricSummary
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.fold import Outcome, Worth, fold_values, shares_of
from judgekit.stats.clusters import FigureValues
from judgekit.stats.correction import (
    Correction,
    JudgedRows,
    LabelledRow,
    MeanFigure,
    youden_figure,
)

OTHER_OUTPUT = "the label is for another output"
Several = Literal["mean", "majority"]
"""How the labels of several people become one."""
NO_VALUES = "labels pass and fail are no values of this metric; label numbers, or criteria"
_VERDICTS = {"pass": True, "passed": True, "yes": True, "true": True,
             "fail": False, "failed": False, "no": False, "false": False}  # fmt: skip
_QUESTION = ("weight", "reverse", "levels", "metrics")
_SAME = 1e-9


class CorrectionSettings(NamedTuple):
    """How means are corrected."""

    by: By = "ppi"
    several: Several = "mean"


@dataclass(frozen=True)
class RunLabels:
    """The labels for a run, by the name of metric or rubric in each."""

    path: Path
    by_metric: Mapping[str, Sequence[Label]]
    settings: CorrectionSettings
    digest: str
    """Of the file."""

    @classmethod
    def read(
        cls,
        path: Path,
        settings: CorrectionSettings = CorrectionSettings(),  # noqa: B008
    ) -> RunLabels:
        """Read a file of labels.

        Raises:
            ConfigError: it cannot be read, or has no label.
        """
        by_metric: dict[str, list[Label]] = {}
        for label in read_labels(path):
            by_metric.setdefault(label.metric, []).append(label)
        if not by_metric:
            raise ConfigError("the file has no labels", where=str(path))
        return cls(path, by_metric, settings, sha256_of(path))

    def corrector(
        self, metric: str, manifest: Mapping[str, Any], *, clustered: bool,
        range: tuple[float | None, float | None],
    ) -> Corrector | None:  # fmt: skip
        """Return what corrects the means of a metric; `None` if no label is about it.

        Raises:
            ConfigError: a label is no answer to its criterion.
        """
        rubrics = [
            one for one in dicts_in(manifest.get("rubrics"))
            if isinstance(one.get("metrics"), list) and metric in one["metrics"]
        ]  # fmt: skip
        names = {metric, *(name for name, _ in rubrics_of(manifest, metric))}
        names |= {str(one.get("name")) for one in rubrics}
        own = [label for name in sorted(names) for label in self.by_metric.get(name, ())]
        if not own:
            return None
        mode = mapping(metric_entry(manifest, metric).get("options")).get("mode")
        least, most = (None if end is None or math.isinf(end) else end for end in range)
        return Corrector(
            metric, own, _Rubric.of(rubrics, mode), self, range=(least, most), clustered=clustered
        )

    def described(self) -> dict[str, str]:
        """Return the file and its digest, for a manifest."""
        return {"file": self.path.name, "digest": self.digest}

    def of_outputs(self) -> RunLabels:
        """Return the labels that name the output they are about."""
        by_metric = {
            name: [label for label in labels if label.output is not None]
            for name, labels in self.by_metric.items()
        }
        return replace(self, by_metric=by_metric)

    def check(
        self, metrics: Iterable[Metric | MetricSummary], manifest: Mapping[str, Any], *,
        whole: bool = True,
    ) -> None:  # fmt: skip
        """Refuse labels that are no answers to their criteria, or about no metric.

        Args:
            metrics: the metrics of the run.
            manifest: describes their rubrics.
            whole: whether some label must be about one of them.

        Raises:
            ConfigError: naming the label, or the metrics of both.
        """
        known = {one.name if isinstance(one, Metric) else one.metric: one.range for one in metrics}
        found = [
            self.corrector(name, manifest, clustered=False, range=range)
            for name, range in known.items()
        ]
        if whole and not any(found):
            names = sorted(self.by_metric)
            raise ConfigError(
                f"the labels are about {', '.join(map(repr, names))}; the run has "
                f"{', '.join(known)}{suggest(names[0], list(known), otherwise='')}",
                where=str(self.path),
            )


class _Rubric(NamedTuple):
    """What the manifest says of the rubric of a metric."""

    criteria: Mapping[str, Criterion]
    combine: Any = "weighted_mean"
    groups: Mapping[str, float] = {}

    @classmethod
    def of(cls, rubrics: Sequence[Mapping[str, Any]], mode: Any) -> _Rubric:
        """Return the rubric; without criteria if there are several, or it cannot be read."""
        if len(rubrics) != 1:
            return cls({})
        (one,) = rubrics
        try:
            criteria = [
                Criterion.model_validate(
                    {
                        "question": {k: v for k, v in entry.items() if k not in _QUESTION},
                        **{k: entry[k] for k in ("weight", "reverse", "levels") if k in entry},
                    }
                )
                for entry in dicts_in(one.get("criteria"))
            ]
        except ValidationError:
            return cls({})
        groups = mapping(mapping(one.get("modes")).get(str(mode or one.get("default_mode"))))
        weights = {str(k): float(v) for k, v in groups.items() if isinstance(v, (int, float))}
        return cls({c.id: c for c in criteria}, one.get("combine", "weighted_mean"), weights)

    def fold(self, outcomes: Mapping[str, Outcome]) -> float | None:
        """Return the value that outcomes of criteria come to; `None` without one."""
        worths = [
            Worth(id, self.criteria[id].group, self.criteria[id].weight, *outcome)
            for id, outcome in outcomes.items()
        ]
        asked = {worth.group for worth in worths}
        groups = {name: weight for name, weight in self.groups.items() if name in asked}
        values = [outcome[1] for outcome in outcomes.values()]
        return fold_values(values, shares=shares_of(worths, groups), combine=self.combine).value


class _Given(NamedTuple):
    """The labels of one person for one output of a case."""

    answers: dict[str | None, Any]
    """Criterion -> the answer; `None` for the value of the metric."""
    probability: float | None


@dataclass
class _Topic:
    """The rows of the metric, or of one criterion."""

    others: JudgedRows
    judged: FigureValues
    """The values of the judge for all rows."""
    rows: list[LabelledRow] = field(default_factory=list)
    verdicts: int = 0
    """Labelled rows of which a label is a verdict and no number."""
    planned: int = 0
    without_digest: int = 0
    labellers: set[str] = field(default_factory=set)
    left_out: Counter[str] = field(default_factory=Counter)
    unscored: Counter[str] = field(default_factory=Counter)


class Corrector:
    """Corrects the means of one metric and its criteria.

    Add every result of the metric; memory grows with the labels and the clusters alone.

    Args:
        metric: the metric.
        labels: labels of it, or of its rubric.
        rubric: what the manifest says of its rubric.
        source: the file of labels, and how to use it.
        range: the least and the most a value can be.
        clustered: whether results come with a cluster.

    Raises:
        ConfigError: a label is no answer to its criterion.
    """

    def __init__(
        self, metric: str, labels: Sequence[Label], rubric: _Rubric, source: RunLabels, *,
        range: tuple[float | None, float | None], clustered: bool,
    ) -> None:  # fmt: skip
        self.metric, self.range, self.clustered = metric, range, clustered
        self._rubric, self._source = rubric, source
        self._cases: dict[str, dict[str, dict[str | None, _Given]]] = {}
        self._plain = True
        """Whether every value of the metric is 0 or 1."""
        named: dict[str | None, None] = {}
        planned = {label.probability is not None for label in labels}
        if len(planned) > 1:
            case = next(label.case for label in labels if label.probability is None)
            raise ConfigError(
                f"the label of case {case!r} has no 'probability', and others have one; "
                "give it to all labels of a plan",
                where=str(source.path),
            )
        for label in labels:
            outputs = self._cases.setdefault(label.case, {}).setdefault(label.labeller, {})
            given = outputs.setdefault(label.output, _Given({}, label.probability))
            given.answers[label.criterion] = self._checked(label)
            named[label.criterion] = None
        if set(rubric.criteria) & set(named):
            named.setdefault(None)
        self._topics = {
            name: _Topic(JudgedRows(clustered=clustered), FigureValues(clustered=clustered))
            for name in named
        }

    def _checked(self, label: Label) -> Any:
        """Return a label as an outcome of its criterion, or a value of the metric."""
        value = label.value
        if value is None:
            return None
        if label.criterion is None:
            return self._metric_value(label)
        criterion = self._rubric.criteria.get(label.criterion)
        if criterion is None:
            return ("scored", float(value)) if _share(value) else None
        question = criterion.question
        if question.labels:
            words = {" ".join(word.split()).casefold(): word for word in question.labels}
            word = words.get(" ".join(str(value).split()).casefold())
            if isinstance(value, str) and word is not None:
                return criterion.worth(word, ())
            raise self._wrong(label, f"is none of {', '.join(question.labels)}"
                              f"{suggest(str(value), list(question.labels))}")  # fmt: skip
        if question.kind == "checklist":
            if not _share(value):
                raise self._wrong(label, "is no share of the items, 0 to 1")
            return "scored", 1 - float(value) if criterion.reverse else float(value)
        if question.kind == "boolean":
            verdict = _VERDICTS.get(value.strip().lower()) if isinstance(value, str) else value
            if verdict not in (0, 1):
                raise self._wrong(label, "is neither yes nor no")
            return criterion.worth(bool(verdict), ())
        if not isinstance(value, (int, float)) or not question.minimum <= value <= question.maximum:
            bounds = f"{question.minimum:g} to {question.maximum:g}"
            raise self._wrong(label, f"is no number from {bounds}")
        return criterion.worth(float(value), ())

    def _metric_value(self, label: Label) -> Any:
        value = label.value
        if isinstance(value, str):
            if (verdict := _VERDICTS.get(value.strip().lower())) is None:
                raise self._wrong(label, "is neither a number nor pass or fail")
            return verdict
        if isinstance(value, bool) or value is None:
            return value
        low, high = self.range
        if (low is not None and value < low) or (high is not None and value > high):
            bounds = " to ".join("any" if end is None else f"{end:g}" for end in self.range)
            raise self._wrong(label, f"is outside the values of the metric, {bounds}")
        return float(value)

    def _wrong(self, label: Label, why: str) -> ConfigError:
        topic = self.metric if label.criterion is None else f"{self.metric}, {label.criterion}"
        return ConfigError(
            f"case {label.case!r}: the label {label.value!r} of {topic} {why}",
            where=str(self._source.path),
        )

    # -- the join -------------------------------------------------------------------

    def add(self, case: str, output: str | None, result: Result, cluster: Hashable = None) -> None:
        """Add the result of one case, given by its id and its output."""
        given = self._cases.get(case)
        people: dict[str, tuple[_Given, bool]] = {}
        if given is not None:
            digest = output_digest(output)
            for labeller, outputs in given.items():
                if digest in outputs or None in outputs:
                    people[labeller] = (
                        outputs[digest if digest in outputs else None],
                        (digest not in outputs),
                    )
        for criterion, topic in self._topics.items():
            judge = self._judged(result, criterion)
            if isinstance(judge, str):
                topic.unscored[judge] += 1
                if given is not None:
                    topic.left_out[f"the judge has no value ({judge})"] += 1
                continue
            topic.judged.add(judge, cluster)
            if criterion is None:
                self._plain = self._plain and judge in (0, 1)
            if given is None or not self._add_labelled(
                topic, criterion, judge, result, people, cluster
            ):
                topic.others.add(judge, cluster)

    def _judged(self, result: Result, criterion: str | None) -> float | str:
        """Return the judge's value, or why it has none."""
        if isinstance(result, Failure):
            return "not run" if result.kind == "not_run" else "failed"
        if result.fallback is not None:
            return "fallback"
        if criterion is None:
            return result.status.replace("_", " ") if result.value is None else result.value
        for part in result.parts:
            if part.id == criterion:
                return part.status.replace("_", " ") if part.value is None else part.value
        return "not asked"

    def _add_labelled(
        self, topic: _Topic, criterion: str | None, judge: float, result: Result,
        people: Mapping[str, tuple[_Given, bool]], cluster: Hashable,
    ) -> bool:  # fmt: skip
        """Add a row with labels; return whether one could be used."""
        if not people:
            topic.left_out[OTHER_OUTPUT] += 1
            return False
        values: dict[str, float] = {}
        verdict = any_digest = False
        chance = None
        for labeller, (given, by_id) in people.items():
            answer = given.answers.get(criterion)
            if criterion is None and criterion not in given.answers:
                answer = self._folded(result, given)
            elif criterion is not None and answer is not None:
                answer = answer[1]
            if answer is None:
                continue
            verdict = verdict or isinstance(answer, bool)
            values[labeller], chance = float(answer), given.probability
            any_digest = any_digest or not by_id
        if not values:
            topic.left_out["no usable answer of a person"] += 1
            return False
        person = self._together(list(values.values()))
        if person is None:
            topic.left_out["people are tied"] += 1
            return False
        topic.rows.append(LabelledRow(judge, person, cluster, 1 / chance if chance else 1.0))
        topic.verdicts += verdict
        topic.planned += chance is not None
        topic.without_digest += not any_digest
        topic.labellers.update(name for name in values if name)
        return True

    def _together(self, values: list[float]) -> float | None:
        if self._source.settings.several == "mean" or len(values) == 1:
            return sum(values) / len(values)
        if all(value in (0, 1) for value in values):
            verdict = combined_value([bool(value) for value in values])
            return None if verdict is None else float(verdict)
        (first, count), *rest = Counter(values).most_common()
        return None if rest and rest[0][1] == count else first

    def _folded(self, result: Result, given: _Given) -> float | None:
        """Return the fold of a person's answers to every criterion that the judge answered.

        `None` if one is missing, or if the metric does not fold its criteria as the rubric does.
        """
        if not isinstance(result, Score) or not result.parts:
            return None
        outcomes: dict[str, Outcome] = {}
        for part in result.parts:
            answer = given.answers.get(part.id)
            if answer is None or part.id not in self._rubric.criteria:
                return None
            outcomes[part.id] = answer
        judge = self._rubric.fold({part.id: (part.status, part.value) for part in result.parts})
        if judge is None or result.value is None or abs(judge - result.value) > _SAME:
            return None
        return self._rubric.fold(outcomes)

    # -- the figures ------------------------------------------------------------------

    def applied(self, summary: MetricSummary) -> MetricSummary:
        """Return a summary with its corrected means."""
        means = self.means()
        criteria = tuple(
            one.model_copy(update={"corrected": means[one.id]}) if one.id in means else one
            for one in summary.criteria
        )
        return summary.model_copy(update={"corrected": means.get(None), "criteria": criteria})

    def means(self) -> dict[str | None, CorrectedMean]:
        """Return the corrected means, by criterion; `None` is the metric itself."""
        return {
            name: self._mean(name, topic)
            for name, topic in self._topics.items()
            if name is not None or topic.rows or len(self._topics) == 1
        }

    def _mean(self, criterion: str | None, topic: _Topic) -> CorrectedMean:
        bounds = self.range if criterion is None else (0.0, 1.0)
        by = self._source.settings.by
        spread = topic.judged.spread
        low, high = spread.interval(bounds=bounds) or (None, None)
        judge = LabelFigure(
            value=spread.mean, n=spread.n, low=low, high=high,
            too_few=topic.judged.too_few(bounds) if spread.n else "no row has a score",
        )  # fmt: skip
        figures: dict[str, Any] = {
            "metric": self.metric,
            "criterion": criterion,
            "by": by,
            "rows": spread.n,
            "judge": judge,
            "planned": topic.planned > 0,
            "cluster": self.clustered,
            "labellers": tuple(sorted(topic.labellers)),
            "without_digest": topic.without_digest,
            "left_out": dict(sorted(topic.left_out.items())),
            "unscored": dict(sorted(topic.unscored.items())),
        }
        if topic.verdicts and not (self._plain and bounds == (0.0, 1.0)):
            why = NO_VALUES
            return _without(figures, why)
        if not topic.rows:
            return _without(figures, "no label is for an output of this run")
        correction = Correction(topic.rows, topic.others, bounds=bounds)
        yes_no = correction.yes_no and bounds == (0.0, 1.0)
        rho = correction.rho()
        figures["rho"] = None if rho is None else LabelFigure.of(rho)
        figures |= _rates(correction.rates() if yes_no else None)
        done = plain = correction.ppi()
        if by == "rogan-gladen":
            other = correction.rogan_gladen() if yes_no else None
            if other is None:
                why = "labels of yes and of no, and rows without a label are needed"
                why = why if yes_no else "Rogan-Gladen corrects yes and no alone; use PPI++"
                return _without(figures, why, labels=LabelFigure.of(plain.labels))
            done = other
        figure = done.corrected
        return CorrectedMean(
            **figures,
            labels=LabelFigure.of(done.labels),
            corrected=LabelFigure.of(figure),
            standard_error=None if figure.low is None else float(figure.error),
            df=None if figure.low is None or math.isinf(figure.df) else float(figure.df),
            lam=None if done.lam is None else float(done.lam),
            saved=done.saved,
        )


def _rates(rates: tuple[MeanFigure, MeanFigure] | None) -> dict[str, LabelFigure]:
    if rates is None:
        return {}
    named = ("sensitivity", "specificity", "youden")
    figures = (*rates, youden_figure(*rates))
    return {name: LabelFigure.of(one) for name, one in zip(named, figures, strict=True)}


def _without(
    figures: dict[str, Any], why: str, *, labels: LabelFigure | None = None
) -> CorrectedMean:
    none = LabelFigure(value=None, n=0, too_few=why)
    return CorrectedMean(**figures, labels=labels or none, corrected=none)


def _share(value: Any) -> bool:
    return isinstance(value, (bool, int, float)) and 0 <= value <= 1
