"""A case: one item to score, with all data that a metric may need."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, JsonValue

from judgekit.core.canonical import digest
from judgekit.core.case_field import (
    ANSWERS,
    CASE_FIELDS,
    CASE_WORDS,
    FIELD_OF,
    MESSAGE_LISTS,
    CaseField,
)
from judgekit.core.errors import CaseError
from judgekit.core.sourced import is_source
from judgekit.core.value import Displayed, Value

if TYPE_CHECKING:
    from judgekit.core.display.parts import DisplayPart as Shown


class ToolCall(Value):
    """One call of a tool by an assistant."""

    name: str
    arguments: JsonValue = None
    id: str | None = None


class Message(Value):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            role: Literal["system", "user", "assistant", "tool"],
            content: str = "",
            name: str | None = None,
            tool_calls: Iterable[ToolCall | Mapping[str, Any]] = (),
        ) -> None: ...


def _texts(value: Any) -> Any:
    """Accept a single text where several are accepted."""
    return (value,) if isinstance(value, str) else () if value is None else value


Texts = Annotated[tuple[str, ...], BeforeValidator(_texts)]


class Case(Displayed, Value):
    """One item to score. Only `id` is required; each metric lists the other fields it needs."""

    id: str = Field(min_length=1, max_length=1000)
    """Identifier, unique in the data set; results and reports refer to the case by it."""
    input: str | None = None
    """The user's last message."""
    output: str | None = None
    """The answer to score."""
    system: str | None = None
    """The system prompt that produced the answer."""
    history: tuple[Message, ...] = ()
    """Earlier messages, oldest first; a session is history + input + output."""
    steps: tuple[Message, ...] = ()
    """What the assistant did between the input and the output: messages, tool calls, results."""
    reference: Texts = ()
    """Accepted answers; a match with any of them counts."""
    context: Texts = ()
    """Retrieved passages that should support the answer."""
    baseline: str | None = None
    """Another answer to the same input, to compare with."""
    choices: Texts = ()
    """The options of a multiple-choice question."""
    expected: dict[str, JsonValue] = Field(default_factory=dict)
    """Inputs of specific metrics, which validate them: facts, required elements, tool calls."""
    parent: str | None = None
    """The id of the original case, if this case is a perturbed copy."""
    labels: dict[str, JsonValue] = Field(default_factory=dict)
    """Human scores. Never shown to a judge."""
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    """Any other data; reports can filter by it."""
    unread: dict[str, JsonValue] = Field(default_factory=dict)
    """Field -> why it cannot be shown whole, such as "message 2 has an image". A metric that reads
    such a field fails. `history.N` is message N of the history, from 0; a metric that shows only
    later messages does not fail."""

    other_names: ClassVar[Mapping[str, str]] = FIELD_OF

    if TYPE_CHECKING:
        # Fields are given as lists or single texts, and are tuples after the validation. Type
        # checkers, with or without the plugin of pydantic, would ask for the tuples.
        def __init__(
            self,
            *,
            id: str,
            input: str | None = None,
            output: str | None = None,
            system: str | None = None,
            history: Iterable[Message | Mapping[str, Any]] = (),
            steps: Iterable[Message | Mapping[str, Any]] = (),
            reference: str | Iterable[str] | None = (),
            context: str | Iterable[str] | None = (),
            baseline: str | None = None,
            choices: str | Iterable[str] | None = (),
            criteria: Iterable[Any] = ...,
            expected: Mapping[str, Any] = ...,
            parent: str | None = None,
            labels: Mapping[str, Any] = ...,
            metadata: Mapping[str, Any] = ...,
            unread: Mapping[str, Any] = ...,
        ) -> None: ...

    else:

        def __init__(self, /, *unnamed: Any, **fields: Any) -> None:
            written = _with_criteria(fields) if "criteria" in fields else fields
            super().__init__(*unnamed, **written)

        # Without this mark of pydantic's, reading files would call the method for each row.
        __init__.__pydantic_base_init__ = True

    def _parts_shown(self) -> "Iterable[Shown]":
        from judgekit.core.display.result import case_parts

        return case_parts(self)


def _with_criteria(fields: dict[str, Any]) -> dict[str, Any]:
    """Put `criteria` where files have it, under `expected`; criteria of Python become rows."""
    criteria = fields["criteria"]
    listed = (
        criteria
        if isinstance(criteria, Mapping)
        else [one.row() if hasattr(one, "row") else one for one in criteria]
    )
    rest = {name: value for name, value in fields.items() if name != "criteria"}
    return {**rest, "expected": {**(fields.get("expected") or {}), "criteria": listed}}


_DECLARED = {
    "id": (str, str | None),
    "text": (str | None,),
    "texts": (tuple[str, ...],),
    "messages": (tuple[Message, ...],),
    "object": (dict[str, JsonValue],),
}
"""Kind of a field -> the types that the model may declare for it."""


