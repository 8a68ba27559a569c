"""Validate a judge's reply against its form: return a judgment or raise an error."""

import re
from contextlib import suppress
from typing import Any, NamedTuple

from pydantic import BaseModel, Field, ValidationError

from judgekit.core.canonical import visible
from judgekit.core.distribution import Distribution, Label
from judgekit.core.errors import InvalidReply, JudgekitError, JudgeRefused
from judgekit.core.json_extraction import extract_object
from judgekit.core.repetition import repeated_end
from judgekit.core.replies.text import CUT_OFF, REFUSED, shortened
from judgekit.core.reply_schema import MAX_REPLY_CHARACTERS, reply_schema
from judgekit.core.request import Form, Reply, Try
from judgekit.core.value import Json, Value, trusted

MAX_REASON = 20_000
"""Maximum length of a stored reason; the tape has the whole text."""


class Quote(Value):
    """Words that a judge quotes as evidence, and the field of the case that contains them."""

    text: str
    field: str | None = None
    """The field of the case that contains the words; `None` if none does."""


class Answer(Value):
    """The answer to one question."""

    value: Label = None
    """A number, a boolean or a label; `None` if the judge abstained or returned a list."""
    reason: str = ""
    quotes: tuple[str, ...] = ()
    items: tuple[dict[str, Json], ...] = ()
    """The items of a checklist, each `{item, met, reason}`."""
    details: dict[str, Json] = Field(default_factory=dict)
    probability: float | None = Field(default=None, ge=0, le=1)
    """Probability of a yes, if the judge gave one."""
    distribution: Distribution | None = None
    """The distribution over the answers, if the judge gave probabilities."""


class Judgment(Value):
    """A validated reply."""

    request_key: str
    answers: dict[str, Answer] = Field(default_factory=dict)
    """Question -> answer. Empty in a score with a single judgment: its parts have the answers."""
    details: dict[str, Json] = Field(default_factory=dict)
    """The values of the form's details."""
    data: Json = None
    """The validated object, if the form is a custom JSON schema."""
    model: str | None = None
    repairs: tuple[str, ...] = ()
    """Repairs that the text needed (see `extract_object`)."""
    tries: int = 1


class ParsedReply(NamedTuple):
    """A reply's text as validated values."""

    answers: dict[str, Answer]
    """Question -> answer, in the order of the form."""
    details: dict[str, Json]
    """The values of the form's details."""
    data: Json
    """The whole object, if the form is a custom JSON schema."""
    repairs: tuple[str, ...]
    """Repairs that the text needed (see `extract_object`)."""


def parse_reply(text: str, form: Form) -> ParsedReply:
    """Parse and validate the text of a reply, live or replayed.

    Raises:
        InvalidReply: the text has no object, or one that does not fit the form.
    """
    if form.api is not None:
        return _read_by_api(text, form)
    if form.json_schema is not None:
        value, repairs = extract_object(text, reply_schema(form).names)
        return ParsedReply({}, {}, value, repairs)
    if form.partial:
        return _read_partial(text, form)
    fields, repairs = _plain_json(text, form), ()
    if fields is None:
        schema = reply_schema(form)
        value, repairs = extract_object(text, schema.names, fits=schema.fits)
        fields = _validated(value, form)
    answers, details = _answers(fields, form, clean=_is_clean(text))
    return ParsedReply(answers, details, None, repairs)


def _read_by_api(text: str, form: Form) -> ParsedReply:
    # Chat replies do not need these readers.
    from judgekit.core.replies.decisions import read_decisions, read_recorded

    if form.api != "recorded":
        answers = {id: Answer(**fields) for id, fields in read_decisions(text, form).items()}
        return ParsedReply(answers, {}, None, ())
    verdict = read_recorded(text, form)
    if verdict.raw is not None:
        return parse_reply(verdict.raw, form.of_api(None))
    answers, details = _answers(
        _validated(verdict.answers, verdict.form), verdict.form, clean=False
    )
    for id, distribution in verdict.distributions.items():
        update = {"distribution": distribution, "probability": distribution.yes}
        answers[id] = answers[id].model_copy(update=update)
    return ParsedReply(answers, details, None, ())


