"""instructor: the modes it sends, and the response model it parses with our own parser.

The functions import instructor when they are called: a replay does not load it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from judgekit.core.judgment import parse_reply
from judgekit.core.reply_schema import reply_schema
from judgekit.core.request import Form
from judgekit.judges.output_mode import Mode
from judgekit.judges.transport import NAME


class ParsedText(BaseModel):
    """What instructor returns: a text, and the values that `parse_reply` reads from it."""

    text: str
    parsed: Any


def instructor_model(form: Form, mode: Mode) -> type[ParsedText]:
    """Return the model to ask for, built once a form and mode.

    instructor derives a class from any other model, and its schema, in every call.
    """
    name = f"_instructor_{mode}"
    cached: type[ParsedText] | None = form.__dict__.get(name)
    if cached is None:
        from instructor import response_schema

        schema = reply_schema(form).json_schema
        if mode == "tools":  # instructor takes the name of the tool from the title
            schema = {**schema, "title": NAME}

        # It has no docstring: instructor would send it.
        class VerdictText(ParsedText):
            @classmethod
            def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
                return dict(schema)

            @classmethod
            def model_validate_json(cls, json_data: Any, **_: Any) -> Any:
                return cls.model_construct(text=json_data, parsed=parse_reply(json_data, form))

        VerdictText.__name__ = NAME  # instructor sends the name of the class
        cached = form.__dict__[name] = response_schema(VerdictText)
    return cached


def instructor_clients(complete: Callable[..., Any]) -> dict[Mode, Any]:
    """Return the clients of the modes that instructor sends.

    Args:
        complete: litellm's function for a chat.
    """
    import instructor

    modes: dict[Mode, Any] = {
        "json_schema": instructor.Mode.JSON_SCHEMA,
        "tools": instructor.Mode.TOOLS,
    }
    return {name: instructor.from_litellm(complete, mode=mode) for name, mode in modes.items()}


def request_options(form: Form, mode: Mode, responses: list[Any]) -> dict[str, Any]:
    """Return the options of one call: what to ask for, and a hook that keeps the raw response.

    instructor's exceptions do not always carry the response: after a refusal they do not.
    """
    from instructor.core.hooks import Hooks

    hooks = Hooks()
    hooks.on("completion:response", responses.append)
    return {"response_model": instructor_model(form, mode), "hooks": hooks}


def cause_of(error: BaseException) -> BaseException:
    """Return the error that instructor wrapped in its own, else the error itself."""
    from instructor.core.exceptions import InstructorRetryException

    wrapped = isinstance(error, InstructorRetryException)
    return error.__cause__ if wrapped and error.__cause__ is not None else error
