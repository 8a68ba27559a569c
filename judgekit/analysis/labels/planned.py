"""The lines of a sampling plan, read back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.analysis.labels.questions import questions_from
from judgekit.core.errors import ConfigError, place
from judgekit.core.request import Question
from judgekit.datasets.labels import labels_of
from judgekit.datasets.load import read_file
from judgekit.datasets.row_builder import RowBuilder, RowFault

ABOUT_CASE = frozenset({"stratum", "labellers", "criteria", "system", "history", "input", "output",
                        "reference", "context", "baseline"})  # fmt: skip
"""Keys of a planned case that are no part of a label."""


class PlannedCase(NamedTuple):
    """One line of a plan."""

    line: str | int
    output: str | None
    """Digest of the output to label."""
    probability: float
    labellers: tuple[str, ...]


class ReadPlan(NamedTuple):
    """A plan, as its file has it."""

    path: Path
    cases: Mapping[tuple[str, str], PlannedCase]
    """Case and metric -> its line."""
    questions: Mapping[str, Mapping[str, Question]]
    """Metric -> criterion -> question."""


class _PlanRows(RowBuilder):
    def read(self, row: Any) -> Any:
        if not isinstance(row, dict) or "probability" not in row:
            raise RowFault("not a line of a plan; `judgekit labels plan` writes plans")
        return row


def read_plan(path: Path) -> ReadPlan:
    """Read the output of `judgekit labels plan`.

    Raises:
        DatasetError: the file cannot be read.
        ConfigError: with `file:line`, a line is not that of a plan.
    """
    rows = read_file(path, str(path), shape="rows", container="jsonl", fields=None,
                     wrap=lambda _: _PlanRows())  # fmt: skip
    cases: dict[tuple[str, str], PlannedCase] = {}
    questions: dict[str, Mapping[str, Question]] = {}
    for number, row in rows():
        data: Any = row
        where = place(path, int(number))
        head = {key: value for key, value in data.items() if key not in ABOUT_CASE}
        (label,) = labels_of({**head, "value": None}, where)
        names = data.get("labellers", [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ConfigError("'labellers' must be a list of names", where=where)
        if label.probability is None:
            raise ConfigError("'probability' must be above 0 and at most 1", where=where)
        key = (label.case, label.metric)
        if key in cases:
            raise ConfigError(f"case {label.case!r} is planned twice, first in line "
                              f"{cases[key].line}", where=where)  # fmt: skip
        cases[key] = PlannedCase(number, label.output, label.probability, tuple(names))
        criteria = data.get("criteria")
        if label.metric not in questions and isinstance(criteria, dict):
            questions[label.metric] = questions_from(criteria)
    if not cases:
        raise ConfigError("the plan has no cases", where=str(path))
    return ReadPlan(path, cases, questions)
