"""Task: the evaluator that goes with a known benchmark, under one name."""

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
"""Subjects that have a figure of their own."""


PRESETS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "mmlu": ("generation", {"kind": "choice"}),
    "gsm8k": ("generation", {"kind": "number"}),
    "humaneval": ("code", {}),
}
"""Benchmark -> the metric that scores it, and its options."""


class Task(ComputedMetric):
    """1 if the output solves a task of a benchmark, else 0; higher is better.

    `mmlu`: the letter that the output states (`generation`, kind choice). `gsm8k`: the number it
    arrives at (`generation`, kind number). `humaneval`: its function passes the tests (`code`,
    in a sandbox). The cases come from a file of your own in the benchmark's shape, read with
    `format: mmlu`, `gsm8k` or `humaneval`; nothing is fetched. The mean over a run is the
    accuracy, and cases with `metadata.subject` have a figure `accuracy_SUBJECT` each.
    """

    benchmark: Benchmark
    """Which benchmark's rules hold."""
    name: str = "task"
    _inner: Metric = field(init=False, repr=False, compare=False)

    needs = ("output", "reference, or expected.test and expected.entry_point")

    def prepare(self) -> None:
        """Check and complete the options."""
        metric, options = PRESETS[self.benchmark]
        try:
            metric_class = BUILTIN[metric].load()
        except ModuleNotFoundError as exc:
            lacks = f"{exc.name}, which is not installed"
            raise ConfigError(f"{self.name}: {self.benchmark} needs {lacks}") from exc
        object.__setattr__(self, "_inner", metric_class(name=self.name, **options))

    def children(self) -> tuple[Metric, ...]:
        """Return the metric that goes with the benchmark."""
        return (self._inner,)

    @property
    def synchronous(self) -> bool:
        """Whether scoring never waits."""
        return self._inner.synchronous

    @property
    def figures(self) -> Mapping[str, bool]:
        """The figures a gate may name: those of the metric within."""
        return self._inner.figures

    def aggregates(self) -> Sequence[Aggregate]:
        """Return the figures of the metric within, and the accuracy by subject."""
        return [*self._inner.aggregates(), _Subjects()]

    async def score(self, case: Case) -> Score:
        """Score one case.

        Raises:
            CaseError: a text is missing.
            ConfigError: code cannot be isolated on this machine.
        """
        score = await checked_score(self._inner, case)
        subject = case.metadata.get("subject")
        details = dict(score.details)
        if isinstance(subject, str):
            details["subject"] = subject
        meta = {**score.meta, "benchmark": self.benchmark}
        return score.model_copy(update={"details": details, "meta": meta})


class _Subjects(ScoreAggregate):
    """The share of tasks solved, by subject."""

    def __init__(self) -> None:
        self._sums: dict[str, tuple[float, int]] = {}

    def add_score(self, score: Score, value: float) -> None:
        """Add one task."""
        subject = score.details.get("subject")
        if isinstance(subject, str) and (subject in self._sums or len(self._sums) < MAX_SUBJECTS):
            total, count = self._sums.get(subject, (0.0, 0))
            self._sums[subject] = (total + value, count + 1)

    def finish(self) -> Figures:
        """Return the accuracies in the order of the subjects' names."""
        return {
            f"accuracy_{subject}": total / count
            for subject, (total, count) in sorted(self._sums.items())
        }
