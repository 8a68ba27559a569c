"""Import labels of other tools, such as tables and Label Studio tasks, as a file of labels."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.analysis.labels.plan import ABOUT_CASE, ReadPlan, read_plan
from judgekit.analysis.labels.questions import (
    NO_QUESTIONS,
    LabelQuestions,
    only_judged,
    questions_of_report,
)
from judgekit.core.case import output_digest
from judgekit.core.display.parts import counted
from judgekit.core.errors import ConfigError, place
from judgekit.core.suggest import suggest
from judgekit.datasets.formatting import kind, quoted
from judgekit.datasets.labels import Label, LabelAnswer, describe, labels_of, read_answer
from judgekit.datasets.load import read_file
from judgekit.datasets.row_builder import RowBuilder, RowFault
from judgekit.metrics.criteria.labels import shortened
from judgekit.report.manifest import dicts_in, mapping
from judgekit.report.report import Report

LONGEST = 1000
"""Maximum length of a case id, a labeller or a criterion, in characters."""
_HEAD = ("case", "metric", "labeller", "output_digest", "probability")
_LABELLERS = ("labeller", "annotator", "completed_by")
_OF_TOOL = frozenset({"id", "annotation_id", "created_at", "updated_at", "lead_time", "rubric",
                      "annotator", "completed_by"})  # fmt: skip
"""Columns of exports that do not contain answers."""
_ENDINGS = ("_reason", ".reason", " reason")
_ABOUT_LABEL = frozenset({*_HEAD, *_LABELLERS, "criterion", "value", "reason"})
"""Names that `--map` gives to columns other than criteria."""
OWN = "value"
"""The column with the metric's own value."""
_SHOWN = 3
"""Number of cases that a message names."""
_ANY = ""
"""The column with the reason of the only answer."""
_TAKEN = "labels without a digest: taken as labels of the outputs of the run"