def _read_partial(text: str, form: Form) -> ParsedReply:
    """Return the valid answers in a reply; a question that it answers twice has none."""
    names = frozenset(question.id for question in form.questions)
    value, repairs = extract_object(text, names, repeatable=names)
    answers: dict[str, Answer] = {}
    for question in form.questions:
        if question.id not in value:
            continue
        # Texts and ids do not matter to the schema: few schemas serve all criteria.
        alone = Form(
            questions=(question.model_copy(update={"id": "q", "text": ""}),),
            max_reason=form.max_reason,
        )
        with suppress(InvalidReply):
            answers[question.id] = read_answers({"q": value[question.id]}, form=alone)[0]["q"]
    if not answers:
        raise InvalidReply(f"the reply answers none of {', '.join(sorted(names)[:3])}, ...")
    return ParsedReply(answers, {}, None, repairs)


def parse_try(attempt: Try, form: Form) -> ParsedReply:
    """Return the values of one attempt; a valid one is parsed once.

    Raises:
        CaseError: the model rejects this case.
        JudgeRefused: the judge declined.
        InvalidReply: the text was cut off, empty, or not of the form.
    """
    cached: tuple[Form, ParsedReply] | None = attempt.__dict__.get("_parsed")
    if cached is not None and cached[0] is form:
        return cached[1]
    parsed = parse_reply(_text_of(attempt, form), form)
    attempt.__dict__["_parsed"] = (form, parsed)
    return parsed


def keep_parsed(attempt: Try, form: Form, text: str, parsed: ParsedReply) -> None:
    """Cache the parsed values of an attempt, if they are those of its text."""
    with suppress(JudgekitError):
        if _text_of(attempt, form) == text:
            attempt.__dict__["_parsed"] = (form, parsed)


def read_reply(
    reply: Reply,
    *,
    form: Form,
    request_key: str,
    response_model: type[BaseModel] | None = None,
) -> Judgment:
    """Return the judgment of a reply, live or replayed.

    Raises:
        CaseError: the model rejects this case.
        JudgeRefused: the judge declined.
        InvalidReply: the text was cut off, empty, or not of the form.
    """
    last = reply.tries[-1]
    answers, details, data, repairs = parse_try(last, form)
    if last.logprobs is not None:
        answers = _with_distributions(answers, last, form)
    if response_model is not None:
        data = _validate_own(data, response_model)
    return trusted(
        Judgment,
        {
            "request_key": request_key,
            "answers": answers,
            "details": details,
            "data": data,
            "model": reply.model,
            "repairs": repairs,
            "tries": len(reply.tries),
        },
    )


def _with_distributions(answers: dict[str, Answer], last: Try, form: Form) -> dict[str, Answer]:
    """Return answers with the distributions that the log-probabilities of the tokens give."""
    from judgekit.core.replies.token_distribution import token_distributions

    known = token_distributions(last, form)
    return {
        id: answer.model_copy(update={"distribution": known[id]}) if id in known else answer
        for id, answer in answers.items()
    }


def _text_of(last: Try, form: Form) -> str:
    """Return the text of an attempt that has one and is complete."""
    if last.fault is not None:
        raise last.fault.error()
    text = last.text or ""
    if (last.refusal or "").strip() or last.finish in REFUSED:
        raise JudgeRefused(f"the judge declined: {shortened(last.refusal or last.finish or '')}")
    if last.finish in CUT_OFF:
        raise InvalidReply(_cut_off(last, form), kind="truncated")
    if not text or text.isspace():
        if last.thought:
            raise InvalidReply(
                f"the judge thought for {last.thought:,} characters and gave no answer",
                kind="only_thought",
            )
        raise InvalidReply("the reply is empty", kind="empty")
    return text


def _cut_off(last: Try, form: Form) -> str:
    if last.thought and not (last.text or "").strip():
        return (
            f"the judge's thinking ({last.thought:,} characters of it) used up max_tokens before "
            "any answer; raise max_tokens"
        )
    cut = f"the reply was cut off after {len(last.text or ''):,} characters"
    phrase = repeated_end(last.text or "")
    if phrase is None:
        return f"{cut}; raise max_tokens"
    loop = f"{cut} because the judge repeats {shortened(phrase) or 'white space'!r}"
    if '"item"' in phrase and '"met"' in phrase:
        # A bound of the list would drop requirements or statements of a good judge silently.
        return f"{loop}, entries of a list; name the items in the rubric, or use a larger model"
    if form.max_reason is None:
        return f"{loop}; give the judge or the metric a max_reason, such as 160"
    return f"{loop}, although max_reason is {form.max_reason}; lower it, or change params"


def read_answers(value: dict[str, Any], *, form: Form) -> tuple[dict[str, Answer], dict[str, Json]]:
    """Validate an object against a form: its answers, in the form's order, and its details.

    Raises:
        InvalidReply: naming the first field that is wrong.
    """
    return _answers(_validated(value, form), form, clean=False)


