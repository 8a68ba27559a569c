"""The lines of a sampling plan, read back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.analysis.labels.questions import questions_from
from judgekit.core.errors import ConfigError, place
from judgekit.core.request import Question
from judgekit.datasets.labels import Label, labels_of
from judgekit.datasets.load import read_file
from judgekit.datasets.row_builder import RowBuilder, RowFault

ABOUT_CASE = frozenset({"stratum", "labellers", "criteria", "system", "history", "input", "output",
                        "reference", "context", "baseline"})  # fmt: skip
"""Keys of a planned case that are no part of a label."""


class PlannedCase(NamedTuple):
    """One line of a plan."""

    line: int
    output: str | None
    """Digest of the output to label."""
    probability: float
    labellers: tuple[str, ...]


class ReadPlan(NamedTuple):
    """A plan, as its file has it."""

    path: Path
    cases: Mapping[tuple[str, str], PlannedCase]
    """Case and metric -> its line."""
    metrics: Mapping[str, str]
    """Metric, or its rubric -> metric."""
    questions: Mapping[str, Mapping[str, Question]]
    """Metric -> criterion -> question."""

    def topic(self, label: Label) -> tuple[str, str]:
        """Return case and metric of a label, which may name the rubric."""
        return label.case, self.metrics.get(label.metric, label.metric)


class _PlanRows(RowBuilder):
    def read(self, row: Any) -> Any:
        names = row.get("labellers", []) if isinstance(row, dict) else None
        is_label = isinstance(row, dict) and row.keys() & {"answers", "values", "value"}
        if not isinstance(names, list) or is_label or row.get("probability") is None:
            raise RowFault("not a line of a plan; `judgekit labels plan` writes plans")
        return row


def read_plan(path: Path) -> ReadPlan:
    """Read the output of `judgekit labels plan`.

    Raises:
        DatasetError: with `file:line`, the file or a line of it is none of a plan.
        ConfigError: with `file:line`, a line has a wrong value, or repeats a case.
    """
    rows: Any = read_file(path, str(path), container="jsonl", wrap=lambda _: _PlanRows())
    cases: dict[tuple[str, str], PlannedCase] = {}
    questions: dict[str, Mapping[str, Question]] = {}
    metrics: dict[str, str] = {}
    for line, row in rows():
        head = {key: value for key, value in row.items() if key not in ABOUT_CASE}
        label = next(labels_of({**head, "value": None}, place(path, line)))
        metrics[str(row.get("rubric") or label.metric)] = metrics[label.metric] = label.metric
        names = tuple(map(str, row.get("labellers", [])))
        planned = PlannedCase(line, label.output, label.probability or 1.0, names)
        first = cases.setdefault((label.case, label.metric), planned)
        if first is not planned:
            raise ConfigError(f"case {label.case!r} is planned twice, first in line {first.line}",
                              where=place(path, line))  # fmt: skip
        if label.metric not in questions and isinstance(row.get("criteria"), dict):
            questions[label.metric] = questions_from(row["criteria"])
    if not cases:
        raise ConfigError("the plan has no cases", where=str(path))
    return ReadPlan(path, cases, metrics, questions)