@dataclass
class LabelRows(RowBuilder):
    """Converts rows to labels; counts ignored data.

    A row is a line of labels, a case with a column for each criterion (wide), a case with
    `criterion` and `value` (long), or a task of Label Studio.
    """

    metric: str | None
    """The metric of rows without one."""
    labeller: str
    """The labeller of rows without one."""
    names: Mapping[str, str]
    """Column, or name of a control -> criterion; empty for a column to ignore."""
    questions: LabelQuestions
    metrics: Sequence[str] = ()
    """The metrics that a row without one may be about."""
    notes: Counter[str] = field(default_factory=Counter)
    """Kind of ignored data -> number."""

    def read(self, row: Any) -> list[Label]:
        """Return the labels of a row.

        Raises:
            RowFault: the row has no labels, or its content is invalid.
        """
        if not isinstance(row, dict):
            raise RowFault(f"expected an object with labels, found {kind(row)}")
        try:
            row = self._renamed(row)
            if isinstance(row.get("annotations"), list):
                return list(self._task(row))
            if isinstance(row.get("answers"), dict) or isinstance(row.get("values"), dict):
                given = {k: v for k, v in row.items() if k not in ABOUT_CASE and v is not None}
                metric = self._metric_of(key for form in ("answers", "values")
                                         for key in mapping(row.get(form)))  # fmt: skip
                default = {"rubric": metric, "labeller": self.labeller}
                return list(labels_of(default | given, ""))
            return list(self._flat(row))
        except (ConfigError, ValueError) as exc:
            raise RowFault(str(exc)) from exc

    def _renamed(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a row whose columns for case, metric and the like have their names."""
        renamed = {column: name for column, name in self.names.items()
                   if name in _ABOUT_LABEL and column in row}  # fmt: skip
        for column, name in renamed.items():
            if name in row:
                raise RowFault(f"--map {column}={name}: the row has a column {name!r}, too; "
                               f"add --map {name}= to skip it")  # fmt: skip
        if not renamed:
            return row
        return {renamed.get(column, column): value for column, value in row.items()}

    def _metric_of(self, columns: Iterable[str]) -> str | None:
        """Return the metric of a row: the default, or the only one with all its criteria."""
        if self.metric is not None:
            return self.metric
        criteria = self._criteria_of(columns)
        fitting = [name for name in self.metrics if criteria <= self.questions.names(name)]
        return fitting[0] if criteria and len(fitting) == 1 else None

    def _criteria_of(self, columns: Iterable[str]) -> set[str]:
        """Return the criteria that columns are about."""
        criteria = {self.names.get(column, column) for column in columns}
        return {_base(name, criteria) for name in criteria} - {"", OWN, "reason"}

    def _metric_advice(self, columns: Iterable[str]) -> str:
        """Return how to name the metric of a row, with the criteria of those to choose from."""
        advice = "add a column 'metric', or name it with --metric"
        if not self.metrics:
            return f"{advice}; with --run FOLDER, the criteria tell which it is"
        criteria = self._criteria_of(columns)
        known = {name: self.questions.names(name) for name in self.metrics}
        fitting = [name for name, names in known.items() if criteria and criteria <= names]
        if fitting:
            return f"{' and '.join(fitting)} have these criteria; {advice}"
        every = set().union(*known.values())
        for name in sorted(criteria - every):
            hint = suggest(name, sorted(map(shortened, every)), otherwise="")
            return (f"{quoted(name)} is no criterion of the run{hint}; use --map {name}=CRITERION, "
                    f"or --map {name}= to skip it")  # fmt: skip
        have = (f"{name} has {', '.join(sorted(known[name] & criteria))}" for name in self.metrics
                if known[name] & criteria)  # fmt: skip
        return f"{'; '.join(have)}; {advice}" if criteria else f"{advice} ({', '.join(known)})"

    def _head(self, row: Mapping[str, Any], labeller: Any, columns: Iterable[str]) -> Label:
        """Return a label without an answer: case, metric, labeller, digest, probability."""
        case = row.get("case") or row.get("id")
        if not isinstance(case, (str, int)):
            for column in (one for one, name in self.names.items() if name == "case"):
                raise RowFault(f"--map {column}=case: no such column{suggest(column, row)}")
            raise RowFault("no case; add a column, or a key of the data, 'case' with the case id, "
                           "or name the column: --map COLUMN=case")  # fmt: skip
        metric = row.get("metric") or self._metric_of(columns)
        if not isinstance(metric, str):
            raise RowFault(f"no metric; {self._metric_advice(columns)}")
        name = str(labeller or self.labeller)
        if max(len(str(case)), len(metric), len(name)) > LONGEST:
            raise RowFault(f"an id or a name is longer than {LONGEST} characters")
        line = {"case": str(case), "metric": metric, "labeller": name, "value": None,
                "output_digest": row.get("output_digest") or None,
                "probability": read_answer(row.get("probability") or None, None)}  # fmt: skip
        return next(labels_of(line, ""))

    def _flat(self, row: Mapping[str, Any]) -> Iterator[Label]:
        if "criterion" in row:
            name = str(row["criterion"] or OWN)
            cells = {name: row.get("value"), f"{name}.reason": row.get("reason")}
        else:
            skipped = ABOUT_CASE | _OF_TOOL | set(_HEAD)
            cells = {k: v for k, v in row.items() if k in self.names or k not in skipped}
        labeller = next((row[key] for key in _LABELLERS if row.get(key)), None)
        head = self._head(row, labeller, cells)
        yield from self._labels(head, [(name, value, False) for name, value in cells.items()])

    def _task(self, task: Mapping[str, Any]) -> Iterator[Label]:
        """Yield the labels of a task in Label Studio's JSON export."""
        data = task.get("data")
        where = f"task {str(task.get('id'))[:60]}"
        if not isinstance(data, dict):
            raise RowFault(f"{where} has no data")
        data = self._renamed(data)
        for number, annotation in enumerate(dicts_in(task["annotations"]), start=1):
            if annotation.get("was_cancelled"):
                self.notes["cancelled annotations left out"] += 1
                continue
            try:
                cells = self._results(annotation.get("result"))
                person = _person(annotation.get("completed_by"))
                head = self._head(data, person, (name for name, _, _ in cells))
                yield from self._labels(head, cells)
            except (ConfigError, ValueError) as exc:
                at = str(annotation.get("id", number))[:60]
                raise RowFault(f"{where}, annotation {at}: {exc}") from exc

    def _results(self, results: Any) -> list[tuple[str, Any, bool]]:
        """Return control, value and whether it is a text, of each result of an annotation."""
        cells = []
        for result in dicts_in(results):
            form = str(result.get("type"))
            if form not in ("choices", "rating", "number", "textarea"):
                self.notes["results left out: no choices, rating, number or text"] += 1
                continue
            content = mapping(result.get("value")).get("text" if form == "textarea" else form)
            if form == "choices":
                if not isinstance(content, list) or len(content) != 1:
                    raise RowFault(f"{quoted(result.get('from_name'))} needs one choice")
                content = content[0]
            elif isinstance(content, list):
                content = "\n".join(map(str, content))
            cells.append((str(result.get("from_name")), content, form == "textarea"))
        if not cells:
            self.notes["annotations without answers left out"] += 1
        return cells

    def _labels(self, head: Label, cells: Sequence[tuple[str, Any, bool]]) -> Iterator[Label]:
        """Yield the labels of columns, or of controls: name, value, whether it is a text."""
        answers: dict[str, LabelAnswer] = {}
        reasons: dict[str, str] = {}
        known = self.questions.of(head.metric, head.case)
        names = {self.names.get(name, name) for name, _, _ in cells} | set(known)
        for column, value, is_text in cells:
            name = self.names.get(column, column)
            if name == "" or value in (None, ""):
                continue
            of = _base(name, names)
            if of != name or is_text or name == "reason":
                reasons[of if of != name else (name if name in known else _ANY)] = str(value)
                continue
            question = self.questions.question(head.metric, head.case, name)
            if known and question is None and name != OWN:
                hint = suggest(name, map(shortened, known))
                raise RowFault(f"{quoted(name)} is no criterion of {head.metric}{hint}; use --map "
                               f"{column}=CRITERION, or --map {column}= to skip it")  # fmt: skip
            if name in answers:
                raise RowFault(f"{quoted(column)} is a second answer to {quoted(name)}")
            answers[name] = read_answer(value, question)
        for name, answer in answers.items():
            question = self.questions.question(head.metric, head.case, name)
            usual = name if question is None else question.id
            reason = reasons.pop(name, "") or (reasons.pop(_ANY, "") if len(answers) == 1 else "")
            yield head._replace(criterion=None if name == OWN else usual, value=answer,
                                reason=reason)  # fmt: skip
        self.notes["texts left out: they belong to no answer"] += len(reasons)


def _base(name: str, names: Collection[str]) -> str:
    """Return the criterion of a column with reasons; the name of other columns."""
    bases = (name.removesuffix(end) for end in _ENDINGS if name.endswith(end))
    return next((base for base in bases if base in names), name)


def _person(value: Any) -> str:
    """Return the name of a user of Label Studio: an id, or an object with an e-mail address."""
    if isinstance(value, dict):
        names = " ".join(str(value[key]) for key in ("first_name", "last_name") if value.get(key))
        value = value.get("email") or names or value.get("id")
    return str(value or "")


class ImportedLabels(NamedTuple):
    """Labels in one form and order."""

    labels: tuple[Label, ...]
    notes: Counter[str]
    """Kind of ignored or assumed data -> number."""

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

    def to_json(self) -> dict[str, Any]:
        """Return the labels as JSON values; `labels` has the lines of the file."""
        notes = {what: number for what, number in self.notes.items() if number}
        return {"labels": [json.loads(line) for line in self.lines()], "notes": notes}

    def text(self) -> str:
        """Return the number of labels and the notes, as lines."""
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
    """Read labels from a run page's export, tables, and Label Studio tasks.

    Args:
        sources: files: JSON Lines, CSV, Parquet or JSON.
        plan: the sampling plan; its probabilities and digests are joined by case.
        run: the labelled run; labels without a digest get that of its output.
        metric: the metric of rows without one; by default that of the plan or the run.
        labeller: the labeller of rows without one.
        names: column or control -> criterion, `criterion.reason`, or empty to ignore it.

    Raises:
        DatasetError: a file cannot be read, or a row has no labels; with the location of the row.
        ConfigError: two answers of one labeller contradict each other, no labels are left, or the
            plan or run cannot be read.
    """
    planned = None if plan is None else read_plan(Path(plan))
    report = run if run is None or isinstance(run, Report) else Report.read(run)
    questions = NO_QUESTIONS if report is None else questions_of_report(report)
    metrics_of_run = [] if report is None else list(report.metrics)
    if planned is not None:
        questions = questions.after(planned.questions)
        metrics = sorted({name for _, name in planned.cases})
        metric = metric or (metrics[0] if len(metrics) == 1 else None)
        metrics_of_run = metrics_of_run or metrics
    metric = metric or (only_judged(report) if report is not None else None)
    builder = LabelRows(metric, labeller, names or {}, questions, metrics_of_run)
    if questions is not NO_QUESTIONS:
        _check_names(builder)
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
    if planned is not None and not (labels := list(_with_plan(labels, planned, notes))):
        message = "no label is of a planned case; is it the plan of these labels?"
        raise ConfigError(message, where=str(planned.path))
    if report is not None:
        digests = {case.id: output_digest(case.output) for case, _ in report.results}
        _note_unknown(labels, digests, notes, ", ".join(map(str, sources)))
        notes[_TAKEN] = sum(one.output is None and one.case in digests for one in labels)
        labels = [one._replace(output=one.output or digests.get(one.case)) for one in labels]
    return ImportedLabels(tuple(labels), +notes)


def _check_names(rows: LabelRows) -> None:
    """Check that columns are given names of labels or criteria.

    Raises:
        ConfigError: a name is neither.
    """
    criteria = set().union(*map(rows.questions.names, rows.metrics))
    known = {*_ABOUT_LABEL, *criteria, ""}
    for column, name in rows.names.items():
        if _base(name, known) not in known:
            hint = suggest(name, sorted(map(shortened, known - {""})), otherwise="")
            message = f"no criterion, and no name such as case or labeller{hint}"
            raise ConfigError(f"--map {column}={name}: {message}")


def _note_unknown(
    labels: Sequence[Label], cases: Collection[str], notes: Counter[str], where: str
) -> None:
    """Count labels of cases that the run does not have.

    Raises:
        ConfigError: no label is of a case of the run.
    """
    unknown = [one.case for one in labels if one.case not in cases]
    if not unknown:
        return
    first = list(dict.fromkeys(unknown))[: _SHOWN + 1]
    named = ", ".join(map(quoted, first[:_SHOWN])) + " ..." * (len(first) > _SHOWN)
    if len(unknown) == len(labels):
        own = ", ".join(map(quoted, list(cases)[:_SHOWN]))
        raise ConfigError(
            f"the run has none of the cases {named}; it has {own} ...; is another column the case "
            "id? (--map COLUMN=case)", where=where,
        )  # fmt: skip
    notes[f"labels of cases that the run does not have: {named}"] = len(unknown)


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
