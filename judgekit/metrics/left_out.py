"""What a judge was not shown of a case, for the details of a score."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from judgekit.core.canonical import canonical_json, visible
from judgekit.core.case import Case, Message, has_text
from judgekit.core.case_field import TEXT_LISTS, TEXTS
from judgekit.core.request import ChatMessage
from judgekit.core.value import Json
from judgekit.rubric.asked import prints
from judgekit.rubric.plan import Shape, shape_of
from judgekit.rubric.rubric import Rubric

NEVER = "never shown, although the rubric requires it"


class PrintedFields:
    """Finds out which fields of a case a rubric prints, and what of them a prompt leaves out.

    Args:
        rubric: the rubric.
        mode: its mode.
        most: the maximum number of earlier messages that the judge sees.
    """

    def __init__(self, rubric: Rubric, *, mode: str, most: int) -> None:
        self._rubric = rubric
        self._mode = mode
        self._most = most
        self._not_printed: set[tuple[Shape | None, str]] = set()

    def left_out(self, case: Case, messages: Sequence[ChatMessage]) -> dict[str, Json]:
        """Return what messages to the judge leave out of a case, by field; mostly nothing."""
        known: dict[str, Shape | None] = {}

        def prints_field(name: str) -> bool:
            if not known:
                known[""] = shape_of(case, case.__dict__["history"])
            shape = known[""]
            if (shape, name) in self._not_printed:
                return False
            printed = prints(self._rubric, case, name, mode=self._mode)
            if not printed and self._rubric.template.has_plan(shape):
                self._not_printed.add((shape, name))  # so are all cases of this shape
            return printed

        return left_out(
            case,
            messages,
            most=self._most,
            prints=prints_field,
            required=self._rubric.requires,
        )


def left_out(
    case: Case,
    messages: Sequence[ChatMessage],
    *,
    most: int,
    prints: Callable[[str], bool],
    required: Collection[str] = (),
) -> dict[str, Json]:
    """Return what the messages leave out of the fields that they print, by field.

    Args:
        case: the case.
        messages: the messages to the judge.
        most: the maximum number of earlier messages that the judge sees.
        prints: whether the rubric prints anything of a field of this case. A field that it never
            asks for is not left out.
        required: the fields that the rubric requires; it asks for them, printed or not.
    """
    fields = case.__dict__
    prompt = _Prompt(messages)
    left: dict[str, Json] = {}
    for name in TEXTS:
        text = fields[name]
        if not has_text(text) or prompt.has(text):
            continue
        if prints(name):
            left[name] = f"cut or changed; it has {len(text):,} characters"
        elif name in required:
            left[name] = NEVER
    for name in TEXT_LISTS:
        texts = [text for text in fields[name] if has_text(text)]
        absent = [text for text in texts if not prompt.has(text)]
        if absent and (len(absent) < len(texts) or prints(name)):
            left[name] = f"{len(absent)} of {len(texts)} texts"
        elif absent and name in required:
            left[name] = NEVER
    earlier = fields["history"]
    recent = earlier[-most:] if most else ()
    gone = [message for message in recent if not prompt.has_all(_texts_of(message))]
    count = len(earlier) - len(recent) + len(gone)
    if count and (len(gone) < len(recent) or prints("history")):
        left["history"] = f"{count} of {len(earlier)} earlier messages"
    if not all(prompt.has_all(_texts_of(step)) for step in fields["steps"]):
        left["steps"] = f"{len(fields['steps'])} messages before the answer"
    return left | _beside(fields["metadata"], fields["output"])


def _beside(metadata: Mapping[str, Any], output: str | None) -> dict[str, Json]:
    """Return what messages hold beside their texts, which only the metadata has."""
    left: dict[str, Json] = {}
    calls = metadata.get("tool_calls")
    if isinstance(calls, list) and calls:
        names = [str(call["name"]) for call in calls if isinstance(call, dict) and "name" in call]
        if not all(canonical_json(name) in (output or "") for name in names):
            left["metadata.tool_calls"] = f"calls of the last message: {', '.join(names)}"
    kept = metadata.get("message_fields")
    if isinstance(kept, dict) and kept:
        each = (f"{place}: {', '.join(keys)}" for place, keys in kept.items() if keys)
        left["metadata.message_fields"] = "; ".join(each)
    return left


class _Prompt:
    """The text of messages, in which other texts are looked up."""

    def __init__(self, messages: Sequence[ChatMessage]) -> None:
        self._text = "\n".join(message.content for message in messages)
        self._words: str | None = None

    def has(self, text: str) -> bool:
        """Return whether a text is there whole, in one of the forms in which templates print it."""
        if text in self._text or visible(text) in self._text:
            return True
        if canonical_json(text)[1:-1] in self._text:  # the filter `json`, and texts of criteria
            return True
        if self._words is None:
            self._words = " ".join(self._text.split())
        return " ".join(visible(text).split()) in self._words  # indented, or without blank ends

    def has_all(self, texts: Iterable[str]) -> bool:
        return all(map(self.has, texts))


def _texts_of(message: Message) -> Iterator[str]:
    if has_text(message.content):
        yield message.content
    for call in message.tool_calls:
        yield call.name
        if call.arguments is not None:
            yield canonical_json(call.arguments)