def _validated(value: dict[str, Any], form: Form) -> dict[str, Any]:
    try:
        fields: dict[str, Any] = reply_schema(form).validator.validate_python(value)
    except ValidationError as exc:
        raise InvalidReply(_first_fault(exc)) from exc
    return fields


def _answers(
    fields: dict[str, Any], form: Form, *, clean: bool
) -> tuple[dict[str, Answer], dict[str, Json]]:
    """Return validated fields as answers and details; `clean` texts need no replacements."""
    schema = reply_schema(form)
    for id, items in schema.fixed_items:
        if sorted(entry["item"] for entry in fields[id]["items"]) != items:
            raise InvalidReply(f"{id}: answer each listed item once")
    answers = {}
    for id, is_checklist, has_quotes in schema.kinds:
        answer = fields.pop(id)
        value = None if is_checklist else answer.pop("value")
        if not clean:
            answer = _cleaned(answer)
        if form.max_reason is not None:
            answer = _cut_texts(answer, form.max_reason)
        entries = answer.pop("items") if is_checklist else ()
        for entry in entries:
            entry["reason"] = entry.pop("reason")  # rows have it after `met`
        answers[id] = trusted(
            Answer,
            {
                "value": value,
                "reason": "" if is_checklist else answer.pop("reason"),
                "quotes": tuple(answer.pop("quotes")) if has_quotes else (),
                "items": tuple(entries),
                "details": answer,
                "probability": None,
                "distribution": None,
            },
        )
    fields = fields if clean else _cleaned(fields)
    return answers, fields if form.max_reason is None else _cut_texts(fields, form.max_reason)


def with_quotes(answers: dict[str, Any], *, form: Form) -> dict[str, Any]:
    """Return a person's answers with an empty list where a criterion asks for quotes.

    People who label cases give verdicts and reasons; quotes are work that only a judge must do.
    """
    missing = [
        q.id
        for q in form.questions
        if q.quotes and isinstance(answers.get(q.id), dict) and "quotes" not in answers[q.id]
    ]
    return {**answers, **{id: {"quotes": [], **answers[id]} for id in missing}}


# The next two functions save a fifth of a replay (280,000 of 1,544,000 instructions per row).

_SPACED_KEY = re.compile('"[ \t\r\n]+:')


def _plain_json(text: str, form: Form) -> dict[str, Any] | None:
    """Return the validated fields of plain JSON; `None` if the text needs `extract_object`.

    pydantic's parser keeps the last of two equal keys, so the keys are counted.
    """
    if len(text) > MAX_REPLY_CHARACTERS:
        return None
    schema = reply_schema(form)
    try:
        fields: dict[str, Any] = schema.validator.validate_json(text)
    except ValidationError:
        return None
    keys = schema.keys + 3 * sum([len(fields[id]["items"]) for id in schema.checklists])
    # Every key needs a colon, so the number of colons limits the number of keys.
    if text.count(":") != keys and (text.count('":') != keys or _SPACED_KEY.search(text)):
        return None
    return fields


def _is_clean(text: str) -> bool:
    """Return whether the strings in a JSON text are certain to have no control characters.

    Without escapes they equal the text, and JSON allows no raw control characters below U+0020.
    """
    if len(text) > MAX_REASON or "\\" in text:
        return False
    return "\x7f" not in text if text.isascii() else text.isprintable()


def _cleaned(value: Any) -> Any:
    """Return a value of a reply without control characters in its texts."""
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    if isinstance(value, dict):
        return {name: _cleaned(item) for name, item in value.items()}
    return value


_WHOLE = ("quotes", "item")
"""Texts that are compared with other texts, so they are never cut."""


def _cut_texts(value: Any, most: int) -> Any:
    """Return a value of a reply with texts of at most `most` characters and a mark of the cut."""
    if isinstance(value, str):
        return value if len(value) <= most else value[:most] + "…"
    if isinstance(value, list):
        return [_cut_texts(item, most) for item in value]
    if isinstance(value, dict):
        return {n: v if n in _WHOLE else _cut_texts(v, most) for n, v in value.items()}
    return value


def _clean(text: str) -> str:
    text = visible(text)
    return text if len(text) <= MAX_REASON else text[:MAX_REASON] + "…"


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
    return shortened(f"{where}: {fault['msg']}{tail}" if where else f"{fault['msg']}{tail}")
