"""A judge's reply, validated: the answer model is derived from the form the judge filled in."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, create_model

from judgekit.canonical import visible
from judgekit.errors import InvalidReply, JudgeRefused
from judgekit.extraction import extract_object
from judgekit.request import Form, Question, Reply
from judgekit.value import Value

MAX_REASON = 20_000
"""Characters of a reason that are kept; the whole of it stays on the tape."""
MAX_ITEMS = 200


class Quote(Value):
    """Words a judge quotes as evidence, and where in the case they stand."""

    text: str
    field: str | None = None
    """The field of the case that holds the words; `None` when none does."""


class Answer(Value):
    """What was answered to one question."""

    value: float | bool | str | None = None
    """A number, a yes or no, or a label; `None` when the judge abstained or gave a list."""
    reason: str = ""
    quotes: tuple[str, ...] = ()
    items: tuple[dict[str, JsonValue], ...] = ()
    """Of a checklist: `{item, met, reason}` each."""
    details: dict[str, JsonValue] = Field(default_factory=dict)
    probability: float | None = Field(default=None, ge=0, le=1)
    """Of a yes, where the judge gave one."""


class Judgment(Value):
    """One reply read against one form."""

    request_key: str
    answers: dict[str, Answer] = Field(default_factory=dict)
    details: dict[str, JsonValue] = Field(default_factory=dict)
    """What the form asked for beside its questions."""
    data: JsonValue = None
    """The validated object, when the form was a JSON schema of the author's own."""
    model: str | None = None
    repairs: tuple[str, ...] = ()
    """Liberties taken in reading the reply, if any (see extraction)."""
    tries: int = 1


_TRUNCATED = {"length", "max_tokens", "model_length"}
_REFUSED = {"content_filter", "refusal", "safety"}


def read_reply(
    reply: Reply,
    *,
    form: Form,
    request_key: str,
    response_model: type[BaseModel] | None = None,
) -> Judgment:
    """Validate a reply, live or replayed, into a judgment.

    Raises:
        JudgeRefused: the judge declined.
        InvalidReply: the text was cut off, empty, or not of the form.
    """
    last = reply.tries[-1]
    if last.refusal is not None or (last.finish in _REFUSED and not (last.text or "").strip()):
        raise JudgeRefused(f"the judge declined: {_short(last.refusal or last.finish or '')}")
    if last.finish in _TRUNCATED:
        raise InvalidReply(
            f"the reply was cut off after {len(last.text or ''):,} characters; raise max_tokens",
            kind="truncated",
        )
    if not (last.text or "").strip():
        raise InvalidReply("the reply is empty", kind="empty")
    value, repairs = extract_object(last.text or "")
    common: dict[str, Any] = {
        "request_key": request_key,
        "model": reply.model,
        "repairs": repairs,
        "tries": len(reply.tries),
    }
    if form.json_schema is not None:
        return Judgment(data=_validate_own(value, response_model), **common)
    answers, details = read_answers(value, form=form)
    return Judgment(answers=answers, details=details, **common)


def read_answers(
    value: dict[str, Any], *, form: Form
) -> tuple[dict[str, Answer], dict[str, JsonValue]]:
    """Validate an object against a form: its answers, in the form's order, and its details.

    Raises:
        InvalidReply: naming the first field at fault.
    """
    try:
        filled = answer_model(form).model_validate(value)
    except ValidationError as exc:
        raise InvalidReply(_first_fault(exc)) from exc
    answers = {}
    for number, question in enumerate(form.questions):
        answers[question.id] = _answer(question, getattr(filled, f"q{number}"))
    return answers, {d.name: getattr(filled, f"d{n}") for n, d in enumerate(form.details)}


