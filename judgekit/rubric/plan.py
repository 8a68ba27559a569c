"""Plans: render a template once with placeholders, then fill in the texts of each case.

A template that only prints the texts of a case, plain or fenced, or tests whether they exist,
prints the same text for all cases of one shape, except for these texts. It may print them through
macros, `set` and blocks, also with `super()`. A template that reads or changes a text, or fences
the output of a macro or a block, has no plan and is rendered for each case.

Plans save a fifth of a replay: a row takes 1.26 million instructions with them, 1.63 without.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from judgekit.core.case import Case, Message, has_text
from judgekit.core.case_field import ANSWERS, TEXT_LISTS, TEXTS
from judgekit.core.request import ChatMessage
from judgekit.core.value import trusted
from judgekit.rubric.budget import MARK, MARK_END, Placeholder, Unplanned
from judgekit.rubric.filters import fenced
from judgekit.rubric.variant import CaseView, MessageView

MAX_PLANS = 64
"""Maximum number of shapes of cases that a rubric remembers for each mode."""
MAX_LIST = 16
"""Maximum number of messages, references, passages or choices of a case with a plan."""
MAX_FILLING = 1_000_000
"""Maximum number of characters of case text to fill in; longer prompts are rendered, which applies
the budget."""

_MARKED = re.compile(f"{MARK}([0-9]+){MARK_END}")

Shape = tuple[object, ...]


def shape_of(case: Case, history: Sequence[Message]) -> Shape | None:
    """Return which texts a case has; `None` if such cases have no plan."""
    fields = case.__dict__
    if fields["steps"] or fields["unread"]:
        return None
    lists: list[object] = []
    for name in TEXT_LISTS:
        if texts := fields[name]:
            if len(texts) > MAX_LIST:
                return None
            lists.append((name, *map(bool, texts)))
    if history:
        if len(history) > MAX_LIST or any(message.tool_calls for message in history):
            return None
        lists.append(("history", *[(message.role, bool(message.content)) for message in history]))
    return (*[_state(name, fields[name]) for name in TEXTS], *lists)


def _state(name: str, text: str | None) -> bool | None:
    """Return what a template learns by testing a text: an empty answer is not a missing one."""
    if name in ANSWERS:
        return None if text is None else text != ""
    return has_text(text)


class Outline(CaseView):
    """A case with placeholders instead of its texts."""

    __slots__ = ()

    def __init__(self, case: Case, history: Sequence[Message]) -> None:
        super().__init__(case, case.history)
        self._history = [MessageOutline(n, message) for n, message in enumerate(history)]

    def __getattr__(self, name: str) -> Any:
        value = super().__getattr__(name)
        if name in TEXTS:
            return Placeholder(name) if value else value
        if name in TEXT_LISTS:
            return tuple(Placeholder(name, n) if text else text for n, text in enumerate(value))
        if name == "history" or (name == "steps" and not value):
            return value  # a case with steps has no plan
        # The value of this case would be printed for all cases of its shape.
        raise Unplanned


class MessageOutline(MessageView):
    """An earlier message with a placeholder as its text; it has no tool calls."""

    __slots__ = ()

    def __init__(self, number: int, message: Message) -> None:
        super().__init__(message)
        self.text = self.content = Placeholder("history", number) if message.content else ""


class _Planned(NamedTuple):
    """One message, split at its placeholders."""

    role: str
    pieces: tuple[tuple[str, Placeholder | None], ...]
    """Each literal text with the placeholder that follows it."""


class Plan:
    """The messages for all cases of one shape.

    Args:
        messages: role and text of each, with marks for the printed placeholders.
        placeholders: the printed placeholders, by the number of their mark.

    Raises:
        Unplanned: a mark is incomplete.
    """

    def __init__(
        self, messages: Sequence[tuple[str, str]], placeholders: Sequence[Placeholder]
    ) -> None:
        self._messages: list[ChatMessage | _Planned] = []
        self._system = ("", "", "")
        for role, text in messages:
            parts = _MARKED.split(text)
            literal = "".join(parts[::2])
            if MARK in literal or MARK_END in literal:
                raise Unplanned
            if len(parts) > 1:
                named = (placeholders[int(number)] for number in parts[1::2])
                pieces = tuple(zip_longest(parts[::2], named))
                self._messages.append(_Planned(role, pieces))
            elif text:
                self._messages.append(_message(role, text))

    def fill(self, case: Case, history: Sequence[Message]) -> tuple[ChatMessage, ...] | None:
        """Return the messages for a case of this shape; `None` if its texts are very long."""
        room = MAX_FILLING
        filled = []
        fields = case.__dict__
        for message in self._messages:
            if isinstance(message, ChatMessage):
                filled.append(message)
                continue
            texts = []
            for literal, placeholder in message.pieces:
                texts.append(literal)
                if placeholder is None:
                    break
                name, number, tag = placeholder.name, placeholder.number, placeholder.tag
                if name == "history":
                    text = history[number].content
                else:
                    text = fields[name] if number < 0 else fields[name][number]
                room -= len(text)
                if room < 0:
                    return None
                if tag is None:
                    texts.append(text)
                elif name == "system":
                    texts.append(self._fenced_system(text, tag))
                else:
                    texts.append(fenced(text, tag))
            if whole := "".join(texts).strip():
                filled.append(_message(message.role, whole))
        return tuple(filled)

    def _fenced_system(self, text: str, tag: str) -> str:
        """Return a system prompt in its fence; the last one is cached for the next case."""
        last_text, last_tag, whole = self._system
        if last_text != text or last_tag != tag:
            whole = fenced(text, tag)
            self._system = (text, tag, whole)
        return whole


def _message(role: str, text: str) -> ChatMessage:
    return trusted(ChatMessage, {"role": role, "content": text, "shared": 0})
