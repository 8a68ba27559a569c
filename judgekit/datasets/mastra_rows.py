"""Rows of Mastra scorers: `{"input": ..., "output": ...}`, in one of several formats."""

from collections.abc import Iterable
from typing import Any

from judgekit.datasets.case_fields import CaseFields
from judgekit.datasets.chat_rows import MessageReader
from judgekit.datasets.formatting import kind, listed
from judgekit.datasets.row_builder import RowFault

INPUT_KEYS = (
    *("inputMessages", "messages", "prompt", "text", "content", "input", "user"),
    *("systemMessages", "taggedSystemMessages", "rememberedMessages"),
)
"""The keys of an input object; first those for the user's text, in order."""

OUTPUT_KEYS = ("text", "content", "body", "parts", "role")
"""The keys of an output object."""

MASTRA_EXTRAS = frozenset({"runId", "requestContext", "runtimeContext", "additionalContext"})
"""Keys of a scorer run that are kept in `metadata`."""

_MOST_NESTED = 20


def user_text(value: Any) -> str | None:
    """Return the first user message of a run's input.

    >>> user_text({"inputMessages": [{"role": "user", "content": "Hi"}]})
    'Hi'
    >>> user_text({"messages": [{"role": "system", "content": "Be brief."}]}) is None
    True
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return _first_of(value, "user")
    if not isinstance(value, dict):
        return None
    for key in INPUT_KEYS[:7]:
        item = value.get(key)
        if key.endswith("essages"):
            text = _first_of(_list(item), "user")
        elif key in ("prompt", "text"):
            text = item if isinstance(item, str) else None
        else:
            text = _text(item)
        if text is not None:
            return text
    return None


def system_text(value: Any) -> str | None:
    r"""Return the system prompts of a run's input, joined with a blank line.

    >>> system_text({"systemMessages": [{"content": "Be brief."}, {"content": "Be kind."}]})
    'Be brief.\n\nBe kind.'
    """
    if isinstance(value, list):
        value = {"messages": value}
    if not isinstance(value, dict):
        return None
    texts = [_all_text(message) for message in _list(value.get("systemMessages"))]
    for key in ("inputMessages", "messages"):
        texts += [_text(message) for message in _list(value.get(key)) if _role(message) == "system"]
    tagged = value.get("taggedSystemMessages")
    for messages in tagged.values() if isinstance(tagged, dict) else ():
        texts += [_text(message) for message in _list(messages)]
    return "\n\n".join(text for text in texts if text) or None


def assistant_text(value: Any) -> str | None:
    """Return the answer: the last assistant message of a run's output.

    >>> assistant_text({"role": "assistant", "text": "Hello!"})
    'Hello!'
    >>> assistant_text({"role": "user", "text": "Hello?"}) is None
    True
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return _first_of(reversed(value), "assistant")
    if not isinstance(value, dict) or value.get("role") not in (None, "assistant"):
        return None
    text = value.get("text")
    return text if isinstance(text, str) else _text(value)


def put_run(question: Any, answer: Any, fields: CaseFields) -> None:
    """Add the fields of a case from the input and output of a run.

    Remembered messages become `history`. Messages after the first user message are dropped.

    Raises:
        RowFault: the format of the input or the output is unknown.
    """
    _check(question, "input", INPUT_KEYS)
    _check(answer, "output", OUTPUT_KEYS)
    fields.put("input", user_text(question), source="input")
    fields.put("system", system_text(question), source="input")
    fields.put("output", assistant_text(answer), source="output")
    remembered = _list(question.get("rememberedMessages")) if isinstance(question, dict) else []
    reader = MessageReader()
    turns = []
    for index, message in enumerate(remembered):
        text = _text(message)
        plain = message | {"content": text} if isinstance(message, dict) and text else message
        turn = reader.read(plain, field=f"input.rememberedMessages.{index}")
        turns.append(turn.model_dump(exclude_defaults=True))
    if turns:
        fields.put("history", turns, source="input")


def put_ground_truth(value: Any, fields: CaseFields) -> None:
    """Add a run's `groundTruth`: a text becomes a reference, other values become `expected`."""
    if isinstance(value, str):
        fields.put("reference", value, source="groundTruth")
    elif value is not None:
        fields.put_inside("expected", "ground_truth", value, source="groundTruth")


def _check(value: Any, field: str, keys: tuple[str, ...]) -> None:
    if value is None or isinstance(value, str | list):
        return
    if isinstance(value, dict) and any(key in value for key in keys):
        return
    shown = f"an object with the keys {listed(value)}" if isinstance(value, dict) else kind(value)
    raise RowFault(
        f"expected text, messages or an object with one of {', '.join(keys)}; found {shown};"
        f" choose the part that is meant with fields: {{{field!r}: 'dotted.path'}}",
        field,
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _role(message: Any) -> Any:
    return message.get("role") if isinstance(message, dict) else None


def _first_of(messages: Iterable[Any], role: str) -> str | None:
    return next((_text(message) for message in messages if _role(message) == role), None)


def _text(value: Any, depth: int = 0) -> str | None:
    """Return the text of a content or message; of several parts, the last text part."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [part for part in value if isinstance(part, dict) and part.get("type") == "text"]
        texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
        return texts[-1] if texts else None
    if not isinstance(value, dict) or depth == _MOST_NESTED:
        return None
    for key in ("content", "text", "body", "parts"):
        item = value.get(key)
        text = _text(item, depth + 1) if key in ("content", "parts") else item
        # Stored messages may have an empty `content` in addition to parts with the text.
        if isinstance(text, str) and (text or "parts" not in value):
            return text
    return None


def _all_text(message: Any) -> str | None:
    """Return the text of a system message, of all its parts."""
    content = message.get("content") if isinstance(message, dict) else message
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return " ".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    return _text(message)
