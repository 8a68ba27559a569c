"""Join the results of one metric with human labels, and correct its means."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from judgekit.core.case import Case, output_digest
from judgekit.core.errors import ConfigError
from judgekit.core.score import Failure, Result, Score
from judgekit.core.suggest import suggest
from judgekit.datasets.labels import Label, of_output
from judgekit.metrics.criteria.texts import UNLABELLED
from judgekit.report.corrected import CorrectedMean, LabelComparison, LabelFigure
from judgekit.report.manifest import dicts_in, rubrics_of
from judgekit.report.own_criteria import has_own_criteria
from judgekit.report.run_labels import DescribedRubric, RunLabels, renamed, renames_of
from judgekit.report.summary import MetricSummary, mean_figures
from judgekit.stats.clusters import ClusteredMean, FigureValues
from judgekit.stats.comparability import RowComparison, compare_rows
from judgekit.stats.correction import Correction, LabelledRow
from judgekit.stats.rates import youden_figure

Range = tuple[float | None, float | None]
SILENT = frozenset({"abstained", "failed", "fallback", "not run"})
"""Why the judge has no value in a row that belongs to the mean of the run all the same."""
OTHER_OUTPUT = "the label is for another output"
NO_VALUES = "labels pass and fail are no values of this metric; label numbers, or criteria"
NO_ANSWER = "no answer to its criterion (judgekit agree names it)"
_SAME = 1e-9


@dataclass
class _Topic:
    """The rows of the metric, or of one criterion."""

    judged: FigureValues
    """The values of the judge for all rows."""
    others: FigureValues
    """The values of rows without a usable label."""
    rows: list[LabelledRow] = field(default_factory=list)
    silent: list[LabelledRow] = field(default_factory=list)
    """Rows with a label for which the judge has no value; `judge` is not known before the end."""
    silent_others: Counter[Hashable] = field(default_factory=Counter)
    """Cluster -> number of rows without a usable label for which the judge has no value."""
    low: float = math.inf
    high: float = -math.inf
    """The smallest and the largest value of the judge."""
    verdicts: bool = False
    """Whether a label is pass or fail instead of a number."""
    without_digest: int = 0
    labellers: set[str] = field(default_factory=set)
    left_out: Counter[str] = field(default_factory=Counter)
    unscored: Counter[str] = field(default_factory=Counter)

    def values_by_cluster(self) -> list[tuple[Hashable, int, float]]:
        """Return cluster, number of values in rows without a usable label, and 0 for each."""
        if isinstance(self.others.spread, ClusteredMean):
            return [(name, int(n), 0.0) for name, (_, n) in self.others.spread.sums.items()]
        return [(None, self.others.rows.n, 0.0)]


class Corrector:
    """Corrects the means of one metric and its criteria.

    Add every result of the metric. Memory grows only with the number of labels and clusters.

    Args:
        metric: the metric.
        labels: labels of the metric or of its rubric.
        manifest: describes its rubric.
        source: all labels, and how to combine them.
        range: the smallest and the largest possible value.
        clustered: whether results come with a cluster.
        metrics: number of metrics in the run that have labels.

    Raises:
        ConfigError: a label is not a valid answer to its criterion.
    """

    def __init__(
        self, metric: str, labels: Sequence[Label], manifest: Mapping[str, Any], source: RunLabels,
        range: Range, clustered: bool, metrics: int = 1,
    ) -> None:  # fmt: skip
        self.metric, self.clustered, self._source = metric, clustered, source
        low, high = range
        self._ends = (-math.inf if low is None else low, math.inf if high is None else high)
        self._rubric = DescribedRubric(manifest, metric)
        self._cases: dict[str, list[Label]] = {}
        self.planned = bool(labels) and labels[0].probability is not None
        for label in labels:
            try:
                self._value(label)
            except ValueError as exc:
                why = f"case {label.case!r}, {metric}: {exc}"
                raise ConfigError(why, where=str(source.path)) from exc
            self._cases.setdefault(label.case, []).append(label)
        named = dict.fromkeys(label.criterion for label in labels)
        self._own_criteria = has_own_criteria(manifest, metric)
        self._misnamed = ""
        if self._own_criteria:  # each case has others, so there is no mean of one of them
            named = {None: None}
        if not named or self._rubric.criteria.keys() & named.keys():
            named.setdefault(None)
        values = partial(FigureValues, clustered=clustered)
        self._topics = {name: _Topic(values(), values()) for name in named}
        # A metric with one criterion has the values of the criterion.
        own = len(named) - (len(named) == 2 and None in named)
        self._tests = metrics * own

    def _value(self, label: Label) -> float | bool | None:
        value = self._rubric.value(label)
        low, high = (-math.inf, math.inf) if label.criterion else self._ends
        if value is not None and not isinstance(value, bool) and not low <= value <= high:
            raise ValueError(f"{value!r} is no value from {low:g} to {high:g}")
        return value

    # -- the join -------------------------------------------------------------------

    def add(
        self, case: str, output: str | None, result: Result, cluster: Hashable = None,
        asked: Case | None = None,
    ) -> None:  # fmt: skip
        """Add the result of one case.

        Args:
            case: its id.
            output: its output.
            result: the result.
            cluster: its cluster.
            asked: the case, which has the criteria of a metric whose cases have their own.
        """
        known = self._cases.get(case)
        people: dict[str, dict[str | None, Label]] = {}
        for (_, name), given in of_output(known, output_digest(output)).items() if known else ():
            for labeller, label in given.items():
                if label is not None:
                    people.setdefault(labeller, {})[name] = label
        for criterion, topic in self._topics.items():
            judge = _judged(result, criterion)
            if isinstance(judge, str):
                topic.unscored[judge] += 1
                if judge not in SILENT:
                    if known:
                        topic.left_out[self._without_value(judge, criterion)] += 1
                    continue
            else:
                topic.judged.add(judge, cluster)
                topic.low, topic.high = min(topic.low, judge), max(topic.high, judge)
            value = None if isinstance(judge, str) else judge
            own = people.values()
            why = self._add(topic, criterion, value, result, own, cluster, asked) if known else ""
            if why is not None:
                topic.others.add(value, cluster) if value is not None else None
                topic.silent_others[cluster] += value is None
            if why:
                topic.left_out[why] += 1

    def _add(
        self, topic: _Topic, criterion: str | None, judge: float | None, result: Result,
        people: Collection[Mapping[str | None, Label]], cluster: Hashable, asked: Case | None,
    ) -> str | None:  # fmt: skip
        """Add a row with labels; return the reason if no label can be used.

        A label counts whatever the judge did: where it has no value, only the label is known.
        """
        if not people:
            return OTHER_OUTPUT
        values: list[float] = []
        used: list[Label] = []
        why = "no usable answer of a person"
        for given in people:
            value: float | str | None
            if criterion in given:
                value = self._value(given[criterion])
            else:
                try:
                    value = self._folded(result, given, asked) if criterion is None else None
                except ValueError:
                    return NO_ANSWER
            if isinstance(value, str):
                why = value
            elif value is not None:
                values.append(float(value))
                used.append(next(iter(given.values())))
                topic.verdicts = topic.verdicts or isinstance(value, bool)
        if not values:
            return why
        total = sum(values)
        # `fsum` gives the same result on every Python, and raises an error for an infinite sum.
        person = (math.fsum(values) if math.isfinite(total) else total) / len(values)
        if self._source.combine == "majority":
            (person, count), *others = Counter(values).most_common(2)
            if others and others[0][1] == count:
                return "people are tied"
        row = LabelledRow(judge or 0.0, person, cluster, used[0].probability)
        (topic.silent if judge is None else topic.rows).append(row)
        topic.without_digest += all(label.output is None for label in used)
        topic.labellers.update(label.labeller for label in used if label.labeller)
        return None

    def _without_value(self, judge: str, criterion: str | None) -> str:
        """Return why labels of a criterion cannot be used where the judge has no value."""
        known = self._rubric.criteria
        hint = ""
        if criterion is not None and known and criterion not in known:
            hint = f": {criterion!r}{suggest(criterion, known, otherwise='')}"
        return f"the judge has no value ({judge}{hint})"

    def _folded(
        self, result: Result, given: Mapping[str | None, Label], asked: Case | None
    ) -> float | str | None:
        """Return the score of a person's answers to all criteria that the judge answered.

        Where the judge has no value, these are all criteria of the rubric. `None` if an answer is
        missing, or if the metric does not combine criteria like the rubric. For criteria of the
        case, a text says why there is none.
        """
        criteria = self._rubric.criteria
        if self._own_criteria:
            from judgekit.metrics.criteria.labels import misnamed, person_value

            labels = {id: label.value for id, label in given.items() if id is not None}
            if asked is None or not labels:
                return None
            value = person_value(asked, labels)
            if value == UNLABELLED:
                self._misnamed = self._misnamed or misnamed(asked, labels)
            return value
        if not isinstance(result, Score) or result.value is None:
            everything = {id: self._rubric.outcome(given[id]) for id in criteria if id in given}
            whole = {id: outcome for id, outcome in everything.items() if outcome is not None}
            return self._rubric.fold(whole) if len(whole) == len(criteria) > 0 else None
        ids = [part.id for part in result.parts if part.id in given and part.id in criteria]
        known = {id: self._rubric.outcome(given[id]) for id in ids}
        outcomes = {id: outcome for id, outcome in known.items() if outcome is not None}
        if not len(outcomes) == len(result.parts) > 0:
            return None
        judge = self._rubric.fold({part.id: (part.status, part.value) for part in result.parts})
        if judge is None or not abs(judge - result.value) <= _SAME:
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
        """Return criterion -> corrected mean; the key `None` is the metric itself."""
        return {
            name: self._mean(name, topic)
            for name, topic in self._topics.items()
            if name is not None or topic.rows or topic.silent or len(self._topics) == 1
        }

    def _left_out(self, topic: _Topic) -> Iterator[tuple[str, int]]:
        """Yield why labels were left out, with the first wrong name of a criterion, and counts."""
        for why, count in topic.left_out.items():
            missing = self._own_criteria and why == UNLABELLED and self._misnamed
            yield f"{why} ({self._misnamed})" if missing else why, count

    def _mean(self, criterion: str | None, topic: _Topic) -> CorrectedMean:
        ends = self._ends if criterion is None else (0.0, 1.0)
        low, high = (end if math.isfinite(end) else None for end in ends)
        judge = mean_figures(topic.judged, (low, high))
        mean, n = judge["mean"], topic.judged.rows.n
        why = judge["too_few"] if n else "no row has a score"
        return CorrectedMean(
            metric=self.metric,
            criterion=criterion,
            by=self._source.by,
            rows=n,
            judge=LabelFigure(value=mean, n=n, low=judge["low"], high=judge["high"], too_few=why),
            planned=self.planned,
            labellers=tuple(sorted(topic.labellers)),
            without_digest=topic.without_digest,
            left_out=dict(sorted(self._left_out(topic))),
            unscored=dict(sorted(topic.unscored.items())),
            comparability=self._compared(topic),
            **(self._corrected(topic, (low, high)) if topic.rows or topic.silent else {}),
        )

    def _compared(self, topic: _Topic) -> LabelComparison | None:
        """Return whether the judge says the same of the labelled rows as of the rest.

        Labels that were given only where the judge has a value are no random sample either, so
        the shares of rows without one are compared, too.
        """
        kinds: list[tuple[Literal["value", "no value"], RowComparison | None]] = []
        if topic.rows:
            values = Correction(topic.rows, topic.others)
            kinds.append(("value", compare_rows(values, span=topic.high - topic.low)))
        silent = topic.silent or topic.silent_others.total()
        if silent and (topic.rows or topic.silent):
            rows = [row._replace(judge=0.0) for row in topic.rows]
            rows += [row._replace(judge=1.0) for row in topic.silent]
            others = FigureValues(clustered=self.clustered)
            for cluster, count, value in (*topic.values_by_cluster(), *(
                (cluster, count, 1.0) for cluster, count in topic.silent_others.items()
            )):  # fmt: skip
                for _ in range(count):
                    others.add(value, cluster)
            kinds.append(("no value", compare_rows(Correction(rows, others), span=1.0)))
        known = [(kind, one) for kind, one in kinds if one is not None]
        if not known:
            return None
        kind, least = min(known, key=lambda entry: entry[1].p)
        tests = self._tests * len(known)
        p = min(1.0, least.p * tests)
        return LabelComparison(labelled=least.labelled, rest=least.rest, of=kind, p=p, tests=tests)

    def _corrected(self, topic: _Topic, bounds: Range) -> dict[str, Any]:
        """Return the figures of a mean with labels.

        PPI++ is valid for any values of the judge, so rows without one have its mean, and no label
        is dropped because of what the judge did. How well the judge agrees is measured on the rows
        in which it has a value.
        """
        known_rows = topic.rows or [row._replace(judge=0.0) for row in topic.silent]
        judged = Correction(known_rows, topic.others, bounds=bounds)
        correction = judged
        if topic.silent or topic.silent_others.total():
            mean = topic.judged.rows.mean or 0.0
            others = deepcopy(topic.others)
            for cluster, count in topic.silent_others.items():
                for _ in range(count):
                    others.add(mean, cluster)
            rows = [*topic.rows, *(row._replace(judge=mean) for row in topic.silent)]
            correction = Correction(rows, others, bounds=bounds)
        yes_no = bounds == (0.0, 1.0) and bool(topic.rows) and judged.yes_no
        if topic.verdicts and not yes_no:
            return {"corrected": LabelFigure(value=None, n=0, too_few=NO_VALUES)}
        done = correction.ppi()
        known = {"labels": done.labels, "rho": judged.rho() if topic.rows else None}
        if yes_no and (rates := judged.rates()) is not None:
            known |= {"sensitivity": rates[0], "specificity": rates[1],
                      "youden": youden_figure(*rates)}  # fmt: skip
        figures: dict[str, Any] = {
            name: LabelFigure.of(figure) for name, figure in known.items() if figure is not None
        }
        if self._source.by == "rogan-gladen":
            other = judged.rogan_gladen() if yes_no else None
            if other is None:
                why = "labels of yes and of no, and rows without a label are needed"
                why = why if yes_no else "Rogan-Gladen corrects yes and no alone; use PPI++"
                return figures | {"corrected": LabelFigure(value=None, n=0, too_few=why)}
            done = other
            figures["labels"] = LabelFigure.of(other.labels)
        corrected = done.corrected
        figures |= {"corrected": LabelFigure.of(corrected), "lam": done.lam, "saved": done.saved}
        if corrected.low is not None:
            df = None if math.isinf(corrected.df) else corrected.df
            figures |= {"standard_error": corrected.error, "df": df}
        return figures


def _judged(result: Result, criterion: str | None) -> float | str:
    """Return the judge's value, or the reason why there is none."""
    if isinstance(result, Failure):
        return "not run" if result.kind in ("not_run", "pending") else "failed"
    if result.fallback is not None:
        return "fallback"
    part = next((part for part in result.parts if part.id == criterion), None)
    of = result if criterion is None else part
    if of is None:
        return "not asked"
    return of.status.replace("_", " ") if of.value is None else of.value


