"""Criteria after the case, for judges that are asked for some of them at a time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from judgekit.core.case import Case
from judgekit.core.request import ChatMessage
from judgekit.rubric.folders import Folders
from judgekit.rubric.library import builtin_folder
from judgekit.rubric.template import Template


@cache
def _template() -> Template:
    return Template("_criteria_last.jinja", loader=Folders((builtin_folder(),)))


def with_criteria_last(
    messages: tuple[ChatMessage, ...], *, criteria: Sequence[Any], details: Sequence[Any]
) -> tuple[ChatMessage, ...]:
    """Return messages with criteria after the last one.

    All calls about a case then begin with the same text, which providers cache.

    Args:
        messages: the messages without criteria.
        criteria: the criteria, as templates see them.
        details: the details of the whole verdict.
    """
    variables = {"criteria": criteria, "details": details}
    rendered = (
        _template()
        .again()
        .render(variables=variables, case=Case(id="criteria", output=""), history=(), variant=None)
    )
    *first, last = messages
    text = f"{last.content}\n\n{rendered[0].content}"
    return (*first, last.model_copy(update={"content": text}))
