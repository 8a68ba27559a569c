"""What a filled form must look like."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic_core import core_schema

from judgekit.core.request import Form, Question

MAX_REPLY_CHARACTERS = 2_000_000
"""Characters a reply may have."""
MAX_ITEMS = 200
"""Items a list in an answer may have."""

# Twice: the schema judges' replies are read with, and the pydantic model whose JSON schema goes
# over the wire. A test holds them to the same replies.

_TEXT = core_schema.str_schema()  # bounded by the length of the whole reply
_YES = core_schema.bool_schema(strict=True)
_DETAIL_SCHEMA: dict[str, core_schema.CoreSchema] = {
    "text": _TEXT,
    "boolean": _YES,
    "list": core_schema.list_schema(_TEXT, max_length=MAX_ITEMS),
}


def filled_schema(form: Form) -> core_schema.CoreSchema:
    """Return the schema that replies to a form are read with."""
    fields = {question.id: _object(fields_of(question)) for question in form.questions}
    return _object(fields | {d.name: _DETAIL_SCHEMA[d.kind] for d in form.details})


def _object(fields: dict[str, core_schema.CoreSchema]) -> core_schema.CoreSchema:
    return core_schema.typed_dict_schema(
        {name: core_schema.typed_dict_field(schema) for name, schema in fields.items()},
        extra_behavior="forbid",
    )


def fields_of(question: Question) -> dict[str, core_schema.CoreSchema]:
    """Return the fields of one question's answer, and the schema of each."""
    details = {detail.name: _DETAIL_SCHEMA[detail.kind] for detail in question.details}
    quotes = {"quotes": _DETAIL_SCHEMA["list"]} if question.quotes else {}
    if question.kind == "checklist":
        return quotes | {"items": _items_schema(question)} | details
    value = _value_schema(question)
    if question.nullable:
        value = core_schema.nullable_schema(value)
    return {"reason": _TEXT} | quotes | details | {"value": value}


def _value_schema(question: Question) -> core_schema.CoreSchema:
    if question.labels:
        return core_schema.literal_schema(list(question.labels))
    if question.kind == "boolean":
        return _YES
    return core_schema.float_schema(
        strict=True, ge=question.minimum, le=question.maximum, allow_inf_nan=False
    )


def _items_schema(question: Question) -> core_schema.CoreSchema:
    item = core_schema.literal_schema(list(question.items)) if question.items else _TEXT
    count = len(question.items)
    return core_schema.list_schema(
        _object({"item": item, "met": _YES, "reason": _TEXT}),
        min_length=count or None,
        max_length=count or MAX_ITEMS,
    )


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