def corrector_of(
    labels: RunLabels, metric: str, manifest: Mapping[str, Any], *, clustered: bool, range: Range
) -> Corrector | None:
    """Return what corrects the means of a metric; `None` if no label is about it.

    Raises:
        ConfigError: a label is not a valid answer to its criterion.
    """
    names = {metric, *dict(rubrics_of(manifest, metric))}
    new = renames_of(manifest, metric)
    own = [renamed(label, new) for label in labels if label.metric in names]
    if not own:
        return None
    labelled = {label.metric for label in labels}
    everything = (str(entry.get("name")) for entry in dicts_in(manifest.get("metrics")))
    several = [name for name in everything
               if labelled & {name, *dict(rubrics_of(manifest, name))}]  # fmt: skip
    return Corrector(metric, own, manifest, labels, range, clustered, max(1, len(several)))


def correctors_of(
    labels: RunLabels, ranges: Mapping[str, Range], manifest: Mapping[str, Any], *,
    clustered: bool = False, whole: bool = True,
) -> dict[str, Corrector]:  # fmt: skip
    """Return the corrector of each labelled metric.

    Args:
        labels: the labels.
        ranges: metric of the run -> the smallest and the largest possible value.
        manifest: describes their rubrics.
        clustered: whether results come with a cluster.
        whole: whether at least one label must belong to one of the metrics.

    Raises:
        ConfigError: a label is no answer to its criterion, or none is about a metric.
    """
    known = {
        name: corrector_of(labels, name, manifest, clustered=clustered, range=range)
        for name, range in ranges.items()
    }
    correctors = {name: corrector for name, corrector in known.items() if corrector is not None}
    if whole and not correctors:
        about = sorted({label.metric for label in labels})
        why = f"the labels are about {', '.join(map(repr, about))}; the run has {', '.join(known)}"
        hint = suggest(about[0], list(known), otherwise="")
        raise ConfigError(why + hint, where=str(labels.path))
    return correctors
