"""Show the steps of an answer in a prompt whose template does not print them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import get_args

from judgekit.core.case import Case, Message
from judgekit.core.request import ChatMessage
from judgekit.rubric.filters import fenced
from judgekit.rubric.variant import MessageView

_HEADING = "What the assistant did before it answered:"
_ROLES = get_args(Message.model_fields["role"].annotation)


def with_steps(
    messages: tuple[ChatMessage, ...], case: Case, *, reads: Collection[str]
) -> tuple[ChatMessage, ...]:
    """Return messages that show the steps of a case after its input.

    The templates of older rubrics know no steps. A change of the files would change their digests,
    so that runs before and after it could not be compared. Messages stay as they are if they show
    the steps, if they do not show the input in a fence, and if they show two answers: the steps
    belong to one of them.

    Args:
        messages: the messages of the template.
        case: the case.
        reads: the names that the template reads. An answer often repeats the result of a tool, so
            a text of a step in the prompt does not mean that the template shows the steps.
    """
    fields = case.__dict__
    views = [MessageView(message) for message in fields["steps"]]
    block = "\n".join([_HEADING, *(fenced(str(view.text), view.role) for view in views)])
    if not messages:  # a template may render nothing
        return messages
    *before, last = messages
    two = "baseline" in reads and fields["baseline"] is not None
    if two and _fences(last.content, fields["baseline"]):
        return messages
    if "steps" in reads and any(
        str(view.text) and str(view.text) in last.content for view in views
    ):
        return messages
    at = next(iter(_fences(last.content, fields["input"])), None) if fields["input"] else None
    if at is None:
        return messages
    _ = case.steps  # an error if they were not read whole
    text = f"{last.content[:at]}\n{block}{last.content[at:]}"
    return (*before, last.model_copy(update={"content": text}))


def _fences(prompt: str, text: str) -> list[int]:
    return list(_ends(prompt, text))


def _ends(prompt: str, text: str) -> Iterator[int]:
    """Yield the ends of the fences around a text, except those of messages."""
    _, _, rest = fenced(text, "x").partition("<x")
    inner = rest.removesuffix(rest[rest.rindex("</x") :])
    at = prompt.find(inner)
    while at >= 0:
        tag = prompt[prompt.rfind("<", 0, at) + 1 : at]
        end = prompt.find(">", at + len(inner))
        if tag not in _ROLES and end >= 0:
            yield end + 1
        at = prompt.find(inner, at + 1)
