"""The answers to a form as a plain pydantic model, as a program without judgekit has it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from judgekit.core.reply_schema import MAX_ITEMS
from judgekit.core.request import Form, Question

_CONFIG = ConfigDict(extra="forbid", allow_inf_nan=False)
_Text = str  # bounded by the length of the whole reply
_Yes = Annotated[bool, Field(strict=True)]
_DETAIL: dict[str, Any] = {
    "text": _Text,
    "boolean": _Yes,
    "list": Annotated[list[str], Field(max_length=MAX_ITEMS)],
}


def answer_model(form: Form) -> type[BaseModel]:
    """Return a pydantic model of the answers to a form, as a bare program would write it."""
    fields: dict[str, Any] = {
        f"q{number}": (_question_model(question, number), Field(alias=question.id))
        for number, question in enumerate(form.questions)
    }
    for number, detail in enumerate(form.details):
        fields[f"d{number}"] = (_DETAIL[detail.kind], Field(alias=detail.name))
    return create_model("Verdict", __config__=_CONFIG, **fields)


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