def _answer(question: Question, filled: Any) -> Answer:
    details = {d.name: getattr(filled, f"d{n}") for n, d in enumerate(question.details)}
    quotes = tuple(_clean(quote) for quote in filled.quotes) if question.quotes else ()
    if question.kind != "checklist":
        return Answer(
            value=filled.value, reason=_clean(filled.reason), quotes=quotes, details=details
        )
    items = tuple(
        {"item": _clean(entry.item), "met": entry.met, "reason": _clean(entry.reason)}
        for entry in filled.items
    )
    if question.items:
        given = [entry.item for entry in filled.items]
        if sorted(given) != sorted(question.items):
            raise InvalidReply(f"{question.id}: answer each listed item once")
    return Answer(quotes=quotes, items=items, details=details)


def _clean(text: str) -> str:
    text = visible(text)
    return text if len(text) <= MAX_REASON else text[:MAX_REASON] + "…"


def _short(text: str) -> str:
    text = " ".join(visible(text).split())
    return text if len(text) <= 200 else text[:200] + "…"


def _validate_own(value: dict[str, Any], response_model: type[BaseModel] | None) -> JsonValue:
    if response_model is None:
        return value
    try:
        dumped: JsonValue = response_model.model_validate(value).model_dump(mode="json")
    except ValidationError as exc:
        raise InvalidReply(_first_fault(exc)) from exc
    return dumped


def _first_fault(exc: ValidationError) -> str:
    fault = exc.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(step) for step in fault["loc"])
    more = exc.error_count() - 1
    tail = f" (and {more} more)" if more else ""
    return _short(f"{where}: {fault['msg']}{tail}" if where else f"{fault['msg']}{tail}")


# -- the answer model ---------------------------------------------------------

_CONFIG = ConfigDict(extra="forbid", allow_inf_nan=False)
_Text = str  # bounded by the length of the whole reply
_Yes = Annotated[bool, Field(strict=True)]
_DETAIL: dict[str, Any] = {
    "text": _Text,
    "boolean": _Yes,
    "list": Annotated[list[str], Field(max_length=MAX_ITEMS)],
}


def answer_model(form: Form) -> type[BaseModel]:
    """Return the pydantic model of a form's answers, reasons before values; made once a form."""
    cached: type[BaseModel] | None = form.__dict__.get("_answer_model")
    if cached is None:
        fields: dict[str, Any] = {
            f"q{number}": (_question_model(question, number), Field(alias=question.id))
            for number, question in enumerate(form.questions)
        }
        for number, detail in enumerate(form.details):
            fields[f"d{number}"] = (_DETAIL[detail.kind], Field(alias=detail.name))
        cached = create_model("Verdict", __config__=_CONFIG, **fields)
        form.__dict__["_answer_model"] = cached
    return cached


def _question_model(question: Question, number: int) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    if question.kind != "checklist":
        fields["reason"] = (_Text, ...)
    if question.quotes:
        fields["quotes"] = (Annotated[list[_Text], Field(max_length=MAX_ITEMS)], ...)
    if question.kind == "checklist":
        fields["items"] = (_items(question, number), ...)
    for number, detail in enumerate(question.details):
        fields[f"d{number}"] = (_DETAIL[detail.kind], Field(alias=detail.name))
    if question.kind != "checklist":
        value = _value_type(question)
        fields["value"] = (value | None if question.nullable else value, ...)
    return create_model(f"Answer{number}", __config__=_CONFIG, **fields)


def _value_type(question: Question) -> Any:
    if question.labels:
        return Literal[question.labels]
    if question.kind == "boolean":
        return _Yes
    return Annotated[float, Field(strict=True, ge=question.minimum, le=question.maximum)]


def _items(question: Question, number: int) -> Any:
    item: Any = Literal[question.items] if question.items else _Text
    entry = create_model(
        f"Item{number}", __config__=_CONFIG, item=(item, ...), reason=(_Text, ...), met=(_Yes, ...)
    )
    bounds: Any = (
        Field(min_length=len(question.items), max_length=len(question.items))
        if question.items
        else Field(max_length=MAX_ITEMS)
    )
    return Annotated[list[entry], bounds]  # type: ignore[valid-type]
