"""A judge's reply, validated: the answer model is derived from the form the judge filled in."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from judgekit.canonical import visible
from judgekit.errors import InvalidReply, JudgeRefused
from judgekit.extraction import MAX_REPLY_CHARACTERS, extract_object
from judgekit.request import Form, Question, Reply
from judgekit.value import Json, Value

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
    items: tuple[dict[str, Json], ...] = ()
    """Of a checklist: `{item, met, reason}` each."""
    details: dict[str, Json] = Field(default_factory=dict)
    probability: float | None = Field(default=None, ge=0, le=1)
    """Of a yes, where the judge gave one."""


class Judgment(Value):
    """One reply read against one form."""

    request_key: str
    answers: dict[str, Answer] = Field(default_factory=dict)
    """Left empty in a score made of one judgment: its parts carry the answers."""
    details: dict[str, Json] = Field(default_factory=dict)
    """What the form asked for beside its questions."""
    data: Json = None
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
    text = last.text or ""
    if form.json_schema is not None:
        value, repairs = extract_object(text)
        data = _validate_own(value, response_model)
        answers: dict[str, Answer] = {}
        details: dict[str, Json] = {}
    else:
        data = None
        filled, repairs = _read_text(text, form=form), ()
        if filled is not None:
            answers, details = _answers(filled, form)
        else:
            value, repairs = extract_object(text)
            answers, details = read_answers(value, form=form)
    return Judgment(
        request_key=request_key,
        answers=answers,
        details=details,
        data=data,
        model=reply.model,
        repairs=repairs,
        tries=len(reply.tries),
    )


def read_answers(value: dict[str, Any], *, form: Form) -> tuple[dict[str, Answer], dict[str, Json]]:
    """Validate an object against a form: its answers, in the form's order, and its details.

    Raises:
        InvalidReply: naming the first field at fault.
    """
    try:
        filled = answer_model(form).model_validate(value)
    except ValidationError as exc:
        raise InvalidReply(_first_fault(exc)) from exc
    return _answers(filled, form)


def _read_text(text: str, *, form: Form) -> BaseModel | None:
    """Return the filled form of a text that is plain JSON, or `None` when it needs a closer look.

    pydantic's parser keeps the last of two equal keys, so the keys are counted: more of them
    than the form has, or a key that is spelled in a way the count would miss, is looked at again.
    """
    if len(text) > MAX_REPLY_CHARACTERS:
        return None
    try:
        filled = answer_model(form).model_validate_json(text)
    except ValidationError:
        return None
    if _SPACED_KEY.search(text) or text.count('":') != _key_count(filled, form):
        return None
    return filled


_SPACED_KEY = re.compile('"[ \t\r\n]+:')


def _key_count(filled: Any, form: Form) -> int:
    """Return how many keys the JSON of a filled form has."""
    count: int = form.__dict__["_keys"]
    for number in form.__dict__["_lists"]:
        count += 3 * len(getattr(filled, number).items)
    return count


def _answers(filled: Any, form: Form) -> tuple[dict[str, Answer], dict[str, Json]]:
    answers = {
        question.id: _answer(question, getattr(filled, f"q{number}"))
        for number, question in enumerate(form.questions)
    }
    details = {d.name: _clean_detail(getattr(filled, f"d{n}")) for n, d in enumerate(form.details)}
    return answers, details


def _answer(question: Question, filled: Any) -> Answer:
    details = {}
    for number, detail in enumerate(question.details):
        details[detail.name] = _clean_detail(getattr(filled, f"d{number}"))
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
    if not text.isprintable():
        text = visible(text)
    return text if len(text) <= MAX_REASON else text[:MAX_REASON] + "…"


def _clean_detail(value: Any) -> Any:
    if isinstance(value, str):
        return _clean(value)
    return [_clean(item) for item in value] if isinstance(value, list) else value


def _short(text: str) -> str:
    text = " ".join(visible(text).split())
    return text if len(text) <= 200 else text[:200] + "…"


def _validate_own(value: dict[str, Any], response_model: type[BaseModel] | None) -> Json:
    if response_model is None:
        return value
    try:
        dumped: Json = response_model.model_validate(value).model_dump(mode="json")
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
        form.__dict__["_keys"] = len(fields) + sum(
            len(model.model_fields)
            for model, _ in fields.values()
            if hasattr(model, "model_fields")
        )
        form.__dict__["_lists"] = [
            f"q{n}" for n, question in enumerate(form.questions) if question.kind == "checklist"
        ]
    return cached


def _question_model(question: Question, number: int) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    if question.kind != "checklist":
        fields["reason"] = (_Text, ...)
    if question.quotes:
        fields["quotes"] = (Annotated[list[_Text], Field(max_length=MAX_ITEMS)], ...)
    if question.kind == "checklist":
        fields["items"] = (_items(question, number), ...)
    for place, detail in enumerate(question.details):
        fields[f"d{place}"] = (_DETAIL[detail.kind], Field(alias=detail.name))
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
    return Annotated[list[entry], bounds]
