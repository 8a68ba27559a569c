"""Compare runs with a baseline: pair cases, test differences, reject what is not comparable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path

from judgekit.analysis.comparison.changes import changes_between
from judgekit.analysis.comparison.comparison import (
    Change,
    Comparison,
    MeanDifference,
    MetricComparison,
    PromptChange,
)
from judgekit.analysis.comparison.differences import IntervalKind
from judgekit.analysis.comparison.identical import same_judging
from judgekit.analysis.comparison.pairs import SETTING_FIELDS, Pair, Pairing
from judgekit.analysis.comparison.prompts import PromptExample, prompt_change
from judgekit.analysis.comparison.tally import MetricTally
from judgekit.analysis.comparison.verdicts import judged
from judgekit.core.errors import ConfigError, JudgekitError
from judgekit.report.clusters import cluster_of
from judgekit.report.manifest import cluster_field, judges_of, rubrics_of
from judgekit.report.report import Report
from judgekit.report.summary import MetricSummary

SAME = "both runs have the same answers and the same replies about them"


def compare(
    base: str | Path | Report,
    new: str | Path | Report,
    *,
    cluster: str | None = None,
    interval: IntervalKind = "t",
    detect: float | None = None,
    across_rubrics: bool = False,
    allow_same: bool = False,
) -> Comparison:
    """Compare a run with a baseline, case by case. No model is called.

    Args:
        base: a run folder, or a report.
        new: the run to compare with it.
        cluster: metadata field that clusters cases, such as a user or document;
            intervals and tests are then clustered. The default is the field of the suite.
        interval: of mean differences: Student's t, or the percentile bootstrap (1,000 draws,
            seed 42).
        detect: the difference to compute the number of cases for, on the metric's range; the
            default is a twentieth of the range.
        across_rubrics: also compare metrics with different rubrics.
        allow_same: also compare runs with the same answers and the same replies.

    Raises:
        ConfigError: a run cannot be read, the runs have no case or metric in common, both are the
            same run, or both have the same answers and the same replies of the same judge.
    """
    (comparison,) = compare_all(
        base,
        [new],
        cluster=cluster,
        interval=interval,
        detect=detect,
        across_rubrics=across_rubrics,
        allow_same=allow_same,
    )
    return comparison


def compare_all(
    base: str | Path | Report,
    new: Sequence[str | Path | Report],
    *,
    cluster: str | None = None,
    interval: IntervalKind = "t",
    detect: float | None = None,
    across_rubrics: bool = False,
    allow_same: bool = False,
) -> tuple[Comparison, ...]:
    """Compare several runs with one baseline; p values are corrected for all tests.

    Arguments and errors are those of `compare`.
    """
    if interval not in ("t", "bootstrap"):
        raise ConfigError(f"interval must be t or bootstrap, not {interval!r}")
    if detect is not None and not 0 < detect < float("inf"):
        raise ConfigError(f"a difference to detect must be above 0, not {detect:g}")
    before = _open(base)
    comparisons = []
    for one in new:
        after = _open(one)
        _refuse_same(before, after)
        field = (
            cluster
            or cluster_field(after.figures.manifest)
            or cluster_field(before.figures.manifest)
        )
        if field is not None and interval == "bootstrap":
            raise ConfigError(
                f"the bootstrap draws single cases; with clusters of {field!r} the interval is t"
            )
        comparing = _RunPair(
            before,
            after,
            cluster=field,
            across_rubrics=across_rubrics,
            allow_same=allow_same,
        )
        comparisons.append(comparing.compare(interval=interval, detect=detect))
    return judged(comparisons)


def _open(run: str | Path | Report) -> Report:
    if isinstance(run, Report):
        return run
    if not isinstance(run, str | Path):
        raise ConfigError(f"a run is a report or its folder, not {type(run).__name__}")
    return Report.read(run)


def _refuse_same(base: Report, new: Report) -> None:
    if base is new:
        raise ConfigError("a run cannot be compared with itself")
    if base.folder and new.folder and base.folder.resolve() == new.folder.resolve():
        raise ConfigError("is compared with itself; name two runs", where=str(new.folder))


class _RunPair:
    """Two runs under comparison."""

    def __init__(
        self,
        base: Report,
        new: Report,
        *,
        cluster: str | None,
        across_rubrics: bool,
        allow_same: bool,
    ) -> None:
        self.base, self.new = base, new
        self.cluster = cluster
        self.across_rubrics = across_rubrics
        self.allow_same = allow_same
        self.warnings: list[str] = []
        self.examples: dict[str, PromptExample] = {}
        self.varied: Counter[str] = Counter()
        """Field -> number of pairs in which it differs."""
        self.pairs = self.same_answers = self.other_question = self.unclustered = 0

    def compare(self, *, interval: IntervalKind, detect: float | None) -> Comparison:
        before, after = self.base.metrics, self.new.metrics
        shared = [name for name in before if name in after]
        if not shared:
            raise ConfigError(
                f"no metric is in both runs: {_names(before)} in the base, {_names(after)} in the "
                "new one"
            )
        tallies = {
            name: MetricTally(
                before[name],
                after[name],
                clustered=self.cluster is not None,
                interval=interval,
                detect=detect,
            )
            for name in shared
        }
        pairing = Pairing(self.base.results, self.new.results)
        for pair in pairing:
            self._add(pair, tallies)
        if not self.pairs:
            raise ConfigError(
                "no case is in both runs"
                + (f": {self.other_question} have the same id and another question"
                   if self.other_question else "")
            )  # fmt: skip
        if self.cluster is not None and self.unclustered == self.pairs:
            raise ConfigError(f"no case has {self.cluster!r} in its metadata to cluster by")
        metrics = [self._finished(name, tally) for name, tally in tallies.items()]
        if all(metric.refused for metric in metrics):
            raise ConfigError(
                f"nothing can be compared: {metrics[0].metric}: {metrics[0].refused}"
                + ("" if self.across_rubrics else " (--across-rubrics compares them anyway)")
            )
        if not self.allow_same and self._same_answers_and_replies(tallies):
            raise ConfigError(
                f"{SAME}; compare a run with other answers, another judge or another rubric "
                "(--allow-same compares them anyway)",
                where=_name(self.new, "new run"),
            )
        self._warn(tallies, pairing)
        prompts = tuple(self._prompts(tallies))  # may add a warning
        return Comparison(
            base=_name(self.base, "base"),
            new=_name(self.new, "new"),
            pairs=self.pairs,
            same_answers=self.same_answers,
            only_base=len(pairing.only_base),
            only_new=len(pairing.only_new),
            other_question=self.other_question,
            cluster=self.cluster,
            tests=0,
            warnings=tuple(self.warnings),
            metrics=tuple(metrics),
            changes=tuple(self._changes()),
            prompts=prompts,
        )

    def _same_answers_and_replies(self, tallies: Mapping[str, MetricTally]) -> bool:
        """Return whether both runs have the same answers and the same replies."""
        return (
            self.same_answers == self.pairs
            and not any(tally.differs for tally in tallies.values())
            and same_judging(self.base.figures.manifest, self.new.figures.manifest)
        )

    def _add(self, pair: Pair, tallies: Mapping[str, MetricTally]) -> None:
        if not pair.same_question:
            self.other_question += 1
            return
        self.pairs += 1
        self.same_answers += pair.same_answer
        self.varied.update(
            f for f in SETTING_FIELDS if pair.base.settings[f] != pair.new.settings[f]
        )
        group = self._cluster_of(pair)
        for name, tally in tallies.items():
            tally.add(pair, group)
            base, new = pair.base.rows.get(name), pair.new.rows.get(name)
            if name not in self.examples and base and new and base.keys and new.keys:
                self.examples[name] = PromptExample(pair.base.case, base.keys[0], new.keys[0])

    def _cluster_of(self, pair: Pair) -> Hashable:
        metadata = pair.base.metadata
        self.unclustered += self.cluster is None or metadata.get(self.cluster) is None
        return cluster_of(pair.base.case, metadata, self.cluster)

    def _finished(self, name: str, tally: MetricTally) -> MetricComparison:
        compared = tally.finish()
        refused = self._refusal(name, tally)
        if refused is None:
            return compared
        empty = MeanDifference(
            name=name, pairs=compared.difference.pairs, base=None, new=None, mean=None, low=None,
            high=None, worse=0, better=0,
        )  # fmt: skip
        return compared.model_copy(
            update={"refused": refused, "difference": empty, "flips": None, "criteria": (),
                    "worst": (), "best": ()}
        )  # fmt: skip

    def _refusal(self, name: str, tally: MetricTally) -> str | None:
        before, after = self.base.metrics[name], self.new.metrics[name]
        if (before.range, before.higher_is_better) != (after.range, after.higher_is_better):
            return "its range or direction differs between the runs"
        old, new = self._rubrics(name, tally)
        if old == new:
            return None
        both = f"{_rubric_names(old)} in the base, {_rubric_names(new)} in the new run"
        reason = f"the rubric differs: {both}"
        if not self.across_rubrics:
            return reason
        self.warnings.append(f"{name}: {reason}. The rubric may cause the difference.")
        return None

    def _rubrics(
        self, name: str, tally: MetricTally
    ) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
        """Return the rubrics of a metric in both runs, by the manifests or else by the scores."""
        old, new = (rubrics_of(run.figures.manifest, name) for run in (self.base, self.new))
        return old or tally.rubrics["base"], new or tally.rubrics["new"]

    # -- warnings -------------------------------------------------------------------

    def _warn(self, tallies: Mapping[str, MetricTally], pairing: Pairing) -> None:
        if self.same_answers == self.pairs:
            self.warnings.append(
                f"{SAME.capitalize()}. Nothing can be concluded about a change."
                if self._same_answers_and_replies(tallies)
                else "The answers are the same in both runs: only the judging differs."
            )
        else:
            self._warn_of_judges(tallies)
        if self.other_question:
            self.warnings.append(
                f"{_cases(self.other_question)} with the same id {_are(self.other_question)} "
                "another case in the new run (other input, history, reference or expected "
                "values); left out."
            )
        for field, count in self.varied.items():
            self.warnings.append(
                f"The {SETTING_FIELDS[field]} of {_cases(count)} differs in the new run; metrics "
                "that use it compare different texts."
            )
        for side, cases in (("base", pairing.only_base), ("new run", pairing.only_new)):
            if cases:
                self.warnings.append(
                    f"{_cases(len(cases))} {_are(len(cases))} only in the {side}: "
                    f"{', '.join(cases[:3])}{', ...' if len(cases) > 3 else ''}."
                )
        for report, side in ((self.base, "base"), (self.new, "new run")):
            if report.figures.incomplete:
                reasons = "; ".join(report.figures.incomplete)
                self.warnings.append(f"The {side} is incomplete: {reasons}.")
        self._warn_of_metrics(tallies)
        if self.cluster is not None and self.unclustered:
            self.warnings.append(
                f"{_cases(self.unclustered)} without {self.cluster!r}: each its own cluster."
            )

    def _warn_of_judges(self, tallies: Mapping[str, MetricTally]) -> None:
        changed: dict[tuple[str, str], list[str]] = {}
        for name in tallies:
            old, new = (judges_of(run.figures.manifest, name) for run in (self.base, self.new))
            if old != new:
                changed.setdefault((_listed(old), _listed(new)), []).append(name)
        for (before, after), names in changed.items():
            self.warnings.append(
                f"{', '.join(names)}: both the answers and the judge differ ({before}, then "
                f"{after}); a difference may come from either."
            )

    def _warn_of_metrics(self, tallies: Mapping[str, MetricTally]) -> None:
        before, after = self.base.metrics, self.new.metrics
        for one, other, side in ((before, after, "base"), (after, before, "new run")):
            missing = [name for name in one if name not in other]
            if missing:
                self.warnings.append(f"Only in the {side}: {', '.join(missing)}.")
        for name, tally in tallies.items():
            old, new = before[name].threshold, after[name].threshold
            if old != new:
                self.warnings.append(
                    f"{name}: the threshold was {_or_none(old)} and is {_or_none(new)}; both runs "
                    f"use the threshold {_or_none(tally.threshold)}."
                )

    # -- what changed ---------------------------------------------------------------

    def _changes(self) -> Iterator[Change]:
        base, new = self.base.figures, self.new.figures
        yield from changes_between(base.manifest, new.manifest)
        differ = self.pairs - self.same_answers
        for field, count in self.varied.items():
            text = f"another in {count} of {self.pairs} cases"
            yield Change(what=SETTING_FIELDS[field], base="", new=text)
        if differ:
            yield Change(
                what="answers", base="", new=f"{differ} of {self.pairs} differ from the base's"
            )
        if base.dataset != new.dataset and not differ and not self.varied:
            yield Change(what="data set", base=base.dataset[:12], new=new.dataset[:12])

    def _prompts(self, tallies: Mapping[str, MetricTally]) -> Iterator[PromptChange]:
        """Yield the diff of the prompts for one case of each metric whose rubric differs."""
        for name, tally in tallies.items():
            old, new = self._rubrics(name, tally)
            example = self.examples.get(name)
            if old == new or example is None:
                continue
            try:
                change = prompt_change(self.base, self.new, metric=name, example=example)
            except JudgekitError as exc:
                self.warnings.append(f"{name}: no diff of its prompts: {exc}")
                continue
            if change is not None:
                yield change


# -- words ------------------------------------------------------------------------


def _name(run: Report, otherwise: str) -> str:
    return str(run.folder) if run.folder is not None else otherwise


def _names(metrics: Mapping[str, MetricSummary]) -> str:
    return ", ".join(metrics) or "none"


def _rubric_names(rubrics: set[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {digest[:8]}" for name, digest in sorted(rubrics)) or "none"


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _or_none(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


def _cases(count: int) -> str:
    return f"{count} case{'s' if count != 1 else ''}"


def _are(count: int) -> str:
    return "are" if count != 1 else "is"


__all__ = ["compare", "compare_all"]
