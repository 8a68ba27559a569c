"""Task: the metric of a known benchmark, under one name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Literal

from judgekit.core.case import Case
from judgekit.core.errors import ConfigError
from judgekit.core.protocols import Aggregate, Metric
from judgekit.core.score import Score, checked_score
from judgekit.metrics.aggregate import Figures, ScoreAggregate
from judgekit.metrics.catalogue import BUILTIN
from judgekit.metrics.computed import ComputedMetric

Benchmark = Literal["mmlu", "gsm8k", "humaneval"]
MAX_SUBJECTS = 200
"""Maximum number of subjects with a separate figure."""


PRESETS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "mmlu": ("generation", {"kind": "choice"}),
    "gsm8k": ("generation", {"kind": "number"}),
    "humaneval": ("code", {}),
}
"""Benchmark -> the metric that scores it, and its options."""


class Task(ComputedMetric):
    """1 if the output solves a task of a benchmark, else 0. Higher is better.

    `mmlu` compares the stated letter (`generation` with `kind: choice`), and `gsm8k` the final
    number (`generation` with `kind: number`). `humaneval` runs the tests of the function in a
    sandbox (`code`). The cases come from your own file in the format of the benchmark (`format:
    mmlu`, `gsm8k` or `humaneval`); judgekit downloads nothing. The mean over a run is the accuracy.
    Cases with `metadata.subject` also have the figure `accuracy_SUBJECT`.
    """

    benchmark: Benchmark
    """The benchmark that sets the rules."""
    name: str = "task"
    _inner: Metric = field(init=False, repr=False, compare=False)

    needs = ("output", "reference, or expected.test and expected.entry_point")

    def prepare(self) -> None:
        """Check and complete the options."""
        metric, options = PRESETS[self.benchmark]
        try:
            metric_class = BUILTIN[metric].load()
        except ModuleNotFoundError as exc:
            missing = f"{exc.name}, which is not installed"
            raise ConfigError(f"{self.name}: {self.benchmark} needs {missing}") from exc
        self.put(_inner=metric_class(name=self.name, **options))

    def children(self) -> tuple[Metric, ...]:
        """Return the metric of the benchmark."""
        return (self._inner,)

    @property
    def synchronous(self) -> bool:
        """Whether scoring never waits."""
        return self._inner.synchronous

    @property
    def figures(self) -> Mapping[str, bool]:
        """The figures that a gate may use: those of the benchmark's metric."""
        return self._inner.figures

    def aggregates(self) -> Sequence[Aggregate]:
        """Return the figures of the benchmark's metric, and the accuracy by subject."""
        return [*self._inner.aggregates(), _Subjects()]

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: a text is missing.
            ConfigError: this machine cannot isolate code.
        """
        score = await checked_score(self._inner, case)
        subject = case.metadata.get("subject")
        details = dict(score.details)
        if isinstance(subject, str):
            details["subject"] = subject
        meta = {**score.meta, "benchmark": self.benchmark}
        return score.model_copy(update={"details": details, "meta": meta})


class _Subjects(ScoreAggregate):
    """The share of solved tasks, by subject."""

    def __init__(self) -> None:
        self._sums: dict[str, tuple[float, int]] = {}

    def add_score(self, score: Score, value: float) -> None:
        """Add one task."""
        subject = score.details.get("subject")
        if isinstance(subject, str) and (subject in self._sums or len(self._sums) < MAX_SUBJECTS):
            total, count = self._sums.get(subject, (0.0, 0))
            self._sums[subject] = (total + value, count + 1)

    def finish(self) -> Figures:
        """Return the accuracies, sorted by subject."""
        return {
            f"accuracy_{subject}": total / count
            for subject, (total, count) in sorted(self._sums.items())
        }
