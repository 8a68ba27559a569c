"""What a judge was not shown of a case, for the details of a score."""

from __future__ import annotations

from collections.abc import Sequence

from judgekit.core.canonical import canonical_json
from judgekit.core.case import Case
from judgekit.core.request import ChatMessage
from judgekit.core.value import Json

SHOWN = "shown"
"""Key of the details of a score; only there if something was left out."""


def left_out(case: Case, messages: Sequence[ChatMessage], *, most: int) -> dict[str, Json]:
    """Return what the messages leave out of the conversation of a case, by field.

    Args:
        case: the case.
        messages: the messages to the judge.
        most: the maximum number of earlier messages that the judge sees. They count as left out
            only if the messages show some of them: a rubric need not print them at all.
    """
    fields = case.__dict__
    left: dict[str, Json] = {}
    earlier, steps, metadata = fields["history"], fields["steps"], fields["metadata"]
    many = len(earlier) > most > 0
    if not (many or steps or "tool_calls" in metadata or "message_fields" in metadata):
        return left
    prompt = "\n".join(message.content for message in messages)
    if many and any(turn.content and turn.content in prompt for turn in earlier[-most:]):
        left["history"] = f"{len(earlier) - most} of {len(earlier)} earlier messages"
    texts = [step.content for step in steps if step.content]
    texts += [call.name for step in steps for call in step.tool_calls]
    if any(text not in prompt for text in texts):
        left["steps"] = f"{len(steps)} messages before the answer"
    calls = metadata.get("tool_calls")
    if isinstance(calls, list) and calls:
        names = [str(call["name"]) for call in calls if isinstance(call, dict) and "name" in call]
        if not all(canonical_json(name) in (fields["output"] or "") for name in names):
            left["metadata.tool_calls"] = f"calls of the last message: {', '.join(names)}"
    kept = metadata.get("message_fields")
    if isinstance(kept, dict) and kept:
        each = (f"{place}: {', '.join(keys)}" for place, keys in kept.items() if keys)
        left["metadata.message_fields"] = "; ".join(each)
    return left
