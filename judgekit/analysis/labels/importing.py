"""Labels of other tools, as a file of labels."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.analysis.labels.plan import ReadPlan, read_plan
from judgekit.analysis.labels.questions import only_judged, questions_by_name
from judgekit.analysis.labels.rows import LabelColumns, LabelRows
from judgekit.core.case import output_digest
from judgekit.core.display.parts import counted
from judgekit.core.errors import ConfigError, place
from judgekit.datasets.labels import Label, describe
from judgekit.datasets.load import read_file
from judgekit.report.report import Report

_TAKEN = "labels without a digest: taken as labels of the outputs of the run"


class ImportedLabels(NamedTuple):
    """Labels in one form and order."""

    labels: tuple[Label, ...]
    notes: Counter[str]
    """What was left out or assumed -> how often."""

    def lines(self) -> Iterator[str]:
        """Yield the lines of a file of labels; the same labels give the same bytes."""
        lines: dict[tuple[Any, ...], dict[str, Any]] = {}
        for label in sorted(self.labels, key=_order):
            head = {"case": label.case, "metric": label.metric, "labeller": label.labeller,
                    "output_digest": label.output, "probability": label.probability}  # fmt: skip
            line = lines.setdefault(_order(label)[:-1], {k: v for k, v in head.items() if v})
            reason = {"reason": label.reason} if label.reason else {}
            if label.criterion is None:
                line |= {"value": label.value, **reason}
            else:
                line.setdefault("answers", {})[label.criterion] = {"value": label.value, **reason}
        for line in lines.values():
            yield json.dumps(line, ensure_ascii=False, allow_nan=False)

    def text(self) -> str:
        """Return how many labels there are, and the notes, in lines."""
        cases = len({label.case for label in self.labels})
        people = sorted({label.labeller for label in self.labels if label.labeller})
        by = f" by {', '.join(people[:5])}{' ...' * (len(people) > 5)}" if people else ""
        of = f"{counted(len(self.labels), 'label')} of {counted(cases, 'case')}"
        return "\n".join([of + by, *(f"{n:,} {what}" for what, n in self.notes.items())]) + "\n"


def _order(label: Label) -> tuple[str, ...]:
    texts = (label.case, label.metric, label.labeller, label.output, label.criterion)
    return tuple(text or "" for text in texts)


def import_labels(
    *sources: str | Path,
    plan: str | Path | None = None,
    run: str | Path | Report | None = None,
    metric: str | None = None,
    labeller: str = "",
    names: Mapping[str, str] | None = None,
) -> ImportedLabels:
    """Read labels of the page of a run, tables, and tasks of Label Studio.

    Args:
        sources: files: JSON Lines, CSV, Parquet or JSON.
        plan: the sampling plan; its probabilities and digests are joined by case.
        run: the run that was labelled; labels without a digest get that of its output.
        metric: the metric of rows that name none; by default that of the plan or the run.
        labeller: the labeller of rows that name none.
        names: column or control -> criterion, `criterion.reason`, or empty to leave it out.

    Raises:
        DatasetError: a file cannot be read, or a row holds no labels; with the place of the row.
        ConfigError: two answers of one labeller contradict each other, no labels are left, or the
            plan or run cannot be read.
    """
    planned = None if plan is None else read_plan(Path(plan))
    report = run if run is None or isinstance(run, Report) else Report.read(run)
    questions = {} if report is None else questions_by_name(report)
    if planned is not None:
        questions = {**planned.questions, **questions}
        metrics = {name for _, name in planned.cases}
        metric = metric or (metrics.pop() if len(metrics) == 1 else None)
    metric = metric or (only_judged(report) if report is not None else None)
    builder = LabelRows(LabelColumns(metric, labeller, names or {}, questions))
    notes = builder.notes
    first: dict[tuple[str | None, ...], tuple[Label, str]] = {}
    for label, where in _read(sources, builder):
        earlier, at = first.setdefault(label.identity, (label, where))
        if earlier is not label and earlier.value != label.value:
            both = f"{label.value!r}, and {earlier.value!r} at {at}"
            raise ConfigError(f"{describe(label)} is labelled {both}; keep one", where=where)
        notes["repeated labels left out"] += earlier is not label
    labels = [label for label, _ in first.values()]
    if not labels:
        raise ConfigError("no labels in the file", where=", ".join(map(str, sources)))
    if planned is not None:
        labels = list(_with_plan(labels, planned, notes))
        if not labels:
            message = "no label is of a planned case; is it the plan of these labels?"
            raise ConfigError(message, where=str(planned.path))
    if report is not None:
        digests = {case.id: output_digest(case.output) for case, _ in report.results}
        notes[_TAKEN] = sum(one.output is None and one.case in digests for one in labels)
        labels = [one._replace(output=one.output or digests.get(one.case)) for one in labels]
    return ImportedLabels(tuple(labels), +notes)


def _read(sources: Sequence[str | Path], builder: LabelRows) -> Iterator[tuple[Label, str]]:
    for source in sources:
        name = str(source)
        path = None if name == "-" else Path(source)
        rows: Any = read_file(path, name, wrap=lambda _: builder)
        for at, labels in rows():
            where = place(name, at) if isinstance(at, int) else f"{name}: {at}"
            yield from ((label, where) for label in labels)


def _with_plan(labels: Sequence[Label], plan: ReadPlan, notes: Counter[str]) -> Iterator[Label]:
    for label in labels:
        planned = plan.cases.get(plan.topic(label))
        if planned is None:
            notes["labels left out: their cases are not in the plan"] += 1
        elif label.output not in (None, planned.output):
            notes["labels left out: of another output than the planned one"] += 1
        else:
            yield label._replace(output=planned.output, probability=planned.probability)
