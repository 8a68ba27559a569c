"""Lint of cases: read all rows of a file with their errors, and check them against every rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from judgekit.authoring.cases.similarity import NearDuplicates, share_inside
from judgekit.authoring.lint.rule import Linted, LintFinding, rules_in
from judgekit.core.case import Case, Message, has_text
from judgekit.core.case_field import FIELD_BY_NAME, MESSAGE_LISTS, OBJECTS, TEXT_LISTS, TEXTS
from judgekit.core.errors import CaseError, DatasetError
from judgekit.datasets.case_builder import Shape
from judgekit.datasets.field_names import THOUGHTS
from judgekit.datasets.ids import IdSet
from judgekit.datasets.load import read_file
from judgekit.datasets.messages.reader import role_of
from judgekit.datasets.row_builder import RowBuilder, RowNote
from judgekit.datasets.stream import STDIN
from judgekit.datasets.turn_rows import SessionTurn, sessions
from judgekit.metrics.criteria.item import read_items, unread_fields
from judgekit.privacy.detectors import DETECTORS, find_all
from judgekit.privacy.detectors.form import reserved
from judgekit.privacy.redact import NAMES, redactor
from judgekit.privacy.scan import masked

MOST = 1_000
"""Maximum number of findings per rule; further ones are only counted."""
LEAST_LABELS = 20
"""Minimum number of cases with a label to check its balance."""
UNBALANCED = 0.9
"""Minimum share of the most frequent value of an unbalanced label."""
LEAKED = 0.8
"""Minimum share of a reference's pieces in the prompt for a leak."""
_LEAK_WIDTH = 12
"""Length of a piece in characters: shorter ones occur in any two long texts."""
_LEAST_LEAK = 15
"""Minimum length of a reference that can leak; "Paris" may be part of the question."""
_MOST_VALUES = 50
"""Maximum number of distinct values of a class label."""
case_rules = partial(rules_in, Path(__file__).with_name("rules.yaml"))
"""Returns id -> rule."""


class CheckedRow(NamedTuple):
    """A row of a file."""

    item: Case | SessionTurn | DatasetError
    """Its content, or the error."""
    has_id: bool = True
    messages: Sequence[Message] | None = None
    """All messages in order, if it is a chat."""
    notes: Sequence[RowNote] = ()


class _CheckingBuilder(RowBuilder):
    """Returns the error of a row instead of raising it."""

    def __init__(self, inner: RowBuilder, *, maps_id: bool = False) -> None:
        self._inner, self._maps_id = inner, maps_id

    def read(self, row: Any) -> Any:
        return self._inner.read(row)

    def build(self, row: Any, *, where: str) -> CheckedRow:
        try:
            item = self._inner.build(row, where=where)
        except DatasetError as exc:
            return CheckedRow(exc)
        inner = self._inner
        return CheckedRow(
            item, self._maps_id or row.get("id") is not None, inner.messages, tuple(inner.row_notes)
        )

    def unreadable(self, error: DatasetError) -> CheckedRow:
        return CheckedRow(error)

    def build_python(self, row: Any, *, where: str, advice: str) -> Any:
        try:
            return super().build_python(row, where=where, advice=advice)
        except DatasetError as exc:
            return CheckedRow(exc)


def lint_cases(source: str, *, shape: Shape | None = None, **options: Any) -> Linted:
    """Check a file of cases. A row that cannot be read is also a finding.

    Args:
        source: a file, or `-` for standard input.
        shape: the format of a row; by default, it is detected.
        options: further options of `read_file`, such as the paths of fields.

    Raises:
        DatasetError: the file cannot be read, or has no rows.
    """
    linter = CaseLinter(source)
    path, name = (None, STDIN) if source == "-" else (Path(source), source)
    checking = partial(_CheckingBuilder, maps_id="id" in options.get("fields", {}))
    rows: Any = read_file(path, name, shape=shape or "auto", wrap=checking, **options)
    for session, group in groupby(rows(), key=_session_of):
        if session:
            linter.session(session, [(at, row.item) for at, row in group])
        else:
            for at, row in group:
                linter.row(at, row)
    return Linted([Path(source)], linter.findings())


def _session_of(placed: tuple[str | int, CheckedRow]) -> str:
    item = placed[1].item
    return item.session if isinstance(item, SessionTurn) else ""


CasePlace = tuple[str | int, str | None]
"""A line, or a text such as `row 3`, and the id of the case there."""


