"""A case as templates see it."""

from __future__ import annotations

from typing import Any

from judgekit.core.case import Case, Message
from judgekit.rubric.sandbox import View

CASE_FIELDS = (
    "baseline", "choices", "context", "expected", "history", "input", "metadata",
    "output", "reference", "system",
)  # fmt: skip
"""The fields of a case that a template may read; labels are not among them."""


class CaseView(View):
    """A case as templates see it; remembers whether a field was read."""

    __slots__ = ("_fields", "_history", "_read")

    def __init__(self, case: Case, history: tuple[Message, ...]) -> None:
        self._fields = case
        self._history: list[MessageView] | None = None
        self._read = False
        if history != case.history:
            self._fields = case.model_copy(update={"history": history})

    def __getattr__(self, name: str) -> Any:
        if name not in CASE_FIELDS:
            raise AttributeError(name)
        self._read = True
        value = getattr(self._fields, name)
        if name == "history":
            if self._history is None:
                self._history = [MessageView(message) for message in value]
            return self._history
        if isinstance(value, str) and not value.strip():
            return None
        return value

    def __dir__(self) -> tuple[str, ...]:
        return CASE_FIELDS

    def __str__(self) -> str:
        raise TypeError("print a field of the case, such as case.output")

    def _was_read(self) -> bool:
        """Return whether a field of the case was read."""
        return self._read


class MessageView(View):
    """An earlier message as templates see it."""

    __slots__ = ("content", "role", "text", "tool_calls")

    def __init__(self, message: Message) -> None:
        self.role = message.role
        self.content = message.content
        self.tool_calls = message.tool_calls
        calls = [
            f"[calls {call.name}({_arguments(call.arguments)})]" for call in message.tool_calls
        ]
        self.text = "\n".join(filter(None, [message.content, *calls]))


def _arguments(value: Any) -> str:
    from judgekit.core.canonical import canonical_json

    return "" if value is None else canonical_json(value)
