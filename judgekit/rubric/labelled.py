"""Examples taken from a file of labelled rows: which of them a judge is shown, for each case."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
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
"""Rows a labelled file may have; a judge is shown a handful."""
MAX_SHOWN = 200_000
"""Characters the rows that are shown may have together."""

_PATH = re.compile(r"[\w][\w. -]*(/[\w][\w. -]*)*")
_KEYS = {"case", "metric", "rubric", "answers", "details"}


class Example(Value):
    """A judged case shown to the judge."""

    case: Case
    answers: dict[str, Json]


class Weighing(NamedTuple):
    """What makes one number of a row's answers, to spread examples over it."""

    criteria: Sequence[Criterion]
    groups: Mapping[str, float]
    combine: Combine


class _Row(NamedTuple):
    id: str | None
    """The case's id; `None` where the row gives none."""
    example: Example
    value: float | None
    digest: str


class Labelled:
    """The rows of a labelled file, and which of them each case is judged beside.

    A case that is among the rows shown is never its own example: for it alone the choice is made
    again without it (and without rows of the same text, or that it is a changed copy of). Every
    other case is judged beside the same rows, so that only those few cases have a prompt, and a
    key, of their own.
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
        """Return the rows a case is not judged beside, and those it is."""
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
    """Return rows whose values lie as evenly as can be between the lowest and the highest.

    Of several as near to a place, the one with the lowest digest; rows without a value come last.
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
    """Read the labelled rows a rubric takes its examples from.

    Args:
        file: what the rubric says of them.
        folder: the rubric's folder; nothing outside of it is read.
        rubric: its name; the rows of this metric or rubric count, unless it says otherwise.
        form: what the rubric asks.
        weighing: what makes a number of the answers.
        where: `file:line` of what the rubric says.

    Returns:
        The rows, and the digest of every file read, by name.

    Raises:
        RubricError: with file and line, for anything wrong in any of the files.
    """
    path, text = _read(file.file, folder=folder, where=where)
    files = {file.file: digest(text)}
    cases: dict[str, Case] | None = None
    if file.cases is not None:
        cases_path, cases_text = _read(file.cases, folder=folder, where=where)
        files[file.cases] = digest(cases_text)
        cases = _cases(cases_path, cases_text)
    wanted = file.metric or rubric
    rows = list(_rows(path, text, wanted=wanted, cases=cases, form=form, weighing=weighing))
    if len(rows) < file.count:
        raise RubricError(
            f"{path} has {len(rows)} rows of {wanted!r}, fewer than the {file.count} wanted; "
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


def _read(name: str, *, folder: Path, where: str) -> tuple[Path, str]:
    path = folder / name
    inside = bool(_PATH.fullmatch(name)) and ".." not in name
    if not inside or not path.resolve().is_relative_to(folder.resolve()):
        message = f"{name!r}: labelled rows are read from the rubric's own folder and below it only"
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
    wanted: str,
    cases: Mapping[str, Case] | None,
    form: Form,
    weighing: Weighing,
) -> Iterator[_Row]:
    forms: dict[tuple[str, ...], Form] = {}
    for number, (where, data) in enumerate(_objects(path, text), start=1):
        if unknown := sorted(set(data) - _KEYS):
            message = f"unknown key {unknown[0]!r}{suggest(unknown[0], sorted(_KEYS))}"
            raise RubricError(message, where=where, rule="example-invalid")
        names = [data[key] for key in ("metric", "rubric") if data.get(key) is not None]
        if names and wanted not in names:
            continue
        answers, details = data.get("answers"), data.get("details", {})
        if not isinstance(answers, dict) or not isinstance(details, dict):
            message = "needs 'answers': {criterion: {...}}"
            raise RubricError(message, where=where, rule="example-invalid")
        id, case = _case(data.get("case"), cases, number=number, where=where)
        example = Example(case=case, answers={**answers, **details})
        value = _value(example, form, forms, weighing, where)
        content = case.model_dump(mode="json", exclude_defaults=True, exclude={"id"})
        yield _Row(id, example, value, digest_json([content, example.answers]))


def _case(
    said: Any, cases: Mapping[str, Case] | None, *, number: int, where: str
) -> tuple[str | None, Case]:
    """Return the case of a row: the row's own, or the one it names."""
    if isinstance(said, dict):
        case = inline_case(said, id=f"example-{number}", where=where)
        return said.get("id"), case
    if not isinstance(said, str):
        message = "needs 'case': a case, or the id of one"
        raise RubricError(message, where=where, rule="example-invalid")
    if cases is None:
        message = f"case {said!r} of which cases? say examples: {{cases: FILE.jsonl}}"
        raise RubricError(message, where=where, rule="example-invalid")
    if said not in cases:
        message = f"no case {said!r} among the cases{suggest(said, list(cases)[:1000])}"
        raise RubricError(message[:300], where=where, rule="example-invalid")
    return said, cases[said]


def _value(
    example: Example,
    form: Form,
    forms: dict[tuple[str, ...], Form],
    weighing: Weighing,
    where: str,
) -> float | None:
    """Check the answers of a row; return what they are worth together."""
    given = tuple(
        name
        for name in (*(q.id for q in form.questions), *(d.name for d in form.details))
        if name in example.answers
    )
    if given not in forms:
        forms[given] = Form(
            questions=tuple(q for q in form.questions if q.id in given),
            details=tuple(d for d in form.details if d.name in given),
        )
    try:
        answers, _ = read_answers(example.answers, form=forms[given])
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
