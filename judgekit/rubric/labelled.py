"""Examples from a file of labelled rows: select which rows a judge sees for each case."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.core.canonical import canonical_json, digest, digest_json
from judgekit.core.case import Case
from judgekit.core.errors import InvalidReply, RubricError, place
from judgekit.core.json_extraction import extract_object
from judgekit.core.judgment import read_answers
from judgekit.core.request import Form
from judgekit.core.suggest import suggest
from judgekit.core.value import Json, Value
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.file import LabelledFile
from judgekit.rubric.filetext import read_file
from judgekit.rubric.fold import Combine, Worth, fold
from judgekit.rubric.inlinecase import inline_case

MAX_ROWS = 10_000
"""Rows that a labelled file may have; a judge sees a few of them."""
MAX_SHOWN = 200_000
"""Characters that all shown rows may have together."""

_PATH = re.compile(r"[\w][\w. -]*(/[\w][\w. -]*)*")
_KEYS = {"case", "metric", "rubric", "answers", "details"}


class Example(Value):
    """A judged case shown to the judge."""

    case: Case
    answers: dict[str, Json]


class Weighing(NamedTuple):
    """How to compute one number from the answers of a row, to spread examples over it."""

    criteria: Sequence[Criterion]
    groups: Mapping[str, float]
    combine: Combine


class _Row(NamedTuple):
    id: str | None
    """The id of the case; `None` if the row has none."""
    example: Example
    value: float | None
    digest: str


class Labelled:
    """The rows of a labelled file, and the rows that are shown with each case.

    A case is never its own example. If a shown row has its id, its text, or is the case that it
    perturbs, the rows are selected again without that row. All other cases share the same rows,
    so only a few cases have a different prompt and key.
    """

    def __init__(self, rows: Sequence[_Row], *, count: int, choose: str) -> None:
        self._rows = rows
        self._count = count
        self._choose = choose
        self.chosen = self._chosen(frozenset())
        shown = {id(example) for example in self.chosen}
        picked = [row for row in rows if id(row.example) in shown]
        self._ids = {row.id for row in picked if row.id is not None}
        self._texts = {_text_of(row.example.case) for row in picked}
        self._without: dict[frozenset[int], tuple[Example, ...]] = {}

    def shown_to(self, case: Case) -> tuple[frozenset[int], tuple[Example, ...]]:
        """Return the numbers of the excluded rows for a case, and the examples to show."""
        text = _text_of(case)
        if case.id not in self._ids and case.parent not in self._ids and text not in self._texts:
            return frozenset(), self.chosen
        ids = {case.id, case.parent} - {None}
        out = frozenset(
            number
            for number, row in enumerate(self._rows)
            if row.id in ids or _text_of(row.example.case) == text
        )
        if out not in self._without:
            self._without[out] = self._chosen(out)
        return out, self._without[out]

    def _chosen(self, out: frozenset[int]) -> tuple[Example, ...]:
        rows = [row for number, row in enumerate(self._rows) if number not in out]
        if self._choose == "first":
            return tuple(row.example for row in rows[: self._count])
        chosen = sorted(_spread(rows, self._count), key=lambda row: row.digest)
        return tuple(row.example for row in chosen)


def _spread(rows: Sequence[_Row], count: int) -> list[_Row]:
    """Return rows with values spread evenly from the lowest to the highest.

    Of equally close rows, the one with the lowest digest counts; rows without a value come last.
    """
    left = sorted((row for row in rows if row.value is not None), key=lambda row: row.digest)
    rest = sorted((row for row in rows if row.value is None), key=lambda row: row.digest)
    values = [row.value or 0.0 for row in left]
    chosen: list[_Row] = []
    if values:
        low, high = min(values), max(values)
        for step in range(min(count, len(left))):
            aim = low + (high - low) * step / max(1, count - 1)
            nearest = min(left, key=lambda row: round(abs((row.value or 0.0) - aim), 9))
            left.remove(nearest)
            chosen.append(nearest)
    return [*chosen, *rest[: count - len(chosen)]]


def _text_of(case: Case) -> tuple[str, str]:
    return (case.input or "").strip(), (case.output or "").strip()


def read_labelled(
    file: LabelledFile, *, folder: Path, rubric: str, form: Form, weighing: Weighing, where: str
) -> tuple[Labelled, dict[str, str]]:
    """Read the labelled rows of a rubric.

    Args:
        file: the settings in the rubric.
        folder: the rubric's folder; files outside of it are refused.
        rubric: its name; by default, rows of this metric or rubric count.
        form: the questions of the rubric.
        weighing: how to compute a number from answers.
        where: `file:line` of the settings.

    Returns:
        The rows, and the digest of every file by name.

    Raises:
        RubricError: a file is wrong; names file and line.
    """
    path, text = _read(file.file, folder=folder, where=where)
    files = {file.file: digest(text)}
    cases: dict[str, Case] | None = None
    if file.cases is not None:
        cases_path, cases_text = _read(file.cases, folder=folder, where=where)
        files[file.cases] = digest(cases_text)
        cases = _cases(cases_path, cases_text)
    metric = file.metric or rubric
    rows = list(_rows(path, text, metric=metric, cases=cases, form=form, weighing=weighing))
    if len(rows) < file.count:
        raise RubricError(
            f"{path} has {len(rows)} rows of {metric!r}, fewer than the {file.count} examples; "
            "lower the count, or name the metric of its rows",
            where=where,
            rule="example-invalid",
        )
    labelled = Labelled(rows, count=file.count, choose=file.choose)
    shown = sum(
        len(canonical_json(e.answers)) + len(e.case.model_dump_json(exclude_defaults=True))
        for e in labelled.chosen
    )
    if shown > MAX_SHOWN:
        message = f"the {file.count} examples have {shown:,} characters, of {MAX_SHOWN:,} at most"
        raise RubricError(f"{message}; show fewer", where=where, rule="prompt-size")
    return labelled, files


@lru_cache(maxsize=64)
def form_for(form: Form, names: tuple[str, ...]) -> Form:
    """Return a form with only the questions and details that answers have."""
    return Form(
        questions=tuple(q for q in form.questions if q.id in names),
        details=tuple(d for d in form.details if d.name in names),
    )


def _read(name: str, *, folder: Path, where: str) -> tuple[Path, str]:
    path = folder / name
    inside = bool(_PATH.fullmatch(name)) and ".." not in name
    if not inside or not path.resolve().is_relative_to(folder.resolve()):
        message = f"{name!r}: labelled rows must be in the rubric's own folder or below it"
        raise RubricError(message, where=where, rule="example-invalid")
    if not path.is_file():
        raise RubricError(f"no such file: {path}", where=where, rule="example-invalid")
    return path, read_file(path)


def _objects(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    count = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = place(path, number)
        count += 1
        if count > MAX_ROWS:
            raise RubricError(f"more than {MAX_ROWS:,} rows", where=where, rule="example-invalid")
        try:
            yield where, extract_object(line)[0]
        except InvalidReply as exc:
            raise RubricError(f"not a row: {exc}", where=where, rule="example-invalid") from exc


def _cases(path: Path, text: str) -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for where, data in _objects(path, text):
        if not isinstance(data.get("id"), str):
            raise RubricError("a case here needs an id", where=where, rule="bad-case")
        case = inline_case(data, id=data["id"], where=where)
        if case.id in cases:
            raise RubricError(f"the id {case.id!r} is given twice", where=where, rule="bad-case")
        cases[case.id] = case
    return cases


def _rows(
    path: Path,
    text: str,
    *,
    metric: str,
    cases: Mapping[str, Case] | None,
    form: Form,
    weighing: Weighing,
) -> Iterator[_Row]:
    for number, (where, data) in enumerate(_objects(path, text), start=1):
        if unknown := sorted(set(data) - _KEYS):
            message = f"unknown key {unknown[0]!r}{suggest(unknown[0], sorted(_KEYS))}"
            raise RubricError(message, where=where, rule="example-invalid")
        names = [data[key] for key in ("metric", "rubric") if data.get(key) is not None]
        if names and metric not in names:
            continue
        answers, details = data.get("answers"), data.get("details", {})
        if not isinstance(answers, dict) or not isinstance(details, dict):
            message = "needs 'answers': {criterion: {...}}"
            raise RubricError(message, where=where, rule="example-invalid")
        id, case = _case(data.get("case"), cases, number=number, where=where)
        example = Example(case=case, answers={**answers, **details})
        value = _value(example, form, weighing, where)
        content = case.model_dump(mode="json", exclude_defaults=True, exclude={"id"})
        yield _Row(id, example, value, digest_json([content, example.answers]))


def _case(
    entry: Any, cases: Mapping[str, Case] | None, *, number: int, where: str
) -> tuple[str | None, Case]:
    """Return the id and the case of a row, which contains the case or names it."""
    if isinstance(entry, dict):
        case = inline_case(entry, id=f"example-{number}", where=where)
        return entry.get("id"), case
    if not isinstance(entry, str):
        message = "needs 'case': a case, or the id of one"
        raise RubricError(message, where=where, rule="example-invalid")
    if cases is None:
        message = f"case {entry!r} needs a file of cases: write examples: {{cases: FILE.jsonl}}"
        raise RubricError(message, where=where, rule="example-invalid")
    if entry not in cases:
        message = f"no case {entry!r} among the cases{suggest(entry, list(cases)[:1000])}"
        raise RubricError(message[:300], where=where, rule="example-invalid")
    return entry, cases[entry]


def _value(
    example: Example,
    form: Form,
    weighing: Weighing,
    where: str,
) -> float | None:
    """Check the answers of a row; return their combined value."""
    form = form_for(form, tuple(example.answers))
    try:
        answers, _ = read_answers(example.answers, form=form)
    except InvalidReply as exc:
        raise RubricError(
            f"the answers do not fit the criteria: {exc}", where=where, rule="example-invalid"
        ) from exc
    if not answers:
        message = "answers none of the criteria"
        raise RubricError(message, where=where, rule="example-invalid")
    worths = [
        Worth(c.id, c.group, c.weight, *c.value_of(answers[c.id]))
        for c in weighing.criteria
        if c.id in answers and weighing.groups.get(c.group, 0.0) > 0
    ]
    return fold(worths, groups=weighing.groups, combine=weighing.combine).value