def _check_fields(model: type[Case], rows: Sequence[CaseField] = CASE_FIELDS) -> None:
    """Check that the model and the table of fields agree.

    Digests and files leave out what is empty, so a case keeps its digest when the model gains a
    field. Therefore every field but the id is empty by default.

    Raises:
        TypeError: with the field, and what to do.
    """
    table = "CASE_FIELDS in judgekit/core/case_field.py"
    names = [row.name for row in rows]
    for name in model.model_fields:
        if name not in names:
            raise TypeError(f"field {name!r} of Case has no row in {table}; add one")
    for row in rows:
        field = model.model_fields.get(row.name)
        if field is None:
            raise TypeError(f"{table} has a row {row.name!r}, which Case does not have; remove it")
        if field.annotation not in _DECLARED[row.kind]:
            raise TypeError(f"field {row.name!r} of Case is no {row.kind!r}, as {table} says")
        if row.name != "id" and field.get_default(call_default_factory=True):
            raise TypeError(f"field {row.name!r} of Case must be empty by default, for old digests")
    every = [*names, *(alias for row in rows for alias in row.aliases)]
    if twice := {name for name in every if every.count(name) > 1}:
        raise TypeError(f"{table} uses the name {min(twice)!r} twice; rename one")
    for row in rows:
        for alias, source in row.aliases.items():
            if not is_source(source):
                raise TypeError(
                    f"{table} has no source for {alias!r}; name the tool that writes it"
                )


_check_fields(Case)


class _PartlyReadCase(Case):
    """A case that refuses to give the fields in `unread`."""

    def __getattribute__(self, name: str) -> Any:
        if name in _MAY_BE_UNREAD:
            problem = super().__getattribute__("__dict__")["unread"].get(name)
            if problem is not None:
                raise CaseError(str(problem))
        return super().__getattribute__(name)


_MAY_BE_UNREAD = frozenset((*CASE_WORDS, *MESSAGE_LISTS))


def for_metric(case: Case) -> Case:
    """Return a case as a metric may read it: a field that was not read whole is an error.

    Reading such a field raises a `CaseError`; metrics that never read it score the case.
    """
    if not case.unread or isinstance(case, _PartlyReadCase):
        return case
    return _PartlyReadCase.model_construct(**case.__dict__)


def with_last_messages(case: Case, most: int) -> Case:
    """Return a case whose history may be read if its last messages were read whole.

    The history stays; a metric that reads more of it than the last messages must not call this.

    Args:
        case: the case, as `for_metric` returns it.
        most: the maximum number of messages that the metric shows, from the last one.
    """
    unread = case.__dict__["unread"]
    kept = {
        int(number): problem
        for field, _, number in (name.partition(".") for name in unread)
        if field == "history" and number.isdecimal()
        for problem in [unread[f"history.{number}"]]
    }
    if not kept:
        return case
    first = len(case.__dict__["history"]) - most
    shown = [kept[number] for number in sorted(kept) if number >= max(0, first)]
    left = {name: problem for name, problem in unread.items() if name != "history"}
    if shown:
        left["history"] = shown[0]
    return _PartlyReadCase.model_construct(**{**case.__dict__, "unread": left})


def as_text(value: Any) -> Any:
    """Convert a value for a text field: numbers, true and false become their JSON text.

    A list is converted item by item; any other value is returned as it is.

    Example:
        >>> as_text(42), as_text(1.50), as_text([True, "a"])
        ('42', '1.5', ['true', 'a'])
    """
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    if isinstance(value, list):
        return [as_text(item) for item in value]
    return value


ANSWERED = "answered"
"""Key of `metadata` that records the sources of the output and the baseline."""


def source_of(metadata: Mapping[str, Any], field: str = "output") -> Any:
    """Return the recorded source of an answer of a case; `None` without one."""
    sources = metadata.get(ANSWERED)
    return sources.get(field) if isinstance(sources, dict) else None


def answerer_of(metadata: Mapping[str, Any], field: str = "output") -> str | None:
    """Return the model that gave an answer of a case, if the metadata says so.

    >>> answerer_of({"answered": {"output": {"model": "openai/m"}}})
    'openai/m'
    """
    source = source_of(metadata, field)
    model = source.get("model") if isinstance(source, dict) else None
    return model if isinstance(model, str) and model else None


def has_text(text: str | None) -> bool:
    """Return whether a text has a character other than white space."""
    return text is not None and text != "" and not text.isspace()


def is_given(field: str, text: str | None) -> bool:
    """Return whether a case has a text field: a blank text is missing, a blank answer is not.

    A system that answers with nothing has answered, and a metric says what that is worth.

    >>> is_given("output", ""), is_given("input", ""), is_given("output", None)
    (True, False, False)
    """
    return text is not None if field in ANSWERS else has_text(text)


def output_digest(output: str | None) -> str:
    """Return the digest by which labels identify the judged output: 16 hexadecimal digits.

    >>> output_digest("It is open.")
    'da7973d455ab42b3'
    """
    return digest((output or "").encode("utf-8", "surrogatepass"))[:16]
