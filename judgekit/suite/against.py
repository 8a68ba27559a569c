"""Use the outputs of another run as baselines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.core.canonical import digest_json
from judgekit.core.case import ANSWERED, Case, source_of
from judgekit.core.errors import ConfigError
from judgekit.core.protocols import Metric, with_children
from judgekit.metrics.pairwise.preference import PairwiseMetric
from judgekit.report.answerers import folder_names
from judgekit.report.folder import REPORT, read_json, read_results

FIELD = "baseline"


class _OtherAnswer(NamedTuple):
    output: str | None = None
    note: Any = None
    """The source of the output, from the metadata."""


class OtherRun:
    """A finished run whose outputs become the baselines of this run.

    Args:
        folder: the run folder.

    Raises:
        ConfigError: it is not the folder of a finished run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        report = read_json(folder / REPORT)
        self.dataset = str(report.get("dataset", "")) if isinstance(report, dict) else ""

    def described(self) -> dict[str, str]:
        """Return the manifest entry of this run: the digest of its cases."""
        return {"dataset": self.dataset}

    def fill(self, cases: Iterator[Case]) -> Iterator[Case]:
        """Yield cases with the outputs of this run as baselines, matched by case id.

        A case that this run lacks, or whose input or history differs, has no baseline.
        """
        return map(self._filled, cases)

    def _filled(self, case: Case) -> Case:
        other = self._answers.get((case.id, _question(case)), _OtherAnswer())
        notes = case.metadata.get(ANSWERED)
        metadata = dict(case.metadata)
        known = {k: v for k, v in notes.items() if k != FIELD} if isinstance(notes, dict) else {}
        if other.note is not None:
            known[FIELD] = other.note
        if known or isinstance(notes, dict):
            metadata[ANSWERED] = known
        return case.model_copy(update={FIELD: other.output, "metadata": metadata})

    @cached_property
    def _answers(self) -> dict[tuple[str, str], _OtherAnswer]:
        """Return id and digest of the question -> the answer of the other run."""
        cases = (case for case, _ in read_results(self.folder))
        return {(c.id, _question(c)): _OtherAnswer(c.output, source_of(c.metadata)) for c in cases}

    def name_answers(self, metrics: Sequence[Metric], *, out: Path | None) -> None:
        """Give pairwise metrics the names of both runs: the ends of their folders."""
        own, other = folder_names([out, self.folder])
        for metric in _readers(metrics):
            if isinstance(metric, PairwiseMetric):
                metric.names = own if out else "output", other

    def check_read(self, metrics: Sequence[Metric]) -> None:
        """Check that a metric of the suite uses the baseline.

        Raises:
            ConfigError: no metric uses it.
        """
        if not any(True for _ in _readers(metrics)):
            read = "which no metric of this suite reads; add better: {pairwise: preference}"
            raise ConfigError(f"--against fills in the baseline of each case, {read}")


def _readers(metrics: Sequence[Metric]) -> Iterator[Metric]:
    for metric in metrics:
        for part in with_children(metric):
            if isinstance(part, PairwiseMetric):
                if part.opponent == FIELD:
                    yield part
            elif FIELD in part.needs or FIELD in part.options.values():
                yield part


def _question(case: Case) -> str:
    asked = [m.model_dump() for m in case.history if m.role in ("system", "user")]
    return digest_json([case.input, asked])
