"""A judge's reply, read against the form it fills in: a judgment, or what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel, Field, ValidationError
from pydantic_core import SchemaValidator

from judgekit.core.canonical import visible
from judgekit.core.errors import InvalidReply, JudgeRefused
from judgekit.core.reply_schema import MAX_REPLY_CHARACTERS, fields_of, filled_schema
from judgekit.core.request import Form, Reply, Try
from judgekit.core.value import Json, Value, trusted

MAX_REASON = 20_000
"""Characters of a reason that are kept; the whole of it stays on the tape."""


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
    text = _text_of(reply)
    if form.json_schema is not None:
        from judgekit.core.json_extraction import extract_object

        value, repairs = extract_object(text)
        own = _validate_own(value, response_model)
        return _judgment(reply, request_key, repairs=repairs, data=own)
    heard = hear(reply, form=form, request_key=request_key)
    return heard.judgment.model_copy(update={"answers": heard.answers()})


Said = tuple[Any, str, tuple[str, ...], tuple[dict[str, Json], ...], dict[str, Json]]
"""What was said to one question: value, reason, quotes, items and details, as in `Answer`."""


class Heard(NamedTuple):
    """A judgment whose answers were read, and not yet made into values."""

    judgment: Judgment
    """Without its answers."""
    said: list[Said]
    """In the order of the form's questions."""
    form: Form

    def answers(self) -> dict[str, Answer]:
        """Return the answers as values."""
        return _answers(self.form, self.said)


def hear(reply: Reply, *, form: Form, request_key: str) -> Heard:
    """Validate a reply to questions as `read_reply` does, without making values of its answers.

    Raises:
        JudgeRefused: the judge declined.
        InvalidReply: the text was cut off, empty, or not of the form.
    """
    text = _text_of(reply)
    reader = _reader(form)
    filled = reader.read_plain(text)
    repairs: tuple[str, ...] = ()
    if filled is None:
        from judgekit.core.json_extraction import extract_object

        value, repairs = extract_object(text)
        filled = reader.read(value)
    said, details = filled
    return Heard(_judgment(reply, request_key, repairs=repairs, details=details), said, form)


def _judgment(
    reply: Reply,
    request_key: str,
    *,
    repairs: tuple[str, ...],
    details: dict[str, Json] | None = None,
    data: Json = None,
) -> Judgment:
    return trusted(
        Judgment,
        {
            "request_key": request_key,
            "answers": {},
            "details": details or {},
            "data": data,
            "model": reply.model,
            "repairs": repairs,
            "tries": len(reply.tries),
        },
    )


def _text_of(reply: Reply) -> str:
    """Return the text that counts, of a reply that has one."""
    last = reply.tries[-1]
    if last.fault is not None:
        raise last.fault.error()
    text = last.text or ""
    empty = not text or text.isspace()
    if last.refusal is not None or last.finish in _REFUSED:
        raise JudgeRefused(f"the judge declined: {_short(last.refusal or last.finish or '')}")
    if last.finish in _TRUNCATED:
        raise InvalidReply(_cut_off(last), kind="truncated")
    if empty:
        if last.thought:
            raise InvalidReply(
                f"the judge thought for {last.thought:,} characters and gave no answer",
                kind="only_thought",
            )
        raise InvalidReply("the reply is empty", kind="empty")
    return text


def _cut_off(last: Try) -> str:
    if last.thought and not (last.text or "").strip():
        return (
            f"the judge's thinking ({last.thought:,} characters of it) used up max_tokens before "
            "any answer; raise max_tokens"
        )
    return f"the reply was cut off after {len(last.text or ''):,} characters; raise max_tokens"


def read_answers(value: dict[str, Any], *, form: Form) -> tuple[dict[str, Answer], dict[str, Json]]:
    """Validate an object against a form: its answers, in the form's order, and its details.

    Raises:
        InvalidReply: naming the first field at fault.
    """
    said, details = _reader(form).read(value)
    return _answers(form, said), details