class CaseLinter:
    """Checks cases one by one and keeps at most `MOST` findings per rule."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._findings: list[LintFinding] = []
        self._counts: Counter[str] = Counter()
        self._ids = IdSet()
        self._without_id: CasePlace | None = None
        self._number_without_id = 0
        self._places: list[tuple[int, str]] = []
        self._duplicates = NearDuplicates()
        self._labels: dict[str, tuple[CasePlace, Counter[str]]] = {}
        """Label -> its first case, and the number of cases per value."""
        self._mask = redactor(NAMES)
        self._notes: dict[RowNote, tuple[CasePlace, Counter[str]]] = {}
        """Note -> its first case, and its number of rows."""

    def session(self, session: str, turns: Sequence[tuple[str | int, SessionTurn]]) -> None:
        """Check the turns of a session, given with their locations."""
        numbers = [(at, turn.number) for at, turn in turns]
        for (_, before), (at, number) in pairwise(numbers):
            if before is not None and number is not None and number > before + 1:
                message = f"turn {number} follows turn {before}"
                self._add("missing-turn", (at, session), "turn_index", message)
        try:
            (_, case), *_ = sessions(iter(turns))
            row = CheckedRow(case, messages=[Message(role=role_of(turn.role)) for _, turn in turns])
        except DatasetError as exc:
            row = CheckedRow(exc)
        self.row(turns[0][0], row)

    def row(self, at: str | int, row: CheckedRow) -> None:
        """Check a row, given with its line, or a text such as `row 3`."""
        if isinstance(row.item, DatasetError):
            where = f"{row.item.where}: " if row.item.where else ""
            message = str(row.item).removeprefix(where).removeprefix(f"field {row.item.field!r}: ")
            self._add("unreadable", (at, None), row.item.field, message)
        elif isinstance(row.item, Case):
            self._case(row.item, at, row)

    def _case(self, case: Case, at: str | int, row: CheckedRow) -> None:
        place, rule, repeated = (at, case.id), "repeated-id", "the id was used before"
        if not row.has_id:
            self._without_id = self._without_id or place
            self._number_without_id += 1
            rule = "repeated-row"
            repeated = "no id, and the content of a case before; its id gets a number"
        if not self._ids.add(case.id):
            self._add(rule, place, "id", repeated)
        self._places.append((at if isinstance(at, int) else 1, case.id))
        self._duplicates.add(case)
        turns, where = row.messages, "messages"
        if turns is None:
            turns, where = _turns_of(case), "history"
        every = (
            *_blank_texts(case),
            *_turn_problems(turns, where),
            *_wrong_criteria(case),
            *_leaks(case),
            *_private(case),
        )
        for rule, field, message in every:
            self._add(rule, place, field, message)
        for field, problem in case.unread.items():
            if field in FIELD_BY_NAME:  # and not a message of one
                self._add("unread-content", place, field, str(problem))
        notes = list(row.notes)
        if THOUGHTS in case.metadata:
            notes.append(RowNote("thoughts", f"metadata.{THOUGHTS}", "thoughts of the model"))
        wrong = "".join(message for rule, _, message in every if rule == "wrong-criteria")
        notes += _unread_criterion_fields(case, wrong)
        for note in notes:
            self._notes.setdefault(note, (place, Counter()))[1]["rows"] += 1
        for name, value in case.labels.items():
            if isinstance(value, (str, bool, int, float)):
                _, counts = self._labels.setdefault(name, ((at, None), Counter()))
                if len(counts) <= _MOST_VALUES:
                    counts[str(value)] += 1

    def findings(self) -> list[LintFinding]:
        """Return all findings, including those that need all cases."""
        if self._without_id is not None:
            without = f"{self._number_without_id:,} of {len(self._places):,} cases have no id"
            self._add("missing-id", self._without_id, "id", f"{without}; this is the first")
        for later, earlier, alike in self._duplicates.pairs():
            (line, id), (first, other) = self._places[later], self._places[earlier]
            where = f" at line {first}" if first > 1 or line > 1 else ""
            message = f"{alike:.0%} like case {self._mask(other)!r}{where}"
            self._add("near-duplicate", (line, id), "input", message)
        for (rule, field, message), (place, counts) in self._notes.items():
            rows = f"in {counts['rows']:,} of {len(self._places):,} rows; this is the first"
            self._add(rule, place, field, f"{message}, {rows}")
        for name, (place, counts) in self._labels.items():
            self._check_label(f"labels.{name}", place, counts)
        for rule, count in sorted(self._counts.items()):
            if count > MOST:
                last = next(one for one in reversed(self._findings) if one.rule == rule)
                message = f"and {count - MOST:,} more of this rule"
                self._findings.append(last._replace(message=message, case=None, field=None))
        return self._findings

    def _check_label(self, field: str, place: CasePlace, counts: Counter[str]) -> None:
        total, cases = counts.total(), len(self._places)
        if total < cases:
            message = f"on {total:,} of {cases:,} cases; this is the first"
            self._add("label-missing", place, field, message)
        (value, most), *_ = counts.most_common(1)
        if total >= LEAST_LABELS and len(counts) <= _MOST_VALUES and most / total >= UNBALANCED:
            message = f"{most / total:.0%} of {total:,} labels are {self._mask(value)!r}"
            self._add("label-balance", place, field, message)

    def _add(self, rule: str, place: CasePlace, field: str | None, message: str) -> None:
        self._counts[rule] += 1
        if self._counts[rule] > MOST:
            return
        at, id = place
        line, before = (at, "") if isinstance(at, int) else (1, f"{at}: ")
        id, field = (name and self._mask(name) for name in (id, field))
        subject = ", ".join(filter(None, [id and f"case {id!r}", field and f"field {field}"]))
        # Paths in advice escape the dots of a key, which would hide an address.
        bare = message.replace("\\", "")
        masked_message = message if self._mask(bare) == bare else self._mask(bare)
        text = f"{before}{subject}{': ' if subject else ''}{masked_message}"
        severity = case_rules()[rule].severity
        finding = LintFinding(self._file, line, rule, severity, text, case=id, field=field)
        self._findings.append(finding)


Problems = Iterator[tuple[str, str | None, str]]
"""Rule, field and message of each problem."""


def _texts(case: Case) -> Iterator[tuple[str, str]]:
    """Yield the texts of a case with their fields."""
    for name in TEXTS:
        text = getattr(case, name)
        if text is not None:
            yield name, text
    for name in TEXT_LISTS:
        yield from ((f"{name}[{n}]", text) for n, text in enumerate(getattr(case, name)))
    for name in MESSAGE_LISTS:
        for number, message in enumerate(getattr(case, name)):
            if has_text(message.content) or not message.tool_calls:
                yield f"{name}[{number}].content", message.content


def _blank_texts(case: Case) -> Problems:
    if case.input is None and case.output is None and not case.history:
        yield "no-text", None, "has no input, no output and no history"
    for field, text in _texts(case):
        if not has_text(text):
            yield "empty-text", field, "is blank"


def _turns_of(case: Case) -> list[Message]:
    """Return the turns of a case; tool calls at the end of a history come after the input."""
    end = len(case.history)
    while end and (case.history[end - 1].role == "tool" or case.history[end - 1].tool_calls):
        end -= 1
    asked = [Message(role="user")] if case.input is not None else []
    answered = [Message(role="assistant")] if case.output is not None else []
    return [*case.history[:end], *asked, *case.history[end:], *case.steps, *answered]


def _turn_problems(turns: Sequence[Message], field: str) -> Problems:
    before: Message | None = None
    for number, turn in enumerate(turns):
        where = f"{field}[{number}]"
        if turn.role == "system":
            if before is not None:
                yield "role-order", where, "a system message after the conversation began"
            continue
        if turn.role == "tool" and (before is None or before.role == "user"):
            yield "role-order", where, "a tool message without a call before it"
        elif before is not None and turn.role != "tool":
            if before.tool_calls:
                yield "missing-turn", where, "no result of the tool call before it"
            elif turn.role == before.role:
                yield "missing-turn", where, f"two messages of the {turn.role} in a row"
        before = turn


def _unread_criterion_fields(case: Case, wrong: str) -> Iterator[RowNote]:
    """Yield a note for each field of a criterion that is not read and has no error."""
    for name in sorted(set(unread_fields(case.expected.get("criteria")))):
        if repr(name) not in wrong:
            why = f"{name!r} is no field of a criterion and is not read"
            yield RowNote("criteria-fields", "expected.criteria", why)


def _wrong_criteria(case: Case) -> Problems:
    if "criteria" in case.expected:
        try:
            read_items(case)
        except CaseError as exc:
            message = str(exc).removeprefix("expected.criteria: ")
            yield "wrong-criteria", "expected.criteria", message


def _leaks(case: Case) -> Problems:
    history = "\n".join(message.content for message in case.history if message.content)
    prompt = {name: getattr(case, name) for name in TEXTS if FIELD_BY_NAME[name].asked}
    prompt["history"] = history
    options = {option.strip().casefold() for option in case.choices}
    for number, reference in enumerate(case.reference):
        if len(reference.strip()) < _LEAST_LEAK or reference.strip().casefold() in options:
            continue
        for field, text in prompt.items():
            if text and share_inside(reference, text, width=_LEAK_WIDTH) >= LEAKED:
                yield "reference-leak", field, f"holds reference[{number}]"


def _private(case: Case) -> Problems:
    objects = (_entries(name, getattr(case, name)) for name in OBJECTS)
    for field, text in chain([("id", case.id)], _texts(case), *objects):
        for kind, group in groupby(sorted(find_all(text, DETECTORS)), key=lambda one: one.kind):
            spans = [one.span for one in group if not reserved(kind, one.span.value)]
            if spans:
                shown = masked(kind, text[spans[0].start : spans[0].end])
                more = f" and {len(spans) - 1} more" if len(spans) > 1 else ""
                yield "private-data", field, f"{kind}: {shown}{more}"


def _entries(path: str, value: object) -> Iterator[tuple[str, str]]:
    """Yield the texts in an object of a case, each after the name of its entry."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _entries(f"{path}.{name}", item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _entries(path, item)
    elif isinstance(value, (str, int)) and not isinstance(value, bool):
        name = path.rpartition(".")[2].replace("_", " ")
        yield path, f"{name}: {value}"
