"""A case: one thing to score, with everything a metric may need to know of it."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, JsonValue

from judgekit.core.canonical import digest
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


def _texts(value: Any) -> Any:
    """Take one text where several are accepted."""
    return (value,) if isinstance(value, str) else () if value is None else value


Texts = Annotated[tuple[str, ...], BeforeValidator(_texts)]


class Case(Displayed, Value):
    """One thing to score. Only `id` is always there; each metric says what else it needs."""

    id: str = Field(min_length=1, max_length=1000)
    """Unique in its data set; results and reports name the case by it."""
    input: str | None = None
    """What the user asked last."""
    output: str | None = None
    """The answer to score."""
    system: str | None = None
    """The system prompt the answer was written under."""
    history: tuple[Message, ...] = ()
    """Earlier messages, oldest first; a session is history + input + output."""
    reference: Texts = ()
    """Accepted answers, any of which will do."""
    context: Texts = ()
    """Retrieved passages the answer should rest on."""
    baseline: str | None = None
    """Another answer to the same input, to compare with."""
    choices: Texts = ()
    """The options of a multiple-choice question."""
    expected: dict[str, JsonValue] = Field(default_factory=dict)
    """What particular metrics need, typed by them: facts, required elements, tool calls."""
    parent: str | None = None
    """The id of the case that this one is a perturbed copy of."""
    labels: dict[str, JsonValue] = Field(default_factory=dict)
    """Human scores. Never shown to a judge."""
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    """Anything else worth keeping; reports filter by it."""

    def _parts_shown(self) -> "Iterable[Shown]":
        from judgekit.core.display.result import case_parts

        return case_parts(self)


CASE_TEXTS = ("system", "input", "output", "baseline", "reference", "context")
"""The text fields of a case, in the order reports show them."""
CASE_WORDS = frozenset((*CASE_TEXTS, "choices"))
"""The fields of a case that hold text."""


def as_text(value: Any) -> Any:
    """Return what a text field takes: numbers, true and false as JSON writes them.

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
"""Key of `metadata` under which a case notes who gave its output and its baseline."""


def has_text(text: str | None) -> bool:
    """Return whether there is anything but white space: a blank field counts as missing."""
    return text is not None and text != "" and not text.isspace()


def output_digest(output: str | None) -> str:
    """Return the digest that labels carry of the output that was judged: 16 hex digits.

    >>> output_digest("It is open.")
    'da7973d455ab42b3'
    """
    return digest((output or "").encode("utf-8", "surrogatepass"))[:16]