def _answers(form: Form, said: Sequence[Said]) -> dict[str, Answer]:
    return {
        question.id: trusted(
            Answer,
            {
                "value": value,
                "reason": reason,
                "quotes": quotes,
                "items": items,
                "details": details,
                "probability": None,
            },
        )
        for question, (value, reason, quotes, items, details) in zip(
            form.questions, said, strict=True
        )
    }


_SPACED_KEY = re.compile('"[ \t\r\n]+:')


def _is_clean(text: str) -> bool:
    """Return whether the strings in a JSON text need no cleaning, as far as a look can tell.

    Without escapes, they hold what the text shows; JSON lets no control character stand in them
    but those from U+007F on.
    """
    if len(text) > MAX_REASON or "\\" in text:
        return False
    return "\x7f" not in text if text.isascii() else text.isprintable()


def _reader(form: Form) -> _Reader:
    reader: _Reader | None = form.__dict__.get("_reader")
    if reader is None:
        reader = form.__dict__["_reader"] = _Reader(form)
    return reader


class _Reader:
    """Reads filled forms of one kind: what pydantic lets through becomes answers, in one pass."""

    def __init__(self, form: Form) -> None:
        self._schema = SchemaValidator(filled_schema(form))
        self._lists = [q.id for q in form.questions if q.kind == "checklist"]
        self._fixed = [
            (q.id, sorted(q.items)) for q in form.questions if q.kind == "checklist" and q.items
        ]
        self._kinds = [(q.id, q.kind == "checklist", q.quotes) for q in form.questions]
        self._keys = len(form.details) + sum(
            1 + len(fields_of(question)) for question in form.questions
        )
        """Keys of a filled form, those in the items of checklists left out."""

    def read_plain(self, text: str) -> tuple[list[Said], dict[str, Json]] | None:
        """Read a text that is plain JSON; return `None` when it needs a closer look.

        pydantic's parser keeps the last of two equal keys, so the keys are counted: more of them
        than the form has, or a key that is spelled in a way the count would miss, is looked at
        again.
        """
        if len(text) > MAX_REPLY_CHARACTERS:
            return None
        try:
            filled = self._schema.validate_json(text)
        except ValidationError:
            return None
        keys = self._keys
        for checklist in self._lists:
            keys += 3 * len(filled[checklist]["items"])
        # Every key takes a colon, so where there are no more of them there are no more keys.
        if text.count(":") != keys and (text.count('":') != keys or _SPACED_KEY.search(text)):
            return None
        return self._said(filled, clean=_is_clean(text))

    def read(self, value: dict[str, Any]) -> tuple[list[Said], dict[str, Json]]:
        """Read an object.

        Raises:
            InvalidReply: naming the first field at fault.
        """
        try:
            filled = self._schema.validate_python(value)
        except ValidationError as exc:
            raise InvalidReply(_first_fault(exc)) from exc
        return self._said(filled, clean=False)

    def _said(self, filled: dict[str, Any], *, clean: bool) -> tuple[list[Said], dict[str, Json]]:
        """Return what a filled form says, which is used up: what is left are the details."""
        for id, items in self._fixed:
            if sorted(entry["item"] for entry in filled[id]["items"]) != items:
                raise InvalidReply(f"{id}: answer each listed item once")
        if not clean:
            filled = {name: _cleaned(said, keep="value") for name, said in filled.items()}
        answers: list[Said] = []
        for id, is_checklist, has_quotes in self._kinds:
            said = filled.pop(id)
            take = said.pop
            quotes = tuple(take("quotes")) if has_quotes else ()
            if is_checklist:
                answers.append((None, "", quotes, tuple(take("items")), said))
            else:
                answers.append((take("value"), take("reason"), quotes, (), said))
        return answers, filled


def _cleaned(value: Any, *, keep: str = "") -> Any:
    """Return what a judge said with its texts made fit to show; `keep` names what stays as is."""
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    if isinstance(value, dict):
        return {n: said if n == keep else _cleaned(said) for n, said in value.items()}
    return value


def _clean(text: str) -> str:
    text = visible(text)
    return text if len(text) <= MAX_REASON else text[:MAX_REASON] + "…"


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
