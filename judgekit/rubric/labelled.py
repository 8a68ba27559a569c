"""Examples: cases in a rubric or in a file of labelled rows, and the rows that a judge sees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from judgekit.core.canonical import canonical_json, digest, digest_json
from judgekit.core.case import Case, as_text
from judgekit.core.case_field import CASE_WORDS
from judgekit.core.errors import InvalidReply, RubricError, place
from judgekit.core.file_model import describe
from judgekit.core.json_extraction import extract_object
from judgekit.core.judgment import Answer, read_answers, with_quotes
from judgekit.core.request import Form
from judgekit.core.suggest import suggest
from judgekit.core.value import Json, Value
from judgekit.rubric.criterion import Criterion
from judgekit.rubric.file import LabelledFile
from judgekit.rubric.fold import Combine, Fold, Outcome
from judgekit.rubric.folders import read_file

MAX_ROWS = 10_000
"""Maximum number of rows of a labelled file."""
MAX_SHOWN = 200_000
"""Maximum number of characters of all shown rows together."""

_PATH = re.compile(r"\w[\w. -]*+(?:/\w[\w. -]*+)*+")
_KEYS = {"case", "metric", "rubric", "answers", "details"}


class Example(Value):
    """A judged case that is shown to the judge."""

    case: Case
    answers: dict[str, Json]


class Weighing:
    """How to compute one number from the answers of a row, to spread examples over it."""

    def __init__(
        self, criteria: Sequence[Criterion], groups: Mapping[str, float], combine: Combine
    ) -> None:
        self._criteria, self._combine = criteria, combine
        self._fold = Fold([criterion.weighted for criterion in criteria], groups)

    def value(self, answers: Mapping[str, Answer]) -> float | None:
        """Return the combined value; criteria without an answer do not apply."""
        outcomes: list[Outcome] = [
            criterion.outcome(answer.value, answer.items)
            if (answer := answers.get(criterion.id)) is not None
            else ("not_applicable", None)
            for criterion in self._criteria
        ]
        return self._fold(outcomes, combine=self._combine).value


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
        self._rows, self._count, self._choose = rows, count, choose
        chosen = self._chosen(frozenset())
        self.chosen = tuple(row.example for row in chosen)
        self._ids = {row.id for row in chosen if row.id is not None}
        self._texts = {_text_of(row.example.case) for row in chosen}
        self._without: dict[frozenset[int], tuple[Example, ...]] = {}

    def shown_to(self, case: Case) -> tuple[frozenset[int], tuple[Example, ...]]:
        """Return the indices of the rows that are excluded for a case, and the examples to show."""
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
            self._without[out] = tuple(row.example for row in self._chosen(out))
        return out, self._without[out]

    def _chosen(self, out: frozenset[int]) -> list[_Row]:
        rows = [row for number, row in enumerate(self._rows) if number not in out]
        if self._choose == "first":
            return rows[: self._count]
        return sorted(_spread(rows, self._count), key=lambda row: row.digest)


def _spread(rows: Sequence[_Row], count: int) -> list[_Row]:
    """Return rows whose values are spread evenly from the lowest to the highest.

    Of equally close rows, the one with the lowest digest is used; rows without a value come last.
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
        rubric: the name of the rubric; by default, rows of this metric or rubric are used.
        form: the questions of the rubric.
        weighing: how to compute a number from answers.
        where: `file:line` of the settings.

    Returns:
        The rows, and the digest of every file by name.

    Raises:
        RubricError: a file is wrong; names file and line.
    """
    names = [name for name in (file.file, file.cases) if name is not None]
    texts = {name: _read(name, folder=folder, where=where) for name in names}
    cases = None if file.cases is None else _cases(folder / file.cases, texts[file.cases])
    metric, path = file.metric or rubric, folder / file.file
    rows = list(_RowReader(metric, cases, form, weighing).rows(path, texts[file.file]))
    if len(rows) < file.count:
        message = f"{path} has {len(rows)} rows of {metric!r}, fewer than the {file.count} examples"
        raise _invalid(f"{message}; lower the count, or set the metric of its rows", where)
    labelled = Labelled(rows, count=file.count, choose=file.choose)
    shown = sum(
        len(canonical_json(e.answers)) + len(e.case.model_dump_json(exclude_defaults=True))
        for e in labelled.chosen
    )
    if shown > MAX_SHOWN:
        message = f"the {file.count} examples have {shown:,} characters, of {MAX_SHOWN:,} at most"
        raise _invalid(f"{message}; show fewer", where, rule="prompt-size")
    return labelled, {name: digest(text) for name, text in texts.items()}


def _invalid(message: str, where: str, *, rule: str = "example-invalid") -> RubricError:
    return RubricError(message, where=where, rule=rule)


@lru_cache(maxsize=64)
def form_for(form: Form, names: tuple[str, ...]) -> Form:
    """Return a form with only the questions and details that answers have."""
    return Form(
        questions=tuple(q for q in form.questions if q.id in names),
        details=tuple(d for d in form.details if d.name in names),
    )


def _read(name: str, *, folder: Path, where: str) -> str:
    path = folder / name
    inside = bool(_PATH.fullmatch(name)) and ".." not in name
    if not inside or not path.resolve().is_relative_to(folder.resolve()):
        rule = "labelled rows must be in the rubric's own folder or below it"
        raise _invalid(f"{name!r}: {rule}", where)
    if not path.is_file():
        raise _invalid(f"no such file: {path}", where)
    return read_file(path)


def _objects(path: Path, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    numbered = enumerate(text.split("\n"), start=1)
    filled = ((number, line) for number, line in numbered if line.strip())
    for count, (number, line) in enumerate(filled, start=1):
        where = place(path, number)
        if count > MAX_ROWS:
            raise _invalid(f"more than {MAX_ROWS:,} rows", where)
        try:
            yield where, extract_object(line)[0]
        except InvalidReply as exc:
            raise _invalid(f"not a row: {exc}", where) from exc


def _cases(path: Path, text: str) -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for where, data in _objects(path, text):
        if not isinstance(data.get("id"), str):
            raise _invalid("a case here needs an id", where, rule="bad-case")
        case = inline_case(data, id=data["id"], where=where)
        if case.id in cases:
            raise _invalid(f"the id {case.id!r} is given twice", where, rule="bad-case")
        cases[case.id] = case
    return cases


class _RowReader(NamedTuple):
    """Reads the rows of one metric."""

    metric: str
    cases: Mapping[str, Case] | None
    """The cases that rows may name, by id."""
    form: Form
    weighing: Weighing

    def rows(self, path: Path, text: str) -> Iterator[_Row]:
        for number, (where, data) in enumerate(_objects(path, text), start=1):
            if unknown := sorted(set(data) - _KEYS):
                raise _invalid(f"unknown key {unknown[0]!r}{suggest(unknown[0], _KEYS)}", where)
            names = [data[key] for key in ("metric", "rubric") if data.get(key) is not None]
            if names and self.metric not in names:
                continue
            answers, details = data.get("answers"), data.get("details", {})
            if not isinstance(answers, dict) or not isinstance(details, dict):
                raise _invalid("needs 'answers': {criterion: {...}}", where)
            id, case = self._case(data.get("case"), number=number, where=where)
            answers = with_quotes(answers, form=self.form)
            example = Example(case=case, answers={**answers, **details})
            content = case.model_dump(mode="json", exclude_defaults=True, exclude={"id"})
            content_digest = digest_json([content, example.answers])
            yield _Row(id, example, self._value(example, where), content_digest)

    def _case(self, entry: Any, *, number: int, where: str) -> tuple[str | None, Case]:
        """Return the id and the case of a row, which contains the case or names it."""
        if isinstance(entry, dict):
            return entry.get("id"), inline_case(entry, id=f"example-{number}", where=where)
        if not isinstance(entry, str):
            raise _invalid("needs 'case': a case, or the id of one", where)
        if self.cases is None:
            advice = "write examples: {cases: FILE.jsonl}"
            raise _invalid(f"case {entry!r} needs a file of cases: {advice}", where)
        if entry not in self.cases:
            hint = suggest(entry, list(self.cases)[:1000])
            raise _invalid(f"no case {entry!r} among the cases{hint}"[:300], where)
        return entry, self.cases[entry]

    def _value(self, example: Example, where: str) -> float | None:
        """Check the answers of a row; return their combined value."""
        form = form_for(self.form, tuple(example.answers))
        try:
            answers, _ = read_answers(example.answers, form=form)
        except InvalidReply as exc:
            raise _invalid(f"the answers do not fit the criteria: {exc}", where) from exc
        if not answers:
            raise _invalid("answers none of the criteria", where)
        return self.weighing.value(answers)


def inline_case(data: dict[str, Any], *, id: str, where: str) -> Case:
    """Return a case that is written in a rubric.

    Raises:
        RubricError: it is not a valid case.
    """
    try:
        words = {name: as_text(data[name]) for name in CASE_WORDS & data.keys()}
        return Case.model_validate({"id": id, **data, **words})
    except ValidationError as exc:
        fault = exc.errors(include_url=False)[0]
        message = f"case: {describe(fault, fault['loc'], Case)}"
        raise RubricError(message, where=where, rule="bad-case") from exc
