"""Compare runs with a baseline: pair cases, test differences, reject incomparable runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from judgekit.analysis.comparison import comparison as results
from judgekit.analysis.comparison.changes import all_changes, prompt_changes, same_judging
from judgekit.analysis.comparison.comparison import Comparison
from judgekit.analysis.comparison.differences import ComparisonSettings, IntervalKind, judged
from judgekit.analysis.comparison.pairs import SETTING_FIELDS, Pair, Pairing
from judgekit.analysis.comparison.tally import MetricTally
from judgekit.core.arguments import checked
from judgekit.core.canonical import canonical_json
from judgekit.core.display.parts import counted
from judgekit.core.errors import ConfigError
from judgekit.core.suggest import suggest
from judgekit.report.clusters import cluster_of
from judgekit.report.manifest import cluster_field, judges_of, rubrics_of
from judgekit.report.report import Report
from judgekit.stats.intervals import mean_interval

_DEFAULT = ComparisonSettings()
_MOST_FIELDS = 100
"""Maximum number of metadata fields to keep for a suggestion."""
SAME = "both runs have the same answers and the same replies about them"


@checked
def compare(
    base: str | Path | Report,
    new: str | Path | Report,
    *,
    cluster: str | None = None,
    interval: IntervalKind = "t",
    detect: float | None = None,
    across_rubrics: bool = False,
    allow_same: bool = False,
    by: str | None = None,
) -> Comparison:
    """Compare a run with a baseline, case by case. No model is called.

    Args:
        base: a run folder, or a report.
        new: the run to compare with it.
        cluster: metadata field that clusters cases, such as a user or document, for clustered
            intervals and tests. The default is the suite's field.
        interval: method for intervals of mean differences: Student's t, or the percentile bootstrap
            (1,000 draws, seed 42).
        detect: difference on the metric's range for which to compute the required number of cases;
            by default, a twentieth of the range.
        across_rubrics: also compare metrics with different rubrics.
        allow_same: also compare runs with equal answers and equal replies.
        by: metadata field with few values, such as a topic. Differences are also shown for each
            value, and as the mean over these slices, in which each counts alike.

    Raises:
        ConfigError: a run cannot be read, the runs have no case or metric in common, both are the
            same run, or both have the same answers and the same replies of the same judge.
    """
    settings = ComparisonSettings(cluster, interval, detect, across_rubrics, allow_same, by)
    (comparison,) = compare_all(base, [new], settings)
    return comparison


def compare_all(
    base: str | Path | Report,
    new: Sequence[str | Path | Report],
    settings: ComparisonSettings = _DEFAULT,
) -> tuple[Comparison, ...]:
    """Compare several runs with one baseline; p values are corrected for all tests.

    Errors are those of `compare`.
    """
    interval, detect = settings.interval, settings.detect
    if interval not in ("t", "bootstrap"):
        raise ConfigError(f"interval must be t or bootstrap, not {interval!r}")
    if detect is not None and not 0 < detect < float("inf"):
        raise ConfigError(f"a difference to detect must be above 0, not {detect:g}")
    before = _open(base)
    comparisons = []
    for one in new:
        after = _open(one)
        if before is after:
            raise ConfigError("a run cannot be compared with itself")
        if before.folder and after.folder and before.folder.resolve() == after.folder.resolve():
            raise ConfigError("is compared with itself; name two runs", where=str(after.folder))
        fields = (cluster_field(run.figures.manifest) for run in (after, before))
        cluster = settings.cluster or next(filter(None, fields), None)
        if cluster is not None and interval == "bootstrap":
            clusters = f"with clusters of {cluster!r} the interval is t"
            raise ConfigError(f"the bootstrap draws single cases; {clusters}")
        comparisons.append(_RunPair(before, after, settings._replace(cluster=cluster)).compare())
    return judged(comparisons)


def _open(run: str | Path | Report) -> Report:
    if isinstance(run, Report):
        return run
    if not isinstance(run, str | Path):
        raise ConfigError(f"a run is a report or its folder, not {type(run).__name__}")
    return Report.read(run)


class _RunPair:
    """Two runs under comparison."""

    def __init__(self, base: Report, new: Report, settings: ComparisonSettings) -> None:
        self.base, self.new, self.settings = base, new, settings
        self.pairing = Pairing(base.results, new.results)
        before, after = base.metrics, new.metrics
        shared = [name for name in before if name in after]
        self.tallies = {name: MetricTally(before[name], after[name], settings) for name in shared}
        if not self.tallies:
            old, late = (", ".join(metrics) or "none" for metrics in (before, after))
            both = f"{old} in the base, {late} in the new one"
            raise ConfigError(f"no metric is in both runs: {both}")
        self.varied: Counter[str] = Counter()
        """Field -> number of pairs in which it differs."""
        self.pairs = self.same_answers = self.other_question = self.unclustered = 0
        self.unsliced = 0
        self.other_criteria: Counter[str] = Counter()
        """Metric -> number of cases that have other criteria in the new run."""
        self.fields: dict[str, None] = {}
        """Some fields of the metadata, for a suggestion."""

    def compare(self) -> Comparison:
        for pair in self.pairing:
            self._add(pair)
        if not self.pairs:
            other = self.other_question
            why = f": {other} have the same id and another question" if other else ""
            raise ConfigError(f"no case is in both runs{why}")
        cluster = self.settings.cluster
        if cluster is not None and self.unclustered == self.pairs:
            raise ConfigError(f"no case has {cluster!r} in its metadata to cluster by")
        by = self.settings.by
        if by is not None and self.unsliced == self.pairs:
            hint = suggest(by, self.fields, otherwise="")
            raise ConfigError(f"no case has {by!r} in its metadata to slice by{hint}")
        reasons = {name: self._difference_of_rubrics(name) for name in self.tallies}
        differing = {name: reason for name, reason in reasons.items() if reason is not None}
        metrics = [self._finished(name, reason) for name, reason in reasons.items()]
        if all(metric.refused for metric in metrics):
            across, one = self.settings.across_rubrics, metrics[0]
            hint = "" if across else " (--across-rubrics compares them anyway)"
            raise ConfigError(f"nothing can be compared: {one.metric}: {one.refused}{hint}")
        if not self.settings.allow_same and self._same_answers_and_replies:
            raise ConfigError(
                f"{SAME}; compare a run with other answers, another judge or another rubric "
                "(--allow-same compares them anyway)",
                where=str(self.new.folder or "new run"),
            )
        warnings = [
            f"{one.metric}: {differing[one.metric]}. The rubric may cause the difference."
            for one in metrics
            if one.metric in differing and one.refused is None
        ]
        warnings += self._warnings()
        differ = self.pairs - self.same_answers
        changes = all_changes(self.base, self.new, self.pairs, differ, self.varied)
        examples = {name: self.tallies[name].example for name in differing}
        prompts = tuple(prompt_changes(self.base, self.new, examples, warnings))
        only_base, only_new = self.pairing.alone
        return Comparison(
            base=str(self.base.folder or "base"),
            new=str(self.new.folder or "new"),
            pairs=self.pairs,
            same_answers=self.same_answers,
            only_base=len(only_base),
            only_new=len(only_new),
            other_question=self.other_question,
            cluster=cluster,
            by=by,
            across_rubrics=self.settings.across_rubrics,
            tests=0,
            warnings=tuple(warnings),
            metrics=tuple(metrics),
            changes=tuple(changes),
            prompts=prompts,
        )

    @property
    def _same_answers_and_replies(self) -> bool:
        """Whether both runs have the same answers and the same replies."""
        return (
            self.same_answers == self.pairs
            and not any(tally.differs for tally in self.tallies.values())
            and same_judging(self.base.figures.manifest, self.new.figures.manifest)
        )

    def _add(self, pair: Pair) -> None:
        if not pair.same_question:
            self.other_question += 1
            return
        self.pairs += 1
        self.same_answers += pair.same_answer
        base, new = pair
        self.varied.update(f for f in SETTING_FIELDS if base.settings[f] != new.settings[f])
        field = self.settings.cluster
        self.unclustered += field is None or base.metadata.get(field) is None
        group = cluster_of(base.case, base.metadata, field)
        value = self._slice(base.metadata)
        for name, tally in self.tallies.items():
            if base.criteria.differ(new.criteria, name):
                self.other_criteria[name] += 1
                if not self.settings.across_rubrics:
                    continue
            tally.add(pair, group, value)

    def _slice(self, metadata: Mapping[str, Any]) -> str | None:
        """Return the slice of a case; `None` without one."""
        by = self.settings.by
        if by is None:
            return None
        if len(self.fields) < _MOST_FIELDS:
            self.fields |= dict.fromkeys(metadata)
        value = metadata.get(by)
        self.unsliced += value is None
        return value if value is None or isinstance(value, str) else canonical_json(value)

    def _finished(self, name: str, rubrics: str | None) -> results.MetricComparison:
        """Return the comparison of a metric; without figures if it cannot be compared."""
        compared = self.tallies[name].finish()
        before, after = self.base.metrics[name], self.new.metrics[name]
        if (before.range, before.higher_is_better) != (after.range, after.higher_is_better):
            refused = "its range or direction differs between the runs"
        elif rubrics is not None and not self.settings.across_rubrics:
            refused = rubrics
        elif self.other_criteria[name] == self.pairs and not self.settings.across_rubrics:
            refused = "its cases have other criteria in the new run"
        else:
            return compared.model_copy(update={"corrected": self._corrected(name)})
        empty = results.MeanDifference(
            name=name, pairs=compared.difference.pairs, base=None, new=None, mean=None, low=None,
            high=None, worse=0, better=0,
        )  # fmt: skip
        return compared.model_copy(
            update={"refused": refused, "difference": empty, "flips": None, "criteria": (),
                    "slices": (), "over_slices": None, "distributions": (), "worst": (), "best": ()}
        )  # fmt: skip

    def _corrected(self, name: str) -> results.CorrectedDifference | None:
        """Return the difference of the corrected means; `None` if neither run has labels."""
        base, new = (run.metrics[name].corrected for run in (self.base, self.new))
        if base is None or new is None:
            if base is new:
                return None
            few = (
                f"only the {'new run' if base is None else 'base'} has labels; label the other too"
            )
            return results.CorrectedDifference(too_few=few)
        files = [run.figures.manifest.get("labels") for run in (self.base, self.new)]
        unnamed = base.without_digest and new.without_digest
        if unnamed and files[0] == files[1] and self.same_answers < self.pairs:
            few = "the labels name no output, and cannot be about the answers of both runs"
            return results.CorrectedDifference(too_few=few)
        before, after = base.corrected, new.corrected
        figures: dict[str, Any] = {"too_few": before.too_few or after.too_few}
        if before.value is not None and after.value is not None:
            figures["mean"] = mean = after.value - before.value
            if base.standard_error is not None and new.standard_error is not None:
                one, two = base.standard_error**2, new.standard_error**2
                parts = one**2 / (base.df or math.inf) + two**2 / (new.df or math.inf)
                df = (one + two) ** 2 / parts if parts else 1e6
                least, most = self.base.metrics[name].range
                bounds = (
                    (None, None) if least is None or most is None else (least - most, most - least)
                )
                ends = mean_interval(mean, math.sqrt(one + two), df, bounds=bounds)
                figures["low"], figures["high"] = ends or (None, None)
        return results.CorrectedDifference(base=before, new=after, **figures)

    def _difference_of_rubrics(self, name: str) -> str | None:
        """Return the difference of a metric's rubrics; `None` if they are equal.

        The rubrics are read from the manifests, or else from the scores.
        """
        old, new = (
            rubrics_of(run.figures.manifest, name) or scored
            for run, scored in zip((self.base, self.new), self.tallies[name].rubrics, strict=True)
        )
        both = f"{_rubric_names(old)} in the base, {_rubric_names(new)} in the new run"
        return None if old == new else f"the rubric differs: {both}"

    # -- warnings -------------------------------------------------------------------

    def _warnings(self) -> Iterator[str]:
        if self.same_answers < self.pairs:
            yield from self._warnings_of_judges()
        elif self._same_answers_and_replies:
            yield f"{SAME.capitalize()}. Nothing can be concluded about a change."
        else:
            yield "The answers are the same in both runs: only the judging differs."
        if other := self.other_question:
            yield (
                f"{_cases(other)} with the same id {_are(other)} another case in the new run "
                "(other input, history, reference or expected values); left out."
            )
        for name, count in self.other_criteria.items():
            hint = (
                "their values do not measure the same."
                if self.settings.across_rubrics
                else "left out (--across-rubrics compares them anyway)."
            )
            yield f"{name}: {_cases(count)} {_have(count)} other criteria in the new run; {hint}"
        for field, count in self.varied.items():
            yield (
                f"The {SETTING_FIELDS[field]} of {_cases(count)} differs in the new run; metrics "
                "that use it compare different texts."
            )
        for side, cases in zip(("base", "new run"), self.pairing.alone, strict=True):
            if cases:
                names = ", ".join(cases[:3])
                names += f" and {len(cases) - 3:,} more" if len(cases) > 3 else ""
                yield f"{_cases(len(cases))} {_are(len(cases))} only in the {side}: {names}."
        for report, side in ((self.base, "base"), (self.new, "new run")):
            if report.figures.incomplete:
                yield f"The {side} is incomplete: {'; '.join(report.figures.incomplete)}."
        yield from self._warnings_of_metrics()
        if self.settings.by is not None and self.unsliced:
            yield f"{_cases(self.unsliced)} without {self.settings.by!r}: in no slice."
        if self.settings.cluster is not None and self.unclustered:
            without = f"{_cases(self.unclustered)} without {self.settings.cluster!r}"
            yield f"{without}: each its own cluster."

    def _warnings_of_judges(self) -> Iterator[str]:
        changed: dict[tuple[str, str], list[str]] = {}
        for name in self.tallies:
            old, new = (judges_of(run.figures.manifest, name) for run in (self.base, self.new))
            if old != new:
                changed.setdefault((_listed(old), _listed(new)), []).append(name)
        for (before, after), names in changed.items():
            yield (
                f"{', '.join(names)}: both the answers and the judge differ ({before}, then "
                f"{after}); a difference may come from either."
            )

    def _warnings_of_metrics(self) -> Iterator[str]:
        before, after = self.base.metrics, self.new.metrics
        for one, other, side in ((before, after, "base"), (after, before, "new run")):
            if missing := [name for name in one if name not in other]:
                yield f"Only in the {side}: {', '.join(missing)}."
        for name, tally in self.tallies.items():
            old, new = before[name].threshold, after[name].threshold
            if old != new:
                yield (
                    f"{name}: the threshold was {_or_none(old)} and is {_or_none(new)}; both runs "
                    f"use the threshold {_or_none(tally.threshold)}."
                )


# -- words ------------------------------------------------------------------------


def _rubric_names(rubrics: set[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {digest[:8]}" for name, digest in sorted(rubrics)) or "none"


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _or_none(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


def _cases(count: int) -> str:
    return counted(count, "case")


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def _are(count: int) -> str:
    return "are" if count != 1 else "is"
