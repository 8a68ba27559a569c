"""Labels of other tools, as a file of labels."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.analysis.labels.planned import ReadPlan, read_plan
from judgekit.analysis.labels.questions import counted, only_judged, questions_of
from judgekit.analysis.labels.rows import LabelColumns, LabelRows
from judgekit.core.case import output_digest
from judgekit.core.errors import ConfigError, place
from judgekit.core.request import Question
from judgekit.datasets.labels import Label, describe
from judgekit.datasets.load import read_file
from judgekit.report.report import Report


class ImportedLabels(NamedTuple):
    """Labels in one form and order."""

    labels: tuple[Label, ...]
    left_out: Counter[str]
    notes: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """Yield the lines of a file of labels; the same labels give the same bytes."""
        grouped: dict[tuple[Any, ...], dict[str, Any]] = {}
        for label in self.labels:
            key = (label.case, label.metric, label.labeller, label.output or "")
            line = grouped.setdefault(key, {"case": label.case, "metric": label.metric})
            fields = {"labeller": label.labeller, "output_digest": label.output,
                      "probability": label.probability}  # fmt: skip
            line |= {name: value for name, value in fields.items() if value}
            reason = {"reason": label.reason} if label.reason else {}
            if label.criterion is None:
                line |= {"value": label.value, **reason}
            else:
                line.setdefault("answers", {})[label.criterion] = {"value": label.value, **reason}
        for key in sorted(grouped):
            yield json.dumps(grouped[key], ensure_ascii=False, allow_nan=False)

    def text(self) -> str:
        """Return how many labels there are and what was left out, in lines."""
        cases = len({label.case for label in self.labels})
        people = sorted({label.labeller for label in self.labels if label.labeller})
        by = f" by {', '.join(people[:5])}{' ...' * (len(people) > 5)}" if people else ""
        lines = [
            f"{counted(len(self.labels), 'label')} of {counted(cases, 'case')}{by}",
            *self.notes,
        ]
        lines += [f"left out: {count:,} {why}" for why, count in self.left_out.items()]
        return "\n".join(lines) + "\n"


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
    questions: dict[str, Mapping[str, Question]] = dict(planned.questions) if planned else {}
    if metric is None and planned is not None:
        metrics = {name for _, name in planned.cases}
        metric = metrics.pop() if len(metrics) == 1 else None
    if report is not None:
        metric = metric or only_judged(report)
        manifest = report.figures.manifest
        questions |= {name: questions_of(manifest, name) for name in report.metrics}
    columns = LabelColumns(metric, labeller, names or {}, questions)
    left_out: Counter[str] = Counter()
    labels: dict[Label, tuple[Label, str]] = {}
    for source in sources:
        for label, where in _read(Path(source), columns, left_out):
            first, at = labels.setdefault(label.identity, (label, where))
            if at != where and first.value == label.value:
                left_out["repeated labels"] += 1
            elif at != where:
                raise ConfigError(f"{describe(label)} is labelled {label.value!r}, and "
                                  f"{first.value!r} at {at}; keep one", where=where)  # fmt: skip
    if not labels:
        raise ConfigError("no labels in the file", where=", ".join(map(str, sources)))
    found = [label for label, _ in labels.values()]
    notes: list[str] = []
    if planned is not None:
        found = _with_plan(found, planned, left_out)
        if not found:
            raise ConfigError("no label is of a planned case; is it the plan of these labels?",
                              where=str(planned.path))  # fmt: skip
    if report is not None:
        found = _with_digests(found, report, notes)
    return ImportedLabels(tuple(found), left_out, tuple(notes))


def _read(path: Path, columns: LabelColumns, left_out: Counter[str]) -> Iterator[tuple[Label, str]]:
    builder = LabelRows(columns)
    rows = read_file(path, str(path), shape="rows", container="auto", fields=None,
                     wrap=lambda _: builder)  # fmt: skip
    for at, found in rows():
        labels: Any = found
        where = place(str(path), at) if isinstance(at, int) else f"{path}: {at}"
        for number, label in enumerate(labels):
            yield label, where if len(labels) == 1 else f"{where}, label {number + 1}"
    left_out.update(builder.left_out)


def _with_plan(labels: Sequence[Label], plan: ReadPlan, left_out: Counter[str]) -> list[Label]:
    found = []
    for label in labels:
        planned = plan.cases.get((label.case, label.metric))
        if planned is None:
            left_out["labels of cases that are not in the plan"] += 1
        elif label.output is not None and label.output != planned.output:
            left_out["labels of another output than the planned one"] += 1
        else:
            found.append(label._replace(output=planned.output, probability=planned.probability))
    return found


def _with_digests(labels: Sequence[Label], report: Report, notes: list[str]) -> list[Label]:
    wanted = {label.case for label in labels if label.output is None}
    digests = {
        case.id: output_digest(case.output) for case, _ in report.results if case.id in wanted
    } if wanted else {}  # fmt: skip
    count = sum(label.output is None and label.case in digests for label in labels)
    if count:
        notes.append(f"{counted(count, 'label')} without a digest: taken as of this run's outputs")
    return [label._replace(output=label.output or digests.get(label.case)) for label in labels]
