"""The schema of a reply: sent to the judge as JSON schema, and used to validate its reply."""

import json
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import CoreSchema, SchemaValidator, ValidationError, core_schema

if TYPE_CHECKING:
    from judgekit.core.form import Form, Question

MAX_REPLY_CHARACTERS = 2_000_000
"""Maximum length of a reply, in characters."""
MAX_ITEMS = 200
"""Maximum number of items of a list in an answer."""
MAX_BOUNDED_ITEMS = 20
"""Maximum number of quotes, and of items of a detail, that a form with `max_reason` asks for."""
MAX_BOUNDED_ITEM = 1_000
"""Minimum of the maximum length of an item that the judge lists, in a form with `max_reason`."""

_TEXT = core_schema.str_schema()  # bounded by the length of the whole reply
_BOOLEAN = core_schema.bool_schema(strict=True)


def _details(text: CoreSchema, *, most: int) -> dict[str, CoreSchema]:
    """Return the schemas of details by their kind."""
    listed = core_schema.list_schema(text, max_length=most)
    return {"text": text, "boolean": _BOOLEAN, "list": listed}


class _Texts:
    """The schemas of the texts in a reply."""

    def __init__(self, max_reason: int | None) -> None:
        bounded = max_reason is not None
        self.text = core_schema.str_schema(max_length=max_reason) if bounded else _TEXT
        # Listed texts are judged in turn, so they get enough space to be whole.
        longest = max(max_reason or 0, MAX_BOUNDED_ITEM)
        self.item = core_schema.str_schema(max_length=longest) if bounded else _TEXT
        most = MAX_BOUNDED_ITEMS if bounded else MAX_ITEMS
        self.detail = _details(self.text, most=most)


_UNBOUNDED = _Texts(None)


class ReplySchema:
    """The schema of the replies to a form; reasons come before values.

    pydantic-core gets it directly: pydantic takes 1 ms to derive it from a class for each form.
    """

    def __init__(self, form: "Form") -> None:
        # A reply that exceeds a maximum length is valid, so only the sent schema has it.
        fields = _fields(form, _UNBOUNDED)
        self._form = form
        self._core_schema = _object("Verdict", fields)
        self.validator = SchemaValidator(self._core_schema)
        """Validates JSON text or an object."""
        self.kinds = [(q.id, q.kind == "checklist", q.quotes) for q in form.questions]
        """Each question, with whether it is a checklist and whether it asks for quotes."""
        self.checklists = [q.id for q in form.questions if q.kind == "checklist"]
        self.fixed_items = [
            (q.id, sorted(q.items)) for q in form.questions if q.kind == "checklist" and q.items
        ]
        """Checklists with given items, and the items."""
        answers = (_answer_fields(q, 0, _UNBOUNDED) for q in form.questions)
        self.keys = len(fields) + sum(map(len, answers))
        """Number of keys of a reply, without those in checklist items."""

    @cached_property
    def names(self) -> frozenset[str]:
        """The keys of a reply: questions and details, or the properties of a custom schema."""
        properties = (self._form.json_schema or {}).get("properties")
        if isinstance(properties, dict):
            return frozenset(properties)
        named = [question.id for question in self._form.questions]
        return frozenset([*named, *(detail.name for detail in self._form.details)])

    def fits(self, value: dict[str, Any]) -> bool:
        """Return whether an object is a valid reply."""
        try:
            self.validator.validate_python(value)
        except ValidationError:
            return False
        return True

    @cached_property
    def json_schema(self) -> dict[str, Any]:
        """The JSON schema to send to the judge: a custom one, or that of the questions."""
        sent = self._core_schema
        if self._form.max_reason is not None:
            sent = _object("Verdict", _fields(self._form, _Texts(self._form.max_reason)))
        return self._form.json_schema or GenerateJsonSchema().generate(sent)

    @cached_property
    def text(self) -> str:
        """The JSON schema as prompt text, in the order of its keys: judges write reasons first."""
        return json.dumps(self.json_schema, ensure_ascii=False)


def reply_schema(form: "Form") -> ReplySchema:
    """Return the schema of a form, built once for all forms with the same questions."""
    schema: ReplySchema | None = form.__dict__.get("_reply_schema")
    if schema is None:
        # A custom schema is sent with its key order, which `canonical` does not contain.
        schema = ReplySchema(form) if form.json_schema is not None else _schema_of(_Same(form))
        form.__dict__["_reply_schema"] = schema
    return schema


class _Same:
    """A cache key that is equal for all forms with the same questions."""

    __slots__ = ("form",)

    def __init__(self, form: "Form") -> None:
        self.form = form

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.form.canonical == other.form.canonical

    def __hash__(self) -> int:
        return hash(self.form.canonical)


@lru_cache(maxsize=128)
def _schema_of(same: _Same) -> ReplySchema:
    return ReplySchema(same.form)


def _object(name: str, fields: dict[str, CoreSchema]) -> CoreSchema:
    return core_schema.typed_dict_schema(
        {key: core_schema.typed_dict_field(kind, required=True) for key, kind in fields.items()},
        cls=type(name, (), {}),  # the JSON schema has its name as a title
        ref=f"{name}:0",  # pydantic names a definition by the part before the colon
        extra_behavior="forbid",
        config={"allow_inf_nan": False},
    )


def _fields(form: "Form", texts: _Texts) -> dict[str, CoreSchema]:
    fields = {
        question.id: _object(f"Answer{number}", _answer_fields(question, number, texts))
        for number, question in enumerate(form.questions)
    }
    return fields | {detail.name: texts.detail[detail.kind] for detail in form.details}


def _answer_fields(question: "Question", number: int, texts: _Texts) -> dict[str, CoreSchema]:
    details = {detail.name: texts.detail[detail.kind] for detail in question.details}
    quotes = {"quotes": texts.detail["list"]} if question.quotes else {}
    if question.kind == "checklist":
        return quotes | {"items": _items(question, number, texts)} | details
    value = _value(question)
    value = core_schema.nullable_schema(value) if question.nullable else value
    return {"reason": texts.text} | quotes | details | {"value": value}


def _one_of(words: tuple[str, ...]) -> CoreSchema:
    # Strict providers refuse an `enum` that lists a word twice.
    return core_schema.literal_schema(list(dict.fromkeys(words)))


def _value(question: "Question") -> CoreSchema:
    if question.labels:
        return _one_of(question.labels)
    if question.kind == "boolean":
        return _BOOLEAN
    return core_schema.float_schema(strict=True, ge=question.minimum, le=question.maximum)


def _items(question: "Question", number: int, texts: _Texts) -> CoreSchema:
    item = _one_of(question.items) if question.items else texts.item
    entry = _object(f"Item{number}", {"item": item, "reason": texts.text, "met": _BOOLEAN})
    count = len(question.items)
    return core_schema.list_schema(entry, min_length=count or None, max_length=count or MAX_ITEMS)
