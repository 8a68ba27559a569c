"""Compare runs with a baseline: pair cases, test differences, refuse what is not comparable."""

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
from judgekit.analysis.comparison.pairs import GIVEN, Pair, Pairing
from judgekit.analysis.comparison.prompts import PromptExample, prompt_change
from judgekit.analysis.comparison.tally import MetricTally
from judgekit.analysis.comparison.verdicts import judged
from judgekit.core.canonical import canonical_json
from judgekit.core.errors import ConfigError, JudgekitError
from judgekit.report.manifest import cluster_field, judges_of, rubrics_of
from judgekit.report.report import Report
from judgekit.report.summary import MetricSummary

SAME = "both runs hold the same answers and the same replies about them"


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
            intervals and tests are then clustered. By default the field of the suite.
        interval: of mean differences: Student's t, or the percentile bootstrap (1,000 draws,
            seed 42).
        detect: the difference to compute the number of cases for, on the metric's range; a
            twentieth of the range by default.
        across_rubrics: also compare metrics that have different rubrics.
        allow_same: also compare runs with the same answers and the same replies.

    Raises:
        ConfigError: not a run, no case or metric in common, one run given twice, or two runs that
            hold the same answers and the same replies of the same judge.
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

    Takes and raises what `compare` does.
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
        look = _Look(
            before,
            after,
            cluster=field,
            across_rubrics=across_rubrics,
            allow_same=allow_same,
        )
        comparisons.append(look.all(interval=interval, detect=detect))
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


class _Look:
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
        self.given: Counter[str] = Counter()
        """Field -> pairs in which it is another."""
        self.pairs = self.same_answers = self.other_question = self.unclustered = 0

    def all(self, *, interval: IntervalKind, detect: float | None) -> Comparison:
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
            self._take(pair, tallies)
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
                + ("" if self.across_rubrics else " (--across-rubrics compares all the same)")
            )
        if not self.allow_same and self._is_one_set(tallies):
            raise ConfigError(
                f"{SAME}; compare a run with other answers, another judge or another rubric "
                "(--allow-same compares all the same)",
                where=_name(self.new, "new run"),
            )
        self._warn(tallies, pairing)
        prompts = tuple(self._prompts(tallies))  # a damaged tape is one more thing to say
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

    def _is_one_set(self, tallies: Mapping[str, MetricTally]) -> bool:
        """Return whether both runs hold the same answers and the same replies about them."""
        return (
            self.same_answers == self.pairs
            and not any(tally.differs for tally in tallies.values())
            and same_judging(self.base.figures.manifest, self.new.figures.manifest)
        )

    def _take(self, pair: Pair, tallies: Mapping[str, MetricTally]) -> None:
        if not pair.same_question:
            self.other_question += 1
            return
        self.pairs += 1
        self.same_answers += pair.same_answer
        self.given.update(f for f in GIVEN if pair.base.given[f] != pair.new.given[f])
        group = self._cluster_of(pair)
        for name, tally in tallies.items():
            tally.add(pair, group)
            base, new = pair.base.rows.get(name), pair.new.rows.get(name)
            if name not in self.examples and base and new and base.keys and new.keys:
                self.examples[name] = PromptExample(pair.base.case, base.keys[0], new.keys[0])

    def _cluster_of(self, pair: Pair) -> Hashable:
        value = pair.base.metadata.get(self.cluster) if self.cluster is not None else None
        if value is None:
            self.unclustered += 1
            return ("", pair.base.case)
        return value if isinstance(value, str) else canonical_json(value)

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
            return "its range or direction is not the same in both runs"
        old, new = self._rubrics(name, tally)
        if old == new:
            return None
        both = f"{_rubric_names(old)} in the base, {_rubric_names(new)} in the new run"
        reason = f"the rubric is not the same: {both}"
        if not self.across_rubrics:
            return reason
        self.warnings.append(f"{name}: {reason}. A difference may be the rubric's.")
        return None

    def _rubrics(
        self, name: str, tally: MetricTally
    ) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
        """Return what rubrics made a metric in either run: by the manifest, else by its scores."""
        old, new = (rubrics_of(run.figures.manifest, name) for run in (self.base, self.new))
        return old or tally.makers["base"], new or tally.makers["new"]

    # -- what must be said ----------------------------------------------------------

    def _warn(self, tallies: Mapping[str, MetricTally], pairing: Pairing) -> None:
        if self.same_answers == self.pairs:
            self.warnings.append(
                f"{SAME.capitalize()}. Nothing can be concluded about a change."
                if self._is_one_set(tallies)
                else "The answers are the same in both runs: what differs is the judging."
            )
        else:
            self._warn_of_judges(tallies)
        if self.other_question:
            self.warnings.append(
                f"{_cases(self.other_question)} of the same id {_are(self.other_question)} another "
                "case in the new run (input, history, reference or what is expected); left out."
            )
        for field, count in self.given.items():
            self.warnings.append(
                f"The {GIVEN[field]} of {_cases(count)} is another one in the new run; metrics "
                "that use it compare with different texts."
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
        for field, count in self.given.items():
            text = f"another in {count} of {self.pairs} cases"
            yield Change(what=GIVEN[field], base="", new=text)
        if differ:
            yield Change(
                what="answers", base="", new=f"{differ} of {self.pairs} differ from the base's"
            )
        if base.dataset != new.dataset and not differ and not self.given:
            yield Change(what="data set", base=base.dataset[:12], new=new.dataset[:12])

    def _prompts(self, tallies: Mapping[str, MetricTally]) -> Iterator[PromptChange]:
        """Yield how requests about one case differ, where the rubric is not the same."""
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
